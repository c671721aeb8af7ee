/* Directions on the GPU: the kernels of every order, and batches of any size from host memory. */
#include <cuda_runtime.h>

#include <string.h>

#include "common/backend.h"
#include "common/portable.h"
#include "directions/grid.h"
#include "directions/plan.h"

/* ---- The arithmetic of step.h, one candidate per thread ----------------------------------------------------- */

typedef float HOT_V;
typedef bool HOT_MASK;
#define HOT_SET(x) (x)
#define HOT_FMA(a, b, c) fmaf(a, b, c)
#define HOT_MAX(a, b) fmaxf(a, b)
#define HOT_LT(a, b) ((a) < (b))
#define HOT_GE(a, b) ((a) >= (b))
#define HOT_AND(m, n) ((m) && (n))
#define HOT_NOT(m) (!(m))
#define HOT_SELECT(m, a, b) ((m) ? (a) : (b))
#define HOT_SELECT_MASK(m, a, b) ((m) ? (a) : (b))
/* Within two units in the last place; Newton's method corrects itself. */
__device__ __forceinline__ float approximate_inverse(float a)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}
__device__ __forceinline__ float approximate_root(float a)
{
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}
#define HOT_INVERSE(a) approximate_inverse(a)
#define HOT_SQRT(a) approximate_root(a)
#undef HOT_FN
#define HOT_FN static __device__ __forceinline__

/* ---- The kernels -------------------------------------------------------------------------------------------- */

namespace {

enum { BLOCK = 128 };
enum { LISTED_4 = 12, LISTED_6 = 16, LISTED_8 = 18, REFINED_4 = 10, REFINED_6 = 12, REFINED_8 = 14 };
/* Unrolling the rows of the scan saves moves, and costs more in fetching instructions (measured: 10 to 20 %). */
constexpr int ROWS_AT_ONCE = 1;
/* Blocks per multiprocessor that registers must allow. */
enum { RESIDENT_4 = 6, RESIDENT_6 = 5, RESIDENT_8 = 4 };
/* A form whose coefficients stray this much further than min_relief from an isotropic one's may have too little relief:
 * the sum of coefficients exceeds the form's largest value by no more than this. */
#define RELIEF_BOUND 2000.0f

enum hot_item_state { HOT_ITEM_LIVE, HOT_ITEM_DOUBTFUL, HOT_ITEM_NONE, HOT_ITEM_INVALID };

/* What the kernels need of a plan; pointers on the device. */
struct job {
    const float *tensors;
    const uint8_t *skip;
    float *directions;
    uint8_t *found;
    size_t count, stride;
    int keep;
    float threshold, min_relief, apart;
};

#define HOT_ORDER 4
#define HOT_STEP(name) HOT_JOIN(name, _4)
#include "directions/step.h"
#include "directions/block_cuda.h"
#undef HOT_ORDER
#undef HOT_STEP

#define HOT_ORDER 6
#define HOT_STEP(name) HOT_JOIN(name, _6)
#include "directions/step.h"
#include "directions/block_cuda.h"
#undef HOT_ORDER
#undef HOT_STEP

#define HOT_ORDER 8
#define HOT_STEP(name) HOT_JOIN(name, _8)
#include "directions/step.h"
#include "directions/block_cuda.h"
#undef HOT_ORDER
#undef HOT_STEP

/* ---- From the host ------------------------------------------------------------------------------------------ */

hot_status fail(hot_context *context, cudaError_t error, const char *doing)
{
    cudaGetLastError(); /* so that the next call does not meet it again */
    return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                            "CUDA failed to %s: %s", doing, cudaGetErrorString(error));
}

cudaError_t launch(const hot_directions_plan *plan, cudaStream_t stream)
{
    if (plan->count == 0)
        return cudaSuccess;
    const job job = {plan->tensors, plan->skip,   plan->directions, plan->found,      plan->count,
                     plan->stride,  plan->keep,   plan->threshold,  plan->min_relief, plan->apart};
    return plan->order == 4 ? launch_4(job, stream) : plan->order == 6 ? launch_6(job, stream) : launch_8(job, stream);
}

/* One chunk under way: its own stream, and memory on both sides, so that copies and work of two chunks overlap. */
struct lane {
    int device;
    cudaStream_t stream;
    unsigned char *host, *device_memory;
    size_t first, count; /* count 0: idle */
};

/* Where the parts of a chunk lie in a lane's memory. */
struct layout {
    size_t skip, directions, found, bytes;
};

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

layout layout_of(const hot_directions_plan *plan, size_t chunk)
{
    layout l;
    l.skip = rounded(chunk * plan->stride * sizeof(float));
    l.directions = l.skip + rounded(chunk);
    l.found = l.directions + rounded(chunk * 3 * (size_t)plan->keep * sizeof(float));
    l.bytes = l.found + rounded(chunk);
    return l;
}

/* Copies with all threads: one alone is slower than the bus. */
void copy(hot_context *context, void *to, const void *from, size_t bytes)
{
    const size_t part = 1 << 18;
    const long parts = (long)((bytes + part - 1) / part);
    (void)context;
#ifdef _OPENMP
#pragma omp parallel for num_threads(hot_context_threads(context) < 16 ? hot_context_threads(context) : 16)
#endif
    for (long i = 0; i < parts; i++) {
        const size_t at = (size_t)i * part;
        memcpy((char *)to + at, (const char *)from + at, bytes - at < part ? bytes - at : part);
    }
}

size_t row_values(const hot_directions_plan *plan) { return (size_t)(plan->order + 1) * (plan->order + 2) / 2; }

/* The last row of the user's tensors may end with its tensor. */
size_t input_bytes(const hot_directions_plan *plan, size_t count)
{
    return ((count - 1) * plan->stride + row_values(plan)) * sizeof(float);
}

hot_status collect(hot_context *context, const hot_directions_plan *plan, const layout *l, lane *lane)
{
    if (lane->count == 0)
        return HOT_OK;
    cudaError_t error = cudaStreamSynchronize(lane->stream);
    if (error != cudaSuccess)
        return fail(context, error, "find directions");
    const size_t row = 3 * (size_t)plan->keep;
    copy(context, plan->directions + lane->first * row, lane->host + l->directions, lane->count * row * sizeof(float));
    if (plan->found)
        memcpy(plan->found + lane->first, lane->host + l->found, lane->count);
    lane->count = 0;
    return HOT_OK;
}

hot_status submit(hot_context *context, const hot_directions_plan *plan, const layout *l, lane *lane, size_t first,
                  size_t count)
{
    cudaError_t error = cudaSetDevice(lane->device);
    copy(context, lane->host, plan->tensors + first * plan->stride, input_bytes(plan, count));
    if (plan->skip)
        memcpy(lane->host + l->skip, plan->skip + first, count);
    hot_directions_plan part = *plan;
    part.count = count;
    part.tensors = (const float *)lane->device_memory;
    part.skip = plan->skip ? lane->device_memory + l->skip : NULL;
    part.directions = (float *)(lane->device_memory + l->directions);
    part.found = lane->device_memory + l->found;
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lane->device_memory, lane->host, plan->skip ? l->skip + count : input_bytes(plan, count),
                                cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess)
        error = launch(&part, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lane->host + l->directions, part.directions,
                                count * 3 * (size_t)plan->keep * sizeof(float), cudaMemcpyDeviceToHost, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lane->host + l->found, part.found, count, cudaMemcpyDeviceToHost, lane->stream);
    if (error != cudaSuccess)
        return fail(context, error, "start a batch of directions");
    lane->first = first;
    lane->count = count;
    return HOT_OK;
}

} // namespace

hot_status hot_directions_cuda_launch(hot_context *context, const hot_directions_plan *plan, void *stream)
{
    const cudaError_t error = launch(plan, (cudaStream_t)stream);
    return error == cudaSuccess ? HOT_OK : fail(context, error, "start the directions kernel");
}

hot_status hot_directions_cuda(hot_context *context, void *job)
{
    const hot_directions_plan *plan = (const hot_directions_plan *)job;
    enum { LANES = 4, DEVICES = 16 }; /* chunks under way per GPU: coming, computing, going, being filled */
    const size_t full = 1 << 15; /* pinned memory is slow to get: little of it */
    if (plan->order == 2 || plan->count == 0)
        return hot_directions_cpu(context, job); /* less work than the copy */
    const int number = hot_context_device_number(context);
    int devices = number < 0 ? hot_cuda_count() : 1;
    devices = devices < DEVICES ? devices : DEVICES;
    const size_t chunk = plan->count < full ? plan->count : full;
    const size_t chunks = (plan->count + chunk - 1) / chunk;
    const layout l = layout_of(plan, chunk);
    lane lanes[DEVICES * LANES] = {};
    int count = devices * LANES, current = 0;
    count = chunks < (size_t)count ? (int)chunks : count;
    hot_status status = HOT_OK;
    cudaError_t error = cudaGetDevice(&current);
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        lanes[i].device = number < 0 ? i % devices : number;
        error = cudaSetDevice(lanes[i].device);
        if (error == cudaSuccess)
            error = cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking);
        if (error == cudaSuccess)
            error = cudaMalloc((void **)&lanes[i].device_memory, l.bytes);
        if (error == cudaSuccess)
            error = cudaHostAlloc((void **)&lanes[i].host, l.bytes, cudaHostAllocPortable);
    }
    if (error != cudaSuccess)
        status = fail(context, error, "get memory for directions");
    for (size_t n = 0; n < chunks && status == HOT_OK; n++) {
        lane *lane = &lanes[n % (size_t)count];
        const size_t first = n * chunk, size = plan->count - first < chunk ? plan->count - first : chunk;
        status = collect(context, plan, &l, lane);
        if (status == HOT_OK)
            status = submit(context, plan, &l, lane, first, size);
        if (status == HOT_OK)
            status = hot_context_progress(context, "finding directions", (double)first / (double)plan->count);
    }
    for (size_t n = 0; n < (size_t)count && status == HOT_OK; n++)
        status = collect(context, plan, &l, &lanes[(chunks + n) % (size_t)count]);
    if (status == HOT_OK)
        status = hot_context_progress(context, "finding directions", 1);
    for (int i = 0; i < count; i++) { /* also what a failure has left running */
        if (!lanes[i].stream)
            continue;
        cudaSetDevice(lanes[i].device);
        cudaStreamSynchronize(lanes[i].stream);
        cudaStreamDestroy(lanes[i].stream);
        cudaFree(lanes[i].device_memory);
        cudaFreeHost(lanes[i].host);
    }
    cudaSetDevice(current);
    cudaGetLastError();
    return status;
}

hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_plan *plan, int repeats,
                                    double *milliseconds)
{
    hot_directions_plan there = *plan;
    const size_t row = 3 * (size_t)plan->keep * sizeof(float);
    float *tensors = NULL, *directions = NULL;
    uint8_t *found = NULL;
    cudaEvent_t start = NULL, stop = NULL;
    float times[101];
    repeats = repeats < 1 ? 1 : repeats > 101 ? 101 : repeats;
    cudaError_t error = cudaMalloc((void **)&tensors, input_bytes(plan, plan->count));
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&directions, plan->count * row);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&found, plan->count);
    if (error == cudaSuccess)
        error = cudaEventCreate(&start);
    if (error == cudaSuccess)
        error = cudaEventCreate(&stop);
    if (error == cudaSuccess)
        error = cudaMemcpy(tensors, plan->tensors, input_bytes(plan, plan->count), cudaMemcpyHostToDevice);
    there.tensors = tensors;
    there.skip = NULL;
    there.directions = directions;
    there.found = found;
    for (int i = -2; i < repeats && error == cudaSuccess; i++) { /* two to warm up */
        error = cudaMemsetAsync(directions, 0xfb, plan->count * row, 0);
        if (error == cudaSuccess)
            error = cudaEventRecord(start, 0);
        if (error == cudaSuccess)
            error = launch(&there, 0);
        if (error == cudaSuccess)
            error = cudaEventRecord(stop, 0);
        if (error == cudaSuccess)
            error = cudaEventSynchronize(stop);
        float time = 0;
        if (error == cudaSuccess)
            error = cudaEventElapsedTime(&time, start, stop);
        int at = i < 0 ? 0 : i; /* in order */
        for (; at > 0 && times[at - 1] > time; at--)
            times[at] = times[at - 1];
        times[at] = time;
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(plan->directions, directions, plan->count * row, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess && plan->found)
        error = cudaMemcpy(plan->found, found, plan->count, cudaMemcpyDeviceToHost);
    *milliseconds = (double)times[repeats / 2];
    const hot_status status = error == cudaSuccess ? HOT_OK : fail(context, error, "time directions");
    if (start)
        cudaEventDestroy(start);
    if (stop)
        cudaEventDestroy(stop);
    cudaFree(tensors);
    cudaFree(directions);
    cudaFree(found);
    return status;
}

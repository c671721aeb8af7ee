/* Fibres in signal space on the GPU: a thread is a voxel, the arithmetic is that of the CPU (signal_step.h and what
 * stands on it, compiled with vf = float). A first kernel looks at every voxel and lays the signals of the usable ones
 * out volume by volume, so that neighbouring threads read neighbouring numbers; a second does all fits of a voxel. */
#include <cuda_runtime.h>

#include "common/backend.h"
#include "signal/signal_rule.h"
#include "signal/signal_voxel.h"

enum { CHUNK = 1 << 18, THREADS = 128, BLOCKS = 4 }; /* BLOCKS: on a multiprocessor; what 128 registers spill costs less
                                                        * than waiting with half as many threads */

/* What a chunk's kernels work on, all on the device. */
typedef struct chunk_data {
    size_t count;          /* voxels; the pitch of y */
    const float *signals;  /* count x volumes */
    const float *sigma, *s0; /* count, or NULL */
    float one_sigma;
    const uint8_t *mask;   /* count, or NULL */
    const size_t *order;
    float *y;              /* diffusion-weighted volumes x count, in units of sigma */
    float *snr;
    unsigned *list;        /* usable voxels */
    unsigned *used;        /* how many */
    hot_signal_result result;
} chunk_data;

static __global__ void signal_prepare_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ chunk_data data)
{
    size_t voxel = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= data.count)
        return;
    signal_write_nothing(&data.result, plan.max_fibers, voxel, 0);
    if (data.mask && !data.mask[voxel])
        return;
    const float sigma = data.sigma ? data.sigma[voxel] : data.one_sigma;
    const float *signal = data.signals + voxel * plan.all_volumes;
    float s0 = 0;
    unsigned flags = sigma > 0 ? signal_check_voxel(&plan, data.order, signal, sigma, data.s0 ? data.s0[voxel] : NAN, &s0)
                               : (unsigned)HOT_VOXEL_NOT_FINITE;
    if (flags) {
        signal_write_nothing(&data.result, plan.max_fibers, voxel, flags);
        return;
    }
    /* The list's order differs from run to run; a voxel's answer does not depend on its place. */
    unsigned at = atomicAdd(data.used, 1u);
    data.list[at] = (unsigned)voxel;
    data.snr[at] = s0 / sigma;
    for (int j = 0; j < plan.scheme.volumes; j++)
        data.y[(size_t)j * data.count + at] = signal[data.order[j]] / sigma;
}

/* MIXED: the plan's prior.mixed */
template <int MIXED>
static __global__ void __launch_bounds__(THREADS, BLOCKS) signal_fit_kernel(const __grid_constant__ signal_plan plan,
                                                         const __grid_constant__ chunk_data data)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *data.used)
        return;
    float b[SIGNAL_GRID], cost[4];
    signal_data voxel;
    signal_fits fits;
    voxel.y = data.y + at;
    voxel.stride = data.count;
    voxel.snr = data.snr[at];
    signal_fit_all(MIXED, &plan.scheme, &plan.grid, &plan.prior, plan.max_fibers, &voxel, b, &fits);
    if (MIXED)
        signal_costs_mixed(&plan.scheme, &plan.rule, &plan.prior, plan.max_fibers, plan.averaged, &fits, cost);
    else
        signal_costs(&plan.rule, &plan.prior, plan.max_fibers, plan.averaged, &fits, cost);
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (cost[i] < cost[k])
            k = i;
    const signal_fit *f =
        k == 0 ? &fits.iso : k == 1 && !MIXED ? &fits.one : k == 1 ? &fits.iso : k == 2 ? &fits.two : &fits.three;
    signal_answer answer;
    for (int i = 0; i < 4; i++)
        answer.cost[i][0] = cost[i];
    answer.k[0] = k;
    answer.tau[0] = f->tau;
    answer.chi[0] = f->chi;
    for (int i = 0; i < k; i++) {
        answer.w[i][0] = expf(f->lw[i]);
        for (int d = 0; d < 3; d++)
            answer.v[i][d][0] = f->v[i][d];
    }
    signal_write(&data.result, plan.max_fibers, plan.scheme.volumes, &answer, 0, data.list[at]);
}

/* ---- host ------------------------------------------------------------------------------------------------------ */

/* One piece of device memory, cut up. */
typedef struct arena {
    char *base;
    size_t used;
} arena;

static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

static void *take(arena *a, size_t bytes)
{
    void *piece = a->base ? a->base + a->used : NULL;
    a->used += rounded(bytes);
    return piece;
}

/* Cuts up the arena for a chunk of `count` voxels; with base NULL only a->used means something. */
static chunk_data lay_out(const hot_signal_args *args, size_t count, arena *a)
{
    const size_t fibers = 3 * (size_t)args->plan->max_fibers;
    const hot_signal_result *wanted = args->result;
    chunk_data d = {};
    d.count = count;
    d.one_sigma = (float)args->options->sigma;
    d.signals = (const float *)take(a, count * args->plan->all_volumes * sizeof(float));
    d.sigma = args->sigma ? (const float *)take(a, count * sizeof(float)) : NULL;
    d.s0 = args->s0 ? (const float *)take(a, count * sizeof(float)) : NULL;
    d.mask = args->mask ? (const uint8_t *)take(a, count) : NULL;
    d.y = (float *)take(a, count * (size_t)args->plan->scheme.volumes * sizeof(float));
    d.snr = (float *)take(a, count * sizeof(float));
    d.list = (unsigned *)take(a, count * sizeof(unsigned));
    d.used = (unsigned *)take(a, sizeof(unsigned));
    d.result.size = sizeof d.result;
    d.result.directions = (float *)take(a, count * fibers * sizeof(float));
    d.result.found = wanted->found ? (uint8_t *)take(a, count) : NULL;
    d.result.probability = wanted->probability ? (float *)take(a, count * 4 * sizeof(float)) : NULL;
    d.result.margin = wanted->margin ? (float *)take(a, count * sizeof(float)) : NULL;
    d.result.residual = wanted->residual ? (float *)take(a, count * sizeof(float)) : NULL;
    d.result.width = wanted->width ? (float *)take(a, count * sizeof(float)) : NULL;
    d.result.flags = wanted->flags ? (uint8_t *)take(a, count) : NULL;
    return d;
}

/* The device's address of what the host's block of the plan holds at `p`. */
template <typename T> static const T *moved(const signal_plan *plan, const float *device, const T *p)
{
    return (const T *)(device + ((const float *)p - plan->block));
}

static cudaError_t to_device(const void *device, const void *host, size_t bytes)
{
    return device && bytes ? cudaMemcpy((void *)device, host, bytes, cudaMemcpyHostToDevice) : cudaSuccess;
}

static cudaError_t to_host(void *host, const void *device, size_t bytes)
{
    return device && host && bytes ? cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) : cudaSuccess;
}

#define TRY(call) \
    do { \
        if (error == cudaSuccess) \
            error = (call); \
    } while (0)

static cudaError_t do_chunk(const hot_signal_args *args, const signal_plan *plan, chunk_data data, size_t first, size_t count,
                            cudaEvent_t *events)
{
    cudaError_t error = cudaSuccess;
    const size_t volumes = args->plan->all_volumes, fibers = 3 * (size_t)args->plan->max_fibers;
    const hot_signal_result *to = args->result;
    const unsigned blocks = (unsigned)((count + THREADS - 1) / THREADS);
    float milliseconds = 0;
    data.count = count;
    TRY(to_device(data.signals, args->signals + first * volumes, count * volumes * sizeof(float)));
    TRY(to_device(data.sigma, args->sigma + (args->sigma ? first : 0), count * sizeof(float)));
    TRY(to_device(data.s0, args->s0 + (args->s0 ? first : 0), count * sizeof(float)));
    TRY(to_device(data.mask, args->mask + (args->mask ? first : 0), count));
    TRY(cudaMemset(data.used, 0, sizeof *data.used));
    TRY(cudaEventRecord(events[0]));
    if (error == cudaSuccess) {
        signal_prepare_kernel<<<blocks, THREADS>>>(*plan, data);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        if (plan->prior.mixed)
            signal_fit_kernel<1><<<blocks, THREADS>>>(*plan, data);
        else
            signal_fit_kernel<0><<<blocks, THREADS>>>(*plan, data);
        error = cudaGetLastError();
    }
    TRY(cudaEventRecord(events[1]));
    TRY(to_host(to->directions + first * fibers, data.result.directions, count * fibers * sizeof(float)));
    TRY(to_host(to->found ? to->found + first : NULL, data.result.found, count));
    TRY(to_host(to->probability ? to->probability + 4 * first : NULL, data.result.probability,
                count * 4 * sizeof(float)));
    TRY(to_host(to->margin ? to->margin + first : NULL, data.result.margin, count * sizeof(float)));
    TRY(to_host(to->residual ? to->residual + first : NULL, data.result.residual, count * sizeof(float)));
    TRY(to_host(to->width ? to->width + first : NULL, data.result.width, count * sizeof(float)));
    TRY(to_host(to->flags ? to->flags + first : NULL, data.result.flags, count));
    TRY(cudaDeviceSynchronize());
    TRY(cudaEventElapsedTime(&milliseconds, events[0], events[1]));
    if (to->device_seconds)
        *to->device_seconds += 1e-3 * (double)milliseconds;
    return error;
}

extern "C" hot_status hot_signal_fibers_cuda(hot_context *context, void *argument)
{
    const hot_signal_args *args = (const hot_signal_args *)argument;
    const size_t chunk = args->count < CHUNK ? args->count : (size_t)CHUNK;
    const size_t order_bytes = args->plan->all_volumes * sizeof(size_t);
    const size_t block_bytes = args->plan->block_size * sizeof(float);
    cudaEvent_t events[2] = {NULL, NULL};
    cudaError_t error = cudaSuccess;
    hot_status status = HOT_OK;
    arena memory = {NULL, 0};
    lay_out(args, chunk, &memory);
    size_t bytes = memory.used + rounded(order_bytes) + rounded(block_bytes);
    TRY(cudaMalloc((void **)&memory.base, bytes));
    if (error != cudaSuccess) {
        cudaGetLastError();
        return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                                "lowrank: %zu bytes on the GPU: %s", bytes, cudaGetErrorString(error));
    }
    memory.used = 0;
    chunk_data data = lay_out(args, chunk, &memory);
    size_t *order = (size_t *)take(&memory, order_bytes);
    float *block = (float *)take(&memory, block_bytes);
    data.order = order;
    signal_plan plan = *args->plan;
    plan.scheme.g = moved(args->plan, block, plan.scheme.g);
    plan.grid.v = moved(args->plan, block, plan.grid.v);
    plan.grid.gram = moved(args->plan, block, plan.grid.gram);
    plan.grid.filter = moved(args->plan, block, plan.grid.filter);
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        plan.grid.pair_at[c] = moved(args->plan, block, plan.grid.pair_at[c]);
        plan.grid.pair_inverse[c] = moved(args->plan, block, plan.grid.pair_inverse[c]);
    }
    TRY(to_device(order, args->plan->order, order_bytes));
    TRY(to_device(block, args->plan->block, block_bytes));
    TRY(cudaEventCreate(&events[0]));
    TRY(cudaEventCreate(&events[1]));
    for (size_t first = 0; first < args->count && error == cudaSuccess && status == HOT_OK; first += chunk) {
        const size_t count = args->count - first < chunk ? args->count - first : chunk;
        error = do_chunk(args, &plan, data, first, count, events);
        if (error == cudaSuccess)
            status = hot_signal_progress(context, args, (double)(first + count) / (double)args->count);
    }
    if (error != cudaSuccess) {
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "lowrank on the GPU: %s", cudaGetErrorString(error));
        cudaGetLastError();
    }
    if (events[0])
        cudaEventDestroy(events[0]);
    if (events[1])
        cudaEventDestroy(events[1]);
    cudaFree(memory.base);
    return status;
}

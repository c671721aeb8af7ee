/* Hermitian matrices on the GPU, stage by stage for a piece of the batch: reduction to tridiagonal form (a block per matrix, in
 * shared memory when it fits), eigenvalues by multisection, eigenvectors by twisted factorisations, their last digits of
 * orthogonality by a step of Newton and Schulz, and the reflectors. Matrices with eigenvalues too close for twisted
 * factorisations go through implicit QL. All in double precision; single is rounded at both ends. */
#include "common/backend.h"
#include "heev.h"
#include "heev_measure.h"
#include "heev_reduce.cuh"
#include "heev_tridiagonal.cuh"
#include "heev_vectors.cuh"

static hot_status cuda_status(hot_context *context, cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return HOT_OK;
    cudaGetLastError();
    return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                            "the GPU failed at %s: %s", what, cudaGetErrorString(error));
}

template <typename... A>
static hot_status allow(hot_context *context, void (*kernel)(A...), size_t bytes)
{
    return bytes <= 48 * 1024 ? HOT_OK
                              : cuda_status(context, cudaFuncSetAttribute((const void *)kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "shared memory");
}

template <typename IN, bool C>
static hot_status start_reduce(hot_context *context, const heev_plan *plan, size_t most_shared, const void *matrices)
{
    /* few enough warps for their sums to find room beside large matrices */
    const int n = plan->n, threads = n <= 32 ? 64 : n <= 64 ? 128 : n <= 192 || n > 512 ? 256 : 512;
    const size_t room = heev_reduce_room(n, threads, sizeof(number<C>)), triangle = (size_t)n * (n + 1) / 2 * sizeof(number<C>);
    if (room + triangle <= most_shared) {
        hot_status status = allow(context, heev_reduce<IN, C, true>, room + triangle);
        if (status == HOT_OK)
            heev_reduce<IN, C, true><<<(unsigned)plan->count, (unsigned)threads, room + triangle>>>(*plan, (const IN *)matrices);
        return status;
    }
    hot_status status = allow(context, heev_reduce<IN, C, false>, room);
    if (status == HOT_OK)
        heev_reduce<IN, C, false><<<(unsigned)plan->count, (unsigned)threads, room>>>(*plan, (const IN *)matrices);
    return status;
}

static hot_status start_tridiagonal(hot_context *context, const heev_plan *plan)
{
    const int n = plan->n, threads = n <= 64 ? 128 : n <= 128 ? 256 : n <= 256 ? 512 : 1024;
    int lanes = 1;
    while (lanes < 16 && 2 * lanes * n <= threads)
        lanes *= 2;
    const unsigned count = (unsigned)plan->count;
    const size_t entries = (size_t)(n + GROUP - 1) / GROUP * GROUP * sizeof(entry<double>) + (size_t)n * sizeof(double);
    heev_values<<<count, (unsigned)threads, entries>>>(*plan, lanes);
    if (!plan->vectors)
        return HOT_OK;
    const unsigned each = n <= 32 ? 32 : n <= 64 ? 64 : 128, tiles = (unsigned)((n + HEEV_TILE - 1) / HEEV_TILE);
    const size_t ql = (4 * (size_t)n + 2) * sizeof(double);
    heev_twisted<<<dim3(count, ((unsigned)n + each - 1) / each), each, 2 * (size_t)n * sizeof(double)>>>(*plan);
    heev_gram<<<dim3(count, tiles, tiles), HEEV_TILE_THREADS>>>(*plan, 0);
    hot_status status = allow(context, heev_ql, ql);
    if (status == HOT_OK) {
        heev_ql<<<count, 256, ql>>>(*plan);
        heev_mend<<<dim3(count, tiles, tiles), HEEV_TILE_THREADS>>>(*plan, 0);
        heev_gram<<<dim3(count, tiles, tiles), HEEV_TILE_THREADS>>>(*plan, 1);
        heev_mend<<<dim3(count, tiles, tiles), HEEV_TILE_THREADS>>>(*plan, 1);
    }
    return status;
}

template <typename OUT, bool C, int HELD>
static hot_status start_reflect(hot_context *context, const heev_plan *plan, OUT *values, OUT *vectors)
{
    unsigned warps = 8;
    size_t bytes = 0;
    if (HELD == 0 && plan->vectors) {
        const size_t warp = 4 * (size_t)plan->n * sizeof(number<C>);
        warps = (unsigned)(200 * 1024 / warp < 8 ? 200 * 1024 / warp : 8);
        bytes = warps * warp;
    }
    hot_status status = allow(context, heev_reflect<OUT, C, HELD>, bytes);
    if (status == HOT_OK)
        heev_reflect<OUT, C, HELD><<<dim3((unsigned)plan->count, ((unsigned)plan->kept + 4 * warps - 1) / (4 * warps)),
                                     32 * warps, bytes>>>(*plan, values, vectors);
    return status;
}

template <typename T, bool C>
static hot_status start(hot_context *context, const heev_plan *plan, size_t most_shared, const void *matrices, void *values,
                        void *vectors)
{
    hot_status status = start_reduce<T, C>(context, plan, most_shared, matrices);
    if (status == HOT_OK)
        status = start_tridiagonal(context, plan);
    if (status == HOT_OK)
        status = plan->n <= 32    ? start_reflect<T, C, 4>(context, plan, (T *)values, (T *)vectors)
                 : plan->n <= 64  ? start_reflect<T, C, 8>(context, plan, (T *)values, (T *)vectors)
                 : plan->n <= 128 ? start_reflect<T, C, 16>(context, plan, (T *)values, (T *)vectors)
                                  : start_reflect<T, C, 0>(context, plan, (T *)values, (T *)vectors);
    return status == HOT_OK ? cuda_status(context, cudaGetLastError(), "starting the eigensolver") : status;
}

static hot_status start_any(hot_context *context, const hot_heev_job *job, const heev_plan *plan, size_t most_shared,
                            const void *matrices, void *values, void *vectors)
{
    if (job->f64)
        return job->is_complex ? start<double, true>(context, plan, most_shared, matrices, values, vectors)
                               : start<double, false>(context, plan, most_shared, matrices, values, vectors);
    return job->is_complex ? start<float, true>(context, plan, most_shared, matrices, values, vectors)
                           : start<float, false>(context, plan, most_shared, matrices, values, vectors);
}

/* ---- Memory -------------------------------------------------------------------------------------------------------- */

/* One piece of device memory for everything, cut up. */
typedef struct heev_memory {
    char *base;
    size_t used;
    void *matrices, *values, *vectors;
} heev_memory;

static void *cut(heev_memory *memory, size_t bytes)
{
    void *piece = memory->base ? memory->base + memory->used : NULL;
    memory->used += (bytes + 255) / 256 * 256;
    return piece;
}

static void lay_out(const hot_heev_job *job, size_t count, heev_memory *memory, heev_plan *plan)
{
    const size_t n = job->n, value = job->f64 ? sizeof(double) : sizeof(float), parts = job->is_complex ? 2 : 1;
    memory->used = 0;
    memory->matrices = cut(memory, count * n * n * parts * value);
    memory->values = cut(memory, count * job->kept * value);
    memory->vectors = cut(memory, plan->vectors ? count * job->kept * n * parts * value : 0);
    plan->reflectors = cut(memory, count * n * (n + 1) / 2 * parts * sizeof(double));
    plan->tau = cut(memory, count * n * parts * sizeof(double));
    plan->d = (double *)cut(memory, count * n * sizeof(double));
    plan->e = (double *)cut(memory, count * n * sizeof(double));
    plan->lambda = (double *)cut(memory, count * n * sizeof(double));
    for (int k = 0; k < 2; k++)
        plan->z[k] = (double *)cut(memory, plan->vectors ? count * n * n * sizeof(double) : 0);
    plan->gram = (double *)cut(memory, plan->vectors ? count * n * n * sizeof(double) : 0);
    plan->apart = (unsigned long long *)cut(memory, count * sizeof *plan->apart);
    plan->exponent = (int *)cut(memory, count * sizeof(int));
    plan->state = (int *)cut(memory, count * sizeof(int));
}

/* Device memory for as many matrices at a time as half of what is free holds, and 8 GiB. */
static hot_status reserve(hot_context *context, const hot_heev_job *job, heev_memory *memory, heev_plan *plan, size_t *most,
                          size_t *most_shared)
{
    int device = 0, shared = 0;
    size_t room = 0, total = 0;
    *memory = heev_memory{};
    *plan = heev_plan{};
    plan->n = (int)job->n;
    plan->kept = (int)job->kept;
    plan->vectors = job->vectors != NULL;
    hot_status status = cuda_status(context, cudaGetDevice(&device), "asking for the device");
    if (status == HOT_OK)
        status = cuda_status(context, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                             "asking for shared memory");
    if (status == HOT_OK)
        status = cuda_status(context, cudaMemGetInfo(&room, &total), "asking for memory");
    if (status != HOT_OK)
        return status;
    *most_shared = (size_t)shared;
    room = room / 2 < (size_t)8 << 30 ? room / 2 : (size_t)8 << 30;
    lay_out(job, 16, memory, plan);
    *most = room / (memory->used / 16 + 1);
    *most = *most < 1 ? 1 : *most > 1 << 20 ? 1 << 20 : *most;
    *most = *most < job->count ? *most : job->count;
    lay_out(job, *most, memory, plan);
    status = cuda_status(context, cudaMalloc((void **)&memory->base, memory->used), "memory for matrices");
    lay_out(job, *most, memory, plan);
    return status;
}

hot_status hot_heev_cuda(hot_context *context, void *argument)
{
    const hot_heev_job *job = (const hot_heev_job *)argument;
    const size_t n = job->n, value = job->f64 ? sizeof(double) : sizeof(float), parts = job->is_complex ? 2 : 1;
    const size_t matrix = n * n * parts * value, vector = job->kept * n * parts * value, row = job->kept * value;
    heev_memory memory;
    heev_plan plan;
    size_t most = 1, most_shared = 0;
    int *state = NULL;
    hot_status status = reserve(context, job, &memory, &plan, &most, &most_shared);
    if (status != HOT_OK)
        goto cleanup;
    state = (int *)hot_context_alloc(context, most, sizeof *state);
    if (!state)
        status = HOT_ERROR_MEMORY;
    for (size_t begin = 0; begin < job->count && status == HOT_OK; begin += most) {
        const size_t count = job->count - begin < most ? job->count - begin : most;
        plan.count = (int)count;
        status = cuda_status(context, cudaMemcpy(memory.matrices, (const char *)job->matrices + begin * matrix, count * matrix,
                                                 cudaMemcpyHostToDevice), "copying matrices");
        if (status == HOT_OK)
            status = start_any(context, job, &plan, most_shared, memory.matrices, memory.values, memory.vectors);
        if (status == HOT_OK)
            status = cuda_status(context, cudaMemcpy(state, plan.state, count * sizeof *state, cudaMemcpyDeviceToHost), "the eigensolver");
        if (status == HOT_OK)
            status = cuda_status(context, cudaMemcpy((char *)job->values + begin * row, memory.values, count * row,
                                                     cudaMemcpyDeviceToHost), "copying eigenvalues");
        if (status == HOT_OK && job->vectors)
            status = cuda_status(context, cudaMemcpy((char *)job->vectors + begin * vector, memory.vectors, count * vector,
                                                     cudaMemcpyDeviceToHost), "copying eigenvectors");
        for (size_t i = 0; i < count && status == HOT_OK; i++)
            if (state[i] == HEEV_BAD)
                hot_heev_refuse(job, begin + i);
        if (status == HOT_OK)
            status = hot_context_progress(context, "eigenvectors", (double)(begin + count) / (double)job->count);
    }
cleanup:
    hot_context_free(context, state);
    cudaFree(memory.base);
    return status;
}

hot_status hot_heev_measure_cuda(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                 double *seconds)
{
    hot_heev_job job = {};
    heev_memory memory = {};
    heev_plan plan;
    cudaEvent_t begin = NULL, end = NULL;
    size_t most = 1, most_shared = 0;
    job.f64 = job.is_complex = 1, job.n = job.kept = n, job.count = count;
    job.vectors = (void *)matrices; /* wanted; what is written to is on the device */
    hot_status status = reserve(context, &job, &memory, &plan, &most, &most_shared);
    if (status == HOT_OK && most < count)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "%zu matrices of size %zu do not fit this GPU at once", count, n);
    plan.count = (int)count;
    if (status == HOT_OK)
        status = cuda_status(context, cudaMemcpy(memory.matrices, matrices, 2 * count * n * n * sizeof(double),
                                                 cudaMemcpyHostToDevice), "copying");
    if (status == HOT_OK)
        status = cuda_status(context, cudaEventCreate(&begin), "an event");
    if (status == HOT_OK)
        status = cuda_status(context, cudaEventCreate(&end), "an event");
    for (int i = -2; i < repeats && status == HOT_OK; i++) {
        float ms = 0;
        cudaEventRecord(begin);
        status = start_any(context, &job, &plan, most_shared, memory.matrices, memory.values, memory.vectors);
        cudaEventRecord(end);
        if (status == HOT_OK)
            status = cuda_status(context, cudaEventSynchronize(end), "timing");
        if (status == HOT_OK)
            status = cuda_status(context, cudaEventElapsedTime(&ms, begin, end), "timing");
        if (i >= 0)
            seconds[i] = 1e-3 * ms;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaFree(memory.base);
    return status;
}

/* Tridiagonal eigenvalues on the GPU: a grid of shifts over Gerschgorin's interval, a thread each, brackets every
 * eigenvalue at once; then groups of 1 to 16 lanes narrow the bracket of one eigenvalue each, with one point per lane
 * in each sweep. A group waits for no other, so that all sweeps are one launch.
 *
 * Counts come from the three-term recurrence p_i = (a_i - x) p_(i-1) - b_(i-1)^2 p_(i-2) without divisions: eigenvalues
 * below x are sign changes. Its chain is one fused multiply-add per step, where the quotients have a division. It is
 * scaled by a power of two every few steps; off-diagonals below rounding are lifted to where it cannot vanish in
 * between, and should it vanish all the same the count is done again by quotients. For relative accuracy all counts use
 * quotients. A count that rounding leaves out of order does no harm: a bracket is kept by the two counts at its own
 * ends. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math.h>

#include "common/arena.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/entry.h"
#include "tridiag.h"
#include "tridiag_bound.h"
#include "tridiag_counter.cuh"
#include "tridiag_device.h"

enum { THREADS = 128, PREPARE_THREADS = 1024, TILE_BYTES = 16384 };

/* Matrices of a chunk, at most: more do not make it faster, and a grid of blocks must be able to count them. */
enum { MAX_CHUNK = 16384 };

template <typename T> struct limits;
template <> struct limits<float> {
    static __device__ float smallest_b2(bool exact) { return exact ? 1.17549435e-38f : 0x1p-52f; }
    static constexpr double epsilon = 1.1920929e-7, smallest = 1.1754944e-38;
};
template <> struct limits<double> {
    static __device__ double smallest_b2(bool exact) { return exact ? 2.2250738585072014e-308 : 0x1p-110; }
    static constexpr double epsilon = 2.220446049250313e-16, smallest = 2.2250738585072014e-308;
};

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* One count by quotients from the entries in device memory: for what vanished. */
template <typename T> __device__ int count_slowly(const tridiag_entry<T> *entries, int padded, T x)
{
    tridiag_counter<T, true> c;
    c.start(x);
    for (int i = 0; i < padded; i += TRIDIAG_GROUP)
        c.steps(entries + i);
    return c.below;
}

/* The block's counts at one shift per thread: the matrix passes through shared memory tile by tile, the next one on its
 * way while this one is worked on. Every thread of the block takes part. */
template <typename T, bool EXACT> __device__ int count_block(const tridiag_entry<T> *entries, int padded, T x)
{
    constexpr int TILE = TILE_BYTES / (int)sizeof(tridiag_entry<T>);
    __shared__ alignas(16) tridiag_entry<T> tiles[2][TILE];
    tridiag_counter<T, EXACT> c;
    c.start(x);
    auto load = [&](int tile, int buffer) {
        const char *from = reinterpret_cast<const char *>(entries + (size_t)tile * TILE);
        char *to = reinterpret_cast<char *>(tiles[buffer]);
        const int here = min(TILE, padded - tile * TILE) * (int)sizeof(tridiag_entry<T>);
        for (int at = (int)threadIdx.x * 16; at < here; at += THREADS * 16)
            __pipeline_memcpy_async(to + at, from + at, 16);
        __pipeline_commit();
    };
    const int count = (padded + TILE - 1) / TILE;
    __syncthreads(); /* a count before this one may still be reading */
    load(0, 0);
    for (int tile = 0; tile < count; tile++) {
        if (tile + 1 < count)
            load(tile + 1, (tile + 1) & 1);
        else
            __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const int here = min(TILE, padded - tile * TILE);
        for (int i = 0; i < here; i += TRIDIAG_GROUP)
            c.steps(tiles[tile & 1] + i);
        __syncthreads();
    }
    return c.vanished() ? count_slowly(entries, padded, x) : c.below;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static __device__ double block_reduce(double value, bool smallest, double *per_warp)
{
    for (int offset = 16; offset; offset >>= 1) {
        double other = __shfl_xor_sync(~0u, value, offset);
        value = smallest ? fmin(value, other) : fmax(value, other);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        per_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = per_warp[0];
    for (int warp = 1; warp < PREPARE_THREADS / 32; warp++)
        value = smallest ? fmin(value, per_warp[warp]) : fmax(value, per_warp[warp]);
    return value;
}

/* A block per matrix: the scale, the interval, the entries. IN: the caller's type, T: the type of the counts'
 * arithmetic. */
template <typename IN, typename T, bool EXACT>
__global__ void __launch_bounds__(PREPARE_THREADS)
    tridiag_prepare(const __grid_constant__ tridiag_plan plan, const IN *diagonal, const IN *off)
{
    __shared__ double per_warp[PREPARE_THREADS / 32];
    const size_t matrix = blockIdx.x;
    const int n = plan.n;
    const IN *a = diagonal + matrix * (size_t)n, *b = off + matrix * (size_t)(n - 1);
    tridiag_entry<T> *entries = (tridiag_entry<T> *)plan.entries + matrix * (size_t)plan.padded;
    double largest = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += PREPARE_THREADS) {
        double x = fabs((double)a[i]), y = i + 1 < n ? fabs((double)b[i]) : 0;
        largest = isfinite(x) && isfinite(y) ? fmax(largest, fmax(x, y)) : INFINITY;
    }
    largest = block_reduce(largest, false, per_warp);
    tridiag_info info = {};
    info.bad = !isfinite(largest) ? 1 : largest > 0 ? 0 : 2;
    if (info.bad == 0)
        frexp(largest, &info.exponent);
    double low = INFINITY, high = -INFINITY;
    const double scale = ldexp(1.0, -info.exponent / 2), rest = ldexp(1.0, -info.exponent - -info.exponent / 2);
#pragma unroll 4
    for (int i = threadIdx.x; i < plan.padded; i += PREPARE_THREADS) {
        tridiag_entry<T> e;
        e.a = 16; /* beyond n: positive pivots whatever the shift */
        e.b2 = limits<T>::smallest_b2(EXACT);
        if (i < n && info.bad == 0) {
            double x = (double)a[i] * scale * rest, before = i ? fabs((double)b[i - 1] * scale * rest) : 0;
            double after = i + 1 < n ? fabs((double)b[i] * scale * rest) : 0;
            low = fmin(low, x - before - after);
            high = fmax(high, x + before + after);
            e.a = (T)x;
            if (i > 0)
                e.b2 = fmax((T)(before * before), e.b2);
        }
        entries[i] = e;
    }
    low = block_reduce(low, true, per_warp);
    high = block_reduce(high, false, per_warp);
    if (threadIdx.x == 0) {
        const double norm = fmax(fabs(low), fabs(high)), margin = 16 * limits<T>::epsilon * norm + limits<T>::smallest;
        const double epsilon = limits<IN>::epsilon;
        info.low = low - margin;
        info.high = high + margin;
        info.relative = plan.options.relative > 0 ? fmax(plan.options.relative, 4 * epsilon) : 0;
        info.absolute = plan.options.absolute * scale * rest;
        if (!(plan.options.relative > 0))
            info.absolute = fmax(info.absolute, epsilon * norm);
        info.first = plan.options.range == HOT_TRIDIAG_INDEX ? (int)plan.options.first : 0;
        info.many = info.bad == 1 ? 0 : plan.options.range == HOT_TRIDIAG_INDEX ? plan.wanted : n;
        if (info.bad == 2 && plan.options.range == HOT_TRIDIAG_VALUE &&
            !(plan.options.low <= 0 && plan.options.high > 0))
            info.many = 0;
        plan.info[matrix] = info;
    }
}

/* Of a range of values: which eigenvalues are in it. Two threads per matrix. */
template <typename IN>
__global__ void tridiag_range(const __grid_constant__ tridiag_plan plan, const IN *diagonal, const IN *off)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, matrix = at / 2;
    int count = 0;
    if (matrix < plan.count && plan.info[matrix].bad == 0) {
        const hot_tridiag_given given = {(size_t)plan.n, sizeof(IN) == sizeof(double),
                                         diagonal + matrix * (size_t)plan.n, off + matrix * (size_t)(plan.n - 1)};
        count = (int)tridiag_below(&given, at % 2 ? plan.options.high : plan.options.low);
    }
    int other = __shfl_xor_sync(~0u, count, 1);
    if (matrix < plan.count && at % 2 == 0 && plan.info[matrix].bad == 0) {
        plan.info[matrix].first = count;
        plan.info[matrix].many = max(other - count, 0);
    }
}

/* A value as it goes out. */
static __device__ double as_bounded(double value, double low, double high) { return tridiag_within(value, low, high); }
static __device__ float as_bounded(float value, double low, double high)
{
    return tridiag_within_f32(value, low, high);
}

template <typename T> __device__ T grid_shift(const tridiag_info &info, int grid, int at)
{
    return at < 0       ? (T)info.low
           : at >= grid ? (T)info.high
                        : (T)(info.low + (info.high - info.low) * (at + 1) / (grid + 1));
}

template <typename T, bool EXACT>
__global__ void __launch_bounds__(THREADS) tridiag_grid(const __grid_constant__ tridiag_plan plan)
{
    const size_t matrix = blockIdx.x / plan.grid_blocks;
    const int at = (int)(blockIdx.x % plan.grid_blocks) * THREADS + (int)threadIdx.x;
    const tridiag_info info = plan.info[matrix];
    if (info.bad)
        return;
    const tridiag_entry<T> *entries = (const tridiag_entry<T> *)plan.entries + matrix * (size_t)plan.padded;
    int below = count_block<T, EXACT>(entries, plan.padded, grid_shift<T>(info, plan.grid, min(at, plan.grid - 1)));
    if (at < plan.grid)
        plan.below[matrix * (size_t)plan.grid + at] = below;
}

template <typename T, bool EXACT, typename OUT>
__global__ void __launch_bounds__(THREADS) tridiag_sweeps(const __grid_constant__ tridiag_plan plan, OUT *values)
{
    const size_t matrix = blockIdx.x / plan.sweep_blocks;
    const int lanes = plan.lanes, thread = (int)(blockIdx.x % plan.sweep_blocks) * THREADS + (int)threadIdx.x;
    const int at = thread / lanes, lane = thread % lanes;
    const tridiag_info info = plan.info[matrix];
    OUT *out = values + matrix * (size_t)plan.wanted;
    if (info.bad == 2 && at < info.many && lane == 0)
        out[at] = 0;
    if (info.bad)
        return;
    const tridiag_entry<T> *entries = (const tridiag_entry<T> *)plan.entries + matrix * (size_t)plan.padded;
    const int *below = plan.below + matrix * (size_t)plan.grid;
    const int index = info.first + min(at, max(info.many - 1, 0)); /* idle threads repeat the last */
    int left = -1, right = plan.grid; /* below[left] <= index < below[right] */
    while (right - left > 1) {
        int middle = (left + right) / 2;
        if (below[middle] > index)
            right = middle;
        else
            left = middle;
    }
    T low = grid_shift<T>(info, plan.grid, left), high = grid_shift<T>(info, plan.grid, right);
    const unsigned mask = (lanes == 32 ? ~0u : (1u << lanes) - 1), shift = threadIdx.x % 32 / lanes * lanes;
    const T part = (T)1 / (T)(lanes + 1);
    for (;;) {
        const T tolerance = (T)fmax(info.absolute, info.relative * fmin(fabs((double)low), fabs((double)high)));
        const T middle = low + (high - low) / 2;
        const bool open = high - low > tolerance && middle > low && middle < high;
        if (!__syncthreads_or(open))
            break;
        const T x = low + (high - low) * ((T)(lane + 1) * part);
        const int count = count_block<T, EXACT>(entries, plan.padded, x);
        const unsigned not_above = __ballot_sync(~0u, count <= index) >> shift & mask;
        const int first = __ffs(~not_above) - 1; /* how many points are below the eigenvalue */
        const T from = low, length = high - low;
        if (open && first < lanes)
            high = from + length * ((T)(first + 1) * part);
        if (open && first > 0)
            low = from + length * ((T)first * part);
    }
    if (at < info.many && lane == 0)
        out[at] = plan.options.range == HOT_TRIDIAG_VALUE
                      ? as_bounded((OUT)ldexp((double)(low + (high - low) / 2), info.exponent), plan.options.low,
                                   plan.options.high)
                      : (OUT)ldexp((double)(low + (high - low) / 2), info.exponent) + (OUT)0;
}

/* ---- Host -------------------------------------------------------------------------------------------------------- */

/* How finely the first count divides the interval and how many lanes narrow each bracket: what finishes soonest when a
 * sweep costs as many rounds as it has shifts for the threads that keep the GPU busy, and at least half a round. */
static void choose_shape(const hot_tridiag_args *args, bool there, int processors, size_t matrices, tridiag_plan *plan)
{
    const bool counted_in_float = !args->f64 && !(args->options.relative > 0);
    const double busy = 2.0 * THREADS * processors / (double)matrices; /* shifts per matrix */
    plan->grid = (int)fmin(fmax(busy, 64), 1 << 20) / THREADS * THREADS;
    plan->grid = plan->grid < THREADS ? THREADS : plan->grid;
    const double epsilon = counted_in_float ? 1.2e-7 : 2.2e-16;
    /* The tolerance as a part of the interval, by the first matrix; it only chooses the shape. Of matrices that are on
     * the GPU nothing is known here: as if the tolerance were none. */
    double largest = 0;
    for (size_t k = 0; k < args->n && !there && args->options.absolute > 0; k++)
        largest = fmax(largest,
                       fmax(fabs(hot_tridiag_a(args, 0, k)), k + 1 < args->n ? fabs(hot_tridiag_b(args, 0, k)) : 0));
    double part = args->options.relative > 0 ? 1e-3 * args->options.relative
                        : largest > 0                ? args->options.absolute / (5 * largest) : 0;
    double bits = -log2(part > epsilon ? part : epsilon) - log2((double)plan->grid);
    double best = INFINITY;
    for (int lanes = 1; lanes <= 16; lanes *= 2) {
        double sweeps = ceil(fmax(bits, 1) / log2(lanes + 1.0));
        double cost = sweeps * fmax((double)plan->wanted * lanes / busy, 0.5);
        if (cost < best)
            best = cost, plan->lanes = lanes;
    }
    plan->grid_blocks = (unsigned)((plan->grid + THREADS - 1) / THREADS);
    plan->sweep_blocks = (unsigned)(((size_t)plan->wanted * (size_t)plan->lanes + THREADS - 1) / THREADS);
}

template <typename IN, typename T, bool EXACT>
static void launch(const tridiag_plan *plan, const void *diagonal, const void *off, void *values, cudaStream_t stream)
{
    const unsigned count = (unsigned)plan->count;
    tridiag_prepare<IN, T, EXACT><<<count, PREPARE_THREADS, 0, stream>>>(*plan, (const IN *)diagonal, (const IN *)off);
    if (plan->options.range == HOT_TRIDIAG_VALUE)
        tridiag_range<IN><<<(2 * count + 63) / 64, 64, 0, stream>>>(*plan, (const IN *)diagonal, (const IN *)off);
    tridiag_grid<T, EXACT><<<count * plan->grid_blocks, THREADS, 0, stream>>>(*plan);
    tridiag_sweeps<T, EXACT, IN><<<count * plan->sweep_blocks, THREADS, 0, stream>>>(*plan, (IN *)values);
}

hot_status hot_tridiag_device_launch(hot_context *context, const hot_tridiag_args *args, const tridiag_plan *plan,
                                     const void *diagonal, const void *off, void *values, void *stream_pointer)
{
    cudaStream_t stream = (cudaStream_t)stream_pointer;
    if (args->f64 && args->options.relative > 0)
        launch<double, double, true>(plan, diagonal, off, values, stream);
    else if (args->f64)
        launch<double, double, false>(plan, diagonal, off, values, stream);
    else if (args->options.relative > 0)
        launch<float, double, true>(plan, diagonal, off, values, stream);
    else
        launch<float, float, false>(plan, diagonal, off, values, stream);
    return hot_cuda_status(context, cudaGetLastError(), "starting the eigenvalues");
}

void hot_tridiag_device_divide(const hot_tridiag_args *args, size_t count, hot_arena *arena, tridiag_plan *plan)
{
    const size_t entries = count * (size_t)plan->padded;
    if (args->f64 || args->options.relative > 0)
        plan->entries = hot_arena_array<tridiag_entry<double>>(arena, entries);
    else
        plan->entries = hot_arena_array<tridiag_entry<float>>(arena, entries);
    plan->below = hot_arena_array<int>(arena, count * (size_t)plan->grid);
}

hot_status hot_tridiag_device_plan(hot_context *context, const hot_tridiag_args *args, tridiag_plan *plan)
{
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return hot_cuda_status(context, error, "the size of the grid");
    *plan = tridiag_plan{};
    plan->options = args->options;
    plan->n = (int)args->n;
    plan->padded = (plan->n + TRIDIAG_GROUP - 1) / TRIDIAG_GROUP * TRIDIAG_GROUP;
    plan->wanted = args->options.range == HOT_TRIDIAG_INDEX ? (int)(args->options.last - args->options.first + 1)
                                                           : plan->n;
    choose_shape(args, hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE, processors,
                 args->count < MAX_CHUNK ? args->count : (size_t)MAX_CHUNK, plan);
    return HOT_OK;
}

/* ---- From the host ----------------------------------------------------------------------------------------------- */

/* The call, and the plan of all its chunks on all GPUs: the last bits depend on the plan's shape. */
typedef struct batch_args {
    const hot_tridiag_args *args;
    tridiag_plan plan;
} batch_args;

static hot_status launch_chunk(hot_context *context, void *user, void *, const hot_batch_chunk *chunk)
{
    const batch_args *call = (const batch_args *)user;
    const size_t value = call->args->f64 ? sizeof(double) : sizeof(float);
    tridiag_plan plan = call->plan;
    hot_arena arena = {(char *)chunk->scratch, 0};
    plan.count = chunk->count;
    plan.info = (tridiag_info *)chunk->out[1];
    hot_tridiag_device_divide(call->args, chunk->count, &arena, &plan);
    /* what is beyond the eigenvalues found is copied too */
    hot_status status = hot_cuda_status(context,
                                        cudaMemsetAsync(chunk->out[0], 0xff, chunk->count * (size_t)plan.wanted * value,
                                                        (cudaStream_t)chunk->stream),
                                        "clearing eigenvalues");
    return status != HOT_OK ? status
                            : hot_tridiag_device_launch(context, call->args, &plan, chunk->in[0], chunk->in[1],
                                                        chunk->out[0], chunk->stream);
}

/* From what the kernels say of each matrix to the rows and numbers that the caller gets. */
static void finish_rows(hot_context *context, const hot_tridiag_args *args, const tridiag_info *info)
{
#ifdef _OPENMP
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(args->count > 1000 ? threads : 1)) schedule(static)
#else
    (void)context;
#endif
    for (size_t i = 0; i < args->count; i++) {
        args->found[i] = info[i].bad == 1 ? -1 : info[i].many;
        hot_tridiag_ascend(args, i, (size_t)info[i].many);
        hot_tridiag_blank(args, i, (size_t)info[i].many);
    }
}

/* The same on the GPU, a thread for each matrix. */
template <typename T>
__global__ void finish_kernel(size_t count, const tridiag_info *info, T *values, size_t width, int64_t *found)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    T *row = values + i * width;
    const size_t many = (size_t)info[i].many;
    if (found)
        found[i] = info[i].bad == 1 ? -1 : info[i].many;
    for (size_t k = 1; k < many; k++)
        row[k] = fmax(row[k], row[k - 1]);
    for (size_t k = many; k < width; k++)
        row[k] = (T)NAN;
}

static hot_status finish_there(hot_context *context, const hot_tridiag_args *args, const tridiag_info *info)
{
    const unsigned threads = 128, blocks = (unsigned)((args->count + threads - 1) / threads);
    void *stream;
    hot_context_memory(context, &stream);
    if (args->f64)
        finish_kernel<<<blocks, threads, 0, (cudaStream_t)stream>>>(args->count, info, (double *)args->values,
                                                                    args->width, args->found);
    else
        finish_kernel<<<blocks, threads, 0, (cudaStream_t)stream>>>(args->count, info, (float *)args->values,
                                                                    args->width, args->found);
    return hot_cuda_status(context, cudaGetLastError(), "ordering eigenvalues");
}

hot_status hot_tridiag_cuda(hot_context *context, void *argument)
{
    const hot_tridiag_args *args = (const hot_tridiag_args *)argument;
    const size_t value = args->f64 ? sizeof(double) : sizeof(float);
    const bool there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    batch_args call = {args, {}};
    hot_batch batch = {};
    hot_arena scratch = {NULL, 0};
    tridiag_info *info = NULL;
    hot_status status = HOT_OK;
    if (there) {
        status = hot_device_check(context, "found", args->found);
        if (status == HOT_OK)
            status = hot_device_alloc(context, args->count * sizeof *info, (void **)&info, "working memory");
    } else {
        info = (tridiag_info *)hot_context_alloc(context, args->count, sizeof *info);
        status = info ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK)
        status = hot_tridiag_device_plan(context, args, &call.plan);
    if (status == HOT_OK) {
        tridiag_plan unused = call.plan;
        batch.stage = "finding eigenvalues";
        batch.count = args->count;
        batch.in[0] = hot_batch_strided("the diagonals", args->diagonal, args->n * value, args->stride * value);
        batch.in[1] = hot_batch_strided("the off-diagonals", args->off, (args->n - 1) * value, args->stride * value);
        batch.out[0] = hot_batch_strided("values", args->values, (size_t)call.plan.wanted * value,
                                         args->width * value);
        batch.out[1] = hot_batch_rows(NULL, info, sizeof *info);
        hot_tridiag_device_divide(args, 1, &scratch, &unused);
        batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, scratch.used);
        batch.chunk = batch.chunk < MAX_CHUNK ? batch.chunk : (size_t)MAX_CHUNK;
        scratch.used = 0;
        hot_tridiag_device_divide(args, batch.chunk, &scratch, &unused);
        batch.scratch = scratch.used;
        batch.user = &call;
        batch.launch = launch_chunk;
        status = hot_batch_run(context, &batch);
    }
    if (status == HOT_OK && there)
        status = finish_there(context, args, info);
    else if (status == HOT_OK)
        finish_rows(context, args, info);
    if (there)
        hot_device_release(context, info);
    else
        hot_context_free(context, info);
    return status;
}

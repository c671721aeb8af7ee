/* hot_fit_weighted_f32 on a GPU. The steps of the CPU backend (fit_weighted_cpu.c) in its order and
 * with its roundings (no multiply and add at once), so that both give the same bits: normal equations, Cholesky, and QR
 * of the weighted design where Cholesky loses too much. A thread per voxel; what a voxel needs lies interleaved,
 * [entry][voxel]. */
#include <algorithm>
#include <cuda_runtime.h>

#include "common/arena.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "fit/fit.h"

namespace {

enum { ITEMS = 128, OUTPUTS = 14, ROWS = 32, /* of a block, of a pass, and in shared memory at a time */
       MAX_CHUNK = 1 << 18, QR_THREADS = 64, MAX_QR = 8192 };
const size_t QR_BYTES = (size_t)64 << 20;
enum : uint8_t { USABLE = 0, UNUSABLE, BY_QR };

/* The data of a chunk's kernels. */
struct weighted_chunk {
    size_t rows, columns, pairs, count, qr_threads;
    const double *design;      /* rows x columns */
    const float *input, *weight;
    float *coefficients;       /* count x columns */
    uint8_t *flags;            /* or NULL */
    uint8_t *state;            /* count */
    double *gram, *right, *z;  /* [pair][count], [column][count] twice */
    double *qr, *qr_right;     /* [entry][qr_threads]: rows x columns; rows + 2 columns */
};

/* Whether all weights and data of a voxel can be used; a warp per voxel. */
__global__ void __launch_bounds__(ITEMS) usable_kernel(const __grid_constant__ weighted_chunk data)
{
    const size_t item = (size_t)blockIdx.x * (ITEMS / 32) + threadIdx.x / 32;
    if (item >= data.count)
        return;
    bool good = true;
    for (size_t r = threadIdx.x % 32; r < data.rows; r += 32) {
        const float w = data.weight[item * data.rows + r], y = data.input[item * data.rows + r];
        good = good && w >= 0 && w <= 3.4e38f && fabsf(y) <= 3.4e38f;
    }
    good = __all_sync(0xffffffff, good);
    if (threadIdx.x % 32 == 0)
        data.state[item] = good ? USABLE : UNUSABLE;
}

/* The column of the design that is factor `which` of output `out`: of a pair (a, b <= a), or of D^T W y. */
__device__ __forceinline__ double design_value(const weighted_chunk &data, bool right, size_t out, size_t row)
{
    if (right)
        return data.design[row * data.columns + out];
    size_t a = (size_t)((sqrt(8. * (double)out + 1) - 1) / 2);
    while (a * (a + 1) / 2 > out)
        a--;
    while ((a + 1) * (a + 2) / 2 <= out)
        a++;
    return __dmul_rn(data.design[row * data.columns + a], data.design[row * data.columns + out - a * (a + 1) / 2]);
}

/* The normal equations' entries (RIGHT: right-hand sides), OUTPUTS of them for each voxel at a time. */
template <bool RIGHT>
__global__ void __launch_bounds__(ITEMS) moments_kernel(const __grid_constant__ weighted_chunk data)
{
    __shared__ double part[ROWS][OUTPUTS];
    __shared__ double tile[ROWS][ITEMS + 1];
    const size_t first = (size_t)blockIdx.x * ITEMS, item = first + threadIdx.x, out = (size_t)blockIdx.y * OUTPUTS;
    const size_t outputs = RIGHT ? data.columns : data.pairs;
    double sum[OUTPUTS] = {0};
    for (size_t row = 0; row < data.rows; row += ROWS) {
        const int height = data.rows - row < ROWS ? (int)(data.rows - row) : ROWS;
        __syncthreads();
        for (int i = (int)threadIdx.x; i < OUTPUTS * height; i += ITEMS) {
            const int o = i % OUTPUTS, r = i / OUTPUTS;
            part[r][o] = out + o < outputs ? design_value(data, RIGHT, out + o, row + r) : 0;
        }
        for (int i = (int)threadIdx.x; i < ITEMS * height; i += ITEMS) {
            const int n = i / height, r = i % height;
            if (first + n < data.count) {
                const size_t at = (first + n) * data.rows + row + r;
                const bool good = data.state[first + n] == USABLE;
                const double w = good ? data.weight[at] : 0;
                tile[r][n] = RIGHT && good ? __dmul_rn(w, (double)data.input[at]) : w;
            }
        }
        __syncthreads();
        if (item < data.count)
            for (int r = 0; r < height; r++) {
                const double x = tile[r][threadIdx.x];
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++)
                    sum[o] = __dadd_rn(sum[o], __dmul_rn(part[r][o], x));
            }
    }
    double *const to = RIGHT ? data.right : data.gram;
    if (item < data.count)
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            if (out + o < outputs)
                to[(out + o) * data.count + item] = sum[o];
}

/* hot_fit_cholesky, a thread per voxel. */
__global__ void __launch_bounds__(ITEMS) cholesky_kernel(const __grid_constant__ weighted_chunk data)
{
    const size_t item = (size_t)blockIdx.x * ITEMS + threadIdx.x, n = data.columns, step = data.count;
    if (item >= data.count)
        return;
    double *const gram = data.gram + item, *const right = data.right + item, *const z = data.z + item;
    double length = 0;
    float *const x = data.coefficients + item * n;
    const bool usable = data.state[item] == USABLE;
    bool bad = false;
    for (size_t i = 0; i < n && usable && !bad; i++) {
        double *const row_i = gram + i * (i + 1) / 2 * step;
        for (size_t j = 0; j <= i; j++) {
            const double *const row_j = gram + j * (j + 1) / 2 * step;
            const double start = row_i[j * step];
            double sum = start;
            for (size_t k = 0; k < j; k++)
                sum = __dsub_rn(sum, __dmul_rn(row_i[k * step], row_j[k * step]));
            if (j < i)
                row_i[j * step] = __dmul_rn(sum, row_j[j * step]); /* the diagonal holds 1 / pivot */
            else if (!(sum > __dmul_rn(1e-8, start)) || !(sum > 0))
                bad = true;
            else {
                const double inverse = __ddiv_rn(1, __dsqrt_rn(sum)), root = __dsqrt_rn(start);
                double solved = right[i * step], along = 0;
                row_i[j * step] = inverse;
                for (size_t k = 0; k < i; k++) {
                    const double l = row_i[k * step];
                    solved = __dsub_rn(solved, __dmul_rn(l, right[k * step]));
                    along = __dadd_rn(along, __dmul_rn(l, z[k * step]));
                }
                const double value = __dmul_rn(__dsub_rn(along > 0 ? -root : root, along), inverse);
                right[i * step] = __dmul_rn(solved, inverse);
                z[i * step] = value;
                length = __dadd_rn(length, __dmul_rn(value, value));
            }
        }
    }
    bad = bad || !(length <= HOT_FIT_CONDITION);
    if (!usable || bad) {
        if (usable)
            data.state[item] = BY_QR;
        for (size_t c = 0; c < n; c++)
            x[c] = 0;
        if (data.flags)
            data.flags[item] = 1; /* what QR solves gets 0 then */
        return;
    }
    for (size_t i = n; i-- > 0;) {
        const double *const row_i = gram + i * (i + 1) / 2 * step;
        const double solved = __dmul_rn(right[i * step], row_i[i * step]);
        x[i] = (float)solved;
        for (size_t k = 0; k < i; k++)
            right[k * step] = __dsub_rn(right[k * step], __dmul_rn(row_i[k * step], solved));
    }
    if (data.flags)
        data.flags[item] = 0;
}

/* A thread's columns of numbers that lie interleaved. */
struct strided {
    double *first;
    size_t step;
    __device__ __forceinline__ double &operator[](size_t at) const { return first[at * step]; }
};

/* hot_fit_qr_solve: least squares of a (rows x columns) and right by Householder reflections. */
__device__ bool qr_solve(size_t rows, size_t columns, strided a, strided right, strided x, strided diagonal)
{
    double largest_pivot = 0, smallest_pivot = INFINITY;
    if (rows < columns)
        return false;
    for (size_t k = 0; k < columns; k++) {
        double largest = 0, sum = 0;
        for (size_t i = k; i < rows; i++)
            largest = fmax(largest, fabs(a[i * columns + k]));
        diagonal[k] = 0;
        if (largest == 0)
            continue;
        for (size_t i = k; i < rows; i++) {
            const double t = __ddiv_rn(a[i * columns + k], largest);
            sum = __dadd_rn(sum, __dmul_rn(t, t));
        }
        const double norm = copysign(__dmul_rn(largest, __dsqrt_rn(sum)), a[k * columns + k]);
        for (size_t i = k; i < rows; i++)
            a[i * columns + k] = __ddiv_rn(a[i * columns + k], norm);
        a[k * columns + k] = __dadd_rn(a[k * columns + k], 1);
        for (size_t j = k + 1; j < columns; j++) {
            double dot = 0;
            for (size_t i = k; i < rows; i++)
                dot = __dadd_rn(dot, __dmul_rn(a[i * columns + k], a[i * columns + j]));
            dot = __ddiv_rn(dot, a[k * columns + k]);
            for (size_t i = k; i < rows; i++)
                a[i * columns + j] = __dsub_rn(a[i * columns + j], __dmul_rn(dot, a[i * columns + k]));
        }
        diagonal[k] = -norm;
    }
    for (size_t k = 0; k < columns; k++) {
        largest_pivot = fmax(largest_pivot, fabs(diagonal[k]));
        smallest_pivot = fmin(smallest_pivot, fabs(diagonal[k]));
    }
    if (!(smallest_pivot > __dmul_rn(1e-10, largest_pivot)))
        return false;
    for (size_t k = 0; k < columns; k++) {
        double dot = 0;
        for (size_t i = k; i < rows; i++)
            dot = __dadd_rn(dot, __dmul_rn(a[i * columns + k], right[i]));
        dot = __ddiv_rn(dot, a[k * columns + k]);
        for (size_t i = k; i < rows; i++)
            right[i] = __dsub_rn(right[i], __dmul_rn(dot, a[i * columns + k]));
    }
    for (size_t i = columns; i-- > 0;) {
        double sum = right[i];
        for (size_t j = i + 1; j < columns; j++)
            sum = __dsub_rn(sum, __dmul_rn(a[i * columns + j], x[j]));
        x[i] = __ddiv_rn(sum, diagonal[i]);
    }
    return true;
}

/* The voxels that Cholesky left, few threads for all of them. */
__global__ void __launch_bounds__(QR_THREADS) qr_kernel(const __grid_constant__ weighted_chunk data)
{
    const size_t rows = data.rows, columns = data.columns, step = data.qr_threads;
    const size_t thread = (size_t)blockIdx.x * QR_THREADS + threadIdx.x;
    const strided a = {data.qr + thread, step}, right = {data.qr_right + thread, step},
                  x = {right.first + rows * step, step}, diagonal = {x.first + columns * step, step};
    for (size_t item = thread; item < data.count; item += step) {
        if (data.state[item] != BY_QR)
            continue;
        for (size_t r = 0; r < rows; r++) {
            const double root = __dsqrt_rn((double)data.weight[item * rows + r]);
            right[r] = __dmul_rn(root, (double)data.input[item * rows + r]);
            for (size_t c = 0; c < columns; c++)
                a[r * columns + c] = __dmul_rn(root, data.design[r * columns + c]);
        }
        bool good = qr_solve(rows, columns, a, right, x, diagonal);
        for (size_t c = 0; c < columns && good; c++)
            good = isfinite(x[c]);
        for (size_t c = 0; c < columns && good; c++)
            data.coefficients[item * columns + c] = (float)x[c];
        if (good && data.flags)
            data.flags[item] = 0;
    }
}

/* The arrays of a chunk that are not the caller's. */
void divide(weighted_chunk *data, hot_arena *arena)
{
    const size_t most = QR_BYTES / (data->rows * (data->columns + 1) * sizeof(double));
    data->pairs = data->columns * (data->columns + 1) / 2;
    data->qr_threads = std::max(std::min(most, (size_t)MAX_QR) / QR_THREADS, (size_t)1) * QR_THREADS;
    data->state = hot_arena_array<uint8_t>(arena, data->count);
    data->gram = hot_arena_array<double>(arena, data->count * data->pairs);
    data->right = hot_arena_array<double>(arena, data->count * data->columns);
    data->z = hot_arena_array<double>(arena, data->count * data->columns);
    data->qr = hot_arena_array<double>(arena, data->qr_threads * data->rows * data->columns);
    data->qr_right = hot_arena_array<double>(arena, data->qr_threads * (data->rows + 2 * data->columns));
}

hot_status begin_device(hot_context *context, void *user, void **design)
{
    const hot_fit_weighted_args *args = (const hot_fit_weighted_args *)user;
    return hot_device_upload(context, args->design, args->rows * args->columns * sizeof(double), design,
                             "memory for a design");
}

void end_device(hot_context *context, void *, void *design) { hot_device_release(context, design); }

hot_status launch_chunk(hot_context *context, void *user, void *design, const hot_batch_chunk *chunk)
{
    const hot_fit_weighted_args *args = (const hot_fit_weighted_args *)user;
    cudaStream_t stream = (cudaStream_t)chunk->stream;
    hot_arena arena = {(char *)chunk->scratch, 0};
    weighted_chunk data = {};
    data.rows = args->rows, data.columns = args->columns, data.count = chunk->count;
    data.design = (const double *)design;
    data.input = (const float *)chunk->in[0], data.weight = (const float *)chunk->in[1];
    data.coefficients = (float *)chunk->out[0], data.flags = (uint8_t *)chunk->out[1];
    divide(&data, &arena);
    const unsigned blocks = (unsigned)((chunk->count + ITEMS - 1) / ITEMS);
    usable_kernel<<<(unsigned)((chunk->count + ITEMS / 32 - 1) / (ITEMS / 32)), ITEMS, 0, stream>>>(data);
    moments_kernel<false>
        <<<dim3(blocks, (unsigned)((data.pairs + OUTPUTS - 1) / OUTPUTS)), ITEMS, 0, stream>>>(data);
    moments_kernel<true>
        <<<dim3(blocks, (unsigned)((data.columns + OUTPUTS - 1) / OUTPUTS)), ITEMS, 0, stream>>>(data);
    cholesky_kernel<<<blocks, ITEMS, 0, stream>>>(data);
    qr_kernel<<<(unsigned)(data.qr_threads / QR_THREADS), QR_THREADS, 0, stream>>>(data);
    return hot_cuda_status(context, cudaGetLastError(), "starting a weighted fit");
}

} // namespace

hot_status hot_fit_weighted_cuda(hot_context *context, void *argument)
{
    const hot_fit_weighted_args *args = (const hot_fit_weighted_args *)argument;
    weighted_chunk sizes = {};
    hot_arena arena = {NULL, 0};
    hot_batch batch = {};
    sizes.rows = args->rows, sizes.columns = args->columns;
    divide(&sizes, &arena);
    batch.stage = "fitting";
    batch.count = args->count;
    batch.in[0] = hot_batch_rows("input", args->input, args->rows * sizeof(float));
    batch.in[1] = hot_batch_rows("weight", args->weight, args->rows * sizeof(float));
    batch.out[0] = hot_batch_strided("coefficients", args->coefficients, args->columns * sizeof(float),
                                     args->output_stride * sizeof(float));
    batch.out[1] = hot_batch_rows("flags", args->flags, 1);
    const size_t each = (sizes.pairs + 2 * args->columns) * sizeof(double) + 1;
    batch.chunk = std::min(hot_batch_fit(context, &batch, 2 * HOT_BATCH_BYTES, each), (size_t)MAX_CHUNK);
    sizes.count = batch.chunk, arena.used = 0;
    divide(&sizes, &arena);
    batch.scratch = arena.used;
    return hot_batch_run_with(context, &batch, argument, begin_device, launch_chunk, end_device);
}

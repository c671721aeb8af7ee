/* See cpd_pass.h: memory, the factors' images, and the sums that follow a pass. */
#include <algorithm>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "../common/cuda_status.h"
#include "cpd_chain.cuh"
#include "cpd_eights.cuh"
#include "cpd_job.h"
#include "cpd_pass.h"
#include "cpd_step.h"

enum { FREE_SHARED = 227 * 1024 - 1024 - 512 /* alignment, barriers */, HALF_BIAS = 15 /* halves reach 2^16 */ };

typedef decltype(&cuTensorMapEncodeTiled) encode_function;

/* A kind of pass: what it contracts, what its rows are and what it runs over, and how it is launched. */
typedef struct way {
    int contracted, rows, over, bytes;
    const void *kernel;
    hot_cpd_job job;
    CUtensorMap map;
} way;

struct hot_cpd_pass {
    size_t n[3], rank;
    int split, blocks, columns; /* columns: the rank, rounded up */
    cudaStream_t stream;
    float *copy;       /* of x with rows of whole lines of memory, or NULL */
    void *image[3];    /* the factors for shared memory */
    float *rows[3];    /* [row][column] */
    float *column[3];  /* what each column of an image was multiplied with */
    float *scale;      /* x's; behind it room for the search */
    float *sums;
    void *store;
    float store_scale;
    way product[3], sum[3]; /* products for a mode; sums over a mode, which are kept */
    const way *kept;
};

static size_t tiles(size_t n) { return (n + CPD_SIDE - 1) / CPD_SIDE; }
static size_t image_bytes(const hot_cpd_pass *pass) { return (size_t)pass->columns * 128 * (pass->split ? 2 : 1); }
static hot_status launched(hot_context *context, const char *what)
{
    return hot_cuda_status(context, cudaGetLastError(), what);
}

namespace {

/* The power of two that brings the largest of `most` (bits of a float >= 0) to [2^(HALF_BIAS - 1), 2^HALF_BIAS). */
__device__ __forceinline__ float power_for(unsigned bits)
{
    const int exponent = (int)(bits >> 23) - 126; /* most < 2^exponent */
    return bits ? exp2f((float)max(-126, min(126, HALF_BIAS - exponent))) : 1;
}

__global__ void __launch_bounds__(512) largest_kernel(const float *x, size_t count, unsigned *most)
{
    unsigned here = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const unsigned bits = __float_as_uint(x[i]) & 0x7fffffff;
        here = bits < 0x7f800000 ? max(here, bits) : here; /* NaN and Inf go their own way */
    }
    here = __reduce_max_sync(0xffffffff, here);
    if (threadIdx.x % 32 == 0)
        atomicMax(most, here);
}

__global__ void scale_kernel(const unsigned *most, float *scale) { *scale = power_for(*most); }

/* A column per block of a factor (n x rank) into its image, [tile of 64][high, low][column][64] swizzled, and into rows
 * of floats. */
__global__ void __launch_bounds__(256) image_kernel(const float *f, int n, int rank, int columns, int contiguous,
                                                    int split, __half *image, float *rows, float *scales)
{
    __shared__ unsigned most;
    const int c = blockIdx.x;
    const float *const from = f + (size_t)n * c;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    unsigned here = 0;
    for (int i = threadIdx.x; i < n && c < rank; i += 256) {
        const unsigned bits = __float_as_uint(from[i]) & 0x7fffffff;
        here = bits < 0x7f800000 ? max(here, bits) : here;
    }
    here = __reduce_max_sync(0xffffffff, here);
    if (threadIdx.x % 32 == 0)
        atomicMax(&most, here);
    __syncthreads();
    const float scale = power_for(most);
    if (threadIdx.x == 0)
        scales[c] = scale;
    for (int i = threadIdx.x; i < (n + CPD_SIDE - 1) / CPD_SIDE * CPD_SIDE; i += 256) {
        const float value = i < n && c < rank ? from[i] : 0;
        const int p = i % CPD_SIDE, q = p % 4;
        const int at = !contiguous ? p : p / 16 * 16 + (q < 2 ? 0 : 8) + p % 16 / 4 * 2 + q % 2;
        __half *const to = image + (size_t)(i / CPD_SIDE) * columns * CPD_SIDE * (split ? 2 : 1) + c * CPD_SIDE +
                           ((at / 8 ^ c % 8) * 8 + at % 8);
        const __half high = __float2half_rn(value * scale);
        to[0] = high;
        if (split)
            to[columns * CPD_SIDE] = __float2half_rn(value * scale - __half2float(high));
        if (i < n)
            rows[(size_t)i * columns + c] = value;
    }
}

/* The last block whose units begin at or before one. */
__device__ __forceinline__ int block_of(const hot_cpd_job &job, int unit)
{
    int block = 0;
    for (int step = 128; step; step /= 2)
        block += block + step < job.blocks && job.first[block + step] <= unit ? step : 0;
    return block;
}

/* out[row, r] from the blocks' sums, in order. A block per 32 values, its warps share the sums. */
__global__ void __launch_bounds__(256) gather_kernel(const __grid_constant__ hot_cpd_job job, int rank, int columns,
                                                     const float *scales, double *out)
{
    __shared__ double parts[8][32];
    const int at = blockIdx.x * 32 + threadIdx.x % 32, row = at / columns, r = at % columns, part = threadIdx.x / 32;
    const int tile = min(row, job.rows - 1) / job.pitch, per_tile = job.chunks * job.over;
    const int first = block_of(job, tile * per_tile), last = block_of(job, (tile + 1) * per_tile - 1);
    chain_wait();
    chain_next();
    double sum = 0;
    if (row < job.rows) {
        const float *const from = job.sums + ((size_t)tile * 64 + row - tile * job.pitch) * columns + r;
#pragma unroll 4
        for (int b = first + part; b <= last; b += 8)
            sum += from[(size_t)b * 64 * columns];
    }
    parts[part][threadIdx.x % 32] = sum;
    __syncthreads();
    if (part == 0 && row < job.rows && r < rank) {
        for (int p = 1; p < 8; p++)
            sum += parts[p][threadIdx.x % 32];
        out[row + (size_t)job.rows * r] = sum / ((double)*job.scale * scales[r]);
    }
}

/* out[v, r] = sum over rows of w[row][r] T[v][row][r]. A block per VS of v; threads along columns (eight each), then
 * rows. */
template <typename T, int VS, int THREADS>
__global__ void __launch_bounds__(THREADS) over_rows(const T *store, int rows, int over, int rank, int columns,
                                                     const float *w, double factor, const float *scale,
                                                     const float *scales, double *out)
{
    extern __shared__ float parts[]; /* [lane][v][column] */
    const int eights = columns / 8, lanes = THREADS / eights, v0 = blockIdx.x * VS;
    const int e = threadIdx.x % eights * 8, lane = threadIdx.x / eights;
    float sum[VS][8] = {};
    chain_wait();
    chain_next();
    if (lane < lanes) {
#pragma unroll 4
        for (int row = lane; row < rows; row += lanes) {
            float weight[8], value[8];
            get(w + (size_t)row * columns + e, weight);
#pragma unroll
            for (int u = 0; u < VS; u++) {
                get(store + ((size_t)min(v0 + u, over - 1) * rows + row) * columns + e, value);
#pragma unroll
                for (int c = 0; c < 8; c++)
                    sum[u][c] += weight[c] * value[c];
            }
        }
#pragma unroll
        for (int u = 0; u < VS; u++)
#pragma unroll
            for (int c = 0; c < 8; c++)
                parts[(lane * VS + u) * columns + e + c] = sum[u][c];
    }
    __syncthreads();
    /* Sums of lanes in two rounds, so that many threads share them. */
    const int values = VS * columns, shares = max(1, min(lanes, THREADS / values)), at = threadIdx.x;
    float share = 0;
    if (at < values * shares)
        for (int l = at / values; l < lanes; l += shares)
            share += parts[l * values + at % values];
    __syncthreads();
    if (at < values * shares)
        parts[at] = share;
    __syncthreads();
    if (at < values) {
        const int u = at / columns, r = at % columns;
        double total = 0;
        for (int l = 0; l < shares; l++)
            total += parts[l * values + at];
        if (v0 + u < over && r < rank)
            out[v0 + u + (size_t)over * r] = total * factor / ((double)*scale * scales[r]);
    }
}

/* out[row, r] = sum over v of w[v][r] T[v][row][r]. A block per 32 groups of eight values of a slab; its warps share
 * the v. */
template <typename T>
__global__ void __launch_bounds__(1024) over_slabs(const T *store, int rows, int over, int rank, int columns,
                                                   const float *w, double factor, const float *scale,
                                                   const float *scales, double *out)
{
    __shared__ float parts[32][32][9];
    const int lane = threadIdx.x % 32, part = threadIdx.x / 32, parts_count = blockDim.x / 32;
    const size_t slab = (size_t)rows * columns, at = ((size_t)blockIdx.x * 32 + lane) * 8;
    float sum[8] = {};
    chain_wait();
    chain_next();
    if (at < slab) {
#pragma unroll 4
        for (int v = part; v < over; v += parts_count) {
            float weight[8], value[8];
            get(w + (size_t)v * columns + at % columns, weight);
            get(store + slab * v + at, value);
#pragma unroll
            for (int c = 0; c < 8; c++)
                sum[c] += weight[c] * value[c];
        }
    }
#pragma unroll
    for (int c = 0; c < 8; c++)
        parts[part][lane][c] = sum[c];
    __syncthreads();
    if (threadIdx.x < 256) {
        const size_t here = (size_t)blockIdx.x * 256 + threadIdx.x;
        const int r = (int)(here % columns);
        double total = 0;
        for (int p = 0; p < parts_count; p++)
            total += parts[p][threadIdx.x / 8][threadIdx.x % 8];
        if (here < slab && r < rank)
            out[here / columns + (size_t)rows * r] = total * factor / ((double)*scale * scales[r]);
    }
}

} // namespace

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static encode_function find_encode(void)
{
    void *found = NULL;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess)
        cudaGetLastError();
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? (encode_function)found : NULL;
}

/* A pass over x, rows ld apart, that contracts one mode; the result's rows are of another. */
static hot_status make_way(hot_context *context, const hot_cpd_pass *pass, encode_function encode, const float *x,
                           size_t ld, int contracted, int rows, bool store, bool weighted, way *w)
{
    const bool contiguous = contracted == 0;
    const int image = (int)image_bytes(pass), fold = weighted ? 64 * pass->columns * 4 * (CPD_GROUPS - 1) : 0;
    hot_cpd_job *job = &w->job;
    w->contracted = contracted, w->rows = rows, w->over = 3 - contracted - rows;
    job->rows = (int)pass->n[rows], job->over = (int)pass->n[w->over], job->line_is_j = w->over == 2;
    job->row_tiles = (int)tiles(pass->n[rows]), job->k_tiles = (int)tiles(pass->n[contracted]);
    /* Rows along memory are taken in whole lines of it. */
    job->pitch = contiguous ? (job->rows + job->row_tiles - 1) / job->row_tiles : CPD_SIDE;
    /* As much of the factor as leaves room for four stages; where all of it is needed, for three or as a stream. */
    const int room = FREE_SHARED - fold, stage = CPD_GROUPS * CPD_TILE;
    const int some = pass->split ? 2 : contiguous ? 4 : 3; /* as measured */
    const int most = store ? (room - 3 * stage) / image : std::min(some, (room - 4 * stage) / image);
    const bool streamed = store && job->k_tiles > most;
    job->chunks = store ? 1 : (job->k_tiles + most - 1) / most;
    if (!store && job->k_tiles * image + 3 * stage <= room)
        job->chunks = 1;
    job->chunk = (job->k_tiles + job->chunks - 1) / job->chunks;
    job->chunks = (job->k_tiles + job->chunk - 1) / job->chunk;
    const int fixed = (streamed ? 0 : job->chunk * image) + fold, each = stage + (streamed ? image : 0);
    job->stages = (FREE_SHARED - fixed) / each;
    w->bytes = 1024 + job->stages * each + fixed + 16 * job->stages + 16;
    const double units = (double)job->row_tiles * job->chunks * job->over;
    if (units > INT_MAX / 2)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "%zu x %zu x %zu is more than the GPU's kernels count",
                                pass->n[0], pass->n[1], pass->n[2]);
    job->blocks = std::min(pass->blocks, ((int)units + CPD_GROUPS - 1) / CPD_GROUPS);
    for (int b = 0; b <= job->blocks; b++)
        job->first[b] = (int)(units * b / job->blocks);
    job->image = (const __half *)pass->image[contracted], job->scale = pass->scale, job->sums = pass->sums;
    job->weight = weighted ? pass->rows[w->over] : NULL;
    job->store = pass->store, job->store_scale = pass->store_scale;
    int columns;
    w->kernel = hot_cpd_pass_kernel((int)pass->rank, contiguous, pass->split, store ? CPD_STORE : CPD_SUMS_ONLY,
                                    streamed, &columns);
    const unsigned lines = contiguous ? job->pitch : CPD_SIDE;
    const cuuint64_t dims[3] = {pass->n[0], pass->n[1], pass->n[2]}, strides[2] = {ld * 4, ld * pass->n[1] * 4};
    const cuuint32_t box[3] = {CPD_SIDE / 2, job->line_is_j ? lines : 1, job->line_is_j ? 1 : lines},
                     steps[3] = {1, 1, 1};
    if (encode(&w->map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)x, dims, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no map of a tensor of %zu x %zu x %zu", pass->n[0],
                                pass->n[1], pass->n[2]);
    return hot_cuda_status(context,
                           cudaFuncSetAttribute(w->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024),
                           "shared memory");
}

hot_status hot_cpd_pass_create(hot_context *context, const float *x, const size_t n[3], size_t rank, int split,
                               int keep, void *stream, hot_cpd_pass **out)
{
    int device = 0, major = 0, minor = 0;
    *out = NULL;
    hot_status status = hot_cuda_status(context, cudaGetDevice(&device), "device");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                                 "device");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                                 "device");
    const encode_function encode = status == HOT_OK && major == 9 && minor == 0 ? find_encode() : NULL;
    if (!encode || rank > CPD_MOST_COLUMNS || (uintptr_t)x % 16)
        return status;
    hot_cpd_pass *pass = NULL;
    {   /* maps lie on multiples of their alignment */
        void *memory = hot_context_calloc(context, 1, sizeof *pass + alignof(hot_cpd_pass) + sizeof(void *));
        if (!memory)
            return HOT_ERROR_MEMORY;
        pass = (hot_cpd_pass *)(((uintptr_t)memory + sizeof(void *) + alignof(hot_cpd_pass) - 1) /
                                alignof(hot_cpd_pass) * alignof(hot_cpd_pass));
        ((void **)pass)[-1] = memory;
    }
    memcpy(pass->n, n, sizeof pass->n);
    pass->rank = rank, pass->split = split, pass->stream = (cudaStream_t)stream;
    hot_cpd_pass_kernel((int)rank, 0, split, CPD_SUMS_ONLY, 0, &pass->columns);
    status = hot_cuda_status(context, cudaDeviceGetAttribute(&pass->blocks, cudaDevAttrMultiProcessorCount, device),
                             "device");
    pass->blocks = std::min<int>(pass->blocks, CPD_MOST_BLOCKS);
    const auto room = [&](void *where, size_t bytes) {
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMalloc((void **)where, bytes), "memory for products");
    };
    /* Rows that do not begin with a line of memory cost a third of the speed. */
    const size_t line = 128 / sizeof(float), ld = (n[0] + line - 1) / line * line;
    size_t stored = 0, longest = 0;
    for (int m = 0; m < 3; m++) {
        room(&pass->image[m], tiles(n[m]) * image_bytes(pass));
        room(&pass->rows[m], n[m] * pass->columns * sizeof(float));
        room(&pass->column[m], pass->columns * sizeof(float));
        stored = std::max(stored, n[(m + 1) % 3] * n[(m + 2) % 3]);
        longest = std::max(longest, n[m]);
    }
    room(&pass->sums, (pass->blocks + tiles(longest)) * 64 * pass->columns * sizeof(float));
    room(&pass->scale, 2 * sizeof(float));
    if (keep)
        room(&pass->store, stored * pass->columns * (split ? sizeof(float) : sizeof(__half)));
    if (ld != n[0])
        room(&pass->copy, ld * n[1] * n[2] * sizeof(float));
    if (status == HOT_OK && pass->copy)
        status = hot_cuda_status(context,
                                 cudaMemcpy2DAsync(pass->copy, ld * sizeof(float), x, n[0] * sizeof(float),
                                                   n[0] * sizeof(float), n[1] * n[2], cudaMemcpyDeviceToDevice,
                                                   pass->stream),
                                 "copying the tensor");
    /* The largest sum is below 2^(2 HALF_BIAS) times the contracted length: halves hold it. */
    pass->store_scale = split ? 1 : (float)ldexp(1, -HALF_BIAS - (int)ceil(log2((double)longest)));
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        const float *const from = pass->copy ? pass->copy : x;
        /* What a pass reads at a time lies close together: it contracts an early mode. */
        status = make_way(context, pass, encode, from, ld, m == 0 ? 1 : 0, m, false, true, &pass->product[m]);
        if (status == HOT_OK && keep)
            status = make_way(context, pass, encode, from, ld, m, m == 0 ? 1 : 0, true, m != 1, &pass->sum[m]);
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemsetAsync(pass->scale, 0, 2 * sizeof(float), pass->stream), "memory");
    if (status == HOT_OK) {
        largest_kernel<<<1024, 512, 0, pass->stream>>>(x, n[0] * n[1] * n[2], (unsigned *)pass->scale + 1);
        scale_kernel<<<1, 1, 0, pass->stream>>>((const unsigned *)pass->scale + 1, pass->scale);
        status = launched(context, "the tensor's largest value");
    }
    if (status == HOT_OK)
        *out = pass;
    else
        hot_cpd_pass_destroy(context, &pass);
    return status;
}

void hot_cpd_pass_destroy(hot_context *context, hot_cpd_pass **pass)
{
    if (!*pass)
        return;
    for (int m = 0; m < 3; m++) {
        cudaFree((*pass)->image[m]);
        cudaFree((*pass)->rows[m]);
        cudaFree((*pass)->column[m]);
    }
    cudaFree((*pass)->copy);
    cudaFree((*pass)->scale);
    cudaFree((*pass)->sums);
    cudaFree((*pass)->store);
    hot_context_free(context, ((void **)*pass)[-1]);
    *pass = NULL;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

hot_status hot_cpd_pass_factor(hot_context *context, hot_cpd_pass *pass, int mode, const float *factor)
{
    image_kernel<<<pass->columns, 256, 0, pass->stream>>>(factor, (int)pass->n[mode], (int)pass->rank, pass->columns,
                                                          mode == 0, pass->split, (__half *)pass->image[mode],
                                                          pass->rows[mode], pass->column[mode]);
    return launched(context, "a factor");
}

static hot_status launch(hot_context *context, const hot_cpd_pass *pass, const way *w)
{
    void *arguments[] = {(void *)&w->map, (void *)&w->job};
    return hot_cuda_status(context,
                           chain_launch(w->kernel, w->job.blocks, CPD_THREADS, w->bytes, pass->stream, arguments),
                           "a pass over the tensor");
}

static hot_status gather(hot_context *context, const hot_cpd_pass *pass, const way *w, double *out)
{
    int rank = (int)pass->rank, columns = pass->columns;
    const float *scales = pass->column[w->contracted];
    void *arguments[] = {(void *)&w->job, &rank, &columns, &scales, &out};
    const size_t values = (size_t)w->job.rows * columns;
    return hot_cuda_status(
        context,
        chain_launch((const void *)gather_kernel, (unsigned)((values + 31) / 32), 256, 0, pass->stream, arguments),
        "summing a product");
}

hot_status hot_cpd_pass_product(hot_context *context, hot_cpd_pass *pass, int mode, double *out)
{
    const hot_status status = launch(context, pass, &pass->product[mode]);
    return status == HOT_OK ? gather(context, pass, &pass->product[mode], out) : status;
}

hot_status hot_cpd_pass_contract(hot_context *context, hot_cpd_pass *pass, int mode)
{
    pass->kept = &pass->sum[mode];
    return launch(context, pass, pass->kept);
}

template <typename T> static hot_status reduce(hot_context *context, const hot_cpd_pass *pass, int mode, double *out)
{
    const way *w = pass->kept;
    int rows = w->job.rows, over = w->job.over, rank = (int)pass->rank, columns = pass->columns;
    const T *store = (const T *)pass->store;
    const float *scales = pass->column[w->contracted], *weights = pass->rows[mode == w->rows ? w->over : w->rows];
    double factor = 1 / (double)pass->store_scale;
    void *arguments[] = {&store, &rows, &over, &rank, &columns, &weights, &factor, (void *)&pass->scale, &scales, &out};
    const void *kernel = (const void *)over_slabs<T>;
    unsigned blocks = (unsigned)(((size_t)rows * columns / 8 + 31) / 32), threads = blocks >= 264 ? 256 : 1024;
    size_t shared = 0;
    if (mode != w->rows) {
        const int each = over >= 800 ? 4 : over >= 264 ? 2 : 1;
        kernel = each == 4   ? (const void *)over_rows<T, 4, 512>
                 : each == 2 ? (const void *)over_rows<T, 2, 512>
                             : (const void *)over_rows<T, 1, 512>;
        blocks = (unsigned)((over + each - 1) / each), threads = 512;
        shared = threads / (columns / 8) * each * columns * sizeof(float);
        if (shared > 48 * 1024)
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    }
    return hot_cuda_status(context, chain_launch(kernel, blocks, threads, shared, pass->stream, arguments),
                           "summing a product");
}

hot_status hot_cpd_pass_reduce(hot_context *context, hot_cpd_pass *pass, int mode, double *out)
{
    /* Made on the way, with the other factor as it was then: it comes first. */
    if (pass->kept->job.weight && mode == pass->kept->rows)
        return gather(context, pass, pass->kept, out);
    return pass->split ? reduce<float>(context, pass, mode, out) : reduce<__half>(context, pass, mode, out);
}

/* The last block whose units begin at or before one. */
static int block_with(const hot_cpd_job *job, int unit)
{
    return (int)(std::upper_bound(job->first, job->first + job->blocks, unit) - job->first) - 1;
}

hot_status hot_cpd_pass_step(hot_context *context, const hot_cpd_pass *pass, int mode, double *product,
                             hot_cpd_step *step)
{
    const way *w = pass->kept;
    const hot_cpd_job *job = &w->job;
    step->rows = pass->rows[mode], step->image = (__half *)pass->image[mode], step->scales = pass->column[mode];
    step->columns = pass->columns, step->contiguous = mode == 0, step->split = pass->split;
    step->x_scale = pass->scale, step->sum_scales = pass->column[w->contracted];
    if (job->weight && mode == w->rows) {
        const int per_tile = job->chunks * job->over;
        step->source = CPD_FROM_BLOCKS, step->sums = job->sums, step->pitch = job->pitch;
        for (int tile = 0; tile < job->row_tiles; tile++) {
            step->first_block[tile] = (short)block_with(job, tile * per_tile);
            step->last_block[tile] = (short)block_with(job, (tile + 1) * per_tile - 1);
        }
        return HOT_OK;
    }
    const size_t slab = (size_t)job->rows * pass->columns;
    if (slab * job->over > CPD_STEP_STORE) { /* more than a cluster of blocks reads in a short time */
        step->source = CPD_FROM_PRODUCT;
        return hot_cpd_pass_reduce(context, (hot_cpd_pass *)pass, mode, product);
    }
    step->source = CPD_FROM_STORE, step->store = pass->store, step->factor = 1 / (double)pass->store_scale;
    const bool slabs = mode == w->rows; /* are summed; else the rows of each */
    step->weights = pass->rows[slabs ? w->over : w->rows], step->length = slabs ? job->over : job->rows;
    step->stride = slabs ? slab : (size_t)pass->columns, step->result_stride = slabs ? (size_t)pass->columns : slab;
    return HOT_OK;
}

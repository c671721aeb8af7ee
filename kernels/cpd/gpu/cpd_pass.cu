/* Passes over the tensor (cpd_pass.h): their configuration and memory, the images of factors that they read, and the
 * launches. */
#include <algorithm>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/cuda_status.h"
#include "common/shared_memory.cuh"
#include "cpd_memory.h"
#include "dependent_launch.cuh"
#include "cpd/hopper/cached_product.h"
#include "cpd/hopper/pass_args.h"
#include "cpd_pass.h"
#include "half_scale.cuh"
#include "cpd/hopper/fragment_product.h"
#include "cpd/hopper/als_update.h"
#include "pass_sums.cuh"

enum { FREE_SHARED = 227 * 1024 - 1024 - 512 /* alignment, barriers */, SIDE_BY_SIDE = 4 /* j of a tile of k */,
       FAR = 32768 /* values from one k to the next */ };

typedef decltype(&cuTensorMapEncodeTiled) encode_function;

/* One configuration of a pass: the modes that it contracts, keeps as rows and runs over, and how it is launched. */
typedef struct pass_config {
    int contracted, rows, over, threads, bytes;
    const void *kernel;
    hot_cpd_pass_args args;
    CUtensorMap map;
} pass_config;

struct hot_cpd_pass {
    size_t n[3], rank;
    int split, blocks, columns; /* columns: the rank, rounded up */
    int cached;                 /* products by the kernels of cached_product.h: no configurations */
    cudaStream_t stream;
    hot_cpd_packed_tensor *packed; /* the caller's */
    const float *factor[3];     /* the caller's, too */
    bool stale[3];              /* their packed copies are out of date: for single products, renewed on demand */
    void *image[3];             /* the factors for shared memory */
    __half *fragments[3];       /* and for fragment_product.h, or NULL */
    float *weights[3];
    float *rows[3];             /* [row][column] */
    float *column[3];           /* what each column of an image was multiplied with */
    float *sums;
    void *store;
    float store_scale;
    pass_config configs[3];     /* products for a mode or, with a store, sums over a mode */
    const pass_config *kept;
    int fresh;                  /* the pass was launched last */
};

static size_t tiles(size_t n) { return (n + CPD_SIDE - 1) / CPD_SIDE; }
static size_t image_bytes(const hot_cpd_pass *pass) { return (size_t)pass->columns * 128 * (pass->split ? 2 : 1); }
static size_t cached_tiles(size_t n) { return (n + CPD_CACHED_ROWS - 1) / CPD_CACHED_ROWS; }
static int is_kept(const hot_cpd_pass *pass) { return pass->packed->use == CPD_PRODUCTS; }
static size_t cached_blocks(size_t n) { return (n + CPD_CACHED_WARPS - 1) / CPD_CACHED_WARPS; }

namespace {

/* A factor (n x rank), and where it goes: its image, [tile of 64][high, low][column][64] swizzled, rows of floats, and
 * what each column was multiplied with; fragments and weights: NULL, or what fragment_product.h wants. */
struct factor_images {
    const float *from;
    int n, contiguous;
    __half *image, *fragments;
    float *rows, *scales, *weights;
};

/* A column per block, of one factor or two. */
__global__ void __launch_bounds__(256)
    image_kernel(factor_images one, factor_images two, int rank, int columns, int split)
{
    __shared__ unsigned most;
    const factor_images f = blockIdx.y ? two : one;
    const int c = blockIdx.x, n = f.n;
    const float *const from = f.from + (size_t)n * c;
    dependency_wait();
    dependents_launch();
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
    const float scale = half_scale(most);
    if (threadIdx.x == 0)
        f.scales[c] = scale;
    for (int i = threadIdx.x; i < (n + CPD_SIDE - 1) / CPD_SIDE * CPD_SIDE; i += 256) {
        const float value = i < n && c < rank ? from[i] : 0;
        const int p = i % CPD_SIDE, q = p % 4;
        const int at = !f.contiguous ? p : p / 16 * 16 + (q < 2 ? 0 : 8) + p % 16 / 4 * 2 + q % 2;
        __half *const to = f.image + (size_t)(i / CPD_SIDE) * columns * CPD_SIDE * (split ? 2 : 1) + c * CPD_SIDE +
                           ((at / 8 ^ c % 8) * 8 + at % 8);
        const __half high = __float2half_rn(value * scale);
        to[0] = high;
        if (split)
            to[columns * CPD_SIDE] = __float2half_rn(value * scale - __half2float(high));
        if (f.fragments && i < (n + 31) / 32 * 32) {
            f.fragments[hot_cpd_fragment_factor(i, c, columns)] = high;
            f.weights[hot_cpd_fragment_weight(i, c, columns)] = value;
        }
        if (i < n)
            f.rows[(size_t)i * columns + c] = value;
    }
}

} // namespace

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* A pass that contracts one mode; the result's rows are of another. */
static hot_status configure(hot_context *context, const hot_cpd_pass *pass, encode_function encode, int contracted,
                            int rows, bool weighted, pass_config *w)
{
    const hot_cpd_packed_tensor *packed = pass->packed;
    const bool contiguous = contracted == 0, store = pass->store, halves = packed->halves, stream = halves && !store;
    const int image = (int)image_bytes(pass);
    int groups = CPD_GROUPS, columns;
    if (halves && store)
        hot_cpd_half_kernel(pass->columns, 0, 0, &groups);
    /* for the sum of the groups' sums; with halves, for results on their way to memory */
    const int fold = weighted || halves ? CPD_SIDE * pass->columns * 4 * (groups - 1) : 0;
    hot_cpd_pass_args *args = &w->args;
    w->contracted = contracted, w->rows = rows, w->over = 3 - contracted - rows;
    args->rows = (int)pass->n[rows], args->over = (int)pass->n[w->over], args->line_is_j = w->over == 2;
    args->row_tiles = (int)tiles(pass->n[rows]), args->k_tiles = (int)tiles(pass->n[contracted]);
    /* Rows that lie far from each other share a tile with their neighbours in between: fewer pages at a time. */
    args->side = contiguous && rows == 2 && !store && pass->n[0] * pass->n[1] >= FAR ? SIDE_BY_SIDE : 1;
    args->last_v = args->over - 1;
    args->over = (args->over + args->side - 1) / args->side, args->row_tiles = (int)tiles(pass->n[rows] * args->side);
    /* Rows along memory are taken in whole lines of it. */
    args->pitch = !contiguous      ? (int)CPD_SIDE
                 : args->side == 1 ? (args->rows + args->row_tiles - 1) / args->row_tiles
                                  : CPD_SIDE / args->side;
    /* As much of the factor as leaves memory for four stages; where all of it is needed, for three, or streamed. */
    const int free = FREE_SHARED - fold, stage = (stream ? 1 : groups) * CPD_TILE / (halves ? 2 : 1);
    const int some = stream ? 7 : pass->split ? 2 : contiguous ? 4 : 3; /* as measured */
    const int least = stream ? 8 : 4;
    const int most = store ? (free - (halves ? 4 : 3) * stage) / image : std::min(some, (free - least * stage) / image);
    const bool streamed = store && args->k_tiles > most;
    args->chunks = store ? 1 : (args->k_tiles + most - 1) / most;
    if (!store && args->k_tiles * image + (least - 1) * stage <= free)
        args->chunks = 1;
    args->chunk = (args->k_tiles + args->chunks - 1) / args->chunks;
    args->chunks = (args->k_tiles + args->chunk - 1) / args->chunk;
    const int fixed = (streamed ? 0 : args->chunk * image) + fold;
    const int each = !streamed ? stage : image + (halves ? 2 : 1) * stage;
    args->stages = (FREE_SHARED - fixed) / each;
    if (stream)
        args->stages = std::min(10, args->stages / 2 * 2); /* more are slower */
    w->bytes = 1024 + args->stages * each + fixed + 16 * args->stages + 16;
    const double per_tile = (double)(stream ? args->k_tiles : args->chunks) * args->over;
    const double units = args->row_tiles * per_tile;
    if (units > INT_MAX / 2)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "%zu x %zu x %zu is more than the GPU's kernels count",
                                pass->n[0], pass->n[1], pass->n[2]);
    args->per_tile = (int)per_tile;
    args->blocks = std::min(pass->blocks, ((int)units + 1) / 2);
    w->threads = (groups + 1) * 128;
    for (int b = 0; b <= args->blocks; b++)
        args->first[b] = (int)(units * b / args->blocks);
    args->image = (const __half *)pass->image[contracted], args->scale = packed->scale, args->sums = pass->sums;
    args->weight = weighted ? pass->rows[w->over] : NULL;
    args->store = pass->store, args->store_scale = pass->store_scale;
    w->kernel = stream   ? hot_cpd_product_kernel(pass->columns, contiguous)
                : halves ? hot_cpd_half_kernel(pass->columns, contiguous, streamed, &groups)
                         : hot_cpd_pass_kernel((int)pass->rank, contiguous, pass->split,
                                               store ? CPD_STORE : CPD_SUMS_ONLY, streamed, &columns);
    const unsigned lines = contiguous ? args->pitch : CPD_SIDE, size = halves ? 2 : 4;
    const cuuint64_t dims[3] = {pass->n[0], pass->n[1], pass->n[2]},
                     strides[2] = {packed->ld * size, packed->ld * pass->n[1] * size};
    const cuuint32_t box[3] = {128 / size, args->line_is_j ? lines : args->side, args->line_is_j ? 1 : lines},
                     steps[3] = {1, 1, 1};
    const void *const from = halves ? (const void *)packed->halves : packed->aligned ? packed->aligned : packed->x;
    if (encode(&w->map, halves ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)from,
               dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no map of a tensor of %zu x %zu x %zu", pass->n[0],
                                pass->n[1], pass->n[2]);
    return hot_cuda_status(context, raise_shared_memory(w->kernel, 227 * 1024), "shared memory");
}

hot_status hot_cpd_pass_create(hot_context *context, hot_cpd_packed_tensor *packed, size_t rank, void *stream,
                               hot_cpd_pass **out)
{
    const size_t *n = packed->n;
    const int split = packed->split, keep = packed->use == CPD_SWEEPS;
    int device = 0, fits = 1;
    *out = NULL;
    hot_status status = hot_cuda_status(context, cudaGetDevice(&device), "device");
    const encode_function encode = status == HOT_OK ? (encode_function)hot_cpd_find_encode() : NULL;
    if (!encode || rank > CPD_MAX_COLUMNS)
        return status;
    hot_cpd_pass *pass = NULL;
    {   /* maps must be aligned */
        void *memory = hot_context_calloc(context, 1, sizeof *pass + alignof(hot_cpd_pass) + sizeof(void *));
        if (!memory)
            return HOT_ERROR_MEMORY;
        pass = (hot_cpd_pass *)(((uintptr_t)memory + sizeof(void *) + alignof(hot_cpd_pass) - 1) /
                                alignof(hot_cpd_pass) * alignof(hot_cpd_pass));
        ((void **)pass)[-1] = memory;
    }
    memcpy(pass->n, n, sizeof pass->n);
    pass->packed = packed, pass->rank = rank, pass->split = split, pass->stream = (cudaStream_t)stream;
    hot_cpd_pass_kernel((int)rank, 0, split, CPD_SUMS_ONLY, 0, &pass->columns);
    status = hot_cuda_status(context, cudaDeviceGetAttribute(&pass->blocks, cudaDevAttrMultiProcessorCount, device),
                             "device");
    pass->blocks = std::min<int>(pass->blocks, CPD_MAX_BLOCKS);
    const auto allocate = [&](void *where, size_t bytes) {
        if (status == HOT_OK)
            status = hot_cpd_get(context, is_kept(pass), bytes, where, "memory for products");
    };
    const bool fragments = packed->use == CPD_PRODUCTS && packed->halves && pass->columns <= CPD_FRAGMENT_COLUMNS &&
                       4. * n[0] * n[1] * n[2] <= CPD_FRAGMENT_BYTES;
    size_t stored = 0, longest = 0;
    for (int m = 0; m < 3; m++) {
        allocate(&pass->image[m], tiles(n[m]) * image_bytes(pass));
        if (fragments) {
            allocate(&pass->fragments[m], hot_cpd_fragment_factor_size(n[m], pass->columns) * sizeof(__half));
            allocate(&pass->weights[m], hot_cpd_fragment_factor_size(n[m], pass->columns) * sizeof(float));
        }
        allocate(&pass->rows[m], n[m] * pass->columns * sizeof(float));
        allocate(&pass->column[m], pass->columns * sizeof(float));
        stored = std::max(stored, n[(m + 1) % 3] * n[(m + 2) % 3]);
        longest = std::max(longest, n[m]);
    }
    pass->cached = packed->use == CPD_ONE_PRODUCT && !split && n[0] % 4 == 0 &&
                   n[1] <= CPD_CACHED_TILES * CPD_CACHED_ROWS && pass->columns <= CPD_CACHED_COLUMNS &&
                   4. * n[0] * n[1] * n[2] <= CPD_CACHED_BYTES;
    const size_t lines = pass->cached ? cached_tiles(std::max(n[0], n[1])) * cached_blocks(n[2]) * CPD_CACHED_ROWS
                                      : (pass->blocks + tiles(longest * SIDE_BY_SIDE)) * CPD_SIDE;
    allocate(&pass->sums, lines * pass->columns * sizeof(float));
    if (keep) { /* of NaN at first: what a pass leaves out shows in results (tools do not see what bulk copies write) */
        const size_t bytes = stored * pass->columns * (split ? sizeof(float) : sizeof(__half));
        allocate(&pass->store, bytes);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemsetAsync(pass->store, 0xff, bytes, pass->stream), "memory");
    }
    /* The largest sum is below 2^(2 HALF_BIAS) times the contracted length: halves hold it. */
    pass->store_scale = split ? 1 : (float)ldexp(1, -HALF_BIAS - (int)ceil(log2((double)longest)));
    if (status == HOT_OK && !pass->cached)
        status = hot_cpd_packed_tensor_align(context, packed, stream, &fits);
    for (int m = 0; m < 3 && status == HOT_OK && fits && !pass->cached; m++)
        /* A pass reads contiguous memory if it contracts an early mode, so it does whenever possible. */
        status = keep ? configure(context, pass, encode, m, m == 0 ? 1 : 0, m != 1, &pass->configs[m])
                      : configure(context, pass, encode, m == 0 ? 1 : 0, m, true, &pass->configs[m]);
    if (status == HOT_OK && fits)
        *out = pass;
    else
        hot_cpd_pass_destroy(context, &pass);
    return status;
}

void hot_cpd_pass_destroy(hot_context *context, hot_cpd_pass **pass)
{
    if (!*pass)
        return;
    const int kept = is_kept(*pass);
    for (int m = 0; m < 3; m++) {
        hot_cpd_give(context, kept, (*pass)->image[m]);
        hot_cpd_give(context, kept, (*pass)->fragments[m]);
        hot_cpd_give(context, kept, (*pass)->weights[m]);
        hot_cpd_give(context, kept, (*pass)->rows[m]);
        hot_cpd_give(context, kept, (*pass)->column[m]);
    }
    hot_cpd_give(context, kept, (*pass)->sums);
    hot_cpd_give(context, kept, (*pass)->store);
    hot_context_free(context, ((void **)*pass)[-1]);
    *pass = NULL;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

void hot_cpd_pass_set_stream(hot_cpd_pass *pass, void *stream) { pass->stream = (cudaStream_t)stream; }

/* Launches what makes the images of one factor, or of two. */
static hot_status make_images(hot_context *context, hot_cpd_pass *pass, int one, int two)
{
    factor_images factors[2];
    for (int f = 0; f < 2; f++) {
        const int mode = f ? two : one;
        factors[f].from = pass->factor[mode], factors[f].n = (int)pass->n[mode];
        factors[f].contiguous = mode == 0 && !pass->packed->halves, factors[f].image = (__half *)pass->image[mode];
        factors[f].fragments = pass->fragments[mode], factors[f].weights = pass->weights[mode];
        factors[f].rows = pass->rows[mode], factors[f].scales = pass->column[mode];
    }
    int rank = (int)pass->rank;
    void *arguments[] = {&factors[0], &factors[1], &rank, &pass->columns, &pass->split};
    pass->stale[one] = pass->stale[two] = false;
    return hot_cuda_status(context,
                           launch_dependent((const void *)image_kernel,
                                            dim3((unsigned)pass->columns, one == two ? 1 : 2), 256, 0, pass->stream,
                                            arguments),
                           "a factor");
}

hot_status hot_cpd_pass_factor(hot_context *context, hot_cpd_pass *pass, int mode, const float *factor)
{
    pass->factor[mode] = factor, pass->stale[mode] = true;
    return pass->packed->use == CPD_SWEEPS ? make_images(context, pass, mode, mode) : HOT_OK;
}

static hot_status launch(hot_context *context, const hot_cpd_pass *pass, const pass_config *w)
{
    void *arguments[] = {(void *)&w->map, (void *)&w->args};
    return hot_cuda_status(context,
                           launch_dependent(w->kernel, w->args.blocks, w->threads, w->bytes, pass->stream, arguments),
                           "a pass over the tensor");
}

static hot_status gather(hot_context *context, const hot_cpd_pass *pass, const pass_config *w, double *out)
{
    int rank = (int)pass->rank, columns = pass->columns;
    const float *scales = pass->column[w->contracted];
    void *arguments[] = {(void *)&w->args, &rank, &columns, &scales, &out};
    const size_t values = (size_t)w->args.rows * columns;
    return hot_cuda_status(context,
                           launch_dependent((const void *)gather_kernel, (unsigned)((values + 127) / 128), 256, 0,
                                            pass->stream, arguments),
                           "summing a product");
}

static hot_status product_from_cache(hot_context *context, const hot_cpd_pass *pass, int mode, double *out)
{
    const int contracted = mode == 0 ? 1 : 0, over = mode == 2 ? 1 : 2;
    hot_cpd_cached_args args;
    for (int m = 0; m < 3; m++)
        args.n[m] = (int)pass->n[m];
    args.rank = (int)pass->rank, args.mode = mode, args.blocks = (int)cached_blocks(pass->n[2]);
    args.x = pass->packed->x, args.scale = pass->packed->scale, args.image = (const __half *)pass->image[contracted];
    args.scales = pass->column[contracted], args.weight = pass->rows[over], args.parts = pass->sums, args.out = out;
    void *arguments[] = {&args};
    const unsigned tiles = (unsigned)cached_tiles(pass->n[mode == 0 ? 0 : 1]);
    const dim3 grid(mode == 2 ? (unsigned)args.n[2] : (unsigned)args.blocks, mode == 2 ? 1 : tiles);
    cudaError_t error = launch_dependent(hot_cpd_cached_kernel(pass->columns, mode), grid,
                                     32 * (mode == 2 ? tiles : (unsigned)CPD_CACHED_WARPS), 0, pass->stream, arguments);
    if (error == cudaSuccess && mode != 2)
        error = launch_dependent(hot_cpd_cached_sum_kernel(pass->columns), tiles * (unsigned)pass->columns, 256, 0,
                                 pass->stream, arguments);
    return hot_cuda_status(context, error, "a product");
}

/* Whether a mode's product is computed from fragments: not where these would be mostly padding. */
static bool has_fragments(const hot_cpd_pass *pass, int mode)
{
    const hot_cpd_fragment_layout order = hot_cpd_fragment_layout_of(pass->n, pass->packed->ld, mode);
    return pass->fragments[mode == 0 ? 1 : 0] && pass->n[mode] >= CPD_MIN_FRAGMENT &&
           256. * order.tiles * order.steps <= 1.5 * order.rows * order.inner;
}

/* follows: it is launched right behind the kernel that it waits for. */
static hot_status product_from_fragments(hot_context *context, const hot_cpd_pass *pass, int mode, bool follows,
                                         double *out)
{
    const hot_cpd_packed_tensor *packed = pass->packed;
    const int contracted = mode == 0 ? 1 : 0, rows = mode == 2 ? 1 : 2;
    const hot_cpd_fragment_layout order = hot_cpd_fragment_layout_of(pass->n, packed->ld, mode);
    hot_cpd_fragment_args args;
    int threads;
    args.outs = (int)pass->n[mode], args.tiles = order.tiles, args.steps = order.steps;
    args.rank = (int)pass->rank, args.x = (const uint4 *)packed->fragments[mode], args.scale = packed->scale;
    args.factor = (const uint4 *)pass->fragments[contracted], args.scales = pass->column[contracted];
    args.weight = (const float4 *)pass->weights[rows], args.out = out;
    const void *const kernel = hot_cpd_fragment_kernel(pass->columns, &threads);
    void *arguments[] = {&args};
    const dim3 blocks((unsigned)args.outs);
    return hot_cuda_status(context,
                           follows ? launch_dependent(kernel, blocks, (unsigned)threads, 0, pass->stream, arguments)
                                   : cudaLaunchKernel(kernel, blocks, dim3(threads), arguments, 0, pass->stream),
                           "a product");
}

hot_status hot_cpd_pass_product(hot_context *context, hot_cpd_pass *pass, int mode, double *out)
{
    const int one = mode == 0 ? 1 : 0, other = mode == 2 ? 1 : 2;
    const bool stale = pass->stale[one] || pass->stale[other];
    hot_status status =
        has_fragments(pass, mode) ? hot_cpd_packed_tensor_fragments(context, pass->packed, mode, pass->stream) : HOT_OK;
    if (status == HOT_OK && stale)
        status = make_images(context, pass, pass->stale[one] ? one : other, pass->stale[other] ? other : one);
    if (status == HOT_OK && has_fragments(pass, mode) && pass->packed->fragments[mode])
        return product_from_fragments(context, pass, mode, stale, out);
    if (status == HOT_OK && pass->cached)
        return product_from_cache(context, pass, mode, out);
    if (status == HOT_OK)
        status = launch(context, pass, &pass->configs[mode]);
    return status == HOT_OK ? gather(context, pass, &pass->configs[mode], out) : status;
}

hot_status hot_cpd_pass_contract(hot_context *context, hot_cpd_pass *pass, int mode)
{
    pass->kept = &pass->configs[mode], pass->fresh = 1;
    return launch(context, pass, pass->kept);
}

template <typename T> static hot_status reduce(hot_context *context, const hot_cpd_pass *pass, int mode, double *out)
{
    const pass_config *w = pass->kept;
    int rows = w->args.rows, over = w->args.over, rank = (int)pass->rank, columns = pass->columns;
    const T *store = (const T *)pass->store;
    const float *scales = pass->column[w->contracted], *weights = pass->rows[mode == w->rows ? w->over : w->rows];
    double factor = 1 / (double)pass->store_scale;
    void *arguments[] = {&store,  &rows, &over, &rank, &columns, &weights, &factor, (void *)&pass->packed->scale,
                         &scales, &out};
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
    }
    cudaError_t error = raise_shared_memory(kernel, shared);
    if (error == cudaSuccess)
        error = launch_dependent(kernel, blocks, threads, shared, pass->stream, arguments);
    return hot_cuda_status(context, error, "summing a product");
}

hot_status hot_cpd_pass_reduce(hot_context *context, hot_cpd_pass *pass, int mode, double *out)
{
    /* The pass has summed this mode with the other factor's old value: so it must be requested first. */
    if (pass->kept->args.weight && mode == pass->kept->rows)
        return gather(context, pass, pass->kept, out);
    return pass->split ? reduce<float>(context, pass, mode, out) : reduce<__half>(context, pass, mode, out);
}

/* The last block whose units begin at or before one. */
static int block_with(const hot_cpd_pass_args *args, int unit)
{
    return (int)(std::upper_bound(args->first, args->first + args->blocks, unit) - args->first) - 1;
}

hot_status hot_cpd_pass_update_args(hot_context *context, hot_cpd_pass *pass, int mode, int bytes, double *product,
                                    hot_cpd_update_args *update)
{
    const pass_config *w = pass->kept;
    const hot_cpd_pass_args *args = &w->args;
    update->kept_before = !pass->fresh, pass->fresh = 0;
    update->rows = pass->rows[mode], update->image = (__half *)pass->image[mode], update->scales = pass->column[mode];
    update->columns = pass->columns, update->contiguous = mode == 0 && !pass->packed->halves,
    update->split = pass->split;
    update->x_scale = pass->packed->scale, update->sum_scales = pass->column[w->contracted];
    if (args->weight && mode == w->rows) {
        update->source = CPD_FROM_BLOCKS, update->sums = args->sums, update->pitch = args->pitch;
        for (int tile = 0; tile < args->row_tiles; tile++) {
            update->first_block[tile] = (short)block_with(args, tile * args->per_tile);
            update->last_block[tile] = (short)block_with(args, (tile + 1) * args->per_tile - 1);
        }
        return HOT_OK;
    }
    const size_t slab = (size_t)args->rows * pass->columns;
    const bool slabs = mode == w->rows; /* are summed; else the rows of each */
    const int length = slabs ? args->over : args->rows;
    const int each = (int)((pass->n[mode] + CPD_UPDATE_BLOCKS - 1) / CPD_UPDATE_BLOCKS);
    const double kept = (double)each * length * pass->columns * (pass->split ? sizeof(float) : sizeof(__half));
    if (kept > CPD_UPDATE_SHARED - bytes || length * pass->columns > CPD_UPDATE_WEIGHTS) {
        update->source = CPD_FROM_PRODUCT;
        return hot_cpd_pass_reduce(context, pass, mode, product);
    }
    update->source = CPD_FROM_STORE, update->store = pass->store, update->factor = 1 / (double)pass->store_scale;
    update->kept_bytes = (int)kept;
    update->weights = pass->rows[slabs ? w->over : w->rows], update->length = length;
    update->stride = slabs ? slab : (size_t)pass->columns, update->result_stride = slabs ? (size_t)pass->columns : slab;
    return HOT_OK;
}

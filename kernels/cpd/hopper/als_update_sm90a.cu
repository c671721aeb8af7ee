/* See als_update.h. */
#include <cooperative_groups.h>

#include "cpd/gpu/dependent_launch.cuh"
#include "packed_columns.cuh"
#include "pass_args.h"
#include "cpd/gpu/gram_inverse.cuh"
#include "als_update.h"
#include "wgmma.cuh"

namespace cg = cooperative_groups;

namespace {

enum { GRID = 8, INVERTING = GRID * GRID, LOADING = CPD_UPDATE_THREADS - INVERTING, PAIR = 2 /* rows of a thread */ };

__device__ __forceinline__ void loaders_sync() { asm volatile("bar.sync 2, %0;" ::"n"((int)LOADING) : "memory"); }

/* right[row][r] of a block's rows, r < rank, by the loading threads, four columns each. wide: of a row of right.
 * workspace: LOADING PAIR 8 floats. scales: what sums are multiplied with. */
template <typename V>
__device__ __forceinline__ void load_blocks(const hot_cpd_update_args &s, int first, int count, int wide, V *right,
                                            float *workspace, const double *scales)
{
    enum { AHEAD = 8 }; /* loads in flight */
    const int thread = threadIdx.x - INVERTING, fours = s.columns / 4, tasks = count * fours;
    const int lanes = max(1, LOADING / max(tasks, 1));
    for (int begin = 0; begin < tasks; begin += LOADING) {
        const int here = min(tasks - begin, (int)LOADING), lane = thread / here, task = begin + thread - lane * here;
        if (lane < lanes) {
            const int row = first + task / fours, tile = row / s.pitch, last = s.last_block[tile];
            const size_t step = (size_t)CPD_SIDE * s.columns;
            const float *const from =
                s.sums + ((size_t)tile * CPD_SIDE + row - tile * s.pitch) * s.columns + task % fours * 4;
            float sum[4] = {};
            for (int b = s.first_block[tile] + lane; b <= last; b += AHEAD * lanes) {
                float4 part[AHEAD];
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    part[a] = b + a * lanes <= last ? *(const float4 *)(from + (b + a * lanes) * step)
                                                    : make_float4(0, 0, 0, 0);
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    sum[0] += part[a].x, sum[1] += part[a].y, sum[2] += part[a].z, sum[3] += part[a].w;
            }
#pragma unroll
            for (int c = 0; c < 4; c++)
                workspace[thread * 4 + c] = sum[c];
        }
        loaders_sync();
        for (int at = thread; at < here * 4; at += LOADING) {
            const int which = begin + at / 4, r = which % fours * 4 + at % 4;
            double sum = 0;
            for (int l = 0; l < lanes; l++)
                sum += workspace[(l * here + at / 4) * 4 + at % 4];
            if (r < s.rank)
                right[which / fours * wide + r] = (V)(sum * scales[r]);
        }
        loaders_sync();
    }
}

/* Launches copies of a block's part of the kept sums, and of their weights, to shared memory, by one warp. */
template <typename T> __device__ __forceinline__ void fetch_kept(const hot_cpd_update_args &s, int first, int count,
                                                                 T *kept, uint64_t *arrived)
{
    const int lane = threadIdx.x % 32, size = (int)sizeof(T), values = s.length * s.columns;
    const unsigned barrier = shared_address(arrived);
    if (lane == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
        barrier_expect(barrier, count * values * size + values * (int)sizeof(float));
    }
    __syncwarp();
    if (s.result_stride != (size_t)s.columns) { /* all of each row: in one piece */
        if (lane == 0 && count > 0)
            bulk_load(shared_address(kept), (const T *)s.store + first * s.result_stride, count * values * size,
                      barrier);
    } else if (count > 0)
        for (int i = lane; i < s.length; i += 32)
            bulk_load(shared_address(kept + i * count * s.columns),
                      (const T *)s.store + i * s.stride + (size_t)first * s.columns, count * s.columns * size,
                      barrier);
}
__device__ __forceinline__ void fetch_weights(const hot_cpd_update_args &s, float *weights, uint64_t *arrived)
{
    if (threadIdx.x % 32 == 0)
        bulk_load(shared_address(weights), s.weights, s.length * s.columns * (int)sizeof(float),
                  shared_address(arrived));
}

template <typename T, typename V> __device__ __forceinline__ void load_kept(const hot_cpd_update_args &s, const T *kept,
                                                                            uint64_t *arrived, int count, int wide,
                                                                            V *right, float *workspace,
                                                                            const float *weights, const double *scales)
{
    enum { MOST = 20 }; /* that share a sum: more would be quicker at it, but not at putting it together */
    const int thread = threadIdx.x - INVERTING, packs = s.columns / 8, tasks = (count + PAIR - 1) / PAIR * packs;
    const int lanes = max(1, min((int)MOST, LOADING / max(tasks, 1)));
    const bool across = s.result_stride != (size_t)s.columns; /* neighbours in memory are the values of one sum */
    const int stride = across ? s.columns : count * s.columns, row_stride = across ? s.length * s.columns : s.columns;
    loaders_sync(); /* there is a barrier to wait at, and scales */
    barrier_wait(shared_address(arrived), 0);
    for (int begin = 0; begin < tasks; begin += LOADING) {
        const int here = min(tasks - begin, (int)LOADING), lane = thread % lanes, which = thread / lanes;
        if (which < here) {
            const int task = begin + which, row = task / packs * PAIR, e = (task - task / packs * packs) * 8;
            const T *from[PAIR];
            float sum[PAIR][8] = {};
#pragma unroll
            for (int p = 0; p < PAIR; p++)
                from[p] = kept + min(row + p, count - 1) * row_stride + e;
#pragma unroll 2
            for (int i = lane; i < s.length; i += lanes) {
                float value[8], weight[8];
                load_packed(weights + i * s.columns + e, weight);
#pragma unroll
                for (int p = 0; p < PAIR; p++) {
                    load_packed(from[p] + i * stride, value);
#pragma unroll
                    for (int c = 0; c < 8; c++)
                        sum[p][c] += weight[c] * value[c];
                }
            }
#pragma unroll
            for (int p = 0; p < PAIR; p++)
#pragma unroll
                for (int c = 0; c < 8; c++)
                    workspace[((lane * here + which) * PAIR + p) * 8 + c] = sum[p][c];
        }
        loaders_sync();
        for (int at = thread; at < here * PAIR * 8; at += LOADING) {
            const int task = begin + at / (PAIR * 8), r = task % packs * 8 + at % 8;
            const int row = task / packs * PAIR + at / 8 % PAIR;
            double sum = 0;
#pragma unroll 8
            for (int l = 0; l < lanes; l++)
                sum += workspace[l * here * PAIR * 8 + at];
            if (r < s.rank && row < count)
                right[row * wide + r] = (V)(sum * scales[r]);
        }
        loaders_sync();
    }
}

/* The type of a pass's kept sums; with float, the rest is computed in double. */
template <typename V> struct kept_as {
    typedef __half type;
};
template <> struct kept_as<double> {
    typedef float type;
};

/* Two warps invert the matrix while the others load the product. Then thread (y, x) of 32 x 16 has the
 * columns x + 16 b of a row or, twice 16 x 16, of a matrix. */
template <typename V, int T>
__global__ void __launch_bounds__(CPD_UPDATE_THREADS, 1) update_kernel(const __grid_constant__ hot_cpd_update_args s)
{
    enum { WIDE = 16 * T, SPLIT = sizeof(V) == sizeof(double) };
    extern __shared__ __align__(16) double shared[];
    double *const norm = shared, *const shorter = norm + WIDE, *const sums = shorter + WIDE;
    float *const workspace = (float *)(sums + CPD_UPDATE_THREADS / 32);
    V *const product = (V *)(workspace + LOADING * PAIR * 8), *const pulled = product + CPD_UPDATE_ROWS * WIDE;
    V *const fresh = pulled + CPD_UPDATE_ROWS * WIDE, *const inverse = fresh + CPD_UPDATE_ROWS * WIDE;
    V *const gram = inverse + WIDE * WIDE;
    float *const weights = (float *)(gram + WIDE * WIDE);
    typedef typename kept_as<V>::type kept_type;
    kept_type *const kept = (kept_type *)(weights + CPD_UPDATE_WEIGHTS);
    __shared__ alignas(8) uint64_t arrived;
    __shared__ int null[WIDE];
    __shared__ double added;
    const cg::cluster_group cluster = cg::this_cluster();
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, rank = s.rank, block = (int)cluster.block_rank();
    const int each = (s.n + CPD_UPDATE_BLOCKS - 1) / CPD_UPDATE_BLOCKS, first = block * each;
    const int count = max(0, min(each, s.n - first));
    V m[T][T];
    /* The Gram matrices are older than the kernel before this one, if that is not an update itself. */
    const bool early = s.source != CPD_FROM_STORE && threadIdx.x < INVERTING;
    const bool fetching = s.source == CPD_FROM_STORE && threadIdx.x / 32 == INVERTING / 32;
    if (fetching && s.kept_before)
        fetch_kept(s, first, count, kept, &arrived);
    if (!early) {
        dependency_wait();
        dependents_launch();
    }
    if (fetching && !s.kept_before)
        fetch_kept(s, first, count, kept, &arrived);
    if (fetching)
        fetch_weights(s, weights, &arrived);
    if (threadIdx.x >= INVERTING && (int)threadIdx.x - INVERTING < rank) {
        const int r = threadIdx.x - INVERTING;
        if (s.source != CPD_FROM_PRODUCT)
            norm[r] = (s.source == CPD_FROM_STORE ? s.factor : 1) / ((double)*s.x_scale * s.sum_scales[r]);
    }
    if (threadIdx.x < INVERTING) {
        enum { SIDE = WIDE / GRID };
        V part[SIDE][SIDE];
        const double lifted = invert_in_registers<V, GRID, SIDE>(rank, s.one, s.other, s.eps, part);
#pragma unroll
        for (int a = 0; a < SIDE; a++)
#pragma unroll
            for (int b = 0; b < SIDE; b++)
                inverse[(threadIdx.x / GRID * SIDE + a) * WIDE + threadIdx.x % GRID * SIDE + b] = part[a][b];
        if (early)
            dependency_wait();
        if (threadIdx.x == 0)
            added = lifted;
        if (threadIdx.x < WIDE)
            null[threadIdx.x] = 0; /* WIDE <= INVERTING */
    } else if (s.source == CPD_FROM_BLOCKS) {
        load_blocks(s, first, count, WIDE, product, workspace, norm);
    } else if (s.source == CPD_FROM_STORE) {
        load_kept(s, kept, &arrived, count, WIDE, product, workspace, weights, norm);
    } else {
        for (int at = threadIdx.x - INVERTING; at < count * rank; at += LOADING)
            product[at % count * WIDE + at / count] = (V)s.product[first + at % count + (size_t)s.n * (at / count)];
    }
    __syncthreads();
    const V *const right = added > 0 ? pulled : product;
    if (added > 0) { /* a pull towards the last values */
        for (int at = threadIdx.x; at < count * rank; at += CPD_UPDATE_THREADS) {
            const int row = at % count, r = at / count;
            pulled[row * WIDE + r] =
                (V)(product[row * WIDE + r] + added * s.f[first + row + (size_t)s.n * r] * s.lambda[r]);
        }
        __syncthreads();
    }
    for (int row = y; row < count; row += 64) {
        const bool two = row + 32 < count;
        V sum[2][T] = {};
        for (int q = 0; q < rank; q++) {
            const V above = right[row * WIDE + q], below = two ? right[(row + 32) * WIDE + q] : (V)0;
#pragma unroll
            for (int b = 0; b < T; b++) {
                const V weight = inverse[q * WIDE + x + 16 * b];
                sum[0][b] += above * weight;
                sum[1][b] += below * weight;
            }
        }
#pragma unroll
        for (int b = 0; b < T; b++) {
            fresh[row * WIDE + x + 16 * b] = x + 16 * b < rank ? sum[0][b] : (V)0;
            if (two)
                fresh[(row + 32) * WIDE + x + 16 * b] = x + 16 * b < rank ? sum[1][b] : (V)0;
        }
    }
    __syncthreads();
    for (int attempt = 0; attempt < 2; attempt++) {
        double change = 0; /* of the squared residual, from ||x||^2: ||approximation||^2 - 2 <x, approximation> */
#pragma unroll
        for (int a = 0; a < T; a++)
#pragma unroll
            for (int b = 0; b < T; b++)
                m[a][b] = 0;
        for (int row = y / 16; row < count; row += 2) {
            V left[T];
#pragma unroll
            for (int a = 0; a < T; a++)
                left[a] = fresh[row * WIDE + y % 16 + 16 * a];
#pragma unroll
            for (int b = 0; b < T; b++) {
                const V value = fresh[row * WIDE + x + 16 * b];
#pragma unroll
                for (int a = 0; a < T; a++)
                    m[a][b] += left[a] * value;
            }
        }
        for (int half = 0; half < 2; half++) { /* odd rows' sums, and the even ones' to them */
            if (y / 16 != half)
#pragma unroll
                for (int a = 0; a < T; a++)
#pragma unroll
                    for (int b = 0; b < T; b++) {
                        V *const to = &gram[(y % 16 + 16 * a) * WIDE + x + 16 * b];
                        *to = half ? *to + m[a][b] : m[a][b];
                    }
            __syncthreads();
        }
        if (s.square) {
            for (int at = threadIdx.x; at < rank * rank; at += CPD_UPDATE_THREADS) {
                const int r = at / rank, q = at - r * rank;
                if (!null[r] && !null[q])
                    change += gram[r * WIDE + q] * s.one[at] * s.other[at];
            }
            for (int at = threadIdx.x; at < count * WIDE; at += CPD_UPDATE_THREADS)
                if (at % WIDE < rank && !null[at % WIDE])
                    change -= 2 * (double)fresh[at] * product[at];
            for (int step = 16; step; step /= 2)
                change += __shfl_xor_sync(0xffffffff, change, step);
            if (threadIdx.x % 32 == 0)
                sums[threadIdx.x / 32] = change;
        }
        cluster.sync();
        bool lost = false;
        if ((int)threadIdx.x < rank) {
            double sum = 0;
#pragma unroll
            for (int other = 0; other < CPD_UPDATE_BLOCKS; other++)
                sum += cluster.map_shared_rank(gram, other)[threadIdx.x * (WIDE + 1)];
            shorter[threadIdx.x] = rsqrt(sum);
            norm[threadIdx.x] = sum * rsqrt(sum);
            lost = attempt == 0 && !(sum > 0 && isfinite(sum));
            if (lost)
                null[threadIdx.x] = 1;
        }
        if (!__syncthreads_or(lost)) /* the same in every block */
            break;
        cluster.sync();
        /* A column of zeros stays what it was. */
        for (int at = threadIdx.x; at < count * rank; at += CPD_UPDATE_THREADS) {
            const int row = at % count, r = at / count;
            if (null[r])
                fresh[row * WIDE + r] = (V)s.f[first + row + (size_t)s.n * r];
        }
        __syncthreads();
    }
    for (int at = threadIdx.x + CPD_UPDATE_THREADS * block; at < rank * rank;
         at += CPD_UPDATE_THREADS * CPD_UPDATE_BLOCKS) {
        const int r = at / rank, q = at - r * rank;
        double sum = 0;
#pragma unroll
        for (int other = 0; other < CPD_UPDATE_BLOCKS; other++)
            sum += cluster.map_shared_rank(gram, other)[r * WIDE + q];
        s.gram[at] = sum * shorter[r] * shorter[q];
    }
    if (block == 0 && threadIdx.x < 32 && s.square) {
        double rest = 0;
        for (int at = threadIdx.x; at < CPD_UPDATE_BLOCKS * (CPD_UPDATE_THREADS / 32); at += 32)
            rest += cluster.map_shared_rank(sums, at / (CPD_UPDATE_THREADS / 32))[at % (CPD_UPDATE_THREADS / 32)];
        for (int step = 16; step; step /= 2)
            rest += __shfl_xor_sync(0xffffffff, rest, step);
        rest += *s.square;
        if (threadIdx.x == 0)
            s.fits[s.counters[1]++] = 1 - sqrt(rest > 0 ? rest : 0) / sqrt(*s.square);
    }
    /* Nobody leaves while others read from it. */
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    for (int at = threadIdx.x; at < count * rank; at += CPD_UPDATE_THREADS) {
        const int row = at % count, r = at / count, i = first + row, p = i % CPD_SIDE, c = p % 4;
        const size_t there = i + (size_t)s.n * r;
        const float value = (float)(fresh[row * WIDE + r] * shorter[r]);
        s.f[there] = value;
        s.narrow[there] = value;
        s.rows[(size_t)i * s.columns + r] = value;
        const int k = !s.contiguous ? p : p / 16 * 16 + (c < 2 ? 0 : 8) + p % 16 / 4 * 2 + c % 2;
        __half *const to = s.image + (size_t)(i / CPD_SIDE) * s.columns * CPD_SIDE * (SPLIT ? 2 : 1) + r * CPD_SIDE +
                           ((k / 8 ^ r % 8) * 8 + k % 8);
        const __half high = __float2half_rn(value * 0x1p14f);
        to[0] = high;
        if (SPLIT)
            to[s.columns * CPD_SIDE] = __float2half_rn(value * 0x1p14f - __half2float(high));
    }
    if (block == 0) {
        if ((int)threadIdx.x < rank)
            s.lambda[threadIdx.x] = null[threadIdx.x] ? 0 : norm[threadIdx.x];
        if ((int)threadIdx.x < s.columns)
            s.scales[threadIdx.x] = 0x1p14f;
        if (threadIdx.x == 0 && added > 0)
            s.counters[0] += 1;
    }
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

} // namespace

const void *hot_cpd_update_kernel(size_t n, size_t rank, int split, int *bytes)
{
    const size_t tiles = (rank + 15) / 16, wide = 16 * tiles;
    if (rank > CPD_UPDATE_RANK || n > CPD_UPDATE_ROWS * CPD_UPDATE_BLOCKS)
        return NULL;
    *bytes = (int)((3 * CPD_UPDATE_ROWS * wide + 2 * wide * wide) * (split ? sizeof(double) : sizeof(float)) +
                   (2 * wide + CPD_UPDATE_THREADS / 32) * sizeof(double) +
                   (LOADING * PAIR * 8 + CPD_UPDATE_WEIGHTS) * sizeof(float));
    static const void *const kernels[2][3] = {
        {(const void *)update_kernel<float, 1>, (const void *)update_kernel<float, 2>,
         (const void *)update_kernel<float, 3>},
        {(const void *)update_kernel<double, 1>, (const void *)update_kernel<double, 2>,
         (const void *)update_kernel<double, 3>}};
    return kernels[split != 0][tiles - 1];
}

/* See cpd_step.h. */
#include <cooperative_groups.h>

#include "cpd_chain.cuh"
#include "cpd_eights.cuh"
#include "cpd_job.h"
#include "cpd_invert.cuh"
#include "cpd_step.h"

namespace cg = cooperative_groups;

namespace {

enum { INVERTING = 256, LOADING = CPD_STEP_THREADS - INVERTING };

__device__ __forceinline__ void loaders_sync() { asm volatile("bar.sync 2, 256;" ::: "memory"); }

/* right[row][r] of the rows from `first` on, r < rank, by the loading threads, four columns each. wide: of a row of
 * right. room: LOADING 8 floats. */
template <typename V> __device__ __forceinline__ void load_blocks(const hot_cpd_step &s, int first, int count, int wide,
                                                                  V *right, float *room)
{
    const int thread = threadIdx.x - INVERTING, fours = s.columns / 4, tasks = count * fours;
    const int lanes = max(1, LOADING / max(tasks, 1));
    for (int begin = 0; begin < tasks; begin += LOADING) {
        const int here = min(tasks - begin, (int)LOADING), lane = thread / here, task = begin + thread - lane * here;
        if (lane < lanes) {
            const int row = first + task / fours, tile = row / s.pitch, last = s.last_block[tile];
            const float *const from =
                s.sums + ((size_t)tile * CPD_SIDE + row - tile * s.pitch) * s.columns + task % fours * 4;
            float sum[4] = {};
#pragma unroll 4
            for (int b = s.first_block[tile] + lane; b <= last; b += lanes) {
                const float4 part = *(const float4 *)(from + (size_t)b * CPD_SIDE * s.columns);
                sum[0] += part.x, sum[1] += part.y, sum[2] += part.z, sum[3] += part.w;
            }
#pragma unroll
            for (int c = 0; c < 4; c++)
                room[thread * 4 + c] = sum[c];
        }
        loaders_sync();
        for (int at = thread; at < here * 4; at += LOADING) {
            const int which = begin + at / 4, r = which % fours * 4 + at % 4;
            double sum = 0;
            for (int l = 0; l < lanes; l++)
                sum += room[(l * here + at / 4) * 4 + at % 4];
            if (r < s.rank)
                right[which / fours * wide + r] = (V)(sum / ((double)*s.x_scale * s.sum_scales[r]));
        }
        loaders_sync();
    }
}

template <typename T, typename V>
__device__ __forceinline__ void load_store(const hot_cpd_step &s, const T *store, int first, int count, int wide,
                                           V *right, float *room)
{
    const int thread = threadIdx.x - INVERTING, eights = s.columns / 8, tasks = count * eights;
    const int lanes = max(1, LOADING / max(tasks, 1));
    for (int begin = 0; begin < tasks; begin += LOADING) {
        const int here = min(tasks - begin, (int)LOADING), lane = thread / here, task = begin + thread - lane * here;
        if (lane < lanes) {
            const int row = task / eights, e = (task - row * eights) * 8;
            const T *const from = store + (first + row) * s.result_stride + e;
            float sum[8] = {};
#pragma unroll 4
            for (int i = lane; i < s.length; i += lanes) {
                float value[8], weight[8];
                get(from + i * s.stride, value);
                get(s.weights + (size_t)i * s.columns + e, weight);
#pragma unroll
                for (int c = 0; c < 8; c++)
                    sum[c] += weight[c] * value[c];
            }
#pragma unroll
            for (int c = 0; c < 8; c++)
                room[thread * 8 + c] = sum[c];
        }
        loaders_sync();
        for (int at = thread; at < here * 8; at += LOADING) {
            const int which = begin + at / 8, r = which % eights * 8 + at % 8;
            double sum = 0;
            for (int l = 0; l < lanes; l++)
                sum += room[(l * here + at / 8) * 8 + at % 8];
            if (r < s.rank)
                right[which / eights * wide + r] = (V)(sum * s.factor / ((double)*s.x_scale * s.sum_scales[r]));
        }
        loaders_sync();
    }
}

/* What a pass keeps; where that is float, the rest is done in double. */
template <typename V> struct kept {
    typedef __half type;
};
template <> struct kept<double> {
    typedef float type;
};

/* Half of the threads invert the matrix while the others load the product. Then thread (y, x) of 32 x 16 has the
 * columns x + 16 b of a row or, twice 16 x 16, of a matrix. */
template <typename V, int T>
__global__ void __launch_bounds__(CPD_STEP_THREADS) step_kernel(const __grid_constant__ hot_cpd_step s)
{
    enum { WIDE = 16 * T, SPLIT = sizeof(V) == sizeof(double) };
    extern __shared__ double shared[];
    double *const norm = shared, *const shorter = norm + WIDE, *const sums = shorter + WIDE;
    float *const room = (float *)(sums + CPD_STEP_THREADS / 32);
    V *const product = (V *)(room + LOADING * 8), *const pulled = product + CPD_STEP_ROWS * WIDE;
    V *const fresh = pulled + CPD_STEP_ROWS * WIDE, *const inverse = fresh + CPD_STEP_ROWS * WIDE;
    V *const gram = inverse + WIDE * WIDE;
    __shared__ int null[WIDE];
    __shared__ double added;
    const cg::cluster_group cluster = cg::this_cluster();
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, rank = s.rank, block = (int)cluster.block_rank();
    const int each = (s.n + CPD_STEP_BLOCKS - 1) / CPD_STEP_BLOCKS, first = block * each;
    const int count = max(0, min(each, s.n - first));
    V m[T][T];
    /* The Gram matrices are older than the kernel before this one, if that is not an update itself. */
    const bool early = s.source != CPD_FROM_STORE && threadIdx.x < INVERTING;
    if (!early) {
        chain_wait();
        chain_next();
    }
    if (threadIdx.x < INVERTING) {
        const double lifted = invert_in_registers<V, T>(rank, s.one, s.other, s.eps, m);
#pragma unroll
        for (int a = 0; a < T; a++)
#pragma unroll
            for (int b = 0; b < T; b++)
                inverse[(y + 16 * a) * WIDE + x + 16 * b] = m[a][b];
        if (early)
            chain_wait();
        if (threadIdx.x == 0)
            added = lifted;
        if (threadIdx.x < WIDE)
            null[threadIdx.x] = 0;
    } else if (s.source == CPD_FROM_BLOCKS) {
        load_blocks(s, first, count, WIDE, product, room);
    } else if (s.source == CPD_FROM_STORE) {
        load_store(s, (const typename kept<V>::type *)s.store, first, count, WIDE, product, room);
    } else {
        for (int at = threadIdx.x - INVERTING; at < count * rank; at += LOADING)
            product[at % count * WIDE + at / count] = (V)s.product[first + at % count + (size_t)s.n * (at / count)];
    }
    __syncthreads();
    const V *const right = added > 0 ? pulled : product;
    if (added > 0) { /* a pull towards the last values */
        for (int at = threadIdx.x; at < count * rank; at += CPD_STEP_THREADS) {
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
            for (int at = threadIdx.x; at < rank * rank; at += CPD_STEP_THREADS) {
                const int r = at / rank, q = at - r * rank;
                if (!null[r] && !null[q])
                    change += gram[r * WIDE + q] * s.one[at] * s.other[at];
            }
            for (int at = threadIdx.x; at < count * WIDE; at += CPD_STEP_THREADS)
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
            for (int other = 0; other < CPD_STEP_BLOCKS; other++)
                sum += cluster.map_shared_rank(gram, other)[threadIdx.x * (WIDE + 1)];
            norm[threadIdx.x] = sqrt(sum);
            shorter[threadIdx.x] = 1 / sqrt(sum);
            lost = attempt == 0 && !(sum > 0 && isfinite(sum));
            if (lost)
                null[threadIdx.x] = 1;
        }
        if (!__syncthreads_or(lost)) /* the same in every block */
            break;
        cluster.sync();
        /* A column of zeros stays what it was. */
        for (int at = threadIdx.x; at < count * rank; at += CPD_STEP_THREADS) {
            const int row = at % count, r = at / count;
            if (null[r])
                fresh[row * WIDE + r] = (V)s.f[first + row + (size_t)s.n * r];
        }
        __syncthreads();
    }
    for (int at = threadIdx.x + CPD_STEP_THREADS * block; at < rank * rank; at += CPD_STEP_THREADS * CPD_STEP_BLOCKS) {
        const int r = at / rank, q = at - r * rank;
        double sum = 0;
#pragma unroll
        for (int other = 0; other < CPD_STEP_BLOCKS; other++)
            sum += cluster.map_shared_rank(gram, other)[r * WIDE + q];
        s.gram[at] = sum * shorter[r] * shorter[q];
    }
    if (block == 0 && threadIdx.x < 32 && s.square) {
        double rest = 0;
        for (int at = threadIdx.x; at < CPD_STEP_BLOCKS * (CPD_STEP_THREADS / 32); at += 32)
            rest += cluster.map_shared_rank(sums, at / (CPD_STEP_THREADS / 32))[at % (CPD_STEP_THREADS / 32)];
        for (int step = 16; step; step /= 2)
            rest += __shfl_xor_sync(0xffffffff, rest, step);
        rest += *s.square;
        if (threadIdx.x == 0)
            s.fits[s.counters[1]++] = 1 - sqrt(rest > 0 ? rest : 0) / sqrt(*s.square);
    }
    /* Nobody leaves while others read from it. */
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    for (int at = threadIdx.x; at < count * rank; at += CPD_STEP_THREADS) {
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

const void *hot_cpd_step_kernel(size_t n, size_t rank, int split, int *bytes)
{
    const size_t tiles = (rank + 15) / 16, wide = 16 * tiles;
    if (rank > CPD_STEP_RANK || n > CPD_STEP_ROWS * CPD_STEP_BLOCKS)
        return NULL;
    *bytes = (int)((3 * CPD_STEP_ROWS * wide + 2 * wide * wide) * (split ? sizeof(double) : sizeof(float)) +
                   (2 * wide + CPD_STEP_THREADS / 32) * sizeof(double) + LOADING * 8 * sizeof(float));
    static const void *const kernels[2][3] = {
        {(const void *)step_kernel<float, 1>, (const void *)step_kernel<float, 2>, (const void *)step_kernel<float, 3>},
        {(const void *)step_kernel<double, 1>, (const void *)step_kernel<double, 2>,
         (const void *)step_kernel<double, 3>}};
    return kernels[split != 0][tiles - 1];
}

/* See cpd_step.h. */
#include <cooperative_groups.h>

#include "cpd_chain.cuh"
#include "cpd_job.h"
#include "cpd_invert.cuh"
#include "cpd_step.h"

namespace cg = cooperative_groups;

namespace {

/* Thread (y, x) of 16 x 16 has columns x + 16 b of a row or of a matrix. */
template <int T> __global__ void __launch_bounds__(CPD_STEP_THREADS) step_kernel(const __grid_constant__ hot_cpd_step s)
{
    enum { WIDE = 16 * T };
    extern __shared__ double shared[];
    double *const right = shared, *const fresh = right + CPD_STEP_ROWS * WIDE, *const inverse = fresh + CPD_STEP_ROWS * WIDE;
    double *const gram = inverse + WIDE * WIDE, *const norm = gram + WIDE * WIDE, *const sums = norm + WIDE;
    __shared__ int null[WIDE];
    const cg::cluster_group cluster = cg::this_cluster();
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, rank = s.rank, block = (int)cluster.block_rank();
    const int each = (s.n + CPD_STEP_BLOCKS - 1) / CPD_STEP_BLOCKS, first = block * each, count = max(0, min(each, s.n - first));
    /* The Gram matrices are older than the kernel before this one. */
    double m[T][T];
    const double added = invert_in_registers<T>(rank, s.one, s.other, s.eps, m);
#pragma unroll
    for (int a = 0; a < T; a++)
#pragma unroll
        for (int b = 0; b < T; b++)
            inverse[(y + 16 * a) * WIDE + x + 16 * b] = m[a][b];
    chain_wait();
    chain_next();
    for (int at = threadIdx.x; at < count * WIDE; at += CPD_STEP_THREADS) {
        const int row = at % count, r = at / count;
        const size_t there = first + row + (size_t)s.n * r;
        double value = r < rank ? s.product[there] : 0;
        if (added > 0 && r < rank) /* a pull towards the last values */
            value += added * s.f[there] * s.lambda[r];
        right[row * WIDE + r] = value;
    }
    if (threadIdx.x < WIDE)
        null[threadIdx.x] = 0;
    __syncthreads();
    for (int row = y; row < count; row += 32) {
        const bool two = row + 16 < count;
        double sum[2][T] = {};
        for (int q = 0; q < rank; q++) {
            const double above = right[row * WIDE + q], below = two ? right[(row + 16) * WIDE + q] : 0;
#pragma unroll
            for (int b = 0; b < T; b++) {
                const double weight = inverse[q * WIDE + x + 16 * b];
                sum[0][b] += above * weight;
                sum[1][b] += below * weight;
            }
        }
#pragma unroll
        for (int b = 0; b < T; b++) {
            fresh[row * WIDE + x + 16 * b] = x + 16 * b < rank ? sum[0][b] : 0;
            if (two)
                fresh[(row + 16) * WIDE + x + 16 * b] = x + 16 * b < rank ? sum[1][b] : 0;
        }
    }
    __syncthreads();
    for (int attempt = 0; attempt < 2; attempt++) {
#pragma unroll
        for (int a = 0; a < T; a++)
#pragma unroll
            for (int b = 0; b < T; b++)
                m[a][b] = 0;
        for (int row = 0; row < count; row++) {
            double left[T];
#pragma unroll
            for (int a = 0; a < T; a++)
                left[a] = fresh[row * WIDE + y + 16 * a];
#pragma unroll
            for (int b = 0; b < T; b++) {
                const double value = fresh[row * WIDE + x + 16 * b];
#pragma unroll
                for (int a = 0; a < T; a++)
                    m[a][b] += left[a] * value;
            }
        }
#pragma unroll
        for (int a = 0; a < T; a++)
#pragma unroll
            for (int b = 0; b < T; b++)
                gram[(y + 16 * a) * WIDE + x + 16 * b] = m[a][b];
        cluster.sync();
        bool lost = false;
        if ((int)threadIdx.x < rank) {
            double sum = 0;
            for (int other = 0; other < CPD_STEP_BLOCKS; other++)
                sum += cluster.map_shared_rank(gram, other)[threadIdx.x * (WIDE + 1)];
            norm[threadIdx.x] = sqrt(sum);
            lost = attempt == 0 && !(sum > 0 && isfinite(sum));
            if (lost)
                null[threadIdx.x] = 1;
        }
        if (!__syncthreads_or(lost)) /* the same in every block */
            break;
        cluster.sync();
        for (int at = threadIdx.x; at < count * rank; at += CPD_STEP_THREADS) { /* a column of zeros stays what it was */
            const int row = at % count, r = at / count;
            if (null[r])
                fresh[row * WIDE + r] = s.f[first + row + (size_t)s.n * r];
        }
        __syncthreads();
    }
    double approximation = 0, with = 0;
    for (int at = threadIdx.x + CPD_STEP_THREADS * block; at < rank * rank; at += CPD_STEP_THREADS * CPD_STEP_BLOCKS) {
        const int r = at / rank, q = at % rank;
        double sum = 0;
        for (int other = 0; other < CPD_STEP_BLOCKS; other++)
            sum += cluster.map_shared_rank(gram, other)[r * WIDE + q];
        sum /= norm[r] * norm[q];
        s.gram[at] = sum;
        if (s.square)
            approximation += (null[r] ? 0 : norm[r]) * (null[q] ? 0 : norm[q]) * sum * s.one[at] * s.other[at];
    }
    for (int at = threadIdx.x; at < count * rank; at += CPD_STEP_THREADS) {
        const int row = at % count, r = at / count, i = first + row, p = i % CPD_SIDE, c = p % 4;
        const size_t there = i + (size_t)s.n * r;
        const float value = (float)(fresh[row * WIDE + r] / norm[r]);
        s.f[there] = value;
        s.narrow[there] = value;
        s.rows[(size_t)i * s.columns + r] = value;
        const int k = !s.contiguous ? p : p / 16 * 16 + (c < 2 ? 0 : 8) + p % 16 / 4 * 2 + c % 2;
        __half *const to = s.image + (size_t)(i / CPD_SIDE) * s.columns * CPD_SIDE * (s.split ? 2 : 1) + r * CPD_SIDE +
                           ((k / 8 ^ r % 8) * 8 + k % 8);
        const __half high = __float2half_rn(value * 0x1p14f);
        to[0] = high;
        if (s.split)
            to[s.columns * CPD_SIDE] = __float2half_rn(value * 0x1p14f - __half2float(high));
        if (s.square && !null[r])
            with += value * s.product[there] * norm[r];
    }
    if (block == 0) {
        if ((int)threadIdx.x < rank)
            s.lambda[threadIdx.x] = null[threadIdx.x] ? 0 : norm[threadIdx.x];
        if ((int)threadIdx.x < s.columns)
            s.scales[threadIdx.x] = 0x1p14f;
        if (threadIdx.x == 0 && added > 0)
            s.counters[0] += 1;
    }
    if (s.square) {
        for (int step = 16; step; step /= 2) {
            with += __shfl_xor_sync(0xffffffff, with, step);
            approximation += __shfl_xor_sync(0xffffffff, approximation, step);
        }
        if (threadIdx.x % 32 == 0)
            sums[threadIdx.x / 32] = approximation - 2 * with;
    }
    cluster.sync();
    if (s.square && block == 0 && threadIdx.x == 0) {
        double rest = *s.square;
        for (int other = 0; other < CPD_STEP_BLOCKS; other++)
            for (int w = 0; w < CPD_STEP_THREADS / 32; w++)
                rest += cluster.map_shared_rank(sums, other)[w];
        s.fits[s.counters[1]++] = 1 - sqrt(rest > 0 ? rest : 0) / sqrt(*s.square);
    }
    cluster.sync(); /* nobody leaves while others read from it */
}

} // namespace

const void *hot_cpd_step_kernel(size_t n, size_t rank, int *bytes)
{
    const size_t tiles = (rank + 15) / 16, wide = 16 * tiles;
    if (rank > CPD_STEP_RANK || n > CPD_STEP_ROWS * CPD_STEP_BLOCKS)
        return NULL;
    *bytes = (int)((2 * CPD_STEP_ROWS * wide + 2 * wide * wide + wide + CPD_STEP_THREADS / 32) * sizeof(double));
    return tiles == 1 ? (const void *)step_kernel<1> : tiles == 2 ? (const void *)step_kernel<2> : (const void *)step_kernel<3>;
}

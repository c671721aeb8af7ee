/* Gram matrices of windows on the tensor cores for double precision, which are as fast as single precision without
 * them. A warp makes tiles of 32 x 32; complex samples are twice as many real columns, and their products are put
 * together at the end. */
#pragma once

#include "denoise_plan.cuh"
#include "heev/gpu/heev_mma.cuh"

/* Where a window's samples lie: the offset of a row plus that of a column; below 0: they count as zero. Columns are
 * real ones. */
struct denoise_samples {
    const denoise_plan &plan;
    denoise_corner corner;
    __device__ long long voxel(int at) const
    {
        const int voxel = denoise_voxel(plan, corner, at);
        return plan.usable[voxel] ? (long long)voxel * plan.volumes * plan.parts : -1;
    }
    __device__ long long column(int c) const
    {
        if (c >= plan.n * plan.parts)
            return -1;
        if (plan.over_volumes)
            return c;
        const long long at = voxel(c / plan.parts);
        return at < 0 ? -1 : at + c % plan.parts;
    }
    __device__ long long row(int r) const
    {
        return r >= plan.rows ? -1 : plan.over_volumes ? voxel(r) : (long long)r * plan.parts;
    }
};

/* A tile's place in the matrix: packed rows of the lower triangle, or all of it by columns. */
__device__ __forceinline__ size_t denoise_gram_place(int n, bool full, int row, int column)
{
    return full ? (size_t)column * n + row : (size_t)row * (row + 1) / 2 + column;
}

template <bool C>
__device__ __forceinline__ void denoise_store_gram(double *gram, int n, bool full, int row, int column,
                                                   const double (&c)[2])
{
    if (C) { /* row and column count real ones: x_r conj(x_c) of two rows and two columns */
        const double re = __shfl_xor_sync(~0u, c[1], 4), im = __shfl_xor_sync(~0u, c[0], 4);
        if (row % 2 == 0 && row / 2 < n && column / 2 <= row / 2) {
            double *to = gram + 2 * denoise_gram_place(n, full, row / 2, column / 2);
            to[0] = c[0] + re;
            to[1] = row == column ? 0 : im - c[1];
        }
    } else {
        for (int part = 0; part < 2; part++)
            if (row < n && column + part <= row)
                gram[denoise_gram_place(n, full, row, column + part)] = c[part];
    }
}

enum { DENOISE_GRAM_ROWS = 256 };

/* The samples of four rows and a tile's columns, in the products' layout; zero outside of the window. */
__device__ __forceinline__ void denoise_fetch(const float *signals, long long row, const long long (&columns)[4],
                                              float (&x)[4])
{
#pragma unroll
    for (int t = 0; t < 4; t++)
        x[t] = row >= 0 && columns[t] >= 0 ? signals[row + columns[t]] : 0;
}

/* A block per window: of the batch, or of a list (then whole matrices, one after the other, for the eigensolver; of NaN
 * beyond the end of the list). listed: how many precede this part of the list. */
template <bool C>
__global__ void denoise_gram(const __grid_constant__ denoise_plan plan, const int *list, int listed, double *matrices)
{
    __shared__ long long rows[DENOISE_GRAM_ROWS + 4]; /* the rows' places, and a step that is fetched for nothing */
    if (list && listed + (int)blockIdx.x >= *plan.list) {
        const size_t numbers = (size_t)plan.n * plan.n * plan.parts;
        for (size_t at = threadIdx.x; at < numbers; at += blockDim.x)
            matrices[blockIdx.x * numbers + at] = NAN;
        return;
    }
    const int w = list ? list[blockIdx.x] : (int)blockIdx.x, lane = threadIdx.x % 32, n = plan.n;
    const denoise_samples samples = {plan, denoise_corner_at(plan, w)};
    const bool full = list != NULL;
    if (!full) {
        const bool wanted = denoise_wanted(plan, samples.corner);
        if (threadIdx.x == 0)
            plan.signal[w] = wanted ? 0 : DENOISE_UNWANTED;
        if (!wanted)
            return;
    }
    double *gram = full ? matrices + (size_t)blockIdx.x * n * n * plan.parts
                        : plan.gram + (size_t)w * ((size_t)n * (n + 1) / 2) * plan.parts;
    const int across = (n * plan.parts + 31) / 32, tiles = across * (across + 1) / 2, warps = blockDim.x / 32;
    for (int tile0 = 0; tile0 < tiles; tile0 += warps) {
        const int tile = tile0 + threadIdx.x / 32 < tiles ? tile0 + threadIdx.x / 32 : tiles - 1;
        int ti = 0;
        while ((ti + 1) * (ti + 2) / 2 <= tile)
            ti++;
        const int tj = tile - ti * (ti + 1) / 2;
        const bool diagonal = ti == tj;
        long long left[4], right[4];
        double c[4][4][2];
#pragma unroll
        for (int t = 0; t < 4; t++) {
            left[t] = samples.column(32 * ti + 8 * t + lane / 4);
            right[t] = samples.column(32 * tj + 8 * t + lane / 4);
#pragma unroll
            for (int u = 0; u < 4; u++)
                c[t][u][0] = c[t][u][1] = 0;
        }
        for (int row0 = 0; row0 < plan.rows; row0 += DENOISE_GRAM_ROWS) {
            const int some = plan.rows - row0 < DENOISE_GRAM_ROWS ? plan.rows - row0 : DENOISE_GRAM_ROWS;
            __syncthreads();
            for (int r = threadIdx.x; r < DENOISE_GRAM_ROWS + 4; r += blockDim.x)
                rows[r] = r < some ? samples.row(row0 + r) : -1;
            __syncthreads();
            float next[2][4];
            denoise_fetch(plan.signals, rows[lane % 4], left, next[0]);
            denoise_fetch(plan.signals, diagonal ? -1 : rows[lane % 4], right, next[1]);
#pragma unroll 2
            for (int r = lane % 4; r < some + lane % 4; r += 4) {
                double a[4], b[4];
#pragma unroll
                for (int t = 0; t < 4; t++) {
                    a[t] = (double)next[0][t];
                    b[t] = diagonal ? a[t] : (double)next[1][t];
                }
                const long long row = rows[r + 4];
                denoise_fetch(plan.signals, row, left, next[0]);
                denoise_fetch(plan.signals, diagonal ? -1 : row, right, next[1]);
#pragma unroll
                for (int t = 0; t < 4; t++)
#pragma unroll
                    for (int u = 0; u < 4; u++)
                        if (u <= t || !diagonal)
                            mma_8x8x4(c[t][u], a[t], b[u]);
            }
        }
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int u = 0; u < 4; u++)
                if (u <= t || !diagonal)
                    denoise_store_gram<C>(gram, n, full, 32 * ti + 8 * t + lane / 4, 32 * tj + 8 * u + lane % 4 * 2,
                                          c[t][u]);
    }
}

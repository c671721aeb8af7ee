/* Kernels that add up what a pass over the tensor has left (pass_args.h). */
#pragma once

#include "dependent_launch.cuh"
#include "cpd/hopper/packed_columns.cuh"
#include "cpd/hopper/pass_args.h"

namespace {

/* The last block whose units begin at or before one. */
__device__ __forceinline__ int block_of(const hot_cpd_pass_args &args, int unit)
{
    int block = 0;
    for (int step = 128; step; step /= 2)
        block += block + step < args.blocks && args.first[block + step] <= unit ? step : 0;
    return block;
}

/* out[row, r] from the blocks' sums, in order. A block per 32 groups of four values, its warps share the sums. */
__global__ void __launch_bounds__(256) gather_kernel(const __grid_constant__ hot_cpd_pass_args args, int rank,
                                                     int columns, const float *scales, double *out)
{
    enum { AHEAD = 4 };
    __shared__ double parts[8][4][32];
    const int lane = threadIdx.x % 32, part = threadIdx.x / 32, at = (blockIdx.x * 32 + lane) * 4;
    const int row = at / columns, r = at % columns;
    const int tile = min(row, args.rows - 1) / args.pitch;
    const int first = block_of(args, tile * args.per_tile), last = block_of(args, (tile + 1) * args.per_tile - 1);
    double factor = 0;
    if (part < 4 && r + part < rank) /* older than the kernel before this one */
        factor = 1 / ((double)*args.scale * scales[r + part]);
    dependency_wait();
    dependents_launch();
    double sum[4] = {};
    if (row < args.rows) {
        const float *const from = args.sums + ((size_t)tile * CPD_SIDE + row - tile * args.pitch) * columns + r;
        for (int begin = first + part; begin <= last; begin += 8 * AHEAD) {
            float4 here[AHEAD]; /* all loads are issued before the first is used */
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                here[a] = *(const float4 *)(from + (size_t)min(begin + 8 * a, last) * CPD_SIDE * columns);
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (begin + 8 * a <= last)
                    sum[0] += here[a].x, sum[1] += here[a].y, sum[2] += here[a].z, sum[3] += here[a].w;
        }
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        parts[part][c][lane] = sum[c];
    __syncthreads();
    if (part < 4 && row < args.rows && r + part < rank) {
        double total = 0;
#pragma unroll
        for (int p = 0; p < 8; p++)
            total += parts[p][part][lane];
        out[row + (size_t)args.rows * (r + part)] = total * factor;
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
    const int packs = columns / 8, lanes = THREADS / packs, v0 = blockIdx.x * VS;
    const int e = threadIdx.x % packs * 8, lane = threadIdx.x / packs;
    float sum[VS][8] = {};
    dependency_wait();
    dependents_launch();
    if (lane < lanes) {
#pragma unroll 4
        for (int row = lane; row < rows; row += lanes) {
            float weight[8], value[8];
            load_packed(w + (size_t)row * columns + e, weight);
#pragma unroll
            for (int u = 0; u < VS; u++) {
                load_packed(store + ((size_t)min(v0 + u, over - 1) * rows + row) * columns + e, value);
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
    dependency_wait();
    dependents_launch();
    if (at < slab) {
#pragma unroll 4
        for (int v = part; v < over; v += parts_count) {
            float weight[8], value[8];
            load_packed(w + (size_t)v * columns + at % columns, weight);
            load_packed(store + slab * v + at, value);
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

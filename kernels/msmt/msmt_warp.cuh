/* Dense algebra of one voxel by one warp, and products of several voxels with a matrix that all share by one block.
 * Vectors and matrices are in shared memory. A vector of up to 64 unknowns is also held in registers: value `lane` and
 * value `lane + 32` by lane `lane`, zeros beyond its end. */
#pragma once

#include "common/warp.cuh"

namespace {

/* Where a symmetric matrix's entry (i, j), j <= i, is: 32 lanes that read a column meet all banks. */
__device__ __forceinline__ int packed_at(int i, int j) { return i * (i + 1) / 2 + j; }

__device__ __forceinline__ int lane_of_warp() { return (int)(threadIdx.x % 32); }

__device__ __forceinline__ double warp_smallest(double value)
{
    for (int offset = 16; offset; offset /= 2)
        value = fmin(value, __shfl_xor_sync(~0u, value, offset));
    return value;
}

struct unknowns_of_lane {
    double low, high;
};

__device__ __forceinline__ unknowns_of_lane load_unknowns(int n, const double *x)
{
    const int lane = lane_of_warp();
    return {lane < n ? x[lane] : 0.0, lane + 32 < n ? x[lane + 32] : 0.0};
}

__device__ __forceinline__ void store_unknowns(int n, const unknowns_of_lane &from, double *x)
{
    const int lane = lane_of_warp();
    if (lane < n)
        x[lane] = from.low;
    if (lane + 32 < n)
        x[lane + 32] = from.high;
    __syncwarp();
}

/* Cholesky's factor in place of a packed matrix; its diagonal is inverted. n: a multiple of 4, up to 56. Unknowns with
 * no more than `least` of their diagonal value left are taken out. Lane i has rows j + i and j + i + 32 of the four
 * columns at j. */
__device__ inline void warp_factorise(int n, double *a, double least)
{
    enum { TILE = 4 };
    const int lane = lane_of_warp();
    for (int j = 0; j < n; j += TILE) {
        const int i = j + lane;
        const bool one = i < n, two = i + 32 < n, any_two = j + 32 < n;
        double *const row = a + packed_at(one ? i : n - 1, 0), *const other = a + packed_at(two ? i + 32 : n - 1, 0);
        const double limit = one ? least * row[i] : 0;
        double c[TILE], d[TILE];
        const double *top[TILE];
#pragma unroll
        for (int q = 0; q < TILE; q++) {
            top[q] = a + packed_at(j + q, 0);
            c[q] = one && j + q <= i ? row[j + q] : 0;
            d[q] = two ? other[j + q] : 0;
        }
#pragma unroll 4
        for (int k = 0; k < j; k++) {
            const double left = row[k], lower = any_two ? other[k] : 0;
#pragma unroll
            for (int q = 0; q < TILE; q++) {
                const double right = top[q][k];
                c[q] -= left * right;
                d[q] -= lower * right;
            }
        }
#pragma unroll
        for (int q = 0; q < TILE; q++) {
            const double mine = c[q] > limit ? rsqrt(c[q]) : 0, inverse = __shfl_sync(~0u, mine, q);
            c[q] = lane == q ? inverse : c[q] * inverse;
            d[q] *= inverse;
#pragma unroll
            for (int s = q + 1; s < TILE; s++) {
                const double right = __shfl_sync(~0u, c[q], s);
                c[s] -= c[q] * right;
                d[s] -= d[q] * right;
            }
        }
        __syncwarp();
#pragma unroll
        for (int q = 0; q < TILE; q++) {
            if (one && j + q <= i)
                row[j + q] = c[q];
            if (two)
                other[j + q] = d[q];
        }
        __syncwarp();
    }
}

/* x <- (L L^T)^-1 x */
__device__ inline void warp_solve(int n, const double *factor, unknowns_of_lane *x)
{
    const int lane = lane_of_warp(), middle = n < 32 ? n : 32;
    const double *const row = factor + packed_at(lane < n ? lane : n - 1, 0);
    const double *const other = factor + packed_at(lane + 32 < n ? lane + 32 : n - 1, 0);
    const bool two = lane + 32 < n;
#pragma unroll 4
    for (int k = 0; k < middle; k++) {
        const double value = __shfl_sync(~0u, x->low, k) * factor[packed_at(k, k)];
        const double entry = lane > k && lane < n ? row[k] : 0, below = two ? other[k] : 0;
        x->low = lane == k ? value : x->low - entry * value;
        x->high -= below * value;
    }
#pragma unroll 4
    for (int k = 32; k < n; k++) {
        const double value = __shfl_sync(~0u, x->high, k - 32) * factor[packed_at(k, k)];
        const double below = two && lane + 32 > k ? other[k] : 0;
        x->high = lane + 32 == k ? value : x->high - below * value;
    }
#pragma unroll 4
    for (int i = n - 1; i >= 32; i--) {
        const double *const last = factor + packed_at(i, 0);
        const double value = __shfl_sync(~0u, x->high, i - 32) * last[i];
        x->low -= last[lane] * value;
        x->high = lane + 32 == i ? value : x->high - (lane + 32 < i ? last[lane + 32] : 0) * value;
    }
#pragma unroll 4
    for (int i = middle - 1; i >= 0; i--) {
        const double *const last = factor + packed_at(i, 0);
        const double value = __shfl_sync(~0u, x->low, i) * last[i];
        x->low = lane == i ? value : x->low - (lane < i ? last[lane] : 0) * value;
    }
}

/* sum over k of matrix[k * n + i] x[k], for this lane's two i; the matrix is in global memory. */
__device__ inline unknowns_of_lane warp_product(int n, const double *matrix, const double *x)
{
    const int lane = lane_of_warp();
    const bool one = lane < n, two = lane + 32 < n;
    unknowns_of_lane sum = {0, 0};
#pragma unroll 8
    for (int k = 0; k < n; k++) {
        const double factor = x[k];
        sum.low += (one ? matrix[k * n + lane] : 0) * factor;
        sum.high += (two ? matrix[k * n + lane + 32] : 0) * factor;
    }
    return sum;
}

/* out[p * columns + c] of each of V voxels = the sum over the p-th of `parts` runs of rows r of matrix[r * columns + c]
 * x[r]; x and out of the next voxel are `stride` further. By a block of V warps. x: aligned to 16 bytes. */
template <int V>
__device__ inline void block_products(int rows, int columns, int parts, const double *matrix, const double *x,
                                      double *out, int stride)
{
    const int half = (columns + 1) / 2, run = ((rows + parts - 1) / parts + 1) / 2 * 2;
    for (int item = (int)threadIdx.x; item < half * parts; item += 32 * V) {
        const int part = item / half, one = item % half, two = one + half;
        const bool has_two = two < columns;
        const int first = part * run < rows ? part * run : rows, last = first + run < rows ? first + run : rows;
        const double *left = matrix + (size_t)first * columns + one, *right = left + (has_two ? half : 0);
        double sum[2][V] = {};
        int r = first;
#pragma unroll 4
        for (; r + 2 <= last; r += 2) {
            const double l0 = left[0], l1 = left[columns], r0 = right[0], r1 = right[columns];
            left += 2 * columns;
            right += 2 * columns;
#pragma unroll
            for (int v = 0; v < V; v++) {
                const double2 pair = *(const double2 *)(x + v * stride + r);
                sum[0][v] += l0 * pair.x;
                sum[1][v] += r0 * pair.x;
                sum[0][v] += l1 * pair.y;
                sum[1][v] += r1 * pair.y;
            }
        }
        if (r < last)
#pragma unroll
            for (int v = 0; v < V; v++) {
                sum[0][v] += left[0] * x[v * stride + r];
                sum[1][v] += right[0] * x[v * stride + r];
            }
#pragma unroll
        for (int v = 0; v < V; v++) {
            out[v * stride + part * columns + one] = sum[0][v];
            if (has_two)
                out[v * stride + part * columns + two] = sum[1][v];
        }
    }
}

/* How many parts of `columns` columns keep a block of V warps busy, and have room. */
template <int V> __device__ __forceinline__ int parts_of(int columns, int room)
{
    const int wanted = 32 * V / ((columns + 1) / 2), possible = room / columns;
    return wanted < 1 ? 1 : wanted < possible ? wanted : possible;
}

} // namespace

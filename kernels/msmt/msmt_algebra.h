/* Dense algebra with a voxel per lane: symmetric matrices of up to 56 x 56, and products with a matrix that all voxels
 * share. Vectors are arrays of vd, matrices of a voxel rows of `n`, the lower triangle. */
#pragma once

#include "common/simd.h"

enum { TILE = 4, STRIP = 8 };

/* out[i] = sum over r of matrix[r * n + i] x[r], for i < used: the matrix is shared, a strip of sums stays in
 * registers. */
static inline void product_transposed(size_t rows, size_t n, size_t used, const double *matrix, const vd *x, vd *out)
{
    size_t i = 0;
    for (; i + STRIP <= used; i += STRIP) {
        vd sum[STRIP];
        HOT_UNROLL
        for (int b = 0; b < STRIP; b++)
            sum[b] = vsetd(0);
        for (size_t r = 0; r < rows; r++) {
            const vd factor = x[r];
            const double *from = matrix + r * n + i;
            HOT_UNROLL
            for (int b = 0; b < STRIP; b++)
                sum[b] += vsetd(from[b]) * factor;
        }
        HOT_UNROLL
        for (int b = 0; b < STRIP; b++)
            out[i + (size_t)b] = sum[b];
    }
    for (; i < used; i++) {
        vd sum = vsetd(0);
        for (size_t r = 0; r < rows; r++)
            sum += vsetd(matrix[r * n + i]) * x[r];
        out[i] = sum;
    }
}

/* A tile of a lower triangle less the product of its rows and columns before `k`. */
static inline void tile_less_product(size_t n, const vd *a, size_t i, size_t j, size_t k, vd tile[TILE][TILE])
{
    HOT_UNROLL
    for (size_t p = 0; p < TILE; p++)
        HOT_UNROLL
        for (size_t q = 0; q < TILE; q++)
            tile[p][q] = a[(i + p) * n + j + q];
    for (size_t c = 0; c < k; c++) {
        vd left[TILE], right[TILE];
        HOT_UNROLL
        for (size_t p = 0; p < TILE; p++)
            left[p] = a[(i + p) * n + c];
        HOT_UNROLL
        for (size_t q = 0; q < TILE; q++)
            right[q] = a[(j + q) * n + c];
        HOT_UNROLL
        for (size_t p = 0; p < TILE; p++)
            HOT_UNROLL
            for (size_t q = 0; q < TILE; q++)
                tile[p][q] -= left[p] * right[q];
    }
}

/* Cholesky's factor in place of the lower triangle; its diagonal is inverted. n: a multiple of TILE. A diagonal value
 * of which no more than `least` is left is only rounding: its unknown does not change in this step. */
static inline void factorise(size_t n, vd *a, vd least)
{
    for (size_t j = 0; j < n; j += TILE) {
        vd tile[TILE][TILE], corner[TILE][TILE];
        tile_less_product(n, a, j, j, j, corner);
        for (size_t q = 0; q < TILE; q++) {
            const vl there = corner[q][q] > least * a[(j + q) * (n + 1)];
            corner[q][q] = vsel(there, 1 / vsqrt(vsel(there, corner[q][q], vsetd(1))), vsetd(0));
            for (size_t p = q + 1; p < TILE; p++)
                corner[p][q] *= corner[q][q];
            for (size_t p = q + 1; p < TILE; p++)
                for (size_t s = q + 1; s <= p; s++)
                    corner[p][s] -= corner[p][q] * corner[s][q];
        }
        for (size_t p = 0; p < TILE; p++)
            for (size_t q = 0; q <= p; q++)
                a[(j + p) * n + j + q] = corner[p][q];
        for (size_t i = j + TILE; i < n; i += TILE) {
            tile_less_product(n, a, i, j, j, tile);
            for (size_t p = 0; p < TILE; p++)
                for (size_t q = 0; q < TILE; q++) {
                    vd value = tile[p][q];
                    for (size_t s = 0; s < q; s++)
                        value -= tile[p][s] * corner[q][s];
                    tile[p][q] = value * corner[q][q];
                    a[(i + p) * n + j + q] = tile[p][q];
                }
        }
    }
}

/* x <- (L L^T)^-1 x */
static inline void solve(size_t n, const vd *factor, vd *x)
{
    for (size_t i = 0; i < n; i++) {
        vd sum = x[i], other = vsetd(0);
        size_t k = 0;
        for (; k + 2 <= i; k += 2) {
            sum -= factor[i * n + k] * x[k];
            other += factor[i * n + k + 1] * x[k + 1];
        }
        if (k < i)
            sum -= factor[i * n + k] * x[k];
        x[i] = (sum - other) * factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] *= factor[i * n + i];
        for (size_t k = 0; k < i; k++)
            x[k] -= factor[i * n + k] * x[i];
    }
}

static inline vd dot_lanes(size_t n, const vd *x, const vd *y)
{
    vd sum = vsetd(0);
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

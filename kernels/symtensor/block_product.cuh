/* Products with unfolded symmetric tensors, for one thread of a GPU: of a tile of rows with the monomials of R points,
 * and what a tile of the Hessian adds to A x^(m-1) and to the sums over A x^(m-2). Plain C++, so that it is tested on
 * the CPU. Fused products by name: the results do not depend on R. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "common/portable.h"

/* Up to 16 bytes that are loaded at once. */
template <typename T, int R> struct alignas(sizeof(T) * R) block_pack {
    T v[R];
};

template <typename T, int ROWS, int R> HOT_FN void block_clear(T acc[ROWS][R])
{
    HOT_UNROLL
    for (int r = 0; r < ROWS; r++) {
        HOT_UNROLL
        for (int b = 0; b < R; b++)
            acc[r][b] = 0;
    }
}

/* A point's coordinate d is x[d * points]. acc[r][b] += sum over the monomials c of degree `degree` >= 1 of
 * u[c][r] x_b^c. The monomials are in lexicographic order: `prefix` (hot_class_prefixes) has the first degree - 1
 * indices of all that begin alike, 4 bits each, the last of them in the lowest bits. */
template <typename T, int ROWS, int R>
HOT_FN void block_product(const T *u, const T *x, int points, const uint64_t *prefix, int prefixes, int degree, int dim,
                          T acc[ROWS][R])
{
    constexpr int WIDE = 16 / (int)sizeof(T), PADDED = (ROWS + 3) / 4 * 4;
    for (int q = 0; q < prefixes; q++) {
        uint64_t code = prefix[q];
        block_pack<T, R> p;
        const int first = (int)(code & 15);
        HOT_UNROLL
        for (int b = 0; b < R; b++)
            p.v[b] = 1;
        if (degree > 1)
            p = *(const block_pack<T, R> *)(x + first * points);
        for (int j = 2; j < degree; j++) {
            code >>= 4;
            const block_pack<T, R> factor = *(const block_pack<T, R> *)(x + (int)(code & 15) * points);
            HOT_UNROLL
            for (int b = 0; b < R; b++)
                p.v[b] *= factor.v[b];
        }
        const T *at = x + first * points;
        for (int i = first; i < dim; i++, u += PADDED, at += points) {
            block_pack<T, R> w = *(const block_pack<T, R> *)at;
            HOT_UNROLL
            for (int b = 0; b < R; b++)
                w.v[b] *= p.v[b];
            HOT_UNROLL
            for (int from = 0; from < PADDED; from += WIDE) {
                const block_pack<T, WIDE> values = *(const block_pack<T, WIDE> *)(u + from);
                HOT_UNROLL
                for (int r = from; r < from + WIDE; r++) {
                    HOT_UNROLL
                    for (int b = 0; b < R; b++)
                        if (r < ROWS)
                            acc[r][b] = fma(values.v[r - from], w.v[b], acc[r][b]);
                }
            }
        }
    }
}

/* What a tile with the rows (k, l), k in block K and l in block L of B indices, adds: to[k] and to[B + l] to A x^(m-1),
 * and to the Hessian's sum of squares, to[2 B], and trace, to[2 B + 1]; each R points, `points` apart. On the diagonal
 * (K = L) the rows are k <= l, and to[B ...] is not written. xk, xl: of the blocks' first index. */
template <typename T, int B, int R, bool DIAGONAL>
HOT_FN void block_tile_sums(const T (*h)[R], const T *xk, const T *xl, int points, T *to)
{
    block_pack<T, R> k_sum[B], l_sum[DIAGONAL ? 1 : B], squares, trace;
    HOT_UNROLL
    for (int b = 0; b < R; b++) {
        squares.v[b] = trace.v[b] = 0;
        HOT_UNROLL
        for (int i = 0; i < B; i++)
            k_sum[i].v[b] = 0;
        HOT_UNROLL
        for (int i = 0; i < (DIAGONAL ? 1 : B); i++)
            l_sum[i].v[b] = 0;
    }
    int row = 0;
    HOT_UNROLL
    for (int k = 0; k < B; k++) {
        const block_pack<T, R> at_k = *(const block_pack<T, R> *)(xk + k * points);
        HOT_UNROLL
        for (int l = DIAGONAL ? k : 0; l < B; l++, row++) {
            const block_pack<T, R> at_l = *(const block_pack<T, R> *)(xl + l * points);
            HOT_UNROLL
            for (int b = 0; b < R; b++) {
                const T value = h[row][b];
                k_sum[k].v[b] = fma(value, at_l.v[b], k_sum[k].v[b]);
                if (DIAGONAL && k == l) {
                    squares.v[b] = fma(value, value, squares.v[b]);
                    trace.v[b] += value;
                } else {
                    T &other = DIAGONAL ? k_sum[l].v[b] : l_sum[DIAGONAL ? 0 : l].v[b];
                    other = fma(value, at_k.v[b], other);
                    squares.v[b] = fma(2 * value, value, squares.v[b]);
                }
            }
        }
    }
    HOT_UNROLL
    for (int i = 0; i < B; i++)
        *(block_pack<T, R> *)(to + i * points) = k_sum[i];
    HOT_UNROLL
    for (int i = 0; i < B && !DIAGONAL; i++)
        *(block_pack<T, R> *)(to + (B + i) * points) = l_sum[DIAGONAL ? 0 : i];
    *(block_pack<T, R> *)(to + 2 * B * points) = squares;
    *(block_pack<T, R> *)(to + (2 * B + 1) * points) = trace;
}

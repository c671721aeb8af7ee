/* The templates of kernels/symtensor/block_product.cuh for the CPU, with names for C: the sums of a tile for R points
 * next to each other, and R of them `points` apart. */
#include <math.h>

#include "sshopm/gpu/block_table.h"
#include "symtensor/block_product.cuh"
#include "symtensor/gpu/forms_table.h"

namespace {

template <typename T, int B, int R>
void tile(const hot_sshopm_cut *cut, int number, const T *u, const uint64_t *prefix, const T *x, int points, T *to)
{
    const T *xk = x + cut->k[number] * B * points, *xl = x + cut->l[number] * B * points;
    if (cut->k[number] == cut->l[number]) {
        T h[B * (B + 1) / 2][R] = {};
        block_product<T, B *(B + 1) / 2, R>(u, x, points, prefix, cut->prefixes, cut->order - 2, cut->dim, h);
        block_tile_sums<T, B, R, true>(h, xk, xl, points, to);
    } else {
        T h[B * B][R] = {};
        block_product<T, B * B, R>(u, x, points, prefix, cut->prefixes, cut->order - 2, cut->dim, h);
        block_tile_sums<T, B, R, false>(h, xk, xl, points, to);
    }
}

template <typename T, int B, typename... A> void points(int together, A... rest)
{
    if (together == 1)
        tile<T, B, 1>(rest...);
    else if (together == 2)
        tile<T, B, 2>(rest...);
    else if constexpr (sizeof(T) == 4)
        tile<T, B, 4>(rest...);
}

template <typename T, typename... A> void block(int size, int together, A... rest)
{
    switch (size) {
    case 2: points<T, 2>(together, rest...); break;
    case 3: points<T, 3>(together, rest...); break;
    case 4: points<T, 4>(together, rest...); break;
    case 5: points<T, 5>(together, rest...); break;
    case 6: points<T, 6>(together, rest...); break;
    default: points<T, 7>(together, rest...);
    }
}

template <int ROWS>
void form(const hot_forms_table *table, const double *u, const uint64_t *prefix, int prefixes, const double *x,
          double *sum)
{
    double part[ROWS][1] = {};
    block_product<double, ROWS, 1>(u, x, 1, prefix, prefixes, table->times, table->dim, part);
    for (int r = 0; r < ROWS; r++)
        sum[r] += part[r][0];
}

} // namespace

extern "C" {

/* What a part of a tile's columns adds to A x^p. */
void form_test(const hot_forms_table *table, const double *u, const uint64_t *prefix, int prefixes, const double *x,
               double *sum)
{
    (table->tile == 4 ? form<4> : form<16>)(table, u, prefix, prefixes, x, sum);
}

void block_test_f32(const hot_sshopm_cut *cut, int number, int together, const float *u, const uint64_t *prefix,
                    const float *x, int points, float *to)
{
    block<float>(cut->block, together, cut, number, u, prefix, x, points, to);
}

void block_test_f64(const hot_sshopm_cut *cut, int number, int together, const double *u, const uint64_t *prefix,
                    const double *x, int points, double *to)
{
    block<double>(cut->block, together, cut, number, u, prefix, x, points, to);
}
}

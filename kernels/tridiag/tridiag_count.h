/* A template: Sturm counts of one instruction set, many shifts side by side. Define HOT_VARIANT(name), then include.
 *
 * d_1 = a_1 - x, d_i = (a_i - x) - b_(i-1)^2 / d_(i-1); the number of negative d_i is the number of eigenvalues below
 * x. Each operation is rounded correctly and so is monotonic, and so is the count (Demmel, Dhillon, Ren 1995). A pivot
 * of zero gives an infinite one of the opposite sign next: the pair counts one by their sign bits whichever zero it
 * was. */
#include "common/simd.h"
#include "tridiag.h"

/* Independent recurrences that hide each other's divisions. */
enum { CHAINS = 4 };

static void count_f64(const hot_tridiag_matrix *matrix, const double *shifts, int64_t *counts)
{
    const double *restrict a = matrix->a, *restrict b2 = matrix->b2;
    vd x[CHAINS], d[CHAINS];
    vul below[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        for (int lane = 0; lane < HOT_LANES_F64; lane++)
            x[c][lane] = shifts[c * HOT_LANES_F64 + lane];
        d[c] = a[0] - x[c];
        below[c] = (vul)d[c] >> 63;
    }
    for (size_t i = 1; i < matrix->n; i++) {
        HOT_UNROLL
        for (int c = 0; c < CHAINS; c++) {
            d[c] = (a[i] - x[c]) - b2[i - 1] / d[c];
            below[c] += (vul)d[c] >> 63;
        }
    }
    for (int c = 0; c < CHAINS; c++)
        for (int lane = 0; lane < HOT_LANES_F64; lane++)
            counts[c * HOT_LANES_F64 + lane] = (int64_t)below[c][lane];
}

static void count_f32(const hot_tridiag_matrix *matrix, const float *shifts, int64_t *counts)
{
    const float *restrict a = matrix->a32, *restrict b2 = matrix->b2_32;
    vf x[CHAINS], d[CHAINS];
    vu below[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        for (int lane = 0; lane < HOT_LANES_F32; lane++)
            x[c][lane] = shifts[c * HOT_LANES_F32 + lane];
        d[c] = a[0] - x[c];
        below[c] = (vu)d[c] >> 31;
    }
    for (size_t i = 1; i < matrix->n; i++) {
        HOT_UNROLL
        for (int c = 0; c < CHAINS; c++) {
            d[c] = (a[i] - x[c]) - b2[i - 1] / d[c];
            below[c] += (vu)d[c] >> 31;
        }
    }
    for (int c = 0; c < CHAINS; c++)
        for (int lane = 0; lane < HOT_LANES_F32; lane++)
            counts[c * HOT_LANES_F32 + lane] = (int64_t)below[c][lane];
}

const hot_tridiag_variant HOT_VARIANT(hot_tridiag_variant) = {CHAINS * HOT_LANES_F64, CHAINS * HOT_LANES_F32, count_f64,
                                                              count_f32};

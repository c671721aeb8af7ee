/* Inside the fit family: the backends, and the pieces they share. Public contract: hotfiber/fit.h. */
#pragma once

#include <hotfiber/fit.h>

#include "common/cpu.h"

HOT_C_BEGIN

/* The CPU backend has one text for every level of vector instructions; all give the same bits, because none fuses
 * multiply and add and each output is summed over the columns in order. */

/* hot_fit_linear_f32 in long double, one product after the other. */
void hot_fit_linear_f32_ref(size_t rows, size_t columns, const double *matrix, size_t count, const float *input,
                            size_t input_stride, float *output, size_t output_stride);
hot_status hot_fit_linear_f32_cpu(hot_context *context, hot_cpu_level level, size_t rows, size_t columns,
                                  const double *matrix, size_t count, const float *input, size_t input_stride,
                                  float *output, size_t output_stride);

/* A call of hot_fit_linear_f32, and the CUDA backend for arrays in device memory; the matrix is the host's. */
typedef struct hot_fit_linear_args {
    size_t rows, columns, count, input_stride, output_stride;
    const double *matrix;
    const float *input;
    float *output;
} hot_fit_linear_args;
hot_status hot_fit_linear_cuda(hot_context *context, void *args);

/* A call of hot_fit_weighted_f32, and the CUDA backend; the design is the host's. */
typedef struct hot_fit_weighted_args {
    size_t rows, columns, count, output_stride;
    const double *design;
    const float *input, *weight;
    float *coefficients;
    uint8_t *flags;
} hot_fit_weighted_args;
hot_status hot_fit_weighted_cuda(hot_context *context, void *args);

/* hot_fit_weighted_f32 in long double: Gram-Schmidt, twice, on the weighted design. */
hot_status hot_fit_weighted_f32_ref(hot_context *context, size_t rows, size_t columns, const double *design,
                                    size_t count, const float *input, const float *weight, float *coefficients,
                                    size_t output_stride, uint8_t *flags);
hot_status hot_fit_weighted_f32_cpu(hot_context *context, hot_cpu_level level, size_t rows, size_t columns,
                                    const double *design, size_t count, const float *input, const float *weight,
                                    float *coefficients, size_t output_stride, uint8_t *flags);

/* ---- Parts of the CPU backend ---------------------------------------------------------------------------- */

enum { HOT_FIT_VOXELS = 4, HOT_FIT_LANES = 8 };

/* A matrix laid out for the core: blocks of `2 * width` rows, each block column after column, padded with zero rows. */
size_t hot_fit_packed_rows(hot_cpu_level level, size_t rows);
void hot_fit_pack(hot_cpu_level level, size_t rows, size_t columns, const double *matrix, double *packed);

/* out[v * packed_rows + r] = sum_c packed(r, c) x[c * 4 + v] for four voxels. */
typedef void hot_fit_core(size_t packed_rows, size_t columns, const double *packed, const double *x, double *out);
/* Normal equations G x = b are solved to float's precision as long as their condition allows it: with S = diag(G)^(1/2)
 * and H = S^-1 G S^-1, forming and factorising G changes S x by about epsilon |H^-1| (Higham, Accuracy and Stability of
 * Numerical Algorithms, theorem 10.6), 2e-8 where |H^-1| is 1e8. A pivot bounds it from one side only. So the factor L
 * also solves S^-1 L z = e for signs e = +-1 that make z grow (Cline, Moler, Stewart, Wilkinson 1979): |H^-1| >= |z|^2
 * / n, and |z|^2 is mostly between the two. */
#define HOT_FIT_CONDITION 1e8 /* of |z|^2, at most; beyond it, QR */

/* Solves eight systems at once by Cholesky. gram: n(n+1)/2 x 8, entry (i, j <= i) at i(i+1)/2 + j, destroyed; right:
 * n x 8, becomes the solution; z: n x 8 of scratch. bad[lane] = 1 where a pivot fell below `tolerance` of its diagonal
 * entry, or |z|^2 is above HOT_FIT_CONDITION. */
typedef void hot_fit_cholesky(size_t n, double tolerance, double *gram, double *right, double *z, unsigned char *bad);

hot_fit_core hot_fit_core_base, hot_fit_core_avx2, hot_fit_core_avx512;
hot_fit_cholesky hot_fit_cholesky_base, hot_fit_cholesky_avx2, hot_fit_cholesky_avx512;
hot_fit_core *hot_fit_core_of(hot_cpu_level level);
hot_fit_cholesky *hot_fit_cholesky_of(hot_cpu_level level);

/* Householder QR of a (rows x columns, row-major, rows >= columns): on return the upper triangle of `a` is R (its
 * diagonal in `diagonal`) and the rest holds the reflectors. */
void hot_fit_qr(size_t rows, size_t columns, double *a, double *diagonal);
/* vector (rows) <- Q^T vector. */
void hot_fit_qr_transposed(size_t rows, size_t columns, const double *a, const double *diagonal, double *vector);
/* Least squares by QR: a and right (rows) are destroyed, x gets `columns` values. 0 when a pivot is below `tolerance`
 * of the largest. scratch: columns. */
int hot_fit_qr_solve(size_t rows, size_t columns, double *a, double *right, double tolerance, double *x,
                     double *scratch);

HOT_C_END

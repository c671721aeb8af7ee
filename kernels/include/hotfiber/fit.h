/* Batched linear least squares on voxel data: what the models' fits come down to. */
#ifndef HOTFIBER_FIT_H
#define HOTFIBER_FIT_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* output[i] = matrix * input[i] for count vectors. matrix: rows x columns, row-major, double. input: count x
 * input_stride floats, the first `columns` used; output: count x output_stride floats, the first `rows` written.
 * Sums in double. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Any number of threads gives the
 * same result. */
HOT_API hot_status hot_fit_linear_f32(hot_context *context, size_t rows, size_t columns, const double *matrix,
                                      size_t count, const float *input, size_t input_stride, float *output,
                                      size_t output_stride);

/* The pseudo-inverse (columns x rows) of a rows x columns design matrix with optional Tikhonov weights:
 * (D^T D + diag(penalty))^-1 D^T, by a QR factorisation of the stacked matrix. penalty: `columns` values >= 0, or NULL.
 * condition (may be NULL): an estimate of the 2-norm condition number of the stacked matrix.
 * Errors: HOT_ERROR_DATA when the matrix has not full column rank. */
HOT_API hot_status hot_fit_pseudo_inverse(hot_context *context, size_t rows, size_t columns, const double *design,
                                          const double *penalty, double *inverse, double *condition);

/* Weighted least squares, one weight per row and voxel: coefficients[i] minimises
 * sum_r weight[i][r] (design[r] . c - input[i][r])^2. design: rows x columns double; input, weight: count x rows
 * floats; coefficients: count x output_stride floats. flags (may be NULL): count bytes, 1 where the voxel could not be
 * solved (coefficients 0). */
HOT_API hot_status hot_fit_weighted_f32(hot_context *context, size_t rows, size_t columns, const double *design,
                                        size_t count, const float *input, const float *weight, float *coefficients,
                                        size_t output_stride, uint8_t *flags);

#ifdef __cplusplus
}
#endif
#endif

/* Linear least squares for many voxels with one design matrix. */
#ifndef HOTFIBER_FIT_H
#define HOTFIBER_FIT_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Multiplies a matrix with many vectors: output[i] = matrix input[i]. Sums are in double precision.
 *
 * matrix   rows x columns, row-major; always in the host's memory. input and output may be in a GPU's
 *          (hotfiber/device.h), with the same results.
 * input    count x input_stride; the first `columns` values of each row are used.
 * output   out: count x output_stride; the first `rows` values of each row are written.
 *
 * The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_fit_linear_f32(hot_context *context, size_t rows, size_t columns, const double *matrix,
                                      size_t count, const float *input, size_t input_stride, float *output,
                                      size_t output_stride);

/* Computes the pseudo-inverse (D^T D + diag(penalty))^-1 D^T of a design matrix D, with optional Tikhonov
 * regularisation, by a QR factorisation of D stacked on diag(sqrt(penalty)).
 *
 * design      rows x columns, row-major.
 * penalty     columns, >= 0; NULL = 0.
 * inverse     out: columns x rows, row-major.
 * condition   out: an estimate of the 2-norm condition number of the stacked matrix; or NULL.
 *
 * The caller owns all arrays. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (the stacked matrix is rank-deficient),
 * HOT_ERROR_MEMORY. */
HOT_API hot_status hot_fit_pseudo_inverse(hot_context *context, size_t rows, size_t columns, const double *design,
                                          const double *penalty, double *inverse, double *condition);

/* Weighted linear least squares: coefficients[i] minimises sum_r weight[i][r] (design[r] . c - input[i][r])^2.
 *
 * design         rows x columns, row-major; columns <= 1024; always in the host's memory. The other arrays may be in a
 *                GPU's (hotfiber/device.h), with the same results.
 * input          count x rows: the data of each voxel.
 * weight         count x rows: their weights.
 * coefficients   out: count x output_stride; the first `columns` values of each row are written.
 * flags          out: count bytes, 1 where the normal equations could not be solved (coefficients 0); or NULL.
 *
 * The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_fit_weighted_f32(hot_context *context, size_t rows, size_t columns, const double *design,
                                        size_t count, const float *input, const float *weight, float *coefficients,
                                        size_t output_stride, uint8_t *flags);

HOT_C_END
#endif

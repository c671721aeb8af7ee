/* Times of the tridiagonal eigensolver with all data in the GPU's memory: for `hotfiber bench paper`. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Computes all eigenvalues of one matrix `repeats` times from data in the GPU's memory to results there; seconds[i] is
 * the time of each by the device's clock. HOT_ERROR_DEVICE without a GPU. */
hot_status hot_tridiag_measure(hot_context *context, int f64, size_t n, const double *a, const double *b,
                               double absolute, int repeats, double *seconds);
hot_status hot_tridiag_measure_cuda(hot_context *context, int f64, size_t n, const double *a, const double *b,
                                    double absolute, int repeats, double *seconds);

HOT_C_END

/* Times of the tridiagonal eigensolver with all data in the GPU's memory: for `kernels_checker --bench tridiag`. */
#ifndef HOT_TRIDIAG_MEASURE_H
#define HOT_TRIDIAG_MEASURE_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes all eigenvalues of one matrix `repeats` times from data in the GPU's memory to results there; seconds[i] is
 * the time of each by the device's clock. HOT_ERROR_DEVICE without a GPU. */
hot_status hot_tridiag_measure(hot_context *context, int f64, size_t n, const double *a, const double *b,
                               double absolute, int repeats, double *seconds);
hot_status hot_tridiag_measure_cuda(hot_context *context, int f64, size_t n, const double *a, const double *b,
                                    double absolute, int repeats, double *seconds);

#ifdef __cplusplus
}
#endif
#endif

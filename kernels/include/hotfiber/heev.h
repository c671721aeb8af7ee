/* Eigenvalues and eigenvectors of many small Hermitian or real symmetric matrices. */
#ifndef HOTFIBER_HEEV_H
#define HOTFIBER_HEEV_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_HEEV_MAX = 1024 }; /* the largest n */

typedef struct hot_heev_options {
    size_t size;    /* sizeof(hot_heev_options) */
    size_t largest; /* only so many, the largest; 0 = all */
} hot_heev_options;

/* A = V diag(values) V^H of count matrices. n: 0 to HOT_HEEV_MAX. matrices: count x n x n, column-major; complex ones
 * as (re, im) pairs. The lower triangle is read; what stands above the diagonal, and the imaginary part of the
 * diagonal, is not. options may be NULL: all.
 * Out, with k = n or options->largest: values (count x k), ascending; vectors (count x k x n; NULL = not wanted): the
 * eigenvectors one after the other, orthonormal, in the order of the values; flags (count; may be NULL): 0, or 1 for a
 * matrix with NaN or Inf, or for which no eigenvalues were found (not seen): its outputs are NaN, the others' are not
 * touched by it. ||A V - V D|| / (n epsilon ||A||) and ||V^H V - 1|| / (n epsilon) are of the order of 1.
 * Owner: the caller owns everything; outputs must not overlap the matrices. Errors: HOT_ERROR_ARGUMENT,
 * HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. The same answer for any number of threads.
 * Source: Householder's reduction to tridiagonal form with real off-diagonals; on the CPU LAPACK's divide and conquer
 * (zheevd, dsyevd ...), or implicit QL where the build has no LAPACK. */
HOT_API hot_status hot_heev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const double *matrices, double *values, double *vectors, uint8_t *flags);
HOT_API hot_status hot_heev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const float *matrices, float *values, float *vectors, uint8_t *flags);
/* The same for real symmetric matrices. */
HOT_API hot_status hot_syev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const double *matrices, double *values, double *vectors, uint8_t *flags);
HOT_API hot_status hot_syev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const float *matrices, float *values, float *vectors, uint8_t *flags);

#ifdef __cplusplus
}
#endif
#endif

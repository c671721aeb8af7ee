/* Eigenvalues of symmetric tridiagonal matrices, one or many: all, a range of indices or a range of values. */
#ifndef HOTFIBER_TRIDIAG_H
#define HOTFIBER_TRIDIAG_H

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef enum hot_tridiag_range {
    HOT_TRIDIAG_ALL = 0, /* all n eigenvalues */
    HOT_TRIDIAG_INDEX,   /* eigenvalues first ... last in ascending order, counted from 0 */
    HOT_TRIDIAG_VALUE    /* eigenvalues in low <= lambda < high. Which these are is decided to about 100 bits of
                            the norm: an eigenvalue of the given matrix that equals a bound counts as equal. No value
                            returned lies outside, whatever its tolerance */
} hot_tridiag_range;

typedef struct hot_tridiag_options {
    size_t size;          /* sizeof(hot_tridiag_options) */
    hot_tridiag_range range;
    size_t first, last;   /* with HOT_TRIDIAG_INDEX */
    double low, high;     /* with HOT_TRIDIAG_VALUE; they may be infinite */
    double absolute;      /* absolute tolerance of an eigenvalue, in the unit of the matrix; 0 = a few units in the last
                             place of the norm of the matrix */
    double relative;      /* relative tolerance of an eigenvalue; 0 = none. With a value > 0 small eigenvalues are
                             computed as accurately as the entries determine them, but never beyond `absolute` if that
                             is given */
} hot_tridiag_options;
#define HOT_TRIDIAG_OPTIONS_INIT HOT_SIZED(hot_tridiag_options)

/* Computes eigenvalues of `count` matrices of size n.
 *
 * options    NULL = all eigenvalues, to full precision.
 * n, count   may be 0.
 * diagonal   count x stride; the first n values of each row are the diagonal of a matrix.
 * off        count x stride; the first n - 1 values of each row are its off-diagonal.
 * stride     at least n, in values.
 * values     out: count x width, ascending, repeated by multiplicity; entries beyond those found are NaN.
 * width      at least the number of eigenvalues that may be found: last - first + 1 with HOT_TRIDIAG_INDEX, else n.
 * found      out: count, the number of eigenvalues, -1 for a matrix with NaN or Inf (its values are NaN, other matrices
 *            are not affected); or NULL.
 *
 * The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * Method: multisection (Lo, Philippe, Sameh 1987) of the Gershgorin interval by Sturm counts from the pivots of LDL^T
 * (Barth, Martin, Wilkinson 1967), which are monotonic in IEEE arithmetic (Demmel, Dhillon, Ren 1995); for all
 * eigenvalues on the CPU, LAPACK's dsterf. */
HOT_API hot_status hot_tridiag_f64(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const double *diagonal, const double *off, size_t stride, double *values,
                                   size_t width, int64_t *found);
HOT_API hot_status hot_tridiag_f32(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const float *diagonal, const float *off, size_t stride, float *values, size_t width,
                                   int64_t *found);

/* Computes eigenvalues and eigenvectors: values and found are those of hot_tridiag_*, and all arguments mean the same.
 *
 * vectors    out: count x width x n, one orthonormal eigenvector after the other, in the order of values; NaN beyond
 *            those found. A matrix with NaN or Inf, or (not observed so far) one for which the iteration did not
 *            converge, has found = -1 and NaN in its values and vectors.
 *
 * ||V^T V - I|| / (n epsilon) is of order 1, and without tolerances ||T V - V D|| / (n epsilon ||T||), too. The vectors
 * do not depend on the tolerances, and results not on the number of threads. Errors: as hot_tridiag_*;
 * HOT_ERROR_ARGUMENT with arrays in device memory.
 * Method, on the CPU: divide and conquer (LAPACK's dstedc), or implicit QL in builds without LAPACK; for less than a
 * quarter of the eigenvalues and n above 64 inverse iteration, each vector orthogonalised against those with
 * eigenvalues nearby, which takes memory for these vectors alone. */
HOT_API hot_status hot_tridiag_vectors_f64(hot_context *context, const hot_tridiag_options *options, size_t n,
                                           size_t count, const double *diagonal, const double *off, size_t stride,
                                           double *values, double *vectors, size_t width, int64_t *found);
HOT_API hot_status hot_tridiag_vectors_f32(hot_context *context, const hot_tridiag_options *options, size_t n,
                                           size_t count, const float *diagonal, const float *off, size_t stride,
                                           float *values, float *vectors, size_t width, int64_t *found);

HOT_C_END
#endif

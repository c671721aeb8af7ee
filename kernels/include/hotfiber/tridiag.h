/* Eigenvalues of symmetric tridiagonal matrices: all, a range of indices or a range of values; one matrix or many. */
#ifndef HOTFIBER_TRIDIAG_H
#define HOTFIBER_TRIDIAG_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hot_tridiag_range {
    HOT_TRIDIAG_ALL = 0, /* all n */
    HOT_TRIDIAG_INDEX,   /* the first-th to the last-th smallest, counted from 0, both included */
    HOT_TRIDIAG_VALUE    /* low <= lambda < high */
} hot_tridiag_range;

typedef struct hot_tridiag_options {
    size_t size;          /* sizeof(hot_tridiag_options) */
    hot_tridiag_range range;
    size_t first, last;   /* with HOT_TRIDIAG_INDEX */
    double low, high;     /* with HOT_TRIDIAG_VALUE; infinite ends are allowed */
    double absolute;      /* allowed error of an eigenvalue in the matrix's unit; 0 = a few units in the last place of
                             the matrix's norm */
    double relative; /* allowed error as a fraction of the eigenvalue; > 0 asks for it (small eigenvalues are then as
                        exact as the entries determine them, unless `absolute` allows more); 0 = not asked for */
} hot_tridiag_options;

/* count matrices of size n. diagonal: matrix i has its n entries at diagonal + i * stride; off: its n - 1 off-diagonal
 * entries at off + i * stride (what follows them is not read); stride >= n, in values. options may be NULL: all, to the
 * last places.
 * Out: values (count x width, width >= the number asked for: n, last - first + 1, or n for a range of values),
 * ascending, with multiplicity; what is beyond the found ones is NaN; found (count; may be NULL): how many, -1 for a
 * matrix with NaN or Inf (its values are NaN; the other matrices are not touched by it). n = 0 and count = 0 are
 * allowed.
 * Owner: the caller owns everything. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. The same answer for any number of threads.
 * Source: Gerschgorin's interval and Sturm counts by the quotients of the LDL^T pivots (Barth, Martin, Wilkinson 1967),
 * which are monotonic in IEEE arithmetic (Demmel, Dhillon, Ren 1995); multisection (Lo, Philippe, Sameh 1987); LAPACK's
 * root-free QR (dsterf) for all eigenvalues on the CPU. */
HOT_API hot_status hot_tridiag_f64(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const double *diagonal, const double *off, size_t stride, double *values,
                                   size_t width, int64_t *found);
HOT_API hot_status hot_tridiag_f32(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const float *diagonal, const float *off, size_t stride, float *values, size_t width,
                                   int64_t *found);

#ifdef __cplusplus
}
#endif
#endif

/* Eigenvectors of tridiagonal matrices, inside the heev family. Contract: hot_tridiag_vectors_* of hotfiber/tridiag.h.
 */
#pragma once

#include <hotfiber/tridiag.h>

HOT_C_BEGIN

typedef struct hot_tridiagonal_args {
    const hot_tridiag_options *options; /* the caller's, which are right; may be NULL */
    int f64;
    size_t n, count, stride, width;
    const void *diagonal, *off; /* float or double, as f64 says */
    void *values, *vectors;     /* the values are there */
    int64_t *found;             /* never NULL; is there */
} hot_tridiagonal_args;

hot_status hot_tridiagonal_ref(hot_context *context, void *args);
hot_status hot_tridiagonal_cpu(hot_context *context, void *args);

/* Matrix i in double times 2^-exponent, so that its largest entry is near 1; e[n - 1] = 0. Returns the exponent. */
int hot_tridiagonal_values(const hot_tridiagonal_args *args, size_t i, double *d, double *e);
/* The number of matrix i's first eigenvalue that is wanted. */
size_t hot_tridiagonal_first(const hot_tridiagonal_args *args, size_t i);
/* Vectors from ... to - 1 of matrix i; NaN if `vectors` is NULL. */
void hot_tridiagonal_store(const hot_tridiagonal_args *args, size_t i, size_t from, size_t to, const double *vectors);
/* NaN into all of matrix i's outputs, and found = -1. */
void hot_tridiagonal_refuse(const hot_tridiagonal_args *args, size_t i);

/* One matrix on the calling thread, norm near 1 or 0. d, e: n, are overwritten: d with the eigenvalues, ascending.
 * z: n x n, one vector after the other. memory: hot_tridiagonal_workspace(n) doubles. 0 if it did not converge.
 * with_lapack: 0 = by our own QL even if there is LAPACK. */
size_t hot_tridiagonal_workspace(size_t n);
int hot_tridiagonal_all(int with_lapack, size_t n, double *d, double *e, double *z, double *memory);

/* Vectors of `many` eigenvalues, ascending and exact to rounding, by inverse iteration; d and e are kept. vectors:
 * many x n. memory: 6 n doubles. 1 done, 0 it did not converge, -1 cancelled. */
int hot_tridiagonal_inverse(const hot_context *context, size_t n, const double *d, const double *e, size_t many,
                            const double *lambda, double *vectors, double *memory);

HOT_C_END

/* Eigenvalues and eigenvectors of many Hermitian (heev) or real symmetric (syev) matrices. */
#ifndef HOTFIBER_HEEV_H
#define HOTFIBER_HEEV_H

#include <hotfiber/context.h>

HOT_C_BEGIN

enum { HOT_HEEV_MAX = 4096 }; /* the largest n */

typedef enum hot_heev_uplo {
    HOT_HEEV_LOWER = 0,
    HOT_HEEV_UPPER
} hot_heev_uplo;

typedef struct hot_heev_options {
    size_t size;        /* sizeof(hot_heev_options) */
    size_t largest;     /* how many eigenvalues to compute, starting from the largest; 0 = all */
    hot_heev_uplo uplo; /* the triangle that is read */
} hot_heev_options;
#define HOT_HEEV_OPTIONS_INIT HOT_SIZED(hot_heev_options)

/* Computes the eigendecomposition A = V diag(values) V^H of each of `count` Hermitian matrices.
 *
 * options    NULL = all eigenvalues. Below, k = options->largest, or n if that is 0.
 * n          size of the matrices, 0 to HOT_HEEV_MAX.
 * matrices   count x n x n, each column-major, with (re, im) pairs. Only one triangle is read, the lower one unless
 *            options->uplo says otherwise; the imaginary parts of the diagonal are ignored.
 * values     out: count x k, ascending.
 * vectors    out: count x k x n, one orthonormal eigenvector after the other, in the order of values; NULL =
 *            eigenvalues only.
 * flags      out: count bytes, 1 for a matrix with NaN or Inf, or (not observed so far) one whose iteration does not
 *            converge or is wrong: its values and vectors are NaN, other matrices are not affected. Else 0. Or NULL.
 *
 * ||A V - V D|| / (n epsilon ||A||) and ||V^H V - I|| / (n epsilon) are of order 1. The caller owns all arrays; outputs
 * must not overlap the matrices. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * Memory on the CPU: less than 13 n^2 double-precision numbers per thread for n below 512, or in builds without LAPACK.
 * Else about three matrices (two if they are complex) for each that is being solved: as many as there are threads, or,
 * of fewer matrices, one after the other by all threads.
 * Method: Householder reduction to real tridiagonal form. On the CPU implicit QL with a matrix in each lane of a vector
 * for n up to 31, and up to 64 for 8 matrices or more; else LAPACK (zheevd, dsyevd ...; from n = 512 on divide and
 * conquer by pieces of it), or implicit QL in builds without LAPACK. On the GPU implicit QL by a few threads per matrix
 * for n up to 16, in the precision that is given; beyond that multisection and twisted factorisations (Dhillon, Parlett
 * 2004), in double precision; for n above 1,024 cuSOLVER (Xsyevd), one matrix after the other in the precision that is
 * given. There the call waits for each matrix, cannot be captured into a graph, and is cancelled between two matrices;
 * numbers up to epsilon^2 of the matrix's largest are read as 0, and if its vectors are not orthogonal, or its values
 * not the matrix's by their sum or sum of squares, it is called once more with each number changed by up to half of
 * epsilon of the largest; without libcusolver it is HOT_ERROR_DEVICE. */
HOT_API hot_status hot_heev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const double *matrices, double *values, double *vectors, uint8_t *flags);
HOT_API hot_status hot_heev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const float *matrices, float *values, float *vectors, uint8_t *flags);
/* The same for real symmetric matrices; matrices and vectors are real. */
HOT_API hot_status hot_syev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const double *matrices, double *values, double *vectors, uint8_t *flags);
HOT_API hot_status hot_syev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                const float *matrices, float *values, float *vectors, uint8_t *flags);

HOT_C_END
#endif

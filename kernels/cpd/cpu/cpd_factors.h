/* Operations on factor matrices, in double: Gram matrices, least squares by them, normalisation, starts. Arrays are
 * rank x rank, or n x rank with the rows fastest. */
#pragma once

#include <stddef.h>

#include "cpd/cpd_args.h"

HOT_C_BEGIN

/* gram = f^T f. */
void hot_cpd_gram(size_t n, size_t rank, const double *f, double *gram, int threads);

/* Element by element the product of two Gram matrices. */
void hot_cpd_hadamard(size_t rank, const double *x, const double *y, double *product);

/* The lower triangle of `matrix` becomes its Cholesky factor. When a pivot is below eps of the largest diagonal value,
 * a multiple of the unit matrix is added first: returns that multiple, or 0. kept: rank^2 values of scratch. */
double hot_cpd_factorise(size_t rank, double *matrix, double *kept, double eps);

/* f V = m for f, with the Cholesky factor of V: m is overwritten. */
void hot_cpd_solve(size_t n, size_t rank, const double *factor, double *m, int threads);

/* The same under f >= 0, by cyclic coordinate descent from what f holds (row by row a non-negative least-squares
 * problem). v: the matrix V itself. */
void hot_cpd_solve_non_negative(size_t n, size_t rank, const double *v, const double *m, double *f, int threads);

/* Columns to unit length, lambda their lengths. A column of zeros keeps `before`, and its lambda is 0. */
void hot_cpd_normalise(size_t n, size_t rank, double *f, const double *before, double *lambda);

/* Orthonormal columns by modified Gram-Schmidt, twice; a column that is in the span of those before it (or all from n
 * on) becomes random. */
void hot_cpd_orthonormalise(size_t n, size_t rank, double *f, uint64_t *random);

/* The state of the random numbers of the context's seed. */
uint64_t hot_cpd_seed(const hot_context *context);

/* Initialises a factor: from the caller's array, at random, or by HOSVD; then makes it non-negative if required, with
 * columns of unit length. spare: n x rank values; lambda: rank. */
void hot_cpd_first(const hot_cpd_args *args, int mode, uint64_t *random, double *f);
void hot_cpd_first_end(const hot_cpd_args *args, int mode, double *f, double *spare, double *lambda);

/* Uniform in [0, 1) and standard normal. */
double hot_cpd_uniform(uint64_t *random);
double hot_cpd_normal(uint64_t *random);

HOT_C_END

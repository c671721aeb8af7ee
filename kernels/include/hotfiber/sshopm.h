/* SS-HOPM: eigenpairs A x^(m-1) = lambda x, ||x|| = 1, of many packed symmetric tensors from many starting vectors.
 * (Kolda, Mayo 2011; adaptive shift: Kolda, Mayo 2014; batched: Ballard, Kolda, Plantenga 2011.) */
#ifndef HOTFIBER_SSHOPM_H
#define HOTFIBER_SSHOPM_H

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef enum hot_shift {
    HOT_SHIFT_ADAPTIVE = 0, /* per step, just large enough that A x^m increases: from the smallest eigenvalue of the
                               Hessian (GEAP: Kolda, Mayo 2014). On a GPU, for f32, dimension 3, order 4, 6 or 8,
                               maxima, the residual as stopping rule and 32 starts or more: per tensor, from the
                               smallest such eigenvalue of 32 points on the sphere, large enough that every maximum
                               above 0 attracts the starts around it */
    HOT_SHIFT_FIXED,        /* x <- normalise(A x^(m-1) + alpha x); alpha < 0 finds minima */
    HOT_SHIFT_NONE          /* alpha = 0, as in Ballard, Kolda, Plantenga 2011. Some starts cycle */
} hot_shift;

typedef enum hot_extremum { HOT_MAXIMA = 0, HOT_MINIMA, HOT_ALL_PAIRS } hot_extremum;

typedef struct hot_sshopm_options {
    size_t size;         /* sizeof(hot_sshopm_options) */
    hot_shift shift;
    double alpha;        /* the shift, with HOT_SHIFT_FIXED */
    hot_extremum seek;   /* which extrema to find; with HOT_SHIFT_FIXED the sign of alpha decides instead */
    double tolerance;    /* stop when ||A x^(m-1) - lambda x|| <= tolerance * scale of A, where the scale is the largest
                            |value| times its multiplicity. 0 = default (f32: 1e-6, f64: 1e-13); HOT_ZERO = no test:
                            exactly max_iterations steps */
    double change;       /* > 0: stop when |lambda - previous lambda| <= change * max(1, |lambda|) instead of on the
                            residual, as in Ballard, Kolda, Plantenga 2011 */
    int max_iterations;  /* 0 = 1000 */
    double same_angle;   /* hot_eigenpairs_f64 only: pairs closer than this (degrees, up to sign for even orders) are
                            the same; 0 = 0.05; HOT_ZERO = only equal ones */
} hot_sshopm_options;
#define HOT_SSHOPM_OPTIONS_INIT HOT_SIZED(hot_sshopm_options)

/* Runs SS-HOPM on every tensor from every start, with one result for each pair of tensor and start (no deduplication).
 *
 * options      NULL = defaults.
 * order, dim   of the tensors; 2 <= order <= HOT_ORDER_MAX, 1 <= dim <= HOT_DIM_MAX.
 * tensors      count x stride, row-major; the packed tensor is at the start of each row. stride >=
 *              hot_symtensor_count(order, dim).
 * starts       start_count x dim, row-major, used for every tensor; normalised internally. Finite, and not zero.
 * lambda       out: count x start_count, the eigenvalue; NULL if not wanted.
 * x            out: count x start_count x dim, the unit eigenvector (for even orders its sign is arbitrary); or NULL.
 * residual     out: count x start_count, ||A x^(m-1) - lambda x||, in the tensor's unit; or NULL.
 * iterations   out: count x start_count, the number of steps, negative if not converged; or NULL.
 *
 * A tensor with NaN or Inf gives NaN and 0 iterations; other tensors are not affected. A zero tensor gives lambda = 0
 * and x = start. The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * Kolda, Mayo 2011, algorithm 2; Kolda, Mayo 2014 (adaptive shift); Ballard, Kolda, Plantenga 2011, section V. */
HOT_API hot_status hot_sshopm_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                  size_t count, const double *tensors, size_t stride, size_t start_count,
                                  const double *starts, double *lambda, double *x, double *residual,
                                  int32_t *iterations);
HOT_API hot_status hot_sshopm_f32(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                  size_t count, const float *tensors, size_t stride, size_t start_count,
                                  const float *starts, float *lambda, float *x, float *residual, int32_t *iterations);

/* Computes the distinct real eigenpairs of each tensor: SS-HOPM from every start (for HOT_ALL_PAIRS also Newton
 * correction, which finds saddles: Jaffe, Weiss, Nadler 2018), refinement, removal of duplicates, classification.
 *
 * options, order, dim, count, tensors, stride: as in hot_sshopm_f64. Order 2 is solved as a matrix.
 * starts       start_count x dim, finite and not zero, or NULL: start_count vectors, evenly spread for dim 3, otherwise
 *              random with the context's seed. With NULL and HOT_ALL_PAIRS, rounds of random starts follow until a
 *              round finds no new pair and the numbers of maxima, saddles and minima agree with the Euler
 *              characteristic of the sphere.
 * start_count  0 (with starts NULL) = a default for the order and dimension, plus a scan of the sphere for dim 3. In
 *              a test with 30,000 random tensors of order 4, 6 and 8 one maximum was missed.
 * pairs        out: count x max_pairs x (dim + 3): lambda, x_1 ... x_dim, residual, kind (1 local maximum, -1 local
 *              minimum, 0 saddle or degenerate), by descending lambda; unused rows are NaN. For even orders x and -x
 *              are one pair; for odd orders the pair with lambda >= 0 is given. Of a continuum of eigenvectors (for
 *              example of an isotropic tensor, or of the zero tensor) one is given, as degenerate; it is none of
 *              HOT_MAXIMA and HOT_MINIMA.
 * found        out: count, the number of pairs found, or NULL. If it is larger than max_pairs, the pairs with the
 *              largest lambda are given. -1 for a tensor with NaN or Inf.
 *
 * Residuals are below 1e-10 times the scale of the tensor. The caller owns all arrays. Results do not depend on the
 * number of threads. Errors: as hot_sshopm_f64. */
HOT_API hot_status hot_eigenpairs_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                      size_t count, const double *tensors, size_t stride, size_t start_count,
                                      const double *starts, size_t max_pairs, double *pairs, int32_t *found);

/* The largest number of eigenpairs of a generic tensor: ((m-1)^n - 1) / (m - 2), or n for m = 2 (Cartwright, Sturmfels
 * 2013); SIZE_MAX on overflow. */
HOT_API size_t hot_eigenpairs_bound(int order, int dim);

/* Writes random unit starting vectors (count x dim): uniform in the cube [-1, 1]^dim, then normalised, as in Ballard,
 * Kolda, Plantenga 2011, section V. The same seed gives the same vectors on every machine. */
HOT_API void hot_starts_random(uint64_t seed, int dim, size_t count, double *starts);
/* Writes unit starting vectors (count x 3) evenly spread over the half sphere z >= 0: a spherical Fibonacci lattice. */
HOT_API void hot_starts_even(size_t count, double *starts);

HOT_C_END
#endif

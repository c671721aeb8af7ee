/* SS-HOPM: eigenpairs A x^(m-1) = lambda x, ||x|| = 1, of many packed symmetric tensors from many starting vectors.
 * (Kolda, Mayo 2011; adaptive shift: Kolda, Mayo 2014; batched: Ballard, Kolda, Plantenga 2011.) */
#ifndef HOTFIBER_SSHOPM_H
#define HOTFIBER_SSHOPM_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hot_shift {
    HOT_SHIFT_ADAPTIVE = 0, /* just enough for the step to climb: from the extreme eigenvalue of the Hessian */
    HOT_SHIFT_FIXED,        /* x <- normalise(A x^(m-1) + alpha x); alpha < 0 finds minima */
    HOT_SHIFT_NONE          /* alpha = 0, as the paper ran it */
} hot_shift;

typedef enum hot_extremum { HOT_MAXIMA = 0, HOT_MINIMA, HOT_ALL_PAIRS } hot_extremum;

typedef struct hot_sshopm_options {
    size_t size;         /* sizeof(hot_sshopm_options) */
    hot_shift shift;
    double alpha;        /* the fixed shift */
    hot_extremum seek;   /* which extrema to climb to; with HOT_SHIFT_FIXED the sign of alpha says it */
    double tolerance;    /* stop when ||A x^(m-1) - lambda x|| <= tolerance * scale of A (its largest |value| times
                            multiplicity); 0 = the precision's default (f32 1e-6, f64 1e-13); negative = never stop,
                            run max_iterations exactly */
    double change;       /* > 0: stop instead when |lambda - previous lambda| <= change * max(1, |lambda|), as the
                            paper does */
    int max_iterations;  /* 0 = 1000 */
    double same_angle;   /* eigenpairs: pairs closer than this (degrees, up to sign for even orders) are one;
                            0 = 0.05 */
    int basin;           /* 1: end a start as soon as the test for basins of attraction says which maximum it will
                            converge to. On the GPU only, in float, dimension 3, orders 4 6 8, no shift, a stop on the
                            residual, more than some 260,000 starts at a time; elsewhere every start is iterated. About
                            1 of 10,000 starts is given the wrong maximum. What still cycles after 32 to 64 steps (by
                            order), and what has not converged after 96, is given up */
} hot_sshopm_options;

/* count x start_count iterations: every tensor from every start, one result each, nothing merged.
 *
 * tensors: count x stride values, the packed tensor first in each row (stride >= hot_symtensor_count).
 * starts: start_count x dim, shared by all tensors; need not be normalised.
 * Out, each may be NULL: lambda (count x start_count), x (count x start_count x dim), residual (count x start_count,
 * ||A x^(m-1) - lambda x||, absolute), iterations (count x start_count; negative: stopped without converging, its
 * absolute value is the number of steps made). For even orders x is defined up to its sign. A tensor with NaN or Inf
 * gives NaN and iterations 0 and does not touch its neighbours; a zero tensor gives lambda 0 and x = start.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Results do not depend on the
 * number of threads. */
HOT_API hot_status hot_sshopm_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                  size_t count, const double *tensors, size_t stride, size_t start_count,
                                  const double *starts, double *lambda, double *x, double *residual,
                                  int32_t *iterations);
HOT_API hot_status hot_sshopm_f32(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                  size_t count, const float *tensors, size_t stride, size_t start_count,
                                  const float *starts, float *lambda, float *x, float *residual, int32_t *iterations);

/* The distinct real eigenpairs of each tensor: iterated (and, for HOT_ALL_PAIRS, Newton-corrected: Jaffe, Weiss,
 * Nadler 2018, so that saddles appear) from every start, polished, merged (x and -x are one for even orders; for odd
 * orders the one with lambda >= 0), classified.
 *
 * pairs: count x max_pairs x (dim + 3): lambda, x_1 ... x_dim, residual, kind (1 local maximum, -1 local minimum,
 * 0 saddle or degenerate), sorted by lambda, largest first; rows not used are NaN. found[count] (may be NULL): how many
 * there are (more than max_pairs: the largest max_pairs are listed); -1 for a tensor with NaN or Inf. Of a continuum of
 * equal eigenvalues (an isotropic tensor, say) one pair is listed, as degenerate. Order 2 is solved as a matrix.
 * starts NULL = start_count evenly spread (dim 3) or random ones from the context's seed, and for HOT_ALL_PAIRS further
 * rounds of random ones until a round finds nothing new and the numbers of maxima, saddles and minima can be all there
 * are (their alternating sum is the sphere's Euler characteristic). start_count 0 (then starts is NULL) = as many as
 * order and dimension need, and for dim 3 a scan of the sphere besides; of 30,000 random tensors of orders 4, 6 and 8
 * one had a maximum that was missed.
 * Residuals are below 1e-10 of the tensor's scale. Errors as hot_sshopm_f64. The same for any number of threads. */
HOT_API hot_status hot_eigenpairs_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim,
                                      size_t count, const double *tensors, size_t stride, size_t start_count,
                                      const double *starts, size_t max_pairs, double *pairs, int32_t *found);

/* The most eigenpairs a generic tensor has: ((m-1)^n - 1) / (m - 2), n for m = 2; saturates at SIZE_MAX. */
HOT_API size_t hot_eigenpairs_bound(int order, int dim);

/* Starting vectors, count x dim, unit: uniform in the cube and normalised, as the paper draws them (section V);
 * the same seed gives the same vectors on every machine. */
HOT_API void hot_starts_random(uint64_t seed, int dim, size_t count, double *starts);
/* Starting vectors, count x 3, evenly spread over the half sphere z >= 0 (a spherical Fibonacci lattice). */
HOT_API void hot_starts_even(size_t count, double *starts);

#ifdef __cplusplus
}
#endif
#endif

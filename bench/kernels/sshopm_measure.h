/* Times of SS-HOPM with all data in the GPU's memory, and how good its results are: for `hotfiber bench sshopm`.
 * HOT_ERROR_DEVICE in a build without CUDA. */
#pragma once

#include "sshopm/gpu/sshopm_cuda.h"

HOT_C_BEGIN

/* Besides the algorithms of the library, that of Ballard, Kolda and Plantenga (2011), as the peer: a block per tensor,
 * a thread per start, the tensor in shared memory, loops unrolled (sshopm_paper.cuh). Dimension 3, orders 4 6 8, float,
 * no adaptive shift, and a stop on the change of lambda or none. */
#define HOT_ALGORITHM_PAPER ((hot_sshopm_algorithm)100)

typedef struct hot_sshopm_bench hot_sshopm_bench;

/* One figure. */
typedef struct hot_sshopm_figure {
    double seconds, fastest; /* median and best of `repeats`, data on the device, lambda and x of every start written;
                                below .1 ms per call: of 20 calls in one graph */
    int repeats;
    double agreement;        /* of the starts: those within 0.1 degree of the limit of the same iteration in double */
    double settled;          /* of the starts: residual <= 1e-5 */
    double limited; /* of the starts: those that have a limit in double; without a shift others cycle for ever */
    double limited_agreement, limited_settled; /* of those: as above */
    double iterations;       /* mean per start */
    double peak;             /* of hot_sshopm_shape_time: flop/s of this GPU in single precision, by clock and lanes */
} hot_sshopm_figure;

/* Random tensors of one to three fibres (weights .3 to 1, an isotropic part, 2 % noise) on the device, and the limits
 * of SS-HOPM without a shift in double from the same starts for the first few of them. */
hot_status hot_sshopm_bench_create(hot_context *context, int order, size_t count, size_t starts,
                                   hot_sshopm_bench **bench);
void hot_sshopm_bench_destroy(hot_context *context, hot_sshopm_bench **bench);

/* Times an algorithm: `iterations` > 0 makes exactly so many; else to `tolerance` (the residual's) or, where it is > 0,
 * to `change` (lambda's). */
hot_status hot_sshopm_bench_run(hot_context *context, hot_sshopm_bench *bench, hot_sshopm_algorithm algorithm,
                                int iterations, double tolerance, double change, double seconds,
                                hot_sshopm_figure *figure);

/* Random tensors of any shape, in float, for hot_sshopm_shape_time: `iterations` steps at most, exactly so many where
 * `tolerance` is 0. */
typedef struct hot_sshopm_shape {
    int order, dim, iterations;
    size_t count, starts;
    hot_sshopm_algorithm algorithm;
    hot_shift shift;
    double tolerance, seconds;
} hot_sshopm_shape;

/* Fills in seconds, fastest, repeats, iterations and peak. */
hot_status hot_sshopm_shape_time(hot_context *context, const hot_sshopm_shape *shape, hot_sshopm_figure *figure);

/* One launch of an algorithm on a whole batch in host memory (the pointers of args), however large: the host-level
 * backend takes it in pieces. For the checker. */
hot_status hot_sshopm_run_whole(hot_context *context, const hot_sshopm_args *args, hot_sshopm_algorithm algorithm);

/* Floating-point operations that a step of a start needs in three dimensions: A x^(m-1) with every monomial formed once
 * (symtensor/form3.h), and the normalisation; 82 at order 4. (The paper's program made more: 317.83 GFLOP/s in 1.9 ms
 * for 131,072 starts are 4,600 a start, its steps to convergence together.) */
static inline double hot_sshopm_flops(int order)
{
    /* a product for each monomial of degree order - 1 and its part in three sums, and 12 for the length */
    return 7 * (order * (order + 1) / 2.0) + 12;
}

HOT_C_END

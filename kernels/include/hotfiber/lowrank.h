/* Low-rank approximation of a tensor by one to three rank-1 terms: A ~ sum_i w_i v_i^(x m), w_i >= 0, |v_i| = 1.
 * (Schultz, Seidel 2008.) */
#ifndef HOTFIBER_LOWRANK_H
#define HOTFIBER_LOWRANK_H

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef struct hot_lowrank_options {
    size_t size;          /* sizeof(hot_lowrank_options) */
    int max_rank;         /* largest number of terms, 1 to 3; 0 = 3 */
    int exact_rank;       /* 1: the best fit found with max_rank terms, of which some may have weight 0: max_rank 1 is
                             the form's largest maximum (in 2,000 random tensors of each order), and sums of three terms
                             leave at most 1e-4 (in 2,000 of each order, whatever their angles). Takes twice the time.
                             0: the number is chosen by the residual (drop, floor) */
    double drop;          /* a further term is added only if it reduces the norm of the residual to below this fraction
                             of the norm without it; 0 = 0.62, 0.76, 0.91 for orders 4, 6, 8;
                             HOT_ZERO = never */
    double floor;         /* residuals below this fraction of the tensor's norm count as 0; 0 = 1e-4; HOT_ZERO = none */
    double min_weight;    /* terms with a weight below this fraction of the largest are dropped; 0 = 0.2;
                             HOT_ZERO = none */
    double min_angle;     /* degrees: fits with two terms closer than this are rejected; 0 = 25; HOT_ZERO = none */
    double progress[2];   /* the fractions, 0 to 1, that are reported when this call starts and when it is done, if it
                             is one of several; 0 0 = 0 1 */
} hot_lowrank_options;
#define HOT_LOWRANK_OPTIONS_INIT HOT_SIZED(hot_lowrank_options)

/* Approximates each tensor by one to three rank-1 terms.
 *
 * options      NULL = defaults.
 * order        4, 6 or 8 (dimension 3).
 * tensors      count x stride, row-major; the packed tensor is at the start of each row. stride >=
 *              hot_symtensor_count(order, 3).
 * mask         count bytes; tensors with 0 are not computed, and their outputs are 0. NULL = all are computed.
 * directions   out: count x (3 max_rank): w_1 v_1, w_2 v_2, ... by descending weight, 0 for absent terms. Of v and -v
 *              the one with z > 0 is given (z = 0: y > 0; y = 0 too: x > 0).
 * found        out: count, the number of terms, 255 for a tensor with NaN or Inf (whose directions are 0); or NULL.
 * residual     out: count, ||A - approximation|| / ||A||; or NULL.
 *
 * Norms are Frobenius norms of the full tensor: each unique value counts with its multiplicity. The caller owns all
 * arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * With exact_rank a term counts from 1e-6 of the tensor's norm on.
 * Method: alternating shifted power steps (Kolda, Mayo 2011) from several starts, then Gauss-Newton on all terms; with
 * exact_rank each term is then replaced by the largest maximum of what the others leave, as long as that helps. */
HOT_API hot_status hot_lowrank_f32(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                                   const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                                   uint8_t *found, float *residual);

HOT_C_END
#endif

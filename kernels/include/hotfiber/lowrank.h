/* Low rank: a tensor as a sum of one to three rank-1 terms, A ~ sum_i w_i v_i^(x m), w_i >= 0, unit v_i.
 * (Schultz, Seidel 2008.) */
#ifndef HOTFIBER_LOWRANK_H
#define HOTFIBER_LOWRANK_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_lowrank_options {
    size_t size;          /* sizeof(hot_lowrank_options) */
    int max_rank;         /* 1 to 3; 0 = 3 */
    int exact_rank;       /* 1: max_rank terms whatever the data; 0: as many as the residual asks for */
    double drop;          /* a further term must lower the residual's norm to below this fraction of what it was;
                             0 = .62, .76, .91 at orders 4, 6, 8 */
    double floor;         /* residuals below this fraction of the tensor's norm count as rounding; 0 = 1e-4 */
    double min_weight;    /* terms below this fraction of the largest are dropped; negative = 0.2 */
    double min_angle;     /* degrees: fits with terms closer than this are not accepted; negative = 25 */
} hot_lowrank_options;

/* tensors: count x stride floats, the packed tensor (dimension 3; order 4, 6 or 8) at `tensors` in each row. mask:
 * count bytes, rows with 0 are not computed (outputs 0); NULL = all are.
 * Out: directions (count x 3 * max_rank): w_1 v_1, w_2 v_2, ... largest weight first, absent = 0, one hemisphere (z >
 * 0, then y > 0, then x > 0); found (count; may be NULL): how many, 255 for a tensor with NaN or Inf (directions 0);
 * residual (count; may be NULL): Frobenius norm of what is left over that of the tensor.
 * Norms and inner products are the Frobenius ones: every unique value counts with its multiplicity.
 * Errors: HOT_ERROR_ARGUMENT (order, options), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. The same answer for any number of
 * threads. Source: alternating shifted power steps (Kolda, Mayo 2011) from several starts, finished by Gauss-Newton. */
HOT_API hot_status hot_lowrank_f32(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                                   const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                                   uint8_t *found, float *residual);

#ifdef __cplusplus
}
#endif
#endif

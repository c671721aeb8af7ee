/* Directions: the local maxima of order-m forms on the sphere, clustered (dimension 3, orders 2 4 6 8). */
#ifndef HOTFIBER_DIRECTIONS_H
#define HOTFIBER_DIRECTIONS_H

#include <hotfiber/context.h>
#include <hotfiber/sshopm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_directions_options {
    size_t size;        /* sizeof(hot_directions_options) */
    int max_directions; /* how many are kept, 1 to 16; 0 = 3 */
    double threshold;   /* maxima below this fraction of the largest are dropped, 0 to 1; negative = 0.25 */
    double min_angle;   /* degrees: of two maxima closer than this the lower is dropped; negative = 15; 0 keeps all */
    double min_relative_range;  /* a form whose (max - min) is below this fraction of |max| is isotropic and has no
                           direction; negative = 1e-4 */
    size_t starts;      /* 0 = scan a half sphere and refine the candidates; > 0 = SS-HOPM from so many starts,
                           evenly spread over the half sphere, what has converged refined by Newton's method and
                           kept where it is a maximum. Fewer than 6 do not tell an isotropic form */
    hot_shift shift;    /* with starts: how SS-HOPM is shifted; default HOT_SHIFT_ADAPTIVE. HOT_SHIFT_NONE is faster,
                           on a GPU by far, but of noisy tensors it misses maxima: no start goes there */
    double alpha;       /* with HOT_SHIFT_FIXED: the shift, >= 0 */
    int basin;          /* with starts and HOT_SHIFT_NONE, on a GPU: 1 = a start is settled as soon as it is known in
                           whose basin of attraction it lies (see hot_sshopm_options); elsewhere without effect */
} hot_directions_options;

/* tensors: count x stride floats, the packed tensor at `tensors` in each row. mask: count bytes, rows with 0 are
 * not computed (their outputs are 0); NULL = all are computed.
 * Out: directions (count x 3 * max_directions): x1 y1 z1 x2 ..., each of length lambda = A x^m, largest first,
 * absent = 0, one hemisphere (z > 0, then y > 0, then x > 0); found (count; may be NULL): how many, 255 for a tensor
 * with NaN or Inf (its directions are 0). Only maxima with lambda > 0 count (above 1e-6 of the
 * tensor's largest |value|: below that is rounding).
 * Errors as hot_sshopm_f64. The same answer for any number of threads. */
HOT_API hot_status hot_directions_f32(hot_context *context, const hot_directions_options *options, int order,
                                      size_t count, const float *tensors, size_t stride, const uint8_t *mask,
                                      float *directions, uint8_t *found);

#ifdef __cplusplus
}
#endif
#endif

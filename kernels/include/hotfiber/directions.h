/* Fibre directions as the local maxima of order-m forms on the sphere (dimension 3, even order up to 12). */
#ifndef HOTFIBER_DIRECTIONS_H
#define HOTFIBER_DIRECTIONS_H

#include <hotfiber/context.h>
#include <hotfiber/sshopm.h>

HOT_C_BEGIN

typedef struct hot_directions_options {
    size_t size;        /* sizeof(hot_directions_options) */
    int max_directions; /* largest number of directions per tensor, 1 to 16; 0 = 3 */
    double threshold;   /* maxima below this fraction of the largest one are dropped, up to 1; 0 = 0.25;
                           HOT_ZERO = none */
    double min_angle;   /* degrees: of two maxima closer than this the lower is dropped; 0 = 15; HOT_ZERO = no test */
    double min_relative_range; /* a form with max - min below this fraction of |max| counts as isotropic and has no
                                  direction; 0 = 1e-4; HOT_ZERO = none does: one whose values are all the
                                  same has a direction, which rounding decides */
    size_t starts;      /* 0 = evaluate the form on a grid over the half sphere and refine the maxima of the grid: of
                           maxima closer than its points the lower ones may be missed (with threshold and min_angle
                           HOT_ZERO in 6, 21 and 49 of 1,000 random tensors of order 4, 6 and 8; the largest only where
                           one nearly as high is found), and so may low and narrow ones (of x^6 + 1e-4 y^6 that along
                           y). 256 starts find all of these.
                           > 0 = SS-HOPM from that many starts, evenly spread over the half sphere; converged starts
                           are refined by Newton's method, and limits that are maxima are kept. With fewer than 6 starts
                           min_relative_range is ignored */
    hot_shift shift;    /* with starts: the shift of SS-HOPM; default HOT_SHIFT_ADAPTIVE. HOT_SHIFT_NONE is faster,
                           but misses some maxima of noisy tensors, to which no start converges */
    double alpha;       /* with HOT_SHIFT_FIXED: the shift, >= 0 */
} hot_directions_options;
#define HOT_DIRECTIONS_OPTIONS_INIT HOT_SIZED(hot_directions_options)

/* Finds the local maxima of the form A x^m of each tensor.
 *
 * options      NULL = defaults.
 * order        2, 4, 6 or 8; 10 or 12 too without starts, computed on the CPU on every device.
 * tensors      count x stride, row-major; the packed tensor is at the start of each row. stride >=
 *              hot_symtensor_count(order, 3).
 * mask         count bytes; tensors with 0 are not computed, and their outputs are 0. NULL = all are computed.
 * directions   out: count x (3 max_directions): x1 y1 z1 x2 ..., by descending length; the length is lambda = A x^m at
 *              the unit vector x. 0 for directions that are absent. Of x and -x the one with z > 0 is given (z = 0: y >
 *              0; y = 0 too: x > 0).
 * found        out: count, the number of directions, 255 for a tensor with NaN or Inf (whose directions are 0); or
 *              NULL.
 *
 * Only maxima with lambda > 1e-6 of the tensor's largest |value| are found; smaller ones may be rounding errors. The
 * caller owns all arrays. Results do not depend on the number of threads. Errors: as hot_sshopm_f64.
 * Ballard, Kolda, Plantenga 2011, section IV (starts); Teem's elf (scan and refinement). */
HOT_API hot_status hot_directions_f32(hot_context *context, const hot_directions_options *options, int order,
                                      size_t count, const float *tensors, size_t stride, const uint8_t *mask,
                                      float *directions, uint8_t *found);

HOT_C_END
#endif

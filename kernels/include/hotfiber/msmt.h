/* Multi-tissue deconvolution: signals to a symmetric tensor and amounts of isotropic tissues, under constraints. */
#ifndef HOTFIBER_MSMT_H
#define HOTFIBER_MSMT_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* The values that must not be negative. */
typedef enum hot_constraint {
    HOT_CONSTRAINT_NONNEGATIVE = 0, /* amounts of tissues, and the tensor's form in a set of directions */
    HOT_CONSTRAINT_NONE,            /* nothing: plain least squares */
    HOT_CONSTRAINT_HPSD             /* amounts, and the tensor's matrix (its entry for two monomials of half the order
                                       is the tensor's value for their product): its form is a sum of squares, >= 0 in
                                       every direction (Ankele et al. 2017, H-psd) */
} hot_constraint;

typedef struct hot_msmt_problem {
    size_t size;          /* sizeof(hot_msmt_problem) */
    int order;            /* of the tensor: 2, 4, 6 or 8 */
    size_t tissues;       /* further, isotropic tissues: 0 to 8 */
    size_t rows;          /* measurements per voxel */
    const double *design; /* rows x (terms + tissues): the signal of each unique value of the packed tensor
                             ((order + 1)(order + 2) / 2 terms), then of one unit of each tissue */
    hot_constraint constraint;
    size_t directions;    /* for HOT_CONSTRAINT_NONNEGATIVE: how many, 1 to 4096, ... */
    const double *direction; /* ... and x, y, z of each, not zero; NULL with 0 = 300 that are evenly spread */
    double ridge;         /* weight of the solution's squared norm (the tensor's in spherical harmonics), relative to
                             the largest diagonal value of the normal matrix; 0 = 1e-10 */
} hot_msmt_problem;
#define HOT_MSMT_PROBLEM_INIT HOT_SIZED(hot_msmt_problem)

/* Minimises |design x - signals|^2 for every voxel under the constraint, in double precision. With a constraint this is
 * a convex quadratic program, solved by a primal-dual interior-point method (Mehrotra 1992) to a duality gap of 1e-12
 * of the unconstrained objective.
 *
 * signals    count x signal_stride; the first `rows` values of each row are used.
 * mask       count bytes, 0 = output zeros; NULL = all voxels.
 * tensors    out: count x tensor_stride: the packed tensor's unique values, not multiplied by their multiplicity.
 * amounts    out: count x tissues; NULL with none.
 * residual   out: count values, the largest violation of the optimality (KKT) conditions: of stationarity, sign and
 *            complementarity, relative to the size of the signals that the model explains; or NULL.
 * flags      out: count bytes, 1 where a signal is NaN or infinite (outputs 0); or NULL.
 *
 * The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (the signals determine no unknown), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED.
 * Source: Jeurissen et al. 2014, multi-tissue constrained spherical deconvolution. */
HOT_API hot_status hot_msmt_f32(hot_context *context, const hot_msmt_problem *problem, size_t count,
                                const float *signals, size_t signal_stride, const uint8_t *mask, float *tensors,
                                size_t tensor_stride, float *amounts, float *residual, uint8_t *flags);

HOT_C_END
#endif

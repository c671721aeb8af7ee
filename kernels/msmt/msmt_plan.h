/* The voxel-independent plan, one call's arrays, and the results of a block of voxels.
 *
 * The unknowns x are the tensor's values times the square root of their multiplicity (Bombieri's basis, in which the
 * harmonics' norms differ least), then the tissues' amounts. */
#pragma once

#include <hotfiber/msmt.h>

HOT_C_BEGIN

enum {
    MSMT_TERMS = 45, MSMT_TISSUES = 8, MSMT_UNKNOWNS = MSMT_TERMS + MSMT_TISSUES,
    MSMT_PADDED = 56,     /* unknowns, up to a multiple of the factorisation's blocks */
    MSMT_MOMENTS = 153,   /* monomials of degree 16 */
    MSMT_SIDE = 15,       /* monomials of degree 4 */
    MSMT_DIRECTIONS = 4096, MSMT_LANES = 8,
    MSMT_ITERATIONS = 60
};

/* A voxel has converged when its gap, relative to the unconstrained objective, is below this; and the part of the first
 * point's stationarity residual that is left. */
#define MSMT_GAP 1e-12
#define MSMT_LEFT 1e-9
/* A pivot of the Hessian's factor counts if it is at least this part of its diagonal value. */
#define MSMT_PIVOT 1e-18
/* The first point's gap, as a part of the unconstrained objective. */
#define MSMT_FIRST_GAP 0.01

/* Halvings of a step's length, which positive definite matrices allow or not: of the first step, of the one made. */
enum { MSMT_FIRST_ROUNDS = 5, MSMT_ROUNDS = 8 };

typedef struct msmt_plan {
    int order;
    size_t terms, tissues, unknowns, padded, moments, directions;
    size_t rows;
    double scale[MSMT_UNKNOWNS]; /* factors of the unknowns for the output */
    double inside[MSMT_UNKNOWNS]; /* a point inside of the cone: an isotropic tensor and some of each tissue */
    size_t side;                 /* of the tensor's matrix, where it is held positive semidefinite; else 0 */
    int entry[MSMT_SIDE * MSMT_SIDE]; /* which unknown each of its entries holds, ... */
    double entry_scale[MSMT_SIDE * MSMT_SIDE]; /* ... times this: the product of two roots and the unknown's scale */
    double root[MSMT_SIDE];      /* of the multiplicities of monomials of half the order */
    size_t pair[MSMT_SIDE * (MSMT_SIDE + 1) / 2][2]; /* the entries (p, q), p <= q, by unknown */
    int first_pair[MSMT_TERMS + 1]; /* where each unknown's begin */
    double rounding; /* how much of `inside` makes up for rounding of the tensor to float, over its matrix's trace */
    size_t block_size;           /* bytes */
    double *block;               /* the memory of all that follows */
    double *normal;              /* padded x padded: C^T C + ridge; 1 on the diagonal of the padding */
    double *project;             /* rows x padded: C */
    double *whiten;              /* padded x padded: L^-1 of normal = L L^T, lower */
    double *form;                /* directions x terms: a direction's value of each unknown */
    double *across;              /* terms x directions: the same, transposed */
    double *power;               /* directions x moments: monomials of twice the order */
    double *weight;              /* terms x terms: what the moment at `moment` counts in the Hessian */
    int *moment;                 /* terms x terms */
} msmt_plan;

typedef struct msmt_args {
    const hot_msmt_problem *problem;
    const msmt_plan *plan;
    size_t count, signal_stride, tensor_stride;
    const float *signals;
    const uint8_t *mask;
    float *tensors, *amounts, *residual;
    uint8_t *flags;
} msmt_args;

hot_status hot_msmt_plan_make(hot_context *context, const hot_msmt_problem *problem, msmt_plan *plan);

/* Doubles of scratch that a block of `lanes` voxels takes. */
size_t hot_msmt_scratch(const msmt_plan *plan, size_t lanes);

/* Solves as many voxels as the variant has lanes. right: padded x lanes, C^T y; x: unknowns x lanes; residual:
 * lanes. */
typedef void hot_msmt_fn(const msmt_plan *plan, const double *right, double *scratch, double *x, double *residual);
hot_msmt_fn hot_msmt_baseline, hot_msmt_avx2, hot_msmt_avx512;

hot_status hot_msmt_ref(hot_context *context, void *args);
hot_status hot_msmt_cuda(hot_context *context, void *args);

HOT_C_END

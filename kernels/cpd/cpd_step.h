/* A least-squares update of one factor in one launch, for small ranks (Hopper): a cluster of blocks shares the rows. */
#ifndef HOT_CPD_STEP_H
#define HOT_CPD_STEP_H

#include <cuda_fp16.h>

enum { CPD_STEP_BLOCKS = 16, CPD_STEP_ROWS = 64 /* of a block, at most */, CPD_STEP_RANK = 48, CPD_STEP_THREADS = 256 };

/* All on the device. Factors in double are [row + n r]. */
typedef struct hot_cpd_step {
    int n, rank;
    double eps;                   /* pivots below eps of the largest diagonal value are lifted */
    const double *one, *other;    /* Gram matrices of the two other factors */
    const double *product;
    double *f, *gram, *lambda;    /* the factor, before and after; its Gram matrix; the lengths */
    int *counters;                /* regularised problems, iterations */
    const double *square;         /* NULL, or ||x||^2: the fit is made, too */
    double *fits;
    float *narrow, *rows;         /* copies of the factor: [row + n r], [row][columns] */
    __half *image;                /* and the image for passes (cpd_job.h) */
    float *scales;
    int columns, contiguous, split;
} hot_cpd_step;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel (__global__ void (hot_cpd_step)) and its bytes of shared memory; NULL: too large for it. */
const void *hot_cpd_step_kernel(size_t n, size_t rank, int *bytes);

#ifdef __cplusplus
}
#endif
#endif

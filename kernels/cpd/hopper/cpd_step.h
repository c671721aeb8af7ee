/* A least-squares update of one factor in one launch, for small ranks (Hopper): a cluster of blocks shares the rows. */
#ifndef HOT_CPD_STEP_H
#define HOT_CPD_STEP_H

#include <cuda_fp16.h>

enum { CPD_STEP_BLOCKS = 16, CPD_STEP_ROWS = 64 /* of a block, at most */, CPD_STEP_RANK = 48, CPD_STEP_THREADS = 512,
       CPD_STEP_TILES = 24 /* of rows */, CPD_STEP_WEIGHTS = 6144 /* values of a factor that weighs what is kept */,
       CPD_STEP_SHARED = 225 * 1024 /* bytes, at most */ };

/* What the product is made from: it lies there; the sums of the blocks of a pass; what a pass has kept. */
typedef enum hot_cpd_source { CPD_FROM_PRODUCT, CPD_FROM_BLOCKS, CPD_FROM_STORE } hot_cpd_source;

/* All on the device. Factors in double are [row + n r]. */
typedef struct hot_cpd_step {
    int n, rank;
    double eps;                   /* pivots below eps of the largest diagonal value are lifted */
    const double *one, *other;    /* Gram matrices of the two other factors */
    hot_cpd_source source;
    const double *product;
    const float *x_scale, *sum_scales; /* what sums were multiplied with: all, and each column */
    const float *sums;            /* [block + tile][64][columns] */
    int pitch;
    short first_block[CPD_STEP_TILES], last_block[CPD_STEP_TILES];
    const void *store; /* halves, or floats where `split`: store[row result_stride + i stride + column], i < length */
    const float *weights;         /* [i][column] */
    double factor;
    int length;
    size_t stride, result_stride; /* one of them is `columns` */
    int kept_bytes;               /* of it, a block's part, in shared memory */
    int kept_before;              /* it is older than the kernel before this one */
    double *f, *gram, *lambda;    /* the factor, before and after; its Gram matrix; the lengths */
    int *counters;                /* regularised problems, iterations */
    const double *square;         /* NULL, or ||x||^2: the fit is made, too */
    double *fits;
    float *narrow, *rows;         /* copies of the factor: [row + n r], [row][columns] */
    __half *image;                /* and the image for passes (pass_args.h) */
    float *scales;
    int columns, contiguous, split;
} hot_cpd_step;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel (__global__ void (hot_cpd_step)) and its bytes of shared memory, without kept_bytes; NULL: too large for
 * it. split: the matrix is inverted in double. */
const void *hot_cpd_step_kernel(size_t n, size_t rank, int split, int *bytes);

#ifdef __cplusplus
}
#endif
#endif

/* The least-squares update of one factor in one launch, for small ranks (Hopper): a cluster of blocks shares the rows.
 */
#pragma once

#include <cuda_fp16.h>

enum {
    CPD_UPDATE_BLOCKS = 16,
    CPD_UPDATE_ROWS = 64 /* of a block, at most */,
    CPD_UPDATE_RANK = 48,
    CPD_UPDATE_THREADS = 512,
    CPD_UPDATE_TILES = 24 /* of rows */,
    CPD_UPDATE_WEIGHTS = 6144 /* values of a factor that weighs what is kept */,
    CPD_UPDATE_SHARED = 225 * 1024 /* bytes, at most */
};

/* Where the update finds its right-hand side, the product: in `product`; in the sums that the blocks of a pass left; or
 * in the partial sums that a pass stored, which the update then adds up itself. */
typedef enum hot_cpd_source { CPD_FROM_PRODUCT, CPD_FROM_BLOCKS, CPD_FROM_STORE } hot_cpd_source;

/* All on the device. Factors in double are [row + n r]. */
typedef struct hot_cpd_update_args {
    int n, rank;
    double eps;                   /* smallest pivot, of the largest diagonal value: a smaller one is regularised */
    const double *one, *other;    /* Gram matrices of the two other factors */
    hot_cpd_source source;
    const double *product;
    const float *x_scale, *sum_scales; /* what sums were multiplied with: all, and each column */
    const float *sums;            /* [block + tile][64][columns] */
    int pitch;
    short first_block[CPD_UPDATE_TILES], last_block[CPD_UPDATE_TILES];
    /* halves, or floats where `split`: store[row result_stride + i stride + column], i < length */
    const void *store;
    const float *weights;         /* [i][column] */
    double factor;
    int length;
    size_t stride, result_stride; /* one of them is `columns` */
    int kept_bytes;               /* of it, a block's part, in shared memory */
    int kept_before;              /* `store` was complete before the kernel before this one began */
    double *f, *gram, *lambda;    /* the factor, in and out; its Gram matrix; the columns' lengths */
    int *counters;                /* regularised problems, iterations */
    const double *square;         /* NULL, or ||x||^2: the fit is computed, too */
    double *fits;
    float *narrow, *rows;         /* copies of the factor: [row + n r], [row][columns] */
    __half *image;                /* and the image for passes (pass_args.h) */
    float *scales;
    int columns, contiguous, split;
} hot_cpd_update_args;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel (__global__ void (hot_cpd_update_args)) and its bytes of shared memory, without kept_bytes; NULL: n
 * or the rank is too large. split: the matrix is inverted in double. */
const void *hot_cpd_update_kernel(size_t n, size_t rank, int split, int *bytes);

#ifdef __cplusplus
}
#endif

/* Products with a tensor that the cache holds (cpd_pass.h): what counts then is the time until the first value comes
 * and the last one goes. A warp takes 32 rows and one v straight from memory into registers. */
#ifndef HOT_CPD_DIRECT_H
#define HOT_CPD_DIRECT_H

#include <cuda_fp16.h>

enum { CPD_DIRECT_ROWS = 32, CPD_DIRECT_WARPS = 4, CPD_DIRECT_COLUMNS = 40, CPD_DIRECT_BYTES = 40000000,
       CPD_DIRECT_TILES = 8 /* of rows, where one block takes them all */ };

/* out[row, r] = sum over v and p of x w[v][r] f[p, r], v = k, for mode 0 (rows i, p = j) and 1 (rows j, p = i), in
 * parts: [tile of rows][block][32][column]; or for mode 2 (rows k, v = j, p = i) at once. */
typedef struct hot_cpd_direct {
    int n[3], rank, mode, blocks; /* blocks: of v, for a tile */
    const float *x;               /* rows of n[0], a multiple of 4 */
    const float *scale;           /* of x, a power of two */
    const __half *image;          /* of f (pass_args.h) */
    const float *scales;          /* of its columns */
    const float *weight;          /* w[v][column] */
    float *parts;
    double *out;                  /* [row + rows r] */
} hot_cpd_direct;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels (__global__ void (hot_cpd_direct)): the product, and for modes 0 and 1 the sum of its parts. */
const void *hot_cpd_direct_kernel(int columns, int mode);
const void *hot_cpd_direct_sum(int columns);

#ifdef __cplusplus
}
#endif
#endif

/* One product with a tensor of floats that fits in the second-level cache (cpd_pass.h). Latency then matters more than
 * bandwidth: a warp loads 32 rows of one v straight into registers, without staging in shared memory. */
#pragma once

#include <cuda_fp16.h>

enum { CPD_CACHED_ROWS = 32, CPD_CACHED_WARPS = 4, CPD_CACHED_COLUMNS = 40, CPD_CACHED_BYTES = 40000000,
       CPD_CACHED_TILES = 8 /* of rows, where one block takes them all */ };

/* out[row, r] = sum over v and p of x w[v][r] f[p, r], v = k, for mode 0 (rows i, p = j) and 1 (rows j, p = i), in
 * parts: [tile of rows][block][32][column]; or for mode 2 (rows k, v = j, p = i) at once. */
typedef struct hot_cpd_cached_args {
    int n[3], rank, mode, blocks; /* blocks: of v, for a tile */
    const float *x;               /* rows of n[0], a multiple of 4 */
    const float *scale;           /* of x, a power of two */
    const __half *image;          /* of f (pass_args.h) */
    const float *scales;          /* of its columns */
    const float *weight;          /* w[v][column] */
    float *parts;
    double *out;                  /* [row + rows r] */
} hot_cpd_cached_args;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels (__global__ void (hot_cpd_cached_args)): the product, and for modes 0 and 1 the sum of its parts. */
const void *hot_cpd_cached_kernel(int columns, int mode);
const void *hot_cpd_cached_sum_kernel(int columns);

#ifdef __cplusplus
}
#endif

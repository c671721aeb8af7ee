/* Products with a small tensor of halves that is kept on the device (packed_tensor.h). For each mode the halves are
 * stored once more in the order of the tensor cores' operand fragments: for each row of the result, each 16 rows of the
 * weighted mode and each 16 of the contracted mode, 16 bytes per lane. A block then finds all that belongs to one row
 * of the result, so that one launch computes the product and no sums are left to add. */
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { CPD_FRAGMENT_COLUMNS = 40, CPD_MIN_FRAGMENT = 48 /* rows of the result, or multiprocessors are idle */,
       CPD_FRAGMENT_BYTES = 40000000 /* of a tensor in floats, at most */ };

/* halves[out stride_out + row stride_row + inner stride_inner] in tiles of 16 rows and steps of 16 inner. */
typedef struct hot_cpd_fragment_layout {
    int rows, inner, tiles, steps;
    size_t stride_out, stride_row, stride_inner;
} hot_cpd_fragment_layout;

static inline hot_cpd_fragment_layout hot_cpd_fragment_layout_of(const size_t n[3], size_t ld, int mode)
{
    const size_t stride[3] = {1, ld, ld * n[1]};
    const int row = mode == 2 ? 1 : 2, inner = mode == 0 ? 1 : 0;
    hot_cpd_fragment_layout layout;
    layout.rows = (int)n[row], layout.inner = (int)n[inner];
    layout.tiles = (layout.rows + 15) / 16, layout.steps = (layout.inner + 15) / 16;
    layout.stride_out = stride[mode], layout.stride_row = stride[row], layout.stride_inner = stride[inner];
    return layout;
}

/* out[o, r] = sum over v and p of x w[v][r] f[p, r]. */
typedef struct hot_cpd_fragment_args {
    int outs, tiles, steps, rank;
    const uint4 *x;       /* in order */
    const float *scale;   /* of it, a power of two */
    const uint4 *factor;  /* f as halves: for each 32 of p and 8 columns 16 bytes of each lane */
    const float *scales;  /* of its columns */
    const float4 *weight; /* w: for each 16 of v and 8 columns 16 bytes of each lane; 0 beyond the last v */
    double *out;          /* [o + outs r] */
} hot_cpd_fragment_args;

/* The index of f[p, c] in `factor`, in halves, and of w[v, c] in `weight`, in floats; and the size of either. */
static inline __host__ __device__ int hot_cpd_fragment_factor(int p, int c, int columns)
{
    return ((p / 32 * (columns / 8) + c / 8) * 32 + c % 8 * 4 + p % 16 / 4) * 8 + p % 32 / 16 * 4 + p % 4;
}
static inline __host__ __device__ int hot_cpd_fragment_weight(int v, int c, int columns)
{
    return ((v / 16 * (columns / 8) + c / 8) * 32 + v % 8 * 4 + c % 8 / 2) * 4 + v % 16 / 8 * 2 + c % 2;
}
static inline size_t hot_cpd_fragment_factor_size(size_t n, int columns)
{
    return (n + 31) / 32 * 32 * (size_t)columns;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel (__global__ void (hot_cpd_fragment_args), a block per o) and its threads; NULL: not for so many columns.
 */
const void *hot_cpd_fragment_kernel(int columns, int *threads);

#ifdef __cplusplus
}
#endif

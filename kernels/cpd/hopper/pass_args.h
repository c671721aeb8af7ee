/* The arguments of a pass over the tensor (cpd_pass.h), and the kernels that do it: pass_*_sm90a.cu. */
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

enum {
    CPD_SIDE = 64,                           /* of a tile of X: rows (at most), and values of the contracted mode */
    CPD_TILE = CPD_SIDE * CPD_SIDE * 4,      /* bytes */
    CPD_GROUPS = 2,                          /* warpgroups that multiply */
    CPD_THREADS = (CPD_GROUPS + 1) * 128,
    CPD_MAX_COLUMNS = 120,
    CPD_MAX_BLOCKS = 160
};

/* The numbers of columns that there are kernels for: X(16) X(24) ..., a rank is rounded up to one of them. */
#define CPD_FOR_COLUMNS(X) X(16) X(24) X(40) X(64) X(80) X(120)

/* T[v, row, r] = sum of x over the contracted mode times its factor: rows are indices of one of the other two modes, v
 * those of the third. Rows are divided into tiles. A unit of work is one v of one tile of rows and one chunk of the
 * contracted mode (in products from halves one tile of it). Units are ordered by tile of rows, then chunk, then v; each
 * block computes an equal share of them. */
typedef struct hot_cpd_pass_args {
    int rows, over;              /* the numbers of rows and of v (or of groups of them, see side) */
    /* 1: lines of a tile follow each other along the tensor's second mode, and v is its third; 0: the other way round
     */
    int line_is_j;
    int row_tiles, k_tiles;      /* the numbers of tiles of rows and of the contracted mode */
    int pitch;                   /* rows of a tile */
    /* `side` v share a tile, [row][v], and are summed over as well; last_v: the last of all v */
    int side, last_v;
    /* a chunk: so many tiles of the contracted mode, whose part of the factor is in shared memory at a time; their
     * number */
    int chunk, chunks;
    int blocks, first[CPD_MAX_BLOCKS + 1]; /* the first unit of each block, and the end */
    int per_tile;                /* units of a tile of rows */
    int stages;                  /* tiles in flight */
    const __half *image;         /* the factor as shared memory has it: [k tile][high, low][column][64], swizzled */
    const float *scale;          /* of x, a power of two */
    const float *weight;         /* NULL, or w[v][column]: sums[row, r] = sum over v of w T */
    float *sums;                 /* of a block and a tile: [block + tile][64][column] */
    void *store;                 /* T: [v][row][column], floats or (of halves) halves times store_scale */
    float store_scale;
} hot_cpd_pass_args;

typedef enum hot_cpd_store { CPD_SUMS_ONLY, CPD_STORE } hot_cpd_store;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel (__global__ void (CUtensorMap, hot_cpd_pass_args)) for at least `rank` columns; *columns: how many.
 * contiguous: whether the contracted mode is the first. streamed: the factor comes with the tiles, all of the
 * contracted mode in one chunk. Only `split` ones store: floats. NULL: none. */
const void *hot_cpd_pass_kernel(int rank, int contiguous, int split, hot_cpd_store store, int streamed, int *columns);

/* The same for a tensor of halves (x as halves hold it, times scale), which keeps halves: its factor's image has the
 * contracted mode's values in order; `columns` is what hot_cpd_pass_kernel gave. *groups: warpgroups that multiply. */
const void *hot_cpd_half_kernel(int columns, int contiguous, int streamed, int *groups);

/* The same for products alone, from a tensor of halves. An even number of stages. */
const void *hot_cpd_product_kernel(int columns, int contiguous);

#ifdef __cplusplus
}
#endif

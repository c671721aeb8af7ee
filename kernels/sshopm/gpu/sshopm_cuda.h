/* The CUDA backend's device level: everything already on the GPU. For the host-level backend, for benchmarks, and for
 * kernels that continue with the results. */
#pragma once

#include "block_table.h"
#include "common/cuda_status.h"
#include "sshopm/sshopm_args.h"

HOT_C_BEGIN

typedef enum hot_sshopm_algorithm {
    HOT_ALGORITHM_AUTO = 0, /* the fastest that can execute the call */
    HOT_ALGORITHM_GENERAL,  /* a thread per start (sshopm_thread.cuh); any shape, precision, shift */
    HOT_ALGORITHM_GNOMONIC, /* every start iterated in the gnomonic projection, lanes refilled as starts converge
                               (gnomonic_step.cuh). Dimension 3, orders 4 6 8, float, no shift; for maxima also the
                               adaptive one, as one shift for each tensor */
    HOT_ALGORITHM_BLOCKS    /* products of tiles with many starts at once (sshopm_blocks.cu). Orders 3 to 8, dimensions
                               2 to 16; any precision and shift */
} hot_sshopm_algorithm;

/* Tables of HOT_ALGORITHM_BLOCKS, on the device. */
typedef struct hot_sshopm_blocks {
    hot_sshopm_cut cut;
    size_t values;    /* of an unfolded tensor */
    uint32_t *code;   /* hot_sshopm_cut_fill; NULL: the algorithm does not do this shape */
    uint64_t *prefix;
    int first[HOT_BLOCK_TILES]; /* a tile's first value */
} hot_sshopm_blocks;

/* The kernels' tables of a shape, made once, on the device. */
typedef struct hot_sshopm_tables {
    double *multiplicity; /* unique */
    unsigned char *index; /* unique x order: the index tuple of each class */
    int processors;       /* of the GPU that they are on */
    float *gnomonic; /* unique x hot_gnomonic_terms, the multiplicities, and hot_gnomonic_shift_table's values; NULL
                        unless dimension 3, order 4 6 8 */
    hot_sshopm_blocks blocks;
} hot_sshopm_tables;

hot_status hot_sshopm_tables_create(hot_context *context, int order, int dim, hot_sshopm_tables *tables);
void hot_sshopm_tables_destroy(hot_context *context, hot_sshopm_tables *tables);

/* Bytes of memory of the current GPU that a launch should have for its own use, as args->scratch. */
size_t hot_sshopm_scratch(const hot_sshopm_args *args);
/* hot_sshopm_launch by HOT_ALGORITHM_BLOCKS, with tables that have it. */
hot_status hot_sshopm_blocks_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                                    void *stream);

/* Launches the call, whose pointers are all on the device, on `stream` (a cudaStream_t; NULL = the default one).
 * `start` holds unit vectors. Returns when launched. HOT_ERROR_ARGUMENT if the algorithm cannot execute the call. */
hot_status hot_sshopm_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                             hot_sshopm_algorithm algorithm, void *stream);

HOT_C_END

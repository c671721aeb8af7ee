/* Tridiagonal eigenvalues with everything on the GPU: for the host-level backend and for benchmarks. */
#ifndef HOT_TRIDIAG_DEVICE_H
#define HOT_TRIDIAG_DEVICE_H

#include "tridiag.h"

/* What is known of a matrix once it is prepared. Everything but the exponent is of the scaled matrix. */
struct tridiag_info {
    double low, high, absolute, relative;
    int exponent, bad; /* bad: 1 NaN or Inf, 2 zero */
    int first, many;
};

struct tridiag_plan {
    hot_tridiag_options options;
    int n, padded;       /* padded to whole groups with entries that count nothing */
    int grid, lanes;     /* shifts of the first count; lanes per eigenvalue in the sweeps */
    int wanted;          /* eigenvalues per matrix at most */
    unsigned grid_blocks, sweep_blocks; /* per matrix */
    size_t count, stride;
    tridiag_info *info;
    void *entries;       /* count x padded */
    int *below;          /* count x grid */
};

/* Device memory of a piece of `most` matrices. */
typedef struct tridiag_memory {
    void *diagonal, *off, *values;
} tridiag_memory;

/* Grid, lanes and the most matrices that are worked on at a time, for this job on the current GPU. */
hot_status hot_tridiag_device_plan(hot_context *context, const hot_tridiag_args *args, size_t *most, tridiag_plan *plan);

/* Memory for a piece of `most` matrices: theirs, and the plan's. Free both with hot_tridiag_device_free, also after a
 * failure. */
hot_status hot_tridiag_device_alloc(hot_context *context, const hot_tridiag_args *args, size_t most, tridiag_plan *plan,
                                    tridiag_memory *memory);
void hot_tridiag_device_free(tridiag_plan *plan, tridiag_memory *memory);

/* Starts the eigenvalues of plan->count matrices on the default stream; every pointer is on the device. */
hot_status hot_tridiag_device_launch(hot_context *context, const hot_tridiag_args *args, const tridiag_plan *plan,
                                     const void *diagonal, const void *off, void *values);

#endif

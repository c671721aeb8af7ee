/* Tridiagonal eigenvalues with everything on the GPU: for the host-level backend and for benchmarks. */
#pragma once

#include "common/arena.h"
#include "tridiag.h"

/* A prepared matrix. Everything but the exponent is of the scaled matrix. */
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
    size_t count;
    tridiag_info *info;  /* count */
    void *entries;       /* count x padded */
    int *below;          /* count x grid */
};

/* Sizes, grid and lanes for a call, by all its matrices and the current GPU; without count and arrays. */
hot_status hot_tridiag_device_plan(hot_context *context, const hot_tridiag_args *args, tridiag_plan *plan);

/* The plan's `entries` and `below` for `count` matrices, out of an arena. */
void hot_tridiag_device_divide(const hot_tridiag_args *args, size_t count, hot_arena *arena, tridiag_plan *plan);

/* Launches the eigenvalues of plan->count matrices on a stream (a cudaStream_t). Every pointer, also in the plan, is on
 * the device: diagonal count x n, off count x (n - 1), values count x wanted. */
hot_status hot_tridiag_device_launch(hot_context *context, const hot_tridiag_args *args, const tridiag_plan *plan,
                                     const void *diagonal, const void *off, void *values, void *stream);

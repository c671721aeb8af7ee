/* Inside the denoise family: a job with everything filled in, windows, and the rule. Contract: hotfiber/denoise.h. */
#pragma once

#include <hotfiber/denoise.h>

#include "common/cpu.h"
#include "denoise_rule.h"

HOT_C_BEGIN

typedef struct denoise_args {
    hot_denoise_options options; /* complete */
    const hot_context *context;  /* rows end early when it is cancelled */
    size_t size[3];              /* in memory: i, j, slices */
    size_t window[3], step[3];
    size_t volumes, width;       /* width: floats per voxel */
    size_t voxels;               /* of a window */
    size_t columns;              /* size of the Gram matrix: the smaller of volumes and voxels */
    size_t rows;                 /* the larger */
    const float *signals;
    const uint8_t *mask;
    float *denoised, *noise;     /* of slices begin ... end - 1 */
    /* sums over windows, for slices begin ... end - 1; the sum of the signals gathers in `denoised` */
    double *variance; /* squares of any float fit */
    float *variances, *windows;
    uint8_t *usable;             /* voxels in memory: 1 where every volume is finite */
    size_t places[2];            /* along j and k: how many windows; along k only those that touch begin ... end - 1 */
    size_t place0;               /* the first of them along k */
} denoise_args;

hot_status hot_denoise_ref(hot_context *context, void *args);
hot_status hot_denoise_cpu(hot_context *context, void *args);
hot_status hot_denoise_cuda(hot_context *context, void *args);

/* For backends that add up the windows' results. Begin allocates the sums, cleared, and fills `usable`; end divides
 * them into means and frees them, and must be called after a failure too. */
hot_status hot_denoise_begin(hot_context *context, denoise_args *args);
hot_status hot_denoise_end(hot_context *context, denoise_args *args, hot_status status);

/* Where the n-th window along an axis begins, in the whole volume; the last ones are moved in so that all fit. */
static inline size_t denoise_place(size_t n, size_t size, size_t window, size_t step)
{
    return n * step < size - window ? n * step : size - window;
}
static inline size_t denoise_places(size_t size, size_t window, size_t step)
{
    return (size - window + step - 1) / step + 1;
}

/* Whether a window holds a voxel that is wanted. corner: in memory. */
int hot_denoise_wanted(const denoise_args *args, const size_t corner[3]);

/* One row of windows along i, at place j and place k. scratch: as many bytes as the row needs. */
typedef void denoise_row_fn(const denoise_args *args, size_t place_j, size_t place_k, void *scratch);
denoise_row_fn hot_denoise_row_baseline, hot_denoise_row_avx2, hot_denoise_row_avx512;
size_t hot_denoise_scratch(const denoise_args *args);
/* The plain way through one window (any data, one at a time, LAPACK or our own QL): for what the fast way gives up. */
void hot_denoise_window_plain(const denoise_args *args, const size_t corner[3], void *scratch);
size_t hot_denoise_scratch_plain(const denoise_args *args);

HOT_C_END

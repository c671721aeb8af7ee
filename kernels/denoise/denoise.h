/* Inside the denoise family: a job with everything filled in, windows, and the rule. Contract: hotfiber/denoise.h. */
#ifndef HOT_KERNELS_DENOISE_H
#define HOT_KERNELS_DENOISE_H

#include <math.h>

#include <hotfiber/denoise.h>

#include "common/cpu.h"

typedef struct dn_job {
    hot_denoise_options options; /* complete */
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
    float *variance, *variances, *windows;
    uint8_t *usable;             /* voxels in memory: 1 where every volume is finite */
    size_t places[2];            /* along j and k: how many windows; along k only those that touch begin ... end - 1 */
    size_t place0;               /* the first of them along k */
} dn_job;

hot_status hot_denoise_ref(hot_context *context, void *job);
hot_status hot_denoise_cpu(hot_context *context, void *job);

/* Where the n-th window along an axis begins, in the whole volume; the last ones are moved in so that all fit. */
static inline size_t dn_place(size_t n, size_t size, size_t window, size_t step)
{
    return n * step < size - window ? n * step : size - window;
}
static inline size_t dn_places(size_t size, size_t window, size_t step) { return (size - window + step - 1) / step + 1; }

/* Whether a window holds a voxel that is wanted. corner: in memory. */
int dn_wanted(const dn_job *job, const size_t corner[3]);

/* With `signal` of the largest eigenvalues taken for signal: whether the rest passes for noise. rest: sum of the others;
 * next: the largest of them; least: the smallest (at least 0). *variance: that of the noise then. */
static inline int dn_is_noise(const dn_job *job, size_t signal, double rest, double next, double least, double *variance)
{
    const double left = (double)(job->columns - signal), rows = (double)job->rows;
    const double free_rows = job->options.estimator == HOT_NOISE_EXP1 ? rows : rows - (double)signal;
    *variance = rest / (free_rows * left);
    /* the width of a Marchenko-Pastur distribution is 4 sigma^2 sqrt(gamma) */
    return (next - least) / (4 * sqrt(left / free_rows)) < rest / left;
}

/* One row of windows along i, at place j and place k. scratch: as many bytes as the row needs. */
typedef void dn_row_fn(const dn_job *job, size_t place_j, size_t place_k, void *scratch);
dn_row_fn dn_row_baseline, dn_row_avx2, dn_row_avx512, dn_row_plain;
size_t dn_scratch(const dn_job *job);
/* The plain way through one window (any data, one at a time, LAPACK or our own QL): for complex data, and for what the fast
 * way gives up. */
void dn_window_plain(const dn_job *job, const size_t corner[3], void *scratch);
size_t dn_scratch_plain(const dn_job *job);

#endif

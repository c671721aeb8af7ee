/* Averages per voxel, from one pass over the samples, for mask, noise, fit and picture. */
#pragma once

#include "core/fields.h"

struct hot_dwi_summary {
    hot_context *context; /* whose memory it is in */
    hot_grid grid;
    size_t repeats;       /* b=0 volumes */
    float *mean;          /* voxels: of the b=0 volumes, or of all volumes if there are none */
    float *deviation;     /* voxels: between the b=0 volumes, NaN if it is not finite; NULL with fewer than two */
    float *low, *high;    /* voxels: mean over the lowest and the highest shell, for the mask; NaN counts as 0, and
                             so does a mean below 0. NULL after hot_dwi_summary_masked */
    double ceiling;       /* samples of this value and above are clipped (ceiling.h); infinite: none are */
    size_t clipped;       /* voxels that reach it */
};

/* Makes the summary and keeps it with the data set until that is destroyed. hot_mask_estimate, hot_dwi_noise, the fits
 * and the signal method take it from there; for a data set without one each makes its own and frees it. For the owner
 * of the data set, before other threads use it: after that a hot_dwi is only read. */
hot_status hot_dwi_keep_summary(hot_context *context, hot_dwi *dwi);

/* *summary: the one that is kept, or a new one, which is in *made too. Free *made. */
hot_status hot_dwi_summary_get(hot_context *context, const hot_dwi *dwi, const hot_dwi_summary **summary,
                               hot_dwi_summary **made);
/* *ceiling: the summary's, for those that need nothing else of it. */
hot_status hot_dwi_ceiling(hot_context *context, const hot_dwi *dwi, double *ceiling);
void hot_dwi_summary_free(hot_dwi_summary **summary);
/* Frees what only hot_mask_estimate reads, which must not be called for this data set any more. NULL is accepted. */
void hot_dwi_summary_masked(hot_dwi_summary *summary);

/* The value at index `place` of the sorted values (quickselect). Reorders the values; none may be NaN. */
float hot_sorted_at(float *values, size_t count, size_t place);

/* Of b=0 signals (values[n * step], voxel n) what is above this is damage, not tissue: ten times what 95 % of the
 * voxels inside do not exceed. One such voxel would settle a mean. */
double hot_b0_limit(const float *values, size_t step, const uint8_t *inside, size_t count);

/* The median of chi-square over its degrees of freedom. */
double hot_chi_square_median(size_t freedom);

/* How fibre directions are found in a tensor field: one const struct per method, listed in methods.c. */
#ifndef HOT_FIBERS_METHOD_H
#define HOT_FIBERS_METHOD_H

#include "core/fields.h"

/* What a method is given: all voxels, rows of 1 + unique values, of which the tensor begins at 1; mask[i] is
 * 0 where there is nothing to compute. Going through them in chunks that bound its memory, and saying how far it is, is
 * the kernel's business. It writes 3 * max_fibers floats per voxel: vectors of length amplitude, absent
 * ones 0. The order of the vectors and their half sphere are put right by hot_fiber_field_create. */
typedef struct hot_peaks_job {
    size_t count;
    const float *rows;
    const uint8_t *mask;
    float *peaks;
} hot_peaks_job;

typedef struct hot_peaks_method {
    const char *name;
    const char *help;                     /* one line */
    double threshold, min_angle;          /* defaults: fraction of the largest; degrees */
    hot_status (*find)(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options,
                       const hot_peaks_job *job);
} hot_peaks_method;

extern const hot_peaks_method hot_peaks_maxima, hot_peaks_lowrank;

/* All of them. */
const hot_peaks_method *const *hot_peaks_methods(size_t *count);

#endif

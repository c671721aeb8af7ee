/* What denoising must not remove: the angular shape of the signals. */
#ifndef HOT_DENOISE_SHAPE_H
#define HOT_DENOISE_SHAPE_H

#include "core/fields.h"

/* MP-PCA keeps what the voxels of a window share. Where neighbours differ it takes weak parts of the signals for noise:
 * those of high degree, which tell crossings. A fibre's signal has all degrees about one axis, so that of its part of
 * degree 2, f, the square and the cube are like its parts of degrees 4 and 6. What was removed is noise where it has
 * nothing in common with these: the products have a mean of 0 in a window. Where their mean is clearly not 0, and not a
 * small part of what is kept, all of a voxel's low harmonics are put back, noise and all.
 *
 * before: the data that were denoised. denoised: changed in place (float samples, voxel after voxel). *share: of the
 * voxels, how many were changed. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED, what reading `before` may give. */
hot_status hot_dwi_restore_shape(hot_context *context, const hot_dwi *before, hot_dwi *denoised, double *share);

#endif

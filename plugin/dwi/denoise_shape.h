/* Restores the angular shape of signals that denoising removed. */
#pragma once

#include "core/fields.h"

/* MP-PCA keeps the components that the voxels of a window share. If neighbours differ, it removes weak components as
 * noise, among them those of high degree that resolve crossings. A fibre's signal has all degrees about one axis: the
 * square and the cube of its part of degree 2 resemble its parts of degrees 4 and 6. Removed noise is uncorrelated with
 * these: the products have a mean of 0 in a window. If their mean is clearly not 0, and not small compared with the
 * kept part, all of a voxel's low harmonics are restored, including their noise.
 *
 * before: the data that were denoised. denoised: changed in place (float samples, voxel after voxel). *share: of the
 * voxels, how many were changed. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED, what reading `before` may give. */
hot_status hot_dwi_restore_shape(hot_context *context, const hot_dwi *before, hot_dwi *denoised, double *share);

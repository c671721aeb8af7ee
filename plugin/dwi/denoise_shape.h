/* What denoising must not remove: the angular shape of the signals. */
#ifndef HOT_DENOISE_SHAPE_H
#define HOT_DENOISE_SHAPE_H

#include "core/fields.h"

/* MP-PCA keeps what the voxels of a window share. Where neighbours differ it takes weak parts of the signals for noise,
 * fine crossings first. They show in what it removed: noise is the same in harmonics of every degree over the sphere of
 * gradients, a signal is in the low ones. Where those hold more of what was removed than the rest does, in a window and
 * by more than chance, all of a voxel's low harmonics are put back, noise and all.
 *
 * before: the data that were denoised. denoised: changed in place (float samples, voxel after voxel). *share: of the
 * voxels, how many were changed. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED, what reading `before` may give. */
hot_status hot_dwi_restore_shape(hot_context *context, const hot_dwi *before, hot_dwi *denoised, double *share);

#endif

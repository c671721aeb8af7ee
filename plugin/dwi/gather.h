/* Signals of chosen voxels side by side in one dense block: what the fits, the response and the signal method read. */
#pragma once

#include "core/fields.h"

/* As hot_dwi_read, for `count` voxels given by their numbers: signals[n * volumes ...] is voxel[n]'s. */
hot_status hot_dwi_read_list(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                             float *signals);

/* As hot_dwi_read, of data that are in memory (not paged), by the calling thread alone. */
void hot_dwi_read_range(const hot_dwi *dwi, size_t first, size_t count, float *signals);

/* One volume's samples of voxels first ... first + count - 1, as floats; count of a thousand or so, so that the samples
 * of all volumes that are walked through stay in the cache where they lie side by side. */
void hot_dwi_read_row(const hot_dwi *dwi, size_t volume, size_t first, size_t count, float *samples);

/* All signals as floats, volume by volume: samples[volume][k][j][i]. */
hot_status hot_dwi_read_volumes(hot_context *context, const hot_dwi *dwi, float *samples);

/* Iterates over the voxels of a mask in blocks: writes the numbers of the next `most` voxels inside, or of the
 * remaining ones, to voxel[]. *next is the iterator, 0 at first. Returns how many; 0 at the end. */
size_t hot_mask_next(const uint8_t *inside, size_t voxels, size_t *next, size_t most, size_t *voxel);

/* At most `most` voxels spread evenly over the mask, into voxel[]. Returns how many. */
size_t hot_mask_sample(const hot_mask *mask, size_t most, size_t *voxel);
/* *holes: voxels outside of the mask that it encloses in a slice. Slices are across the axis with fewest voxels.
 * Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_mask_count_holes(hot_context *context, const hot_mask *mask, size_t *holes);

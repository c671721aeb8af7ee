/* What the readers of masks and other images of one value per voxel check, whatever the format. */
#ifndef HOT_PLUGIN_IMAGE_CHECK_H
#define HOT_PLUGIN_IMAGE_CHECK_H

#include "core/fields.h"

/* HOT_ERROR_DATA: a mask of other sizes. */
hot_status hot_mask_other_size(hot_context *context, const char *path, const size_t size[3], const hot_grid *grid);
/* The same sizes do not make the same place: warns when the mask's corners lie elsewhere. */
void hot_mask_compare_places(hot_context *context, const char *path, const hot_grid *mask, const hot_grid *grid);
/* Fills a mask from its samples: inside where one is neither 0 nor NaN. */
void hot_mask_threshold(const void *samples, hot_sample type, hot_mask *mask);
/* HOT_ERROR_DATA when a map has not one value for each voxel. */
hot_status hot_map_check_count(hot_context *context, const char *path, size_t samples, size_t voxels);

#endif

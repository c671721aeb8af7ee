/* Images of one value per voxel from NRRD. */
#ifndef HOT_PLUGIN_NRRD_IMAGE_H
#define HOT_PLUGIN_NRRD_IMAGE_H

#include "core/fields.h"

/* Fills a mask whose grid and bytes are there. */
hot_status hot_nrrd_load_mask(hot_context *context, const char *path, hot_mask *mask);
/* As hot_image_load; after a failure *values may hold memory that the caller frees. */
hot_status hot_nrrd_load_image(hot_context *context, const char *path, hot_grid *grid, float **values);
/* A value for each of `voxels` voxels, whatever the file's axes. */
hot_status hot_nrrd_load_map(hot_context *context, const char *path, size_t voxels, float *values);

#endif

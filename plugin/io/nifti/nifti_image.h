/* Images to NIfTI: one or several volumes of floats, or one of bytes. */
#ifndef HOT_PLUGIN_NIFTI_IMAGE_H
#define HOT_PLUGIN_NIFTI_IMAGE_H

#include "core/fields.h"

/* Fills volume `number` of what `from` describes. */
typedef void hot_nifti_fill(hot_context *context, const void *from, size_t number, size_t voxels, float *volume);
/* Writes `volumes` volumes of floats, one after the other in memory. */
hot_status hot_nifti_save_volumes(hot_context *context, const char *path, const hot_grid *grid, size_t volumes,
                                  hot_nifti_fill *fill, const void *from);
/* Writes one volume of bytes. */
hot_status hot_nifti_save_bytes(hot_context *context, const char *path, const hot_grid *grid, const uint8_t *values);

#endif

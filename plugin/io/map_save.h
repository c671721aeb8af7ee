/* Floats or bytes on a grid into an image file. */
#pragma once

#include "core/fields.h"

/* values: voxels x per, the values of a voxel side by side; in NIfTI and MIF (by name) a volume each, in NRRD axis 0.
 * what: the map's name, which NRRD keeps as a key (NULL: none). */
hot_status hot_map_save(hot_context *context, const hot_grid *grid, const float *values, size_t per, const char *what,
                        const char *path);
/* One byte per voxel. */
hot_status hot_map_save_bytes(hot_context *context, const hot_grid *grid, const uint8_t *values, const char *path);

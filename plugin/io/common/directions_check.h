/* Files that have as many values as directions would, 3 per fibre, but hold signals. */
#ifndef HOT_PLUGIN_DIRECTIONS_CHECK_H
#define HOT_PLUGIN_DIRECTIONS_CHECK_H

#include <hotfiber/hotfiber.h>

/* HOT_ERROR_FORMAT when a NIfTI file has its b-values beside it. */
hot_status hot_directions_check_tables(hot_context *context, const char *path);
/* HOT_ERROR_FORMAT when values (voxels x 3 fibers) cannot be directions: whole numbers above 1, two fibres or more with
 * all their parts positive in nearly every voxel, or one fibre of that kind that is longer than 10. */
hot_status hot_directions_check_values(hot_context *context, const char *path, const float *values, size_t voxels,
                                       size_t fibers);

#endif

/* Fibre directions in NRRD: 3N values per voxel, or 5-D, in the grid's own space. */
#ifndef HOT_PLUGIN_NRRD_DIRECTIONS_H
#define HOT_PLUGIN_NRRD_DIRECTIONS_H

#include "core/fields.h"
#include "io/common/input.h"

hot_status hot_nrrd_save_directions(hot_context *context, const hot_fiber_field *fibers, const char *path);
/* The input's file is taken over. */
hot_status hot_nrrd_load_directions(hot_context *context, hot_input *input, hot_fiber_field **fibers);

#endif

/* Fibre directions in NRRD: 3N values per voxel, or 5-D, in the grid's own space. */
#pragma once

#include <teem/nrrd.h>

#include "core/fields.h"

hot_status hot_nrrd_save_directions(hot_context *context, const hot_fiber_field *fibers, const char *path);
/* Of an array that is known to hold them; it may be freed, and is NULL then. path: for messages. */
hot_status hot_nrrd_take_directions(hot_context *context, const char *path, Nrrd **from, hot_fiber_field **fibers);

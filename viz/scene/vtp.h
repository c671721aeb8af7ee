/* Reads directions from a .vtp file by hotfiber. */
#pragma once

#include <hotfiber/hotfiber.h>

/* The file has line segments but no grid. The grid is reconstructed in LPS from the segments' midpoints and covers the
 * voxels with fibres. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT (not by hotfiber, truncated, midpoints on no lattice),
 * HOT_ERROR_MEMORY. */
hot_status hot_vtp_load(hot_context *context, const char *path, hot_fiber_field **fibers);

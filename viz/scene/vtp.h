/* Directions back from a .vtp that hotfiber wrote. */
#ifndef HOT_VIZ_VTP_H
#define HOT_VIZ_VTP_H

#include <hotfiber/hotfiber.h>

/* The file holds line segments and no grid: the grid is found again from the segments' middles, in LPS, as far as there
 * are fibres. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT (not of our writing, cut off, middles that are on no lattice),
 * HOT_ERROR_MEMORY. */
hot_status hot_vtp_load(hot_context *context, const char *path, hot_fiber_field **fibers);

#endif

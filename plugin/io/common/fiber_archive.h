/* Directions in the archives of other programs, as `hotfiber export` writes them: .fz of DSI Studio (also .fib.gz), and
 * .odx. For the viewer. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Whether a name is one of them. */
HOT_API int hot_fiber_archive_named(const char *path);
/* Loads one. Owner of *fibers: the caller. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_fiber_archive_load(hot_context *context, const char *path, hot_fiber_field **fibers);

/* By format, whatever the name. */
HOT_API hot_status hot_fz_load(hot_context *context, const char *path, hot_fiber_field **fibers);
HOT_API hot_status hot_odx_load(hot_context *context, const char *path, hot_fiber_field **fibers);

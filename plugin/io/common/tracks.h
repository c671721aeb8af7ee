/* Streamlines: MRtrix's tracks (.tck) and TRX archives (.trx), points in scanner RAS mm. For the viewer. */
#pragma once

#include <hotfiber/hotfiber.h>

typedef struct hot_tracks {
    float (*point)[3]; /* of all streamlines, one after the other */
    size_t points;
    size_t *first;     /* count + 1: each streamline's first point, then `points` */
    size_t count;
} hot_tracks;

/* Whether a name is one of streamlines: .tck or .trx. */
HOT_API int hot_tracks_named(const char *path);
/* Loads a file; empty streamlines are left out. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_tracks_load(hot_context *context, const char *path, hot_tracks *tracks);
/* Safe on a zeroed struct. */
HOT_API void hot_tracks_free(hot_context *context, hot_tracks *tracks);

/* A TRX archive (trx.c). After a failure the caller frees *tracks. */
hot_status hot_trx_load(hot_context *context, const char *path, hot_tracks *tracks);

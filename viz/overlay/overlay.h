/* Letters, scale bar, crosshair, colour bar, help and panel: computed from scene and state, free of GL. */
#ifndef HOT_VIZ_OVERLAY_H
#define HOT_VIZ_OVERLAY_H

#include "overlay_mesh.h"
#include "scene/camera.h"

typedef struct hot_overlay hot_overlay;

/* An overlay keeps its font and its memory from picture to picture. Errors: HOT_ERROR_MEMORY, HOT_ERROR_FILE (no font).
 */
hot_status hot_overlay_create(hot_context *context, hot_overlay **overlay);
/* Computes what lies over a picture of width x height pixels. *mesh is owned by the overlay until its next call. */
hot_status hot_overlay_build(hot_overlay *overlay, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh **mesh);
/* A message that lies over the picture from now on; NULL = none any more. Copied. Returns whether that is a change. */
int hot_overlay_set_message(hot_overlay *overlay, const char *message);
void hot_overlay_destroy(hot_overlay **overlay);

#endif

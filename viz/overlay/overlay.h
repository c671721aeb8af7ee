/* Letters, scale bar, crosshair, colour bar, help and voxel panel, computed from scene and state. No OpenGL. */
#pragma once

#include "overlay_mesh.h"
#include "scene/camera.h"

typedef struct hot_overlay hot_overlay;

/* Font and memory are kept between pictures. Errors: HOT_ERROR_MEMORY, HOT_ERROR_FILE (no font). */
hot_status hot_overlay_create(hot_context *context, hot_overlay **overlay);
/* The overlay of a picture of width x height pixels. *mesh belongs to the overlay and is valid until its next call. */
hot_status hot_overlay_build(hot_overlay *overlay, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh **mesh);
/* Shows a message, which is copied, over all further pictures; NULL removes it. Returns 1 if the message has changed.
 */
int hot_overlay_set_message(hot_overlay *overlay, const char *message);
void hot_overlay_destroy(hot_overlay **overlay);

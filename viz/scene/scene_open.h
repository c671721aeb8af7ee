/* Replaces a scene: its files are read again, or others were dropped on the window. No OpenGL. The old scene is not
 * changed; the caller destroys it after the new one is in use. */
#pragma once

#include "scene.h"

/* Reads the files of `old` again. Settings that name volumes are kept if the new scene has these volumes. Errors: those
 * of hot_scene_load, HOT_ERROR_ARGUMENT if the scene has no files; *state is then unchanged. */
hot_status hot_scene_reload(hot_context *context, const hot_scene *old, const char *mask, hot_view_state *state,
                                hot_scene **scene);

/* Opens dropped files as a new scene. If they are images only, or no scene alone, they are added to the files of `old`,
 * and a new image becomes the background. On another grid the view is reset; settings of the glyphs are kept. Errors
 * and *state as in hot_scene_reload; if both attempts fail, the message is the first one's. */
hot_status hot_scene_open_dropped(hot_context *context, const hot_scene *old, const char *mask,
                                  const char *const *paths, int count, hot_view_state *state, hot_scene **scene);

/* Fits the state to a new scene. Volumes that it lacks are set to auto. Errors: those of hot_view_state_resolve. */
hot_status hot_scene_fit_state(hot_context *context, const hot_scene *old, hot_scene *scene, hot_view_state *state);

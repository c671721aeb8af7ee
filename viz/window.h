/* The window: GLFW. */
#ifndef HOT_VIZ_WINDOW_H
#define HOT_VIZ_WINDOW_H

#include "scene.h"

/* Opens a window of width x height screen units on the scene and returns when it is closed. *scene may be replaced by
 * another (reload, a file dropped on it); the caller destroys what it finds there. mask: as given to hot_scene_load. dump (may be NULL): a file
 * into which all settings are written after every picture, for tests.
 * Errors: HOT_ERROR_DEVICE when there is no display or no OpenGL 3.3. */
hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state, int width, int height,
                          const char *mask, const char *dump);

#endif

/* The window: GLFW. Its own settings (keys, mouse) are in input.h. */
#ifndef HOT_VIZ_WINDOW_H
#define HOT_VIZ_WINDOW_H

#include "scene/scene.h"

typedef struct hot_window_options {
    int width, height; /* units of the desktop */
    const char *mask;  /* as it was given to hot_scene_load; NULL = none */
    /* Called when a voxel was clicked, with what is known about it (lines of text); NULL = nobody wants to know. */
    void (*picked)(void *user, const char *text);
    void *user;
    const char *dump;  /* a file that gets every setting and what happened after each picture, for tests; NULL = none */
} hot_window_options;

/* Opens a window on the scene and returns when it is closed. *scene is replaced by another one when its files change or
 * others are dropped on the window; the caller destroys what it finds there. state->pixel_ratio is multiplied by the
 * content scale of the screen. Call it from the main thread.
 * Errors: HOT_ERROR_DEVICE when there is no display or no OpenGL 3.3, HOT_ERROR_MEMORY, HOT_ERROR_FILE (no font). */
hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state,
                          const hot_window_options *options);

#endif

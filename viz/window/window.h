/* The window (GLFW). Keys and mouse are in input/input.h. */
#ifndef HOT_VIZ_WINDOW_H
#define HOT_VIZ_WINDOW_H

#include "scene/scene.h"

typedef struct hot_window_options {
    int width, height; /* desktop units */
    const char *mask;  /* mask file of the scene; NULL = none */
    /* Called after a click with the voxel's description (lines of text); may be NULL. */
    void (*picked)(void *user, const char *text);
    void *user;
    const char *dump;  /* file that receives all settings and counts after each picture, for tests; NULL = none */
} hot_window_options;

/* Opens a window on the scene and returns when it is closed. If its files change or others are dropped, *scene is
 * destroyed and replaced; the caller destroys the final one. state->pixel_ratio is multiplied by the screen's content
 * scale while the window is open. Main thread only. Errors: HOT_ERROR_DEVICE (no display, no OpenGL 3.3),
 * HOT_ERROR_MEMORY, HOT_ERROR_FILE (no font). */
hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state,
                          const hot_window_options *options);

#endif

/* The window (GLFW). Keys and mouse are in input/input.h. */
#pragma once

#include "scene/live.h"

typedef struct hot_window_options {
    int width, height; /* desktop units */
    const char *mask;  /* mask file of the scene; NULL = none */
    /* Called after a click with the voxel's description (lines of text); may be NULL. */
    void (*picked)(void *user, const char *text);
    void *user;
    const char *dump;  /* file that receives all settings and counts after each picture, for tests; NULL = none */
    void (*opened)(void *user); /* called when the window is open; NULL = not wanted */
    hot_live *live;    /* replaces the scene while it is filled; NULL = none */
} hot_window_options;

/* Opens a window on the scene. If its files change, others are dropped or the live scene is filled, *scene is destroyed
 * and replaced; the caller destroys the final one. state->pixel_ratio is multiplied by the screen's content scale while
 * the window is open. One window at a time, used by one thread; on macOS by the main one. Errors: HOT_ERROR_DEVICE (no
 * display, no OpenGL 3.3, a window is open), HOT_ERROR_MEMORY, HOT_ERROR_FILE (no font). */
typedef struct hot_window hot_window;
hot_status hot_window_create(hot_context *context, hot_scene **scene, hot_view_state *state,
                             const hot_window_options *options, hot_window **window);
/* Draws if something has changed, waits up to `seconds` for events, and handles them. *open: 0 = closed by the user, or
 * failed. Errors: those, and HOT_ERROR_CANCELLED. */
hot_status hot_window_step(hot_window *window, double seconds, int *open);
extern const double hot_window_wait; /* seconds between two looks at whether the context is cancelled */
void hot_window_destroy(hot_window **window);

/* All three: returns when the window is closed. */
hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state,
                          const hot_window_options *options);

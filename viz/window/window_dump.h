/* Writes the window's state to a file. Tests wait for it and compare. */
#pragma once

#include "controls.h"
#include "input/input.h"

typedef struct hot_window_dump {
    unsigned long pictures, events, picks; /* pictures drawn, events handled, voxels clicked */
} hot_window_dump;

/* One line "name value" each: counts, picture size, pointer, title, all settings, and at_NAME x,y for the middle of
 * each of the panel's controls (NULL = none). Written to a temporary name and
 * renamed. Errors: HOT_ERROR_FILE. */
hot_status hot_window_dump_write(hot_context *context, const char *path, const hot_window_dump *dump,
                                 const hot_scene *scene, const hot_view_state *state, const hot_input *input,
                                 const hot_controls *controls);

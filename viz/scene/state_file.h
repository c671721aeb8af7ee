/* Settings as text: a file that keeps a view, and the command that makes it again. No OpenGL. */
#pragma once

#include <stdio.h>

#include "scene.h"

/* One line "name value" for each setting. */
void hot_view_state_put(FILE *file, const hot_view_state *state);
/* Writes such a file (a temporary name, then renamed). Errors: HOT_ERROR_FILE. */
hot_status hot_view_state_save(hot_context *context, const char *path, const hot_view_state *state);
/* Reads it. Lines of --dump_state that are no settings are skipped. On errors *state is unchanged: HOT_ERROR_FILE,
 * HOT_ERROR_FORMAT (a name that is neither, a bad value), with the line. */
hot_status hot_view_state_load(hot_context *context, const char *path, hot_view_state *state);
/* The shell command that opens the scene with these settings: those that differ from the defaults. mask: the --mask
 * option or NULL. Owner of *text: the caller (hot_context_free). */
hot_status hot_view_command_line(const hot_scene *scene, const hot_view_state *state, const char *mask, char **text);

/* The files that were viewed last, for the panel: a private list in the user's state folder. If it cannot be read or
 * written, that is no error: it is empty, or stays unchanged. No OpenGL. */
#pragma once

#include "scene.h"

enum { HOT_RECENT = 12 };

/* Scenes, the newest first. Zeroed: empty. */
typedef struct hot_recent {
    int count;
    char *entry[HOT_RECENT]; /* absolute paths, separated by tabs; context memory */
} hot_recent;

/* Reads the list: $XDG_STATE_HOME/hotfiber/recent, or in ~/.local/state. */
void hot_recent_load(hot_context *context, hot_recent *recent);
/* Puts the scene's files first and writes the list, readable for the user alone. Scenes without files, and names with
 * tabs or line ends, are left out. */
void hot_recent_add(hot_context *context, const hot_scene *scene, hot_recent *recent);
void hot_recent_free(hot_context *context, hot_recent *recent);
/* Splits an entry in place; returns the number of paths. */
int hot_recent_split(char *entry, const char *paths[HOT_SCENE_PATHS]);

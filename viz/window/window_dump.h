/* What a window shows, written to a file for tests: they wait until it says what they did, and compare. */
#ifndef HOT_VIZ_WINDOW_DUMP_H
#define HOT_VIZ_WINDOW_DUMP_H

#include "input/input.h"

typedef struct hot_window_dump {
    unsigned long pictures, events, picks; /* drawn, handled, voxels clicked */
} hot_window_dump;

/* One line each, "name value": the counts, the picture's size, the pointer, the scene's title, every setting. The file
 * is made beside its name and renamed. Errors: HOT_ERROR_FILE. */
hot_status hot_window_dump_write(hot_context *context, const char *path, const hot_window_dump *dump,
                                 const hot_scene *scene, const hot_view_state *state, const hot_input *input);

#endif

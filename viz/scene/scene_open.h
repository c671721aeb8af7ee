/* Another scene in the place of the one that is shown: the same files read again, or files dropped on the window. Free
 * of GL. The old scene is left alone; the caller puts the new one in its place when it has let go of the old. */
#ifndef HOT_VIZ_SCENE_OPEN_H
#define HOT_VIZ_SCENE_OPEN_H

#include "scene.h"

/* Reads the files of `old` again. Settings stay as far as the new scene has what they name.
 * Errors: those of hot_scene_load, HOT_ERROR_ARGUMENT for a scene that came from no file; *state is then untouched. */
hot_status hot_scene_reload(hot_context *context, const hot_scene *old, const char *mask, hot_view_state *state,
                                hot_scene **scene);

/* Opens dropped files: by themselves, or, when they are no scene of their own (a background image, say), together with
 * the files of `old`, where an image that is new becomes the background. On another grid the view begins anew; how
 * glyphs are drawn stays. Errors and *state as above; when both ways fail the first one's message is kept. */
hot_status hot_scene_open_dropped(hot_context *context, const hot_scene *old, const char *mask,
                                  const char *const *paths, int count, hot_view_state *state, hot_scene **scene);

#endif

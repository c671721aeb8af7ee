/* Other files in the window: dropped, typed in, or of the recent ones. */
#define GLFW_INCLUDE_NONE
#include "window.h"

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "scene/scene_open.h"
#include "window_private.h"

void hot_window_set_scene(hot_window *view, hot_scene *scene)
{
    char title[300];
    hot_renderer_invalidate(view->renderer);
    hot_scene_destroy(view->scene);
    *view->scene = scene;
    snprintf(title, sizeof title, "%s – hotfiber", scene->title);
    glfwSetWindowTitle(view->handle, title);
    hot_overlay_set_message(view->overlay, NULL);
    view->redraw = 1;
}

void hot_window_note_files(hot_window *view)
{
    if (!view->live)
        hot_recent_add(view->context, *view->scene, &view->recent);
}

hot_status hot_window_open(hot_window *view, const char **paths, int count)
{
    hot_scene *scene;
    HOT_TRY(hot_scene_open_dropped(view->context, *view->scene, view->options.mask, paths, count, view->state, &scene));
    hot_window_set_scene(view, scene);
    view->live = NULL;
    memset(&view->history, 0, sizeof view->history); /* settings of other data */
    hot_window_note(view);
    hot_window_note_files(view);
    return HOT_OK;
}

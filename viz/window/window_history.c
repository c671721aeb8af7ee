/* Undo and redo in the window. */
#define GLFW_INCLUDE_NONE
#include "window.h"

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <string.h>

#include "window_private.h"

void hot_window_note(hot_window *view) { hot_history_note(&view->history, view->state); }

hot_status hot_window_undo(hot_window *view, int redo)
{
    hot_view_state wanted;
    if (!redo) /* first the change that no gesture has followed yet */
        hot_window_note(view);
    memcpy(&wanted, view->state, sizeof wanted);
    if (!hot_history_step(&view->history, redo, &wanted))
        return HOT_OK;
    hot_status status = hot_view_state_resolve(view->context, *view->scene, &wanted);
    if (status == HOT_OK)
        status = hot_scene_open_layers(*view->scene, &wanted); /* a file may be gone */
    if (status != HOT_OK)
        return status;
    memcpy(view->state, &wanted, sizeof wanted);
    view->redraw = 1;
    return HOT_OK;
}

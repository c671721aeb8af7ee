/* The requests of the panel's buttons: pictures, saved settings, the command, layers. */
#define GLFW_INCLUDE_NONE
#include "window.h"

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "render/movie.h"
#include "scene/state_file.h"
#include "window_private.h"

/* Draws a picture, or a movie, of the size that the panel says, in this window's OpenGL context. */
static hot_status save_picture(hot_window *view, int moves)
{
    const hot_controls_frame *panel = &view->panel;
    hot_pictures *pictures = NULL;
    hot_view_state shown = *view->state;
    shown.pixel_ratio = hot_picture_pixel_ratio(panel->width, panel->height);
    shown.show_hint = shown.show_help = 0;
    for (int d = 0; d < 3 && panel->white; d++)
        shown.canvas[d] = 1;
    hot_status status = hot_pictures_create_here(view->context, panel->width, panel->height, view->samples, &pictures);
    if (status == HOT_OK) {
        hot_pictures_set_dpi(pictures, panel->dpi);
        const hot_movie movie = {.path = panel->movie, .kind = panel->movie_kind,
                                 .frames = panel->movie_frames > 0 ? panel->movie_frames : 0,
                                 .rate = (double)panel->movie_rate};
        status = moves ? hot_movie_save(view->context, pictures, *view->scene, &shown, &movie)
                       : hot_pictures_save(pictures, *view->scene, &shown, panel->picture);
    }
    hot_pictures_destroy(&pictures);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return status;
}

static hot_status load_state(hot_window *view)
{
    hot_view_state read = *view->state;
    HOT_TRY(hot_view_state_load(view->context, view->panel.file, &read));
    HOT_TRY(hot_view_state_resolve(view->context, *view->scene, &read));
    HOT_TRY(hot_scene_open_layers(*view->scene, &read));
    HOT_TRY(hot_scene_show_frame(*view->scene, &read));
    read.pixel_ratio = view->state->pixel_ratio; /* of this screen */
    *view->state = read;
    return HOT_OK;
}

static hot_status copy_command(hot_window *view)
{
    char *text = NULL;
    const hot_status status = hot_view_command_line(*view->scene, view->state, view->options.mask, &text);
    if (status == HOT_OK)
        glfwSetClipboardString(view->handle, text);
    hot_context_free((*view->scene)->context, text);
    return status;
}

/* Opens a layer on top of the others. */
static hot_status add_layer(hot_window *view, const char *setting)
{
    hot_view_state wanted = *view->state;
    hot_status status = hot_view_state_set(view->context, setting, view->panel.layer, &wanted);
    if (status == HOT_OK)
        status = hot_scene_open_layers(*view->scene, &wanted);
    if (status == HOT_OK)
        *view->state = wanted;
    return status;
}

static hot_status open_files(hot_window *view)
{
    char entry[sizeof view->panel.open];
    const char *paths[HOT_SCENE_PATHS];
    memcpy(entry, view->panel.open, sizeof entry);
    const hot_status status = hot_window_open(view, paths, hot_recent_split(entry, paths));
    view->panel.open[0] = '\0';
    return status;
}

void hot_window_answer(hot_window *view, hot_controls_request request)
{
    hot_status status = HOT_OK;
    hot_view_state kept = *view->state;
    const char *said = "";
    switch (request) {
    case HOT_CONTROLS_NOTHING: return;
    case HOT_CONTROLS_SAVE_PICTURE: status = save_picture(view, 0), said = view->panel.picture; break;
    case HOT_CONTROLS_SAVE_STATE:
        kept.pixel_ratio = view->ratio; /* without this screen's scale */
        status = hot_view_state_save(view->context, view->panel.file, &kept), said = view->panel.file;
        break;
    case HOT_CONTROLS_LOAD_STATE: status = load_state(view), said = view->panel.file; break;
    case HOT_CONTROLS_COPY_COMMAND: status = copy_command(view), said = "the command"; break;
    case HOT_CONTROLS_ADD_LAYER: status = add_layer(view, "overlay"), said = view->panel.layer; break;
    case HOT_CONTROLS_SAVE_MOVIE: status = save_picture(view, 1), said = view->panel.movie; break;
    case HOT_CONTROLS_OPEN: status = open_files(view); break;
    case HOT_CONTROLS_UNDO: status = hot_window_undo(view, 0); break;
    case HOT_CONTROLS_REDO: status = hot_window_undo(view, 1); break;
    case HOT_CONTROLS_ADD_BESIDE: status = add_layer(view, "beside"), said = view->panel.layer; break;
    }
    static const char *const done[] = {"", "wrote", "wrote", "read", "copied", "added", "added", "undone",
                                       "redone", "wrote", "opened"};
    if (status == HOT_OK)
        snprintf(view->said, sizeof view->said, "%s %s", done[request], said);
    else
        snprintf(view->said, sizeof view->said, "%s", hot_context_message(view->context));
    view->redraw = 1;
}

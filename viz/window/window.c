#define GLFW_INCLUDE_NONE
#include "window.h"

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "scene/pick.h"
#include "scene/scene_open.h"
#include "window_keys.h"
#include "window_private.h"
#include "window_system.h"

static const double WATCH_SECONDS = 0.5;  /* interval between checks of the files */
const double hot_window_wait = 0.1;

typedef struct hot_window window;

static atomic_flag in_use = ATOMIC_FLAG_INIT; /* GLFW has one state for the process */

/* ---- Requests of events --------------------------------------------------------------------------------- */

/* Shows the context's message and logs it; the view stays unchanged. */
static void show_error(window *view)
{
    hot_context_log(view->context, HOT_LOG_WARNING, "%s", hot_context_message(view->context));
    hot_overlay_set_message(view->overlay, hot_context_message(view->context));
    view->redraw = 1;
}

static void reload(window *view)
{
    hot_scene *scene;
    if (hot_scene_reload(view->context, *view->scene, view->options.mask, view->state, &scene) == HOT_OK)
        hot_window_set_scene(view, scene);
    else
        show_error(view);
}

/* Reads changed files again once two checks in a row have seen a change, so that a file being written is left alone. If
 * reading fails, the view is kept and retries become rarer. */
static void watch_files(window *view)
{
    const double now = glfwGetTime();
    hot_scene *scene;
    if (now < view->check_at || (*view->scene)->paths == 0)
        return;
    view->check_at = now + WATCH_SECONDS;
    if (!hot_scene_changed(*view->scene)) {
        view->changed = 0;
        view->retry_seconds = WATCH_SECONDS;
    } else if (!view->changed) {
        view->changed = 1;
    } else if (hot_scene_reload(view->context, *view->scene, view->options.mask, view->state, &scene) == HOT_OK) {
        hot_window_set_scene(view, scene);
        view->changed = 0;
    } else {
        view->retry_seconds = fmin(2 * view->retry_seconds, 30);
        view->check_at = now + view->retry_seconds;
    }
}

/* Shows what was put into the live scene. Drawing and this take at most half of the time. */
static void take_live(window *view)
{
    const double now = glfwGetTime();
    hot_scene *scene;
    if (!view->live || now < view->take_at)
        return;
    if (hot_live_take(view->live, view->context, *view->scene, view->state, &scene) != HOT_OK)
        show_error(view);
    else if (scene)
        hot_window_set_scene(view, scene);
    view->take_at = now + 2 * (glfwGetTime() - now) + view->drawing;
}

static void report_pick(window *view)
{
    char *text = NULL;
    if (!view->pick_reported) /* the first click opens the panel; after that V decides */
        view->state->show_values = 1;
    view->pick_reported = 1;
    view->redraw = 1;
    view->dump.picks++;
    if (!view->options.picked)
        return;
    if (hot_pick_describe(*view->scene, view->state, view->state->voxel, &text) == HOT_OK)
        view->options.picked(view->options.user, text);
    else
        show_error(view);
    hot_context_free((*view->scene)->context, text);
}

static void handle_requests(window *view, unsigned requests)
{
    view->dump.events++;
    if (requests & HOT_REQUEST_REDRAW)
        view->redraw = 1;
    if (requests & HOT_REQUEST_PICK)
        report_pick(view);
    if (requests & HOT_REQUEST_RELOAD)
        reload(view);
    if (requests & HOT_REQUEST_FULL_SCREEN)
        hot_window_toggle_full_screen(view->handle, view->windowed), view->redraw = 1;
    if (requests & (HOT_REQUEST_UNDO | HOT_REQUEST_REDO) &&
        hot_window_undo(view, (requests & HOT_REQUEST_REDO) != 0) != HOT_OK)
        show_error(view);
    if (requests & HOT_REQUEST_QUIT)
        glfwSetWindowShouldClose(view->handle, GLFW_TRUE);
}

/* ---- The panel -------------------------------------------------------------------------------------------- */

enum { SETTLING = 6 /* frames after an event: Dear ImGui lays some widgets out in the next frame */ };

/* Fits the picture next to the panel. */
static void fit_picture(window *view)
{
    int width, height;
    glfwGetFramebufferSize(view->handle, &width, &height);
    view->input.width = width - hot_controls_width(view->controls, view->state, width);
    view->input.height = height;
    view->state->show_hint = !view->controls ? 1 : view->input.width == width ? 2 : 0;
    view->redraw = 1;
}

/* Whether the panel is shown: hidden, it draws no frames, and its answers to events are out of date. */
static int has_panel(const window *view)
{
    int width, height;
    glfwGetFramebufferSize(view->handle, &width, &height);
    return hot_controls_width(view->controls, view->state, width) > 0;
}

/* Whether the pointer is over the panel; without Dear ImGui never. */
static int is_over_panel(const window *view) { return has_panel(view) && view->pointer[0] >= view->input.width; }

static void wake_panel(window *view) { view->frames = view->controls ? SETTLING : 0; }

static void describe_pointer(window *view)
{
    hot_view_layout layout;
    int voxel[3];
    view->under_pointer[0] = '\0';
    if (!view->controls || view->pointer[0] < 0 || is_over_panel(view))
        return;
    hot_view_lay_out(*view->scene, view->state, view->input.width, view->input.height, &layout);
    const hot_viewport *viewport = hot_layout_at(&layout, view->pointer[0], view->pointer[1]);
    if (viewport && hot_pick_voxel(*view->scene, view->state, viewport, view->pointer[0], view->pointer[1], voxel))
        hot_pick_line(*view->scene, view->state, voxel, view->under_pointer, sizeof view->under_pointer);
}

static void draw_panel(window *view)
{
    hot_view_state before = *view->state;
    view->panel.scene = *view->scene;
    view->panel.state = view->state;
    describe_pointer(view);
    view->panel.pointer = view->pointer;
    view->panel.under_pointer = view->under_pointer;
    view->panel.said = view->said;
    view->panel.recent = &view->recent;
    const hot_controls_request request = hot_controls_draw(view->controls, &view->panel);
    if (request != HOT_CONTROLS_NOTHING) {
        hot_window_answer(view, request);
        wake_panel(view);
    }
    if (memcmp(&before, view->state, sizeof before) == 0)
        return;
    if (hot_scene_open_layers(*view->scene, view->state) != HOT_OK) { /* a pane was asked for, or given up */
        *view->state = before;
        snprintf(view->said, sizeof view->said, "%s", hot_context_message((*view->scene)->context));
    }
    wake_panel(view);
    fit_picture(view);
}

static void draw(window *view);

/* ---- GLFW's events --------------------------------------------------------------------------------------- */

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int mods)
{
    window *view = glfwGetWindowUserPointer(handle);
    wake_panel(view);
    if (view->controls && hot_controls_key(view->controls, key, scancode, action, mods) && has_panel(view)) {
        if (action == GLFW_PRESS) /* typed into a field: Dear ImGui sees a key only if it is down during a frame */
            draw(view);
        return;
    }
    if (action == GLFW_PRESS)
        hot_window_note(view);
    const int modifiers = hot_window_modifiers(mods);
    const int ours = modifiers >= 0 && action != GLFW_RELEASE ? hot_window_key(key, scancode, modifiers) : 0;
    if (!ours)
        return;
    view->redraw |= hot_overlay_set_message(view->overlay, NULL); /* a key press dismisses the message */
    const int panel = view->state->show_panel;
    handle_requests(view, hot_input_key(&view->input, *view->scene, view->state, ours, modifiers));
    if (panel != view->state->show_panel)
        fit_picture(view);
}

static void on_character(GLFWwindow *handle, unsigned int code)
{
    window *view = glfwGetWindowUserPointer(handle);
    wake_panel(view);
    if (view->controls && hot_controls_character(view->controls, code) && has_panel(view))
        return;
    const int letter = (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == ' ';
    if (!letter && code < 0x110000) /* letters arrive as keys */
        handle_requests(view, hot_input_key(&view->input, *view->scene, view->state, (int)code, 0));
}

static void on_move(GLFWwindow *handle, double x, double y)
{
    window *view = glfwGetWindowUserPointer(handle);
    hot_window_to_pixels(handle, &x, &y);
    const int was_over = is_over_panel(view);
    view->pointer[0] = x;
    view->pointer[1] = y;
    wake_panel(view);
    if (is_over_panel(view) != was_over)
        glfwSetCursor(handle, is_over_panel(view) ? NULL : view->cursor);
    handle_requests(view, hot_input_move(&view->input, *view->scene, view->state, x, y));
}

static void on_button(GLFWwindow *handle, int button, int action, int mods)
{
    window *view = glfwGetWindowUserPointer(handle);
    const int modifiers = hot_window_modifiers(mods);
    const int ours = button == GLFW_MOUSE_BUTTON_LEFT     ? HOT_BUTTON_LEFT
                     : button == GLFW_MOUSE_BUTTON_RIGHT  ? HOT_BUTTON_RIGHT
                     : button == GLFW_MOUSE_BUTTON_MIDDLE ? HOT_BUTTON_MIDDLE : 0;
    wake_panel(view);
    if (action == GLFW_PRESS)
        hot_window_note(view);
    if (view->controls) {
        const int used = hot_controls_button(view->controls, button, action, mods);
        const int here = has_panel(view) && (used || is_over_panel(view));
        if (here) /* Dear ImGui sees a button as it is during a frame */
            draw(view);
        if (action == GLFW_PRESS && here)
            return;
    }
    if (!ours || (modifiers < 0 && action == GLFW_PRESS))
        return;
    /* Use the position of the last move event, not the current one: after a slow picture the pointer may have moved on,
     * and a drag would begin at its end. */
    if (view->pointer[0] < 0) {
        glfwGetCursorPos(handle, &view->pointer[0], &view->pointer[1]);
        hot_window_to_pixels(handle, &view->pointer[0], &view->pointer[1]);
    }
    unsigned requests = hot_input_move(&view->input, *view->scene, view->state, view->pointer[0], view->pointer[1]);
    requests |= hot_input_button(&view->input, *view->scene, view->state, ours, action == GLFW_PRESS,
                                 modifiers < 0 ? 0 : modifiers);
    handle_requests(view, requests);
}

static void on_wheel(GLFWwindow *handle, double across, double up)
{
    window *view = glfwGetWindowUserPointer(handle);
    const int ctrl = glfwGetKey(handle, GLFW_KEY_LEFT_CONTROL) == GLFW_PRESS ||
                     glfwGetKey(handle, GLFW_KEY_RIGHT_CONTROL) == GLFW_PRESS;
    wake_panel(view);
    hot_window_note(view);
    if (view->controls) {
        hot_controls_wheel(view->controls, across, up);
        if (is_over_panel(view))
            return;
    }
    handle_requests(view, hot_input_wheel(&view->input, *view->scene, view->state, up, ctrl ? HOT_WITH_CTRL : 0));
}

static void on_drop(GLFWwindow *handle, int count, const char **paths)
{
    window *view = glfwGetWindowUserPointer(handle);
    view->dump.events++;
    if (hot_window_open(view, paths, count) != HOT_OK)
        show_error(view);
}

static void on_refresh(GLFWwindow *handle) { ((window *)glfwGetWindowUserPointer(handle))->redraw = 1; }

static void on_resize(GLFWwindow *handle, int width, int height)
{
    (void)width, (void)height;
    fit_picture(glfwGetWindowUserPointer(handle));
}

static void on_focus(GLFWwindow *handle, int focused)
{
    window *view = glfwGetWindowUserPointer(handle);
    if (view->controls)
        hot_controls_focus(view->controls, focused);
}

static void on_enter(GLFWwindow *handle, int entered)
{
    window *view = glfwGetWindowUserPointer(handle);
    if (view->controls)
        hot_controls_enter(view->controls, handle, entered);
    if (!entered) /* nothing is under the pointer */
        view->pointer[0] = view->pointer[1] = -1;
    wake_panel(view);
}

static void on_scale(GLFWwindow *handle, float x, float y)
{
    window *view = glfwGetWindowUserPointer(handle);
    const hot_view_setting *setting = hot_view_setting_find("pixel_ratio");
    view->state->pixel_ratio = fmin(fmax(view->ratio * fmax((double)x, (double)y), setting->low), setting->high);
    view->redraw = 1;
}

/* ---- Pictures -------------------------------------------------------------------------------------------- */

static void draw_picture(window *view)
{
    const hot_overlay_mesh *mesh;
    const int width = view->input.width, height = view->input.height;
    view->redraw = 0;
    hot_view_state shown = *view->state;
    shown.transparent = 0; /* the canvas's colour stays in the window */
    if (hot_scene_show_frame(*view->scene, view->state) != HOT_OK) {
        view->state->frame = -1;
        show_error(view);
        view->redraw = 0;
    }
    view->status = hot_backdrop_bind(view->context, &view->backdrop, width, height, view->samples);
    if (view->status == HOT_OK)
        view->status = hot_overlay_build(view->overlay, *view->scene, &shown, width, height, &mesh);
    if (view->status == HOT_OK)
        view->status = hot_renderer_draw(view->renderer, *view->scene, &shown, width, height, mesh);
    if (view->status == HOT_OK)
        view->dump.pictures++;
}

/* The picture, if it has changed, and the panel. */
static void draw(window *view)
{
    int width, height;
    glfwGetFramebufferSize(view->handle, &width, &height);
    view->frames -= view->frames > 0;
    if (view->input.width < 1 || view->input.height < 1) { /* iconified */
        view->redraw = view->frames = 0;
        return;
    }
    const double began = glfwGetTime();
    const int pictures = view->redraw;
    if (view->redraw)
        draw_picture(view);
    if (view->status != HOT_OK)
        return;
    hot_backdrop_show(&view->backdrop);
    if (hot_controls_width(view->controls, view->state, width)) {
        glViewport(0, 0, width, height);
        draw_panel(view);
    } else {
        view->frames = 0;
    }
    glfwSwapBuffers(view->handle);
    if (pictures)
        view->drawing = glfwGetTime() - began;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static hot_status fail_without_window(hot_context *context, const char *what)
{
    const char *reason = NULL;
    glfwGetError(&reason);
    return hot_context_fail(context, HOT_ERROR_DEVICE, "%s (%s); --screenshot FILE.png needs no window", what,
                            reason ? reason : "unknown reason");
}

static hot_status open_window(window *view)
{
    const hot_window_options *options = &view->options;
    char title[300];
    float scale_x, scale_y;
    snprintf(title, sizeof title, "%s – hotfiber", (*view->scene)->title);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 24);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "hotfiber-view");
    /* preferred: OpenGL 4.3 for compute shaders; OpenGL 3.3 is sufficient */
    for (int attempt = 0; attempt < 2 && !view->handle; attempt++) {
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, attempt ? 3 : 4);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        view->handle = glfwCreateWindow(options->width, options->height, title, NULL, NULL);
    }
    if (!view->handle)
        return fail_without_window(view->context, "cannot open a window with OpenGL 3.3");
    glfwMakeContextCurrent(view->handle);
    view->samples = hot_render_in_software() ? 1 : 4; /* in software, 4 samples take 4 times as long */
    glfwSwapInterval(1);
    glfwSetWindowSizeLimits(view->handle, 200, 150, GLFW_DONT_CARE, GLFW_DONT_CARE);
    hot_window_set_icon(view->handle);
    glfwSetWindowUserPointer(view->handle, view);
    glfwGetWindowContentScale(view->handle, &scale_x, &scale_y);
    on_scale(view->handle, scale_x, scale_y);
    view->controls = hot_controls_create(view->handle, view->state->pixel_ratio);
    fit_picture(view);
    wake_panel(view);
    glfwSetWindowFocusCallback(view->handle, on_focus);
    glfwSetCursorEnterCallback(view->handle, on_enter);
    glfwSetKeyCallback(view->handle, on_key);
    glfwSetCharCallback(view->handle, on_character);
    glfwSetCursorPosCallback(view->handle, on_move);
    glfwSetMouseButtonCallback(view->handle, on_button);
    glfwSetScrollCallback(view->handle, on_wheel);
    glfwSetDropCallback(view->handle, on_drop);
    glfwSetWindowRefreshCallback(view->handle, on_refresh);
    glfwSetFramebufferSizeCallback(view->handle, on_resize);
    glfwSetWindowContentScaleCallback(view->handle, on_scale);
    return HOT_OK;
}

hot_status hot_window_create(hot_context *context, hot_scene **scene, hot_view_state *state,
                             const hot_window_options *options, hot_window **made)
{
    *made = NULL;
    if (atomic_flag_test_and_set(&in_use))
        return hot_context_fail(context, HOT_ERROR_DEVICE, "a window is open; a process has one at a time");
    window *view = hot_context_calloc(context, 1, sizeof *view);
    if (!view) {
        atomic_flag_clear(&in_use);
        return HOT_ERROR_MEMORY;
    }
    *view = (window){.context = context, .scene = scene, .state = state, .options = *options, .live = options->live,
                     .ratio = state->pixel_ratio, .redraw = 1, .retry_seconds = WATCH_SECONDS,
                     .input = {.x = -1, .y = -1}, .pointer = {-1, -1}};
    *made = view;
    snprintf(view->panel.picture, sizeof view->panel.picture, "picture.png");
    snprintf(view->panel.movie, sizeof view->panel.movie, "movie.png");
    view->panel.movie_rate = 12;
    snprintf(view->panel.file, sizeof view->panel.file, "view.txt");
    view->panel.width = options->width;
    view->panel.height = options->height;
    hot_window_avoid_wayland();
    hot_status status = glfwInit() ? HOT_OK : fail_without_window(context, "no display to open a window on");
    if (status == HOT_OK)
        status = open_window(view);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &view->renderer);
    if (status == HOT_OK)
        status = hot_overlay_create(context, &view->overlay);
    if (status == HOT_OK) {
        view->cursor = glfwCreateStandardCursor(GLFW_CROSSHAIR_CURSOR);
        glfwSetCursor(view->handle, view->cursor);
        hot_window_note(view);
        hot_recent_load(context, &view->recent);
        hot_window_note_files(view);
        if (options->opened)
            options->opened(options->user);
    } else {
        hot_window_destroy(made);
    }
    return status;
}

/* Waits for an event, but notices soon that the context was cancelled: GLFW goes on waiting after a signal. */
static void wait_for_events(window *view, double seconds)
{
    static const double SLICE = 0.02;
    const double end = glfwGetTime() + seconds;
    const unsigned long before = view->dump.events;
    do
        glfwWaitEventsTimeout(fmin(SLICE, seconds));
    while (glfwGetTime() < end && view->dump.events == before && !view->redraw && !view->frames &&
           !glfwWindowShouldClose(view->handle) && !hot_context_cancelled(view->context));
}

hot_status hot_window_step(hot_window *view, double seconds, int *open)
{
    *open = 0;
    if (view->redraw || view->frames)
        draw(view);
    hot_status status = view->status;
    if (status == HOT_OK && view->options.dump)
        status = hot_window_dump_write(view->context, view->options.dump, &view->dump, *view->scene, view->state,
                                       &view->input, view->controls);
    if (view->redraw || view->frames || !(seconds > 0))
        glfwPollEvents();
    else
        wait_for_events(view, seconds);
    if (status == HOT_OK)
        status = hot_context_check(view->context, "showing the window"); /* Ctrl-C, SIGTERM */
    if (status != HOT_OK)
        return status;
    watch_files(view);
    take_live(view);
    *open = !glfwWindowShouldClose(view->handle);
    return HOT_OK;
}

void hot_window_destroy(hot_window **gone)
{
    window *view = gone ? *gone : NULL;
    if (!view)
        return;
    hot_controls_destroy(view->controls);
    if (view->handle)
        hot_backdrop_free(&view->backdrop);
    if (view->renderer)
        hot_renderer_destroy(&view->renderer);
    hot_overlay_destroy(&view->overlay);
    hot_recent_free(view->context, &view->recent);
    if (view->cursor)
        glfwDestroyCursor(view->cursor);
    if (view->handle)
        glfwDestroyWindow(view->handle);
    glfwTerminate();
    view->state->pixel_ratio = view->ratio;
    view->state->show_hint = 0;
    hot_context_free(view->context, view);
    *gone = NULL;
    atomic_flag_clear(&in_use);
}

hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state,
                          const hot_window_options *options)
{
    hot_window *view = NULL;
    int open = 1;
    hot_status status = hot_window_create(context, scene, state, options, &view);
    while (status == HOT_OK && open)
        status = hot_window_step(view, hot_window_wait, &open);
    hot_window_destroy(&view);
    return status;
}

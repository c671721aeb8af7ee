#define GLFW_INCLUDE_NONE
#include "window.h"

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/input.h"
#include "overlay/overlay.h"
#include "render/render.h"
#include "scene/color.h"
#include "scene/pick.h"
#include "scene/scene_open.h"
#include "window_dump.h"

static const double WATCH_SECONDS = 0.5;  /* interval between checks of the files */
static const double SIGNAL_SECONDS = 0.1; /* and between checks whether the context is cancelled */

typedef struct window {
    hot_context *context;
    hot_scene **scene;
    hot_view_state *state;
    const hot_window_options *options;
    GLFWwindow *handle;
    hot_renderer *renderer;
    hot_overlay *overlay;
    hot_input input;
    double pointer[2];      /* pixels, at the last move event; negative: none yet */
    double ratio;           /* pixel_ratio as set by the user, without the content scale */
    int redraw;             /* 1: the picture is out of date */
    int pick_reported;          /* a voxel was clicked before */
    int windowed[4];        /* position and size before full screen */
    double check_at;        /* time of the next check of the files */
    double retry_seconds;        /* seconds until unreadable files are tried again */
    int changed;            /* 1: the last check found a change */
    hot_status status;      /* anything but HOT_OK ends the loop */
    hot_window_dump dump;
} window;

/* ---- Requests of events --------------------------------------------------------------------------------- */

static void set_scene(window *view, hot_scene *scene)
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
    if (hot_scene_reload(view->context, *view->scene, view->options->mask, view->state, &scene) == HOT_OK)
        set_scene(view, scene);
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
    } else if (hot_scene_reload(view->context, *view->scene, view->options->mask, view->state, &scene) == HOT_OK) {
        set_scene(view, scene);
        view->changed = 0;
    } else {
        view->retry_seconds = fmin(2 * view->retry_seconds, 30);
        view->check_at = now + view->retry_seconds;
    }
}

static void toggle_full_screen(window *view)
{
    int *place = view->windowed;
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (glfwGetWindowMonitor(view->handle)) {
        glfwSetWindowMonitor(view->handle, NULL, place[0], place[1], place[2], place[3], GLFW_DONT_CARE);
    } else if (mode) {
        glfwGetWindowPos(view->handle, &place[0], &place[1]);
        glfwGetWindowSize(view->handle, &place[2], &place[3]);
        glfwSetWindowMonitor(view->handle, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
    view->redraw = 1;
}

static void report_pick(window *view)
{
    char *text = NULL;
    if (!view->pick_reported) /* the first click opens the panel; after that V decides */
        view->state->show_values = 1;
    view->pick_reported = 1;
    view->redraw = 1;
    view->dump.picks++;
    if (!view->options->picked)
        return;
    if (hot_pick_describe(*view->scene, view->state->voxel, &text) == HOT_OK)
        view->options->picked(view->options->user, text);
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
        toggle_full_screen(view);
    if (requests & HOT_REQUEST_QUIT)
        glfwSetWindowShouldClose(view->handle, GLFW_TRUE);
}

/* ---- GLFW's events --------------------------------------------------------------------------------------- */

/* Shift and Ctrl; -1 with other modifiers, which belong to the desktop. */
static int modifiers_of(int mods)
{
    if (mods & (GLFW_MOD_ALT | GLFW_MOD_SUPER))
        return -1;
    return (mods & GLFW_MOD_SHIFT ? HOT_WITH_SHIFT : 0) | (mods & GLFW_MOD_CONTROL ? HOT_WITH_CTRL : 0);
}

/* A non-printing key, or a letter of the user's keyboard layout; 0 for other keys, which arrive as characters. */
static int key_of(int key, int scancode, int modifiers)
{
    static const struct { int glfw, ours;
    } table[] = {
        {GLFW_KEY_UP, HOT_KEY_UP},         {GLFW_KEY_DOWN, HOT_KEY_DOWN},       {GLFW_KEY_LEFT, HOT_KEY_LEFT},
        {GLFW_KEY_RIGHT, HOT_KEY_RIGHT},   {GLFW_KEY_PAGE_UP, HOT_KEY_PAGE_UP}, {GLFW_KEY_PAGE_DOWN, HOT_KEY_PAGE_DOWN},
        {GLFW_KEY_ESCAPE, HOT_KEY_ESCAPE}, {GLFW_KEY_F1, HOT_KEY_F1},           {GLFW_KEY_F2, HOT_KEY_F2},
        {GLFW_KEY_F3, HOT_KEY_F3},         {GLFW_KEY_F11, HOT_KEY_F11},         {GLFW_KEY_SPACE, ' '}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].glfw == key)
            return table[i].ours;
    const char *name = glfwGetKeyName(key, scancode);
    const int printed = name && name[0] && !name[1] ? name[0] : 0;
    if (printed >= 'a' && printed <= 'z')
        return printed - 'a' + 'A';
    if (modifiers & HOT_WITH_CTRL) { /* with Ctrl these keys send no character */
        if (key == GLFW_KEY_KP_ADD || printed == '+' || printed == '=')
            return '+';
        if (key == GLFW_KEY_KP_SUBTRACT || printed == '-')
            return '-';
    }
    /* keyboards without Latin letters: by position */
    return !printed && key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? key - GLFW_KEY_A + 'A' : 0;
}

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int mods)
{
    window *view = glfwGetWindowUserPointer(handle);
    const int modifiers = modifiers_of(mods);
    const int ours = modifiers >= 0 && action != GLFW_RELEASE ? key_of(key, scancode, modifiers) : 0;
    if (!ours)
        return;
    view->redraw |= hot_overlay_set_message(view->overlay, NULL); /* a key press dismisses the message */
    handle_requests(view, hot_input_key(&view->input, *view->scene, view->state, ours, modifiers));
}

static void on_character(GLFWwindow *handle, unsigned int code)
{
    window *view = glfwGetWindowUserPointer(handle);
    const int letter = (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == ' ';
    if (!letter && code < 0x110000) /* letters arrive as keys */
        handle_requests(view, hot_input_key(&view->input, *view->scene, view->state, (int)code, 0));
}

/* Converts window units to framebuffer pixels; they differ on some systems. */
static void to_pixels(GLFWwindow *handle, double *x, double *y)
{
    int width, height, pixels_x, pixels_y;
    glfwGetWindowSize(handle, &width, &height);
    glfwGetFramebufferSize(handle, &pixels_x, &pixels_y);
    if (width > 0 && height > 0) {
        *x *= (double)pixels_x / width;
        *y *= (double)pixels_y / height;
    }
}

static void on_move(GLFWwindow *handle, double x, double y)
{
    window *view = glfwGetWindowUserPointer(handle);
    to_pixels(handle, &x, &y);
    view->pointer[0] = x;
    view->pointer[1] = y;
    handle_requests(view, hot_input_move(&view->input, *view->scene, view->state, x, y));
}

static void on_button(GLFWwindow *handle, int button, int action, int mods)
{
    window *view = glfwGetWindowUserPointer(handle);
    const int modifiers = modifiers_of(mods);
    const int ours = button == GLFW_MOUSE_BUTTON_LEFT     ? HOT_BUTTON_LEFT
                     : button == GLFW_MOUSE_BUTTON_RIGHT  ? HOT_BUTTON_RIGHT
                     : button == GLFW_MOUSE_BUTTON_MIDDLE ? HOT_BUTTON_MIDDLE : 0;
    if (!ours || (modifiers < 0 && action == GLFW_PRESS))
        return;
    /* Use the position of the last move event, not the current one: after a slow picture the pointer may have moved on,
     * and a drag would begin at its end. */
    if (view->pointer[0] < 0) {
        glfwGetCursorPos(handle, &view->pointer[0], &view->pointer[1]);
        to_pixels(handle, &view->pointer[0], &view->pointer[1]);
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
    (void)across;
    handle_requests(view, hot_input_wheel(&view->input, *view->scene, view->state, up, ctrl ? HOT_WITH_CTRL : 0));
}

static void on_drop(GLFWwindow *handle, int count, const char **paths)
{
    window *view = glfwGetWindowUserPointer(handle);
    hot_scene *scene;
    view->dump.events++;
    if (hot_scene_open_dropped(view->context, *view->scene, view->options->mask, paths, count, view->state, &scene) ==
        HOT_OK)
        set_scene(view, scene);
    else
        show_error(view);
}

static void on_refresh(GLFWwindow *handle) { ((window *)glfwGetWindowUserPointer(handle))->redraw = 1; }

static void on_resize(GLFWwindow *handle, int width, int height)
{
    window *view = glfwGetWindowUserPointer(handle);
    view->input.width = width;
    view->input.height = height;
    view->redraw = 1;
}

static void on_scale(GLFWwindow *handle, float x, float y)
{
    window *view = glfwGetWindowUserPointer(handle);
    const hot_view_setting *setting = hot_view_setting_find("pixel_ratio");
    view->state->pixel_ratio = fmin(fmax(view->ratio * fmax((double)x, (double)y), setting->low), setting->high);
    view->redraw = 1;
}

/* ---- Pictures -------------------------------------------------------------------------------------------- */

static void draw(window *view)
{
    const hot_overlay_mesh *mesh;
    const int width = view->input.width, height = view->input.height;
    view->redraw = 0;
    if (width < 1 || height < 1) /* iconified */
        return;
    hot_view_state shown = *view->state;
    shown.transparent = 0; /* the canvas's colour stays in the window */
    view->status = hot_overlay_build(view->overlay, *view->scene, &shown, width, height, &mesh);
    if (view->status == HOT_OK)
        view->status = hot_renderer_draw(view->renderer, *view->scene, &shown, width, height, mesh);
    if (view->status != HOT_OK)
        return;
    glfwSwapBuffers(view->handle);
    view->dump.pictures++;
}

/* Window icon: the ball of direction colours. */
static void set_icon(GLFWwindow *handle)
{
    enum { SIDE = 64 };
    unsigned char pixels[SIDE * SIDE * 4];
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            unsigned char *pixel = pixels + 4 * (row * SIDE + column);
            const double x = (column + 0.5 - SIDE / 2.) / (SIDE / 2. - 1),
                         y = (row + 0.5 - SIDE / 2.) / (SIDE / 2. - 1);
            const double away = sqrt(x * x + y * y);
            double rgb[3];
            hot_color_direction((const double[3]){x, y, sqrt(fmax(0, 1 - away * away))}, rgb);
            for (int c = 0; c < 3; c++)
                pixel[c] = (unsigned char)lround(255 * rgb[c]);
            pixel[3] = (unsigned char)lround(255 * fmin(fmax((1 - away) * SIDE / 2., 0), 1)); /* antialiased edge */
        }
    glfwSetWindowIcon(handle, 1, &(const GLFWimage){SIDE, SIDE, pixels});
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
    const hot_window_options *options = view->options;
    char title[300];
    float scale_x, scale_y;
    snprintf(title, sizeof title, "%s – hotfiber", (*view->scene)->title);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 24);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "hotfiber-view");
    /* preferred: 4 samples per pixel, and OpenGL 4.3 for compute shaders; OpenGL 3.3 is sufficient */
    for (int attempt = 0; attempt < 4 && !view->handle; attempt++) {
        const int samples = attempt < 2 ? 4 : 0, modern = attempt % 2 == 0;
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, modern ? 4 : 3);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        glfwWindowHint(GLFW_SAMPLES, samples);
        view->handle = glfwCreateWindow(options->width, options->height, title, NULL, NULL);
        if (!view->handle)
            continue;
        glfwMakeContextCurrent(view->handle);
        if (samples && hot_render_in_software()) { /* in software, 4 samples take 4 times as long */
            glfwDestroyWindow(view->handle);
            view->handle = NULL;
        }
    }
    if (!view->handle)
        return fail_without_window(view->context, "cannot open a window with OpenGL 3.3");
    glfwSwapInterval(1);
    glfwSetWindowSizeLimits(view->handle, 200, 150, GLFW_DONT_CARE, GLFW_DONT_CARE);
    set_icon(view->handle);
    glfwSetWindowUserPointer(view->handle, view);
    glfwGetFramebufferSize(view->handle, &view->input.width, &view->input.height);
    glfwGetWindowContentScale(view->handle, &scale_x, &scale_y);
    on_scale(view->handle, scale_x, scale_y);
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

/* GLFW 3.4 tries Wayland first, whose library prints an extra error without XDG_RUNTIME_DIR. The
 * numbers are GLFW_PLATFORM and GLFW_PLATFORM_X11 of its header, which may be older than the loaded library. */
static void avoid_wayland(void)
{
    const char *place = getenv("XDG_RUNTIME_DIR");
    int major, minor, revision;
    glfwGetVersion(&major, &minor, &revision);
    if ((major > 3 || (major == 3 && minor >= 4)) && !(place && place[0] == '/'))
        glfwInitHint(0x00050003, 0x00060004);
}

hot_status hot_window_run(hot_context *context, hot_scene **scene, hot_view_state *state,
                          const hot_window_options *options)
{
    window view = {.context = context, .scene = scene, .state = state, .options = options, .ratio = state->pixel_ratio,
                   .redraw = 1, .retry_seconds = WATCH_SECONDS, .input = {.x = -1, .y = -1}, .pointer = {-1, -1}};
    GLFWcursor *cursor = NULL;
    avoid_wayland();
    if (!glfwInit())
        return fail_without_window(context, "no display to open a window on");
    hot_status status = open_window(&view);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &view.renderer);
    if (status == HOT_OK)
        status = hot_overlay_create(context, &view.overlay);
    if (status == HOT_OK) {
        cursor = glfwCreateStandardCursor(GLFW_CROSSHAIR_CURSOR);
        glfwSetCursor(view.handle, cursor);
    }
    while (status == HOT_OK && !glfwWindowShouldClose(view.handle)) {
        if (view.redraw)
            draw(&view);
        status = view.status;
        if (status == HOT_OK && options->dump)
            status = hot_window_dump_write(context, options->dump, &view.dump, *scene, state, &view.input);
        glfwWaitEventsTimeout(SIGNAL_SECONDS);
        status = hot_context_check(context, "showing the window"); /* Ctrl-C, SIGTERM */
        if (status == HOT_OK)
            watch_files(&view);
    }
    if (view.renderer)
        hot_renderer_destroy(&view.renderer);
    hot_overlay_destroy(&view.overlay);
    if (cursor)
        glfwDestroyCursor(cursor);
    if (view.handle)
        glfwDestroyWindow(view.handle);
    glfwTerminate();
    state->pixel_ratio = view.ratio;
    return status;
}

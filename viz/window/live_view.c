/* hot_view_open and what belongs to it. */
#include <hotfiber/view.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "common/free.h"
#include "common/options.h"
#include "common/thread_start.h"
#include "common/timing.h"

#ifdef HOT_HAVE_GLFW
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "show.h"
#include "window.h"

struct hot_view {
    hot_context *caller;  /* memory, and whether to close */
    hot_context *context; /* of the thread that has the window */
    hot_live *live;
    hot_scene *scene;
    hot_view_state state;
    hot_window_options options;
    hot_window *window;   /* in_poll alone; else the thread's own */
    int in_poll;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; /* of the next four */
    pthread_cond_t changed;
    int opened, closed;   /* the window is there or has failed; it is gone */
    hot_status status;    /* why */
    char message[1024];
    atomic_int is_closed, closing; /* closed, for hot_view_update; asked to close */
};

static int has_to_close(void *user)
{
    const hot_view *view = user;
    return atomic_load(&view->closing) || hot_context_cancelled(view->caller);
}

/* The thread that has the window tells the others. */
static void note(hot_view *view, hot_status status, int opened, int closed)
{
    pthread_mutex_lock(&view->lock);
    view->opened = opened;
    if (status != HOT_OK && status != HOT_ERROR_CANCELLED && !view->closed) { /* others read it once it is closed */
        view->status = status;
        snprintf(view->message, sizeof view->message, "%s", hot_context_message(view->context));
    }
    view->closed = closed;
    atomic_store(&view->is_closed, closed);
    pthread_cond_broadcast(&view->changed);
    pthread_mutex_unlock(&view->lock);
}

static hot_status make_window(hot_view *view, hot_window **window)
{
    *window = NULL;
    hot_status status = hot_live_take(view->live, view->context, NULL, &view->state, &view->scene);
    if (status == HOT_OK)
        status = hot_view_state_check(view->context, view->scene, &view->state);
    if (status == HOT_OK)
        status = hot_window_create(view->context, &view->scene, &view->state, &view->options, window);
    note(view, status, 1, status != HOT_OK);
    return status;
}

static void *run_window(void *user)
{
    hot_view *view = user;
    HOT_ENTRY(view->context);
    hot_window *window = NULL;
    int open = 1;
    hot_status status = make_window(view, &window);
    while (status == HOT_OK && open)
        status = hot_window_step(window, hot_window_wait, &open);
    hot_window_destroy(&window);
    note(view, status, 1, 1);
    return NULL;
}

static hot_status fill(hot_view *view, const hot_view_fields *fields)
{
    const hot_grid *grid = fields->tensors ? hot_tensor_field_grid(fields->tensors)
                                           : hot_fiber_field_grid(fields->fibers);
    hot_status status = hot_live_create(view->caller, grid, fields->mask ? hot_mask_bytes(fields->mask) : NULL,
                                        &view->live);
    const struct { hot_live_kind kind; int number; const float *values; } arrays[] = {
        {HOT_LIVE_PEAKS, fields->fibers ? hot_fiber_field_max(fields->fibers) : 0,
         fields->fibers ? hot_fiber_field_peaks(fields->fibers) : NULL},
        {HOT_LIVE_TENSORS, fields->tensors ? hot_tensor_field_order(fields->tensors) : 0,
         fields->tensors ? hot_tensor_field_values(fields->tensors) : NULL},
        {HOT_LIVE_IMAGE, 1, fields->background}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays && status == HOT_OK; a++) {
        if (!arrays[a].values)
            continue;
        status = hot_live_add(view->live, arrays[a].kind, arrays[a].number,
                              arrays[a].kind == HOT_LIVE_TENSORS ? hot_tensor_field_model(fields->tensors)
                                                                 : "background");
        if (status == HOT_OK)
            hot_live_put(view->live, arrays[a].kind, 0, grid->size[2], arrays[a].values);
    }
    return status;
}

/* Opens the window in this thread or in its own, and waits until it is open. */
static hot_status start(hot_view *view)
{
    if (view->in_poll) {
        make_window(view, &view->window);
    } else if (!(view->has_thread = hot_thread_start(&view->thread, run_window, view))) {
        return hot_context_fail(view->caller, HOT_ERROR_DEVICE, "the system starts no thread for the window");
    }
    pthread_mutex_lock(&view->lock); /* a window that failed notes its end, too */
    while (!view->opened)
        pthread_cond_wait(&view->changed, &view->lock);
    const hot_status status =
        view->status == HOT_OK ? HOT_OK : hot_context_fail(view->caller, view->status, "%s", view->message);
    pthread_mutex_unlock(&view->lock);
    return status;
}

hot_status hot_view_open(hot_context *context, const hot_view_fields *fields, const hot_view_options *options,
                         hot_view **view)
{
    HOT_ENTRY(context);
    HOT_CLEAR(view);
    HOT_NEED(context, fields, view);
    hot_view_fields shown = HOT_VIEW_FIELDS_INIT;
    hot_view_options own = HOT_VIEW_OPTIONS_INIT;
    hot_scene *scene = NULL;
    hot_status status = hot_view_read_arguments(context, fields, options, &shown, &own);
    if (status == HOT_OK && own.screenshot)
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "screenshot", "hot_view_show writes pictures");
    if (status == HOT_OK && shown.device_tensors)
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "device_tensors",
                                            "hot_view_show shows them; this window copies its fields");
    if (status == HOT_OK)
        status = hot_scene_from_fields(context, &shown, &scene); /* checks the fields */
    hot_scene_destroy(&scene);
    hot_view *made = status == HOT_OK ? hot_context_calloc(context, 1, sizeof *made) : NULL;
    if (!made)
        return status == HOT_OK ? HOT_ERROR_MEMORY : status;
    made->caller = context;
#ifdef __APPLE__
    own.in_poll = 1;
#endif
    made->in_poll = own.in_poll;
    made->options = (hot_window_options){.width = own.width, .height = own.height};
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    hot_view_state_default(&made->state);
    const hot_context_options settings = {.size = sizeof settings, .stop = has_to_close, .stop_user = made};
    status = hot_view_parse_settings(context, own.settings, &made->state);
    if (status == HOT_OK)
        status = hot_context_create(&settings, &made->context);
    if (status == HOT_OK)
        status = fill(made, &shown);
    made->options.live = made->live;
    if (status == HOT_OK)
        status = start(made);
    *view = made;
    if (status != HOT_OK)
        hot_view_close(view);
    return status;
}

/* ---- An open window ---------------------------------------------------------------------------------------- */

hot_status hot_view_update(hot_context *context, hot_view *view, const hot_view_slices *given)
{
    HOT_ENTRY(context);
    HOT_NEED(context, given);
    hot_view_slices slices = HOT_VIEW_SLICES_INIT;
    const hot_status status = hot_options_read(context, "hot_view_slices", given, &slices);
    if (status != HOT_OK || !view || atomic_load(&view->is_closed))
        return status;
    const struct { hot_live_kind kind; const char *name; const float *values; } arrays[] = {
        {HOT_LIVE_TENSORS, "tensors", slices.tensors}, {HOT_LIVE_PEAKS, "peaks", slices.peaks},
        {HOT_LIVE_IMAGE, "background", slices.background}};
    const size_t count = sizeof arrays / sizeof *arrays, all = hot_live_grid(view->live)->size[2];
    if (slices.first > all || slices.count > all - slices.first)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, slices.first < all ? "count" : "first",
                                          "%zu slices from slice %zu on, of a grid of %zu", slices.count, slices.first,
                                          all);
    for (size_t a = 0; a < count; a++)
        if (arrays[a].values && !hot_live_number(view->live, arrays[a].kind))
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, arrays[a].name,
                                              "the view was opened without; open it with zeros");
    for (size_t a = 0; a < count; a++)
        if (arrays[a].values && slices.count > 0)
            hot_live_put(view->live, arrays[a].kind, slices.first, slices.count, arrays[a].values);
    return HOT_OK;
}

/* Waits up to `seconds` for the thread to close the window. */
static void wait_closed(hot_view *view, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const double end = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + seconds;
    until.tv_sec = (time_t)floor(end);
    until.tv_nsec = (long)(1e9 * (end - floor(end)));
    pthread_mutex_lock(&view->lock);
    for (int late = 0; !view->closed && !late;)
        late = pthread_cond_timedwait(&view->changed, &view->lock, &until) != 0;
    pthread_mutex_unlock(&view->lock);
}

/* Draws the window and handles its events. */
static void step(hot_view *view, double seconds)
{
    int open = 0;
    const hot_status status = hot_window_step(view->window, seconds, &open);
    if (open)
        return;
    hot_window_destroy(&view->window);
    note(view, status, 1, 1);
}

hot_status hot_view_poll(hot_context *context, hot_view *view, double seconds, int *open)
{
    HOT_ENTRY(context);
    if (open)
        *open = 0;
    HOT_NEED(context, open);
    if (!view)
        return HOT_OK;
    hot_status status = HOT_OK;
    const double end = seconds < 0 ? HUGE_VAL : seconds_now() + seconds;
    while (status == HOT_OK && !atomic_load(&view->is_closed)) {
        const double wait = fmax(0, fmin(end - seconds_now(), hot_window_wait));
        if (view->in_poll)
            step(view, wait);
        else
            wait_closed(view, wait);
        status = hot_context_check(context, "showing the window");
        if (seconds_now() >= end)
            break;
    }
    *open = !atomic_load(&view->is_closed);
    if (status == HOT_OK && view->status != HOT_OK && !*open)
        status = hot_context_fail(context, view->status, "%s", view->message);
    return status;
}

void hot_view_close(hot_view **view)
{
    HOT_DESTROY_BEGIN(hot_view, view);
    hot_context *caller = gone->caller;
    atomic_store(&gone->closing, 1);
    if (gone->in_poll)
        hot_window_destroy(&gone->window);
    else if (gone->has_thread)
        pthread_join(gone->thread, NULL);
    hot_scene_destroy(&gone->scene);
    hot_live_destroy(&gone->live);
    hot_context_destroy(&gone->context);
    pthread_cond_destroy(&gone->changed);
    pthread_mutex_destroy(&gone->lock);
    hot_context_free(caller, gone);
}

#else /* no window */

hot_status hot_view_open(hot_context *context, const hot_view_fields *fields, const hot_view_options *options,
                         hot_view **view)
{
    (void)options;
    HOT_ENTRY(context);
    HOT_CLEAR(view);
    HOT_NEED(context, fields, view);
    return hot_context_fail(context, HOT_ERROR_DEVICE, "built without GLFW: no windows, only pictures "
                                                       "(hot_view_show)");
}

hot_status hot_view_update(hot_context *context, hot_view *view, const hot_view_slices *given)
{
    (void)view;
    HOT_NEED(context, given);
    return HOT_OK;
}

hot_status hot_view_poll(hot_context *context, hot_view *view, double seconds, int *open)
{
    (void)view, (void)seconds;
    if (open)
        *open = 0;
    HOT_NEED(context, open);
    return HOT_OK;
}

void hot_view_close(hot_view **view) { (void)view; }
#endif

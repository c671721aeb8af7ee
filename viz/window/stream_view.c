#include "stream_view.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "common/entry.h"
#include "common/thread_start.h"
#include "io/field_stream.h"

struct hot_stream_view {
    hot_context *caller, *context; /* context: of the thread */
    const char *as;
    hot_live *live;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    int begun, ended;     /* `live` is there or failed; all is read */
    hot_status status;
    char message[1024];
};

/* Copies a field to its slices. The first one is of the whole grid. */
static hot_status put(hot_stream_view *view, const hot_stream_field *field)
{
    size_t first;
    hot_status status = view->live ? HOT_OK : hot_live_create(view->context, &field->grid, NULL, &view->live);
    if (status == HOT_OK)
        status = hot_field_stream_place(view->context, hot_live_grid(view->live), &field->grid, &first);
    if (status != HOT_OK)
        return status;
    const hot_live_kind kind = field->fibers ? HOT_LIVE_PEAKS : field->tensors ? HOT_LIVE_TENSORS : HOT_LIVE_IMAGE;
    const int number = field->fibers    ? hot_fiber_field_max(field->fibers)
                       : field->tensors ? hot_tensor_field_order(field->tensors) : field->values;
    const float *values = field->fibers    ? hot_fiber_field_peaks(field->fibers)
                          : field->tensors ? hot_tensor_field_values(field->tensors) : field->image;
    status = hot_live_add(view->live, kind, number, field->tensors ? hot_tensor_field_model(field->tensors) : "image");
    if (status == HOT_OK)
        hot_live_put(view->live, kind, first, field->grid.size[2], values);
    return status;
}

/* Tells the other threads how far it is. */
static void note(hot_stream_view *view, hot_status status, int ended)
{
    pthread_mutex_lock(&view->lock);
    view->begun = 1;
    view->ended = ended;
    if (status != HOT_OK) {
        view->status = status;
        snprintf(view->message, sizeof view->message, "%s", hot_context_message(view->context));
        if (view->live && status != HOT_ERROR_CANCELLED)
            hot_live_fail(view->live, status, view->message);
    }
    pthread_cond_broadcast(&view->changed);
    pthread_mutex_unlock(&view->lock);
}

static hot_status read_fields(hot_stream_view *view)
{
    hot_field_stream *stream = NULL;
    hot_stream_field field;
    int ended = 0;
    hot_status status = hot_field_stream_open(view->context, "-", &stream);
    while (status == HOT_OK && !ended) {
        status = hot_field_stream_next(stream, view->as, &field, &ended);
        if (status != HOT_OK || ended)
            break;
        status = put(view, &field);
        hot_stream_field_free(view->context, &field);
        if (status == HOT_OK)
            note(view, HOT_OK, 0);
    }
    hot_field_stream_close(&stream);
    if (status == HOT_OK && !view->live)
        status = hot_context_fail(view->context, HOT_ERROR_FORMAT, "standard input is empty: no field to show");
    return status;
}

static void *run(void *user)
{
    hot_stream_view *view = user;
    HOT_ENTRY(view->context);
    note(view, read_fields(view), 1);
    return NULL;
}

/* Until *done, or until the context is cancelled. */
static hot_status wait_for(hot_context *context, hot_stream_view *view, const int *done)
{
    enum { STEP = 50000000, SECOND = 1000000000 /* ns */ };
    hot_status status = HOT_OK;
    pthread_mutex_lock(&view->lock);
    while (!*done && status == HOT_OK) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += until.tv_nsec + STEP >= SECOND;
        until.tv_nsec = (until.tv_nsec + STEP) % SECOND;
        pthread_cond_timedwait(&view->changed, &view->lock, &until);
        status = hot_context_check(context, "reading standard input");
    }
    if (status == HOT_OK && view->status != HOT_OK)
        status = hot_context_fail(context, view->status, "%s", view->message);
    pthread_mutex_unlock(&view->lock);
    return status;
}

hot_status hot_stream_view_open(hot_context *context, const hot_context_options *settings, const char *as,
                                hot_stream_view **view)
{
    hot_stream_view *made = hot_context_calloc(context, 1, sizeof *made);
    *view = made;
    if (!made)
        return HOT_ERROR_MEMORY;
    made->caller = context;
    made->as = as;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    hot_status status = hot_context_create(settings, &made->context);
    if (status == HOT_OK)
        made->has_thread = hot_thread_start(&made->thread, run, made);
    if (status == HOT_OK && !made->has_thread)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "the system starts no thread for standard input");
    if (status == HOT_OK)
        status = wait_for(context, made, &made->begun);
    if (status == HOT_OK || (status != HOT_ERROR_CANCELLED && made->live)) /* what came before an error is shown */
        return HOT_OK;
    hot_stream_view_close(view);
    return status;
}

hot_live *hot_stream_view_live(hot_stream_view *view) { return view->live; }

hot_status hot_stream_view_finish(hot_context *context, hot_stream_view *view)
{
    return wait_for(context, view, &view->ended);
}

void hot_stream_view_close(hot_stream_view **view)
{
    HOT_DESTROY_BEGIN(hot_stream_view, view);
    hot_context *context = gone->caller;
    hot_context_cancel(gone->context);
    if (gone->has_thread)
        pthread_join(gone->thread, NULL);
    hot_live_destroy(&gone->live);
    hot_context_destroy(&gone->context);
    pthread_cond_destroy(&gone->changed);
    pthread_mutex_destroy(&gone->lock);
    hot_context_free(context, gone);
}

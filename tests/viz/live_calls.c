/* Calls on an open window: live_calls thread|poll. test_live_window.py runs it on its screen. */
#include <hotfiber/view.h>
#include <pthread.h>

#include "check.h"

enum { SIDE = 4, NZ = 3, PLANE = SIDE * SIDE, N = PLANE * NZ, THREADS = 3 };

static hot_view *shown;

static hot_status update(hot_context *context, hot_view *view, size_t first, size_t count, const float *peaks,
                         const float *tensors)
{
    const hot_view_slices slices = {.size = sizeof slices, .first = first, .count = count, .peaks = peaks,
                                    .tensors = tensors};
    return hot_view_update(context, view, &slices);
}

static void *put_slices(void *user)
{
    static float peaks[THREADS][PLANE][3];
    const size_t number = *(const size_t *)user;
    hot_context *context = NULL;
    if (hot_context_create(NULL, &context) != HOT_OK)
        abort();
    for (int round = 0; round < 200; round++)
        CHECK(update(context, shown, number, 1, peaks[number][0], NULL) == HOT_OK, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    return NULL;
}

static void from_threads(void)
{
    static const size_t numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, put_slices, (void *)(uintptr_t)&numbers[t]) != 0)
            abort();
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

static void calls(hot_context *context, const hot_view_fields *fields, const hot_view_options *options)
{
    static float values[N][3];
    hot_view *view = NULL, *second = (hot_view *)1;
    int open = 0;
    CHECK(hot_view_open(context, fields, options, &view) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_view_poll(context, view, 0, &open) == HOT_OK && open, "it is open");
    CHECK(hot_view_open(context, fields, options, &second) == HOT_ERROR_DEVICE && !second &&
              strstr(hot_context_message(context), "a window is open"), "one at a time: %s",
          hot_context_message(context));
    CHECK(hot_view_show(context, fields, NULL) == HOT_ERROR_DEVICE, "nor another kind");
    CHECK(hot_view_poll(context, view, 0.2, &open) == HOT_OK && open, "the first one stays");
    CHECK(update(context, view, NZ, 0, values[0], NULL) == HOT_OK, "no slices");
    CHECK(update(context, view, 0, NZ, NULL, NULL) == HOT_OK, "no arrays");
    CHECK(update(context, view, 1, NZ, values[0], NULL) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "count") == 0, "%s", hot_context_message(context));
    CHECK(update(context, view, NZ + 1, 0, values[0], NULL) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "first") == 0, "%s", hot_context_message(context));
    CHECK(update(context, view, 0, (size_t)-1, values[0], NULL) == HOT_ERROR_ARGUMENT, "a count that overflows");
    CHECK(update(context, view, 0, 1, values[0], values[0]) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "tensors") == 0, "%s", hot_context_message(context));
    shown = view;
    from_threads();
    CHECK(hot_view_poll(context, view, 0, &open) == HOT_OK && open, "still open");
    hot_view_close(&view);
    CHECK(!view, "NULL after close");
    hot_view_close(&view);
}

/* A cancelled context closes the window. Then updates do nothing. */
static void cancelled(hot_context *context, const hot_view_fields *fields, const hot_view_options *options)
{
    static float values[N][3];
    hot_view *view = NULL;
    hot_context *other = NULL;
    int open = 1;
    CHECK(hot_context_create(NULL, &other) == HOT_OK, "a context");
    CHECK(hot_view_open(context, fields, options, &view) == HOT_OK, "%s", hot_context_message(context));
    hot_context_cancel(context);
    CHECK(hot_view_poll(context, view, options->in_poll ? 0 : -1, &open) == (open ? HOT_ERROR_CANCELLED : HOT_OK) ||
              !open, "open %d: %s", open, hot_context_message(context));
    CHECK(hot_view_poll(other, view, -1, &open) == HOT_OK && !open, "closed: %s", hot_context_message(other));
    CHECK(update(other, view, 0, 1, values[0], NULL) == HOT_OK, "nothing to do");
    hot_view_close(&view);
    hot_context_resume(context);
    /* the caller's own cancelled context ends a poll; the window stays */
    CHECK(hot_view_open(context, fields, options, &view) == HOT_OK, "%s", hot_context_message(context));
    hot_context_cancel(other);
    CHECK(hot_view_poll(other, view, -1, &open) == HOT_ERROR_CANCELLED && open, "the window stays");
    hot_view_close(&view);
    hot_context_destroy(&other);
}

int main(int argc, char **argv)
{
    static float none[N][3];
    const hot_grid grid = {{SIDE, SIDE, NZ}, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, HOT_SPACE_RAS};
    hot_context *context = NULL;
    hot_fiber_field *fibers = NULL;
    if (argc != 2 || hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    CHECK(hot_fiber_field_create(context, &grid, 1, none[0], &fibers) == HOT_OK, "%s", hot_context_message(context));
    const hot_view_fields fields = {.size = sizeof fields, .fibers = fibers};
    const hot_view_options options = {.size = sizeof options, .width = 320, .height = 240,
                                      .in_poll = strcmp(argv[1], "poll") == 0};
    calls(context, &fields, &options);
    cancelled(context, &fields, &options);
    hot_fiber_field_destroy(&fibers);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

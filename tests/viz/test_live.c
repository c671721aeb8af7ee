/* Fields that change while they are shown: scenes of given arrays, which slice the view follows, threads. hot_view_open
 * without a window: arguments. test_live_window.py tests its window. */
#include <hotfiber/view.h>
#include <pthread.h>
#include <stdatomic.h>

#include "scene/live.h"
#include "scenes.h"

enum { NX = 3, NY = 2, NZ = 5, PLANE = NX * NY, N = PLANE * NZ, FIBERS = 2, WIDTH = 3 * FIBERS };

/* Slices of directions: (a, 0, 0) in each voxel, and (0, 0, a) in every other. */
static void fill(float *peaks, size_t slices, float a)
{
    memset(peaks, 0, slices * PLANE * WIDTH * sizeof *peaks);
    for (size_t v = 0; v < slices * PLANE; v++) {
        peaks[v * WIDTH] = a;
        peaks[v * WIDTH + 5] = v % 2 ? a : 0;
    }
}

static void take(hot_context *context, hot_live *live, hot_view_state *state, hot_scene **scene)
{
    hot_scene *made = NULL;
    CHECK(hot_live_take(live, context, *scene, state, &made) == HOT_OK, "%s", hot_context_message(context));
    if (made) {
        hot_scene_destroy(scene);
        *scene = made;
    }
}

static hot_live *make(hot_context *context, const uint8_t *mask)
{
    const hot_grid grid = scene_grid(NX, NY, NZ);
    hot_live *live = NULL;
    CHECK(hot_live_create(context, &grid, mask, &live) == HOT_OK, "%s", hot_context_message(context));
    return live;
}

static void slices_arrive(hot_context *context)
{
    static float peaks[N * WIDTH], image[N];
    hot_live *live = make(context, NULL);
    hot_scene *scene = NULL, *none = NULL;
    hot_view_state state;
    hot_view_state_default(&state);
    CHECK(hot_live_add(live, HOT_LIVE_IMAGE, 1, "b0") == HOT_OK, "%s", hot_context_message(context));
    take(context, live, &state, &scene);
    CHECK(scene && !scene->max_fibers && hot_scene_volume(scene, "b0"), "an image alone");
    CHECK(hot_live_add(live, HOT_LIVE_PEAKS, FIBERS, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_live_add(live, HOT_LIVE_PEAKS, FIBERS, NULL) == HOT_OK, "the same again");
    CHECK(hot_live_add(live, HOT_LIVE_PEAKS, 3, NULL) == HOT_ERROR_DATA, "another number of fibres");
    fill(peaks, 2, 0.5f);
    for (int v = 0; v < PLANE; v++)
        image[v] = 7;
    hot_live_put(live, HOT_LIVE_PEAKS, 1, 2, peaks);
    hot_live_put(live, HOT_LIVE_IMAGE, 4, 1, image);
    CHECK(scene->max_fibers == 0, "a scene does not change without an update");
    take(context, live, &state, &scene);
    for (int voxel = 0; voxel < N; voxel++) {
        const int slice = voxel / PLANE, there = slice == 1 || slice == 2;
        float value;
        CHECK(hot_scene_fibers(scene, (size_t)voxel) == there * (1 + voxel % 2) &&
                  scene->peaks[voxel * WIDTH] == (there ? 0.5f : 0), "fibres of voxel %d", voxel);
        hot_scene_value(scene, hot_scene_volume(scene, "b0"), (size_t)voxel, &value);
        CHECK(value == (slice == 4 ? 7 : 0), "image %g of voxel %d", (double)value, voxel);
    }
    CHECK(state.voxel[2] == 2, "the view follows the last slice: %d", state.voxel[2]);
    CHECK(hot_live_take(live, context, scene, &state, &none) == HOT_OK && !none, "no scene without changes");
    fill(peaks, 1, 1); /* two puts between two scenes: their slices and those between */
    hot_live_put(live, HOT_LIVE_PEAKS, 4, 1, peaks);
    hot_live_put(live, HOT_LIVE_PEAKS, 0, 1, peaks);
    take(context, live, &state, &scene);
    CHECK(scene->peaks[0] == 1 && scene->peaks[4 * PLANE * WIDTH] == 1 && scene->peaks[PLANE * WIDTH] == 0.5f &&
              scene->peaks[3 * PLANE * WIDTH] == 0, "slices 0 and 4 are new, 1 and 3 as before");
    hot_scene_destroy(&scene);
    hot_live_destroy(&live);
}

static void follows(hot_context *context)
{
    static float peaks[N * WIDTH];
    static const int where[][3] = {{2, 2, 0}, {3, 3, 0}, {1, 1, 1} /* the user has moved */, {4, 1, 1}};
    hot_live *live = make(context, NULL);
    hot_scene *scene = NULL;
    hot_view_state state;
    hot_view_state_default(&state);
    hot_live_add(live, HOT_LIVE_PEAKS, FIBERS, NULL);
    take(context, live, &state, &scene);
    fill(peaks, NZ, 1);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        if (where[i][2])
            state.voxel[2] = 1;
        hot_live_put(live, HOT_LIVE_PEAKS, (size_t)where[i][0], 1, peaks);
        take(context, live, &state, &scene);
        CHECK(state.voxel[2] == where[i][1], "slice %d is put: the view is at %d, not %d", where[i][0], state.voxel[2],
              where[i][1]);
    }
    hot_scene_destroy(&scene);
    hot_live_destroy(&live);
    /* a position that was requested, and a whole field at once: its start */
    for (int requested = 0; requested <= 1; requested++) {
        hot_live *whole = make(context, NULL);
        hot_view_state_default(&state);
        state.slice = requested ? 0 : -1;
        hot_live_add(whole, HOT_LIVE_PEAKS, FIBERS, NULL);
        hot_live_put(whole, HOT_LIVE_PEAKS, 0, NZ, peaks);
        take(context, whole, &state, &scene);
        CHECK(state.voxel[2] == (requested ? 0 : NZ / 2), "slice %d", state.voxel[2]);
        hot_live_put(whole, HOT_LIVE_PEAKS, 4, 1, peaks);
        take(context, whole, &state, &scene);
        CHECK(state.voxel[2] == (requested ? 0 : 4), "then slice %d", state.voxel[2]);
        hot_scene_destroy(&scene);
        hot_live_destroy(&whole);
    }
}

/* Tensors: the radii are those of a scene of the same field. */
static void tensors_arrive(hot_context *context)
{
    static float rows[N][16], empty[N][16];
    static uint8_t mask[N];
    mask[N - 1] = 1;
    hot_live *live = make(context, mask);
    hot_scene *scene = NULL;
    hot_view_state state;
    hot_view_state_default(&state);
    for (int v = 0; v < N; v++) {
        rows[v][0] = 1;
        scene_add_fiber(4, (const double[3]){1, 0, 0}, 1 + v, rows[v] + 1);
        if (v >= PLANE)
            memcpy(empty[v], rows[v], sizeof rows[v]);
    }
    const hot_scene_parts parts = {.grid = scene_grid(NX, NY, NZ), .order = 4, .tensors = empty[0]};
    hot_scene *still = scene_make(context, &parts);
    hot_live_add(live, HOT_LIVE_TENSORS, 4, "odf");
    for (size_t slice = 1; slice < NZ; slice++)
        hot_live_put(live, HOT_LIVE_TENSORS, slice, 1, rows[slice * PLANE]);
    take(context, live, &state, &scene);
    CHECK(still && scene->order == 4 && memcmp(scene->radius, still->radius, N * sizeof(float)) == 0 &&
              scene->radius[0] == 0 && scene->radius[N - 1] > 0, "radii");
    CHECK(scene->mask && scene->mask[N - 1] && !scene->mask[0], "the mask");
    hot_live_fail(live, HOT_ERROR_FORMAT, "the end");
    hot_scene *none = NULL;
    CHECK(hot_live_take(live, context, scene, &state, &none) == HOT_ERROR_FORMAT && !none &&
              strcmp(hot_context_message(context), "the end") == 0, "%s", hot_context_message(context));
    CHECK(hot_live_take(live, context, scene, &state, &none) == HOT_OK && !none, "the error comes once");
    hot_scene_destroy(&still);
    hot_scene_destroy(&scene);
    hot_live_destroy(&live);
}

enum { THREADS = 4, ROUNDS = 1000, SIDE = 96, SLICE = SIDE * SIDE }; /* large enough to be caught half copied */
static hot_live *shared;
static atomic_int putting;

static void *put_all(void *user)
{
    static float peaks[THREADS][SLICE][3];
    const size_t thread = *(const size_t *)user;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int v = 0; v < SLICE; v++)
            peaks[thread][v][0] = (float)round;
        hot_live_put(shared, HOT_LIVE_PEAKS, thread, 1, peaks[thread][0]);
    }
    atomic_fetch_sub(&putting, 1);
    return NULL;
}

static int is_torn(const float *slice)
{
    for (int v = 1; v < SLICE; v++)
        if (slice[3 * v] != slice[0])
            return 1;
    return 0;
}

/* Several threads put slices while scenes are made: no slice is lost or torn. */
static void threads(hot_context *context)
{
    static const size_t numbers[THREADS] = {0, 1, 2, 3};
    const hot_grid grid = scene_grid(SIDE, SIDE, THREADS);
    pthread_t thread[THREADS];
    hot_scene *scene = NULL;
    hot_view_state state;
    int torn = 0;
    hot_view_state_default(&state);
    CHECK(hot_live_create(context, &grid, NULL, &shared) == HOT_OK, "%s", hot_context_message(context));
    hot_live_add(shared, HOT_LIVE_PEAKS, 1, NULL);
    atomic_store(&putting, THREADS);
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&thread[t], NULL, put_all, (void *)(uintptr_t)&numbers[t]) != 0)
            abort();
    while (atomic_load(&putting) > 0) {
        take(context, shared, &state, &scene);
        for (int slice = 0; slice < THREADS && scene; slice++)
            torn += is_torn(scene->peaks + slice * SLICE * 3);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    take(context, shared, &state, &scene);
    CHECK(torn == 0, "%d torn slices", torn);
    for (int slice = 0; slice < THREADS; slice++)
        CHECK(scene->peaks[slice * SLICE * 3] == ROUNDS, "the last of slice %d: %g", slice,
              (double)scene->peaks[slice * SLICE * 3]);
    hot_scene_destroy(&scene);
    hot_live_destroy(&shared);
}

static void arguments(hot_context *context)
{
    static float peaks[N * WIDTH];
    const hot_grid grid = scene_grid(NX, NY, NZ);
    hot_fiber_field *fibers = NULL;
    hot_view *view = (hot_view *)1;
    int open = 1;
    CHECK(hot_fiber_field_create(context, &grid, FIBERS, peaks, &fibers) == HOT_OK, "%s", hot_context_message(context));
    const hot_view_fields fields = {.size = sizeof fields, .fibers = fibers}, empty = {.size = sizeof empty};
    const hot_view_device_tensors device = {&grid, 4, peaks};
    const hot_view_fields there = {.size = sizeof there, .device_tensors = &device};
    const hot_view_options picture = {.size = sizeof picture, .screenshot = "no.png"}, flat = {.size = sizeof flat,
                                                                                              .width = -1};
    static const char *const unknown[] = {"glpyh", "both", NULL};
    const hot_view_options wrong = {.size = sizeof wrong, .settings = unknown};
    const hot_view_slices slices = {.size = sizeof slices, .count = 1, .peaks = peaks}, unset = {0};
    const struct { const hot_view_fields *fields; const hot_view_options *options; const char *says; } refused[] = {
        {NULL, NULL, "fields"}, {&empty, NULL, "nothing to show"}, {&there, NULL, "device_tensors"},
        {&fields, &picture, "screenshot"}, {&fields, &flat, "width"}, {&fields, &wrong, "glpyh"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        view = (hot_view *)1;
        CHECK(hot_view_open(context, refused[i].fields, refused[i].options, &view) == HOT_ERROR_ARGUMENT && !view &&
                  strstr(hot_context_message(context), refused[i].says), "%zu: %s", i, hot_context_message(context));
    }
    CHECK(hot_view_open(context, &fields, NULL, NULL) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "view") == 0, "%s", hot_context_message(context));
    view = NULL;
    CHECK(hot_view_update(context, NULL, &slices) == HOT_OK, "no view: nothing to do");
    CHECK(hot_view_update(context, NULL, &unset) == HOT_ERROR_ARGUMENT, "a size of 0");
    CHECK(hot_view_update(context, NULL, NULL) == HOT_ERROR_ARGUMENT, "no slices");
    CHECK(hot_view_poll(context, NULL, -1, &open) == HOT_OK && !open, "no view is not open");
    CHECK(hot_view_poll(context, NULL, 0, NULL) == HOT_ERROR_ARGUMENT, "no place for the answer");
    hot_view_close(&view);
    hot_view_close(NULL);
    hot_fiber_field_destroy(&fibers);
}

int main(void)
{
    return scene_run_tests((void (*const[])(hot_context *)){slices_arrive, follows, tensors_arrive, threads, arguments,
                                                            NULL});
}

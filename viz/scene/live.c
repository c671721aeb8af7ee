#include "live.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "common/free.h"
#include "glyph/glyph.h"
#include "glyph_size.h"
#include "scene_open.h"

/* One array twice: as the caller gave it, and as the window's scene has it. */
typedef struct array {
    float *in, *shown;
    uint8_t *counts; /* of the fibres of `shown` */
    float *radius;   /* of the surfaces of `shown` */
    size_t width;    /* floats of a voxel */
    size_t from, to; /* slices that were put since the last scene; from == to: none */
    int number;
} array;

struct hot_live {
    hot_context *context;
    hot_grid grid;
    size_t plane;          /* voxels of a slice */
    pthread_mutex_t lock;  /* of all but what the scene borrows: `shown`, counts, radius */
    array arrays[HOT_LIVE_KINDS];
    int changed;
    char name[HOT_VIEW_NAME]; /* of the image */
    int diffusion;            /* hot_scene_parts, of the tensors */
    uint8_t *mask;
    hot_status status;     /* of hot_live_fail */
    char message[1024];
    /* Only the window's thread uses these. */
    int follows;     /* 1: the view goes to new slices; 0: the user has moved it */
    int followed[3]; /* where it went last */
    char background[HOT_VIEW_NAME]; /* requested before the first scene, which may lack it */
};

hot_status hot_live_create(hot_context *context, const hot_grid *grid, const uint8_t *mask, hot_live **live)
{
    const size_t plane = grid->size[0] * grid->size[1], voxels = plane * grid->size[2];
    hot_live *made = hot_context_calloc(context, 1, sizeof *made);
    *live = made;
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->grid = *grid;
    made->plane = plane;
    pthread_mutex_init(&made->lock, NULL);
    if (!mask)
        return HOT_OK;
    made->mask = hot_context_alloc(context, voxels, 1);
    if (!made->mask) {
        hot_live_destroy(live);
        return HOT_ERROR_MEMORY;
    }
    memcpy(made->mask, mask, voxels);
    return HOT_OK;
}

void hot_live_destroy(hot_live **live)
{
    HOT_DESTROY_BEGIN(hot_live, live);
    hot_context *context = gone->context;
    for (int k = 0; k < HOT_LIVE_KINDS; k++)
        HOT_FREE(context, gone->arrays[k].in, gone->arrays[k].shown, gone->arrays[k].counts, gone->arrays[k].radius);
    hot_context_free(context, gone->mask);
    pthread_mutex_destroy(&gone->lock);
    hot_context_free(context, gone);
}

hot_status hot_live_add(hot_live *live, hot_live_kind kind, int number, const char *name)
{
    static const char *const what[] = {"fibres per voxel", "as the order of the tensors", "values per voxel"};
    hot_context *context = live->context;
    const size_t voxels = live->plane * live->grid.size[2];
    const size_t width = kind == HOT_LIVE_PEAKS ? 3 * (size_t)number
                         : kind == HOT_LIVE_TENSORS ? 1 + hot_symtensor_count(number, 3) : (size_t)number;
    const int before = live->arrays[kind].number;
    if (before)
        return before == number ? HOT_OK
                                : hot_context_fail(context, HOT_ERROR_DATA, "%d %s, and %d before", number,
                                                   what[kind], before);
    array made = {.width = width, .number = number};
    made.in = hot_context_calloc(context, voxels, width * sizeof *made.in);
    made.shown = made.in ? hot_context_calloc(context, voxels, width * sizeof *made.shown) : NULL;
    if (kind == HOT_LIVE_PEAKS && made.shown)
        made.counts = hot_context_calloc(context, voxels, 1);
    if (kind == HOT_LIVE_TENSORS && made.shown)
        made.radius = hot_context_calloc(context, voxels, sizeof *made.radius);
    if (!made.shown || (kind != HOT_LIVE_IMAGE && !made.counts && !made.radius)) {
        HOT_FREE(context, made.shown, made.in);
        return HOT_ERROR_MEMORY;
    }
    pthread_mutex_lock(&live->lock);
    live->arrays[kind] = made;
    live->changed = 1;
    if (kind == HOT_LIVE_IMAGE)
        snprintf(live->name, sizeof live->name, "%s", name);
    if (kind == HOT_LIVE_TENSORS)
        live->diffusion = hot_model_is_diffusion(name);
    pthread_mutex_unlock(&live->lock);
    return HOT_OK;
}

int hot_live_number(hot_live *live, hot_live_kind kind)
{
    pthread_mutex_lock(&live->lock);
    const int number = live->arrays[kind].number;
    pthread_mutex_unlock(&live->lock);
    return number;
}

const hot_grid *hot_live_grid(const hot_live *live) { return &live->grid; }

void hot_live_put(hot_live *live, hot_live_kind kind, size_t first, size_t count, const float *values)
{
    array *to = &live->arrays[kind];
    pthread_mutex_lock(&live->lock);
    const size_t slice = live->plane * to->width;
    memcpy(to->in + first * slice, values, count * slice * sizeof *values);
    const int none = to->from == to->to;
    to->from = none || first < to->from ? first : to->from;
    to->to = none || first + count > to->to ? first + count : to->to;
    live->changed = 1;
    pthread_mutex_unlock(&live->lock);
}

void hot_live_fail(hot_live *live, hot_status status, const char *message)
{
    pthread_mutex_lock(&live->lock);
    live->status = status;
    snprintf(live->message, sizeof live->message, "%s", message);
    pthread_mutex_unlock(&live->lock);
}

/* ---- The window's thread ---------------------------------------------------------------------------------- */

static void count_fibers(const array *peaks, size_t first, size_t end)
{
    for (size_t voxel = first; voxel < end; voxel++) {
        const float *v = peaks->shown + voxel * peaks->width;
        int count = 0;
        for (int f = 0; f < peaks->number; f++, v += 3)
            count += v[0] != 0 || v[1] != 0 || v[2] != 0;
        peaks->counts[voxel] = (uint8_t)count;
    }
}

/* Copies what was put into the scene's arrays, whose from and to then are the new slices. */
static void copy_slices(hot_live *live, array arrays[HOT_LIVE_KINDS])
{
    pthread_mutex_lock(&live->lock);
    memcpy(arrays, live->arrays, sizeof live->arrays);
    for (int k = 0; k < HOT_LIVE_KINDS; k++) {
        const size_t slice = live->plane * arrays[k].width, first = arrays[k].from * slice;
        if (arrays[k].from < arrays[k].to)
            memcpy(arrays[k].shown + first, arrays[k].in + first,
                   (arrays[k].to - arrays[k].from) * slice * sizeof *arrays[k].in);
        live->arrays[k].from = live->arrays[k].to = 0;
    }
    live->changed = 0;
    pthread_mutex_unlock(&live->lock);
}

static hot_status derive(hot_live *live, hot_context *context, const array arrays[HOT_LIVE_KINDS])
{
    const array *peaks = &arrays[HOT_LIVE_PEAKS], *tensors = &arrays[HOT_LIVE_TENSORS];
    const size_t first = tensors->from * live->plane, count = (tensors->to - tensors->from) * live->plane;
    count_fibers(peaks, peaks->from * live->plane, peaks->to * live->plane);
    return count == 0 ? HOT_OK
                      : hot_glyph_radii(context, tensors->number, count, tensors->shown + first * tensors->width,
                                        tensors->radius + first);
}

static int has_glyphs(const hot_live *live, const array *a, hot_live_kind kind, size_t slice)
{
    for (size_t voxel = slice * live->plane; voxel < (slice + 1) * live->plane; voxel++)
        if (kind == HOT_LIVE_PEAKS ? a->counts[voxel] > 0 : a->radius[voxel] > 0)
            return 1;
    return 0;
}

/* The last slice with glyphs of those that were put, the scene's start if the whole field was; -1 = none. */
static int find_new_slice(const hot_live *live, const hot_scene *scene, const array arrays[HOT_LIVE_KINDS])
{
    for (int k = 0; k < HOT_LIVE_IMAGE; k++) {
        const array *a = &arrays[k];
        if (a->to - a->from == live->grid.size[2])
            return scene->start[2];
        for (size_t slice = a->to; slice-- > a->from;)
            if (has_glyphs(live, a, (hot_live_kind)k, slice))
                return (int)slice;
    }
    return -1;
}

/* Moves the crosshair to the new slice unless the user has moved it. */
static void follow(hot_live *live, const hot_scene *scene, int slice, hot_view_state *state)
{
    live->follows &= memcmp(state->voxel, live->followed, sizeof live->followed) == 0;
    if (!live->follows || slice < 0)
        return;
    memcpy(state->voxel, scene->start, sizeof state->voxel);
    state->voxel[2] = slice;
    memcpy(live->followed, state->voxel, sizeof live->followed);
}

static hot_status fit_state(hot_live *live, hot_context *context, const hot_scene *old, hot_scene *scene,
                            int slice, hot_view_state *state)
{
    if (!old) {
        live->follows = state->slice < 0 && state->voxel[0] < 0;
        memcpy(live->background, state->background, sizeof live->background);
    } else if (strcmp(state->background, "auto") == 0 && hot_scene_volume(scene, live->background)) {
        memcpy(state->background, live->background, sizeof live->background);
    }
    HOT_TRY(hot_scene_fit_state(context, old ? old : scene, scene, state));
    if (!old)
        memcpy(live->followed, state->voxel, sizeof live->followed);
    follow(live, scene, slice, state);
    return HOT_OK;
}

hot_status hot_live_take(hot_live *live, hot_context *context, const hot_scene *old, hot_view_state *state,
                         hot_scene **scene)
{
    array arrays[HOT_LIVE_KINDS];
    const array *peaks = &arrays[HOT_LIVE_PEAKS], *tensors = &arrays[HOT_LIVE_TENSORS];
    const array *image = &arrays[HOT_LIVE_IMAGE];
    *scene = NULL;
    pthread_mutex_lock(&live->lock);
    const int changed = live->changed;
    hot_status status = changed ? HOT_OK : live->status; /* first what was put before the error */
    if (!changed)
        live->status = HOT_OK;
    pthread_mutex_unlock(&live->lock);
    if (!changed)
        return status == HOT_OK ? HOT_OK : hot_context_fail(context, status, "%s", live->message);
    copy_slices(live, arrays);
    status = derive(live, context, arrays);
    const hot_scene_parts parts = {
        .grid = live->grid, .order = tensors->number, .tensors = tensors->shown, .radius = tensors->radius,
        .diffusion = live->diffusion, .max_fibers = peaks->number, .peaks = peaks->shown, .counts = peaks->counts,
        .mask = live->mask,
        .images = 1,
    };
    if (status == HOT_OK)
        status = hot_scene_create(context, &parts, scene);
    if (status == HOT_OK && image->number)
        status = hot_scene_add_volume(*scene, live->name, image->number, image->shown, 0);
    if (status == HOT_OK)
        status = fit_state(live, context, old, *scene, find_new_slice(live, *scene, arrays), state);
    if (status != HOT_OK) {
        hot_scene_destroy(scene);
        return status;
    }
    snprintf((*scene)->title, sizeof (*scene)->title, "live");
    for (int d = 0; d < 3; d++) { /* the camera does not move with each slice */
        (*scene)->low[d] = 0;
        (*scene)->high[d] = (int)live->grid.size[d] - 1;
    }
    return status;
}

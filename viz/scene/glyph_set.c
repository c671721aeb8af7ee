#include "glyph_set.h"

#include <math.h>
#include <string.h>

#include "common/entry.h"
#include "common/free.h"
#include "color.h"
#include "glyph_size.h"
#include "glyph/ellipsoid.h"
#include "glyph/parallel_for.h"

/* ---- Voxels ----------------------------------------------------------------------------------------------- */

/* A box of voxels, bounds inclusive. */
struct box {
    size_t low[3], high[3];
};

static struct box slice_box(const hot_scene *scene, int axis, long at, int slab)
{
    struct box box;
    for (int d = 0; d < 3; d++) {
        box.low[d] = 0;
        box.high[d] = scene->grid.size[d] - 1;
    }
    long low = at - (slab - 1) / 2, high = low + slab - 1, last = (long)box.high[axis];
    box.low[axis] = (size_t)(low < 0 ? 0 : low > last ? last : low);
    box.high[axis] = (size_t)(high < 0 ? 0 : high > last ? last : high);
    return box;
}

static int in_box(const struct box *box, size_t i, size_t j, size_t k)
{
    return i >= box->low[0] && i <= box->high[0] && j >= box->low[1] && j <= box->high[1] && k >= box->low[2] &&
           k <= box->high[2];
}

/* An oblique plane: voxels whose centre is within half a voxel's thickness of it. */
struct cut {
    double step[3], start, half;
};

static struct cut oblique_cut(const hot_scene *scene, const hot_viewport *viewport, int slab)
{
    struct cut cut = {.half = 0};
    for (int d = 0; d < 3; d++) {
        cut.step[d] = 0;
        for (int r = 0; r < 3; r++)
            cut.step[d] += viewport->normal[r] * scene->to_ras[r][d];
        cut.start += viewport->normal[d] * (scene->to_ras[d][3] - viewport->point[d]);
        cut.half = fmax(cut.half, fabs(cut.step[d]) / 2);
    }
    cut.half *= slab;
    return cut;
}

hot_status hot_glyph_voxels(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                            const hot_viewport *viewport, uint32_t **voxels, size_t *count)
{
    const size_t *size = scene->grid.size;
    const uint8_t *mask = state->use_mask ? scene->mask : NULL;
    const int volume = viewport->space && state->extent == HOT_EXTENT_VOLUME;
    const int oblique = !viewport->space && !state->lock_axes;
    struct box slices[3], all;
    struct cut cut = {.half = 0};
    size_t capacity = 0;
    int boxes = 0;
    *count = 0;
    *voxels = NULL;
    if (scene->voxels > UINT32_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "more than %lu voxels cannot be drawn",
                                (unsigned long)UINT32_MAX);
    if (volume || oblique) {
        for (int d = 0; d < 3; d++)
            all.low[d] = 0, all.high[d] = size[d] - 1;
        slices[boxes++] = all;
        cut = oblique ? oblique_cut(scene, viewport, state->slab) : cut;
    } else if (viewport->space) {
        for (int axis = 0; axis < 3; axis++)
            slices[boxes++] = slice_box(scene, axis, state->voxel[axis], 1);
    } else {
        slices[boxes++] = slice_box(scene, viewport->axis, state->voxel[viewport->axis], state->slab);
    }
    for (int b = 0; b < boxes; b++)
        capacity += (slices[b].high[0] - slices[b].low[0] + 1) * (slices[b].high[1] - slices[b].low[1] + 1) *
                (slices[b].high[2] - slices[b].low[2] + 1);
    *voxels = hot_context_alloc(context, capacity, sizeof **voxels);
    if (!*voxels)
        return HOT_ERROR_MEMORY;
    for (int b = 0; b < boxes; b++) {
        const struct box *box = &slices[b];
        for (size_t k = box->low[2]; k <= box->high[2]; k++)
            for (size_t j = box->low[1]; j <= box->high[1]; j++)
                for (size_t i = box->low[0]; i <= box->high[0]; i++) {
                    const size_t voxel = i + size[0] * (j + size[1] * k);
                    int twice = 0;
                    for (int earlier = 0; earlier < b; earlier++) /* slices intersect */
                        twice |= in_box(&slices[earlier], i, j, k);
                    if (twice || (mask && !mask[voxel]))
                        continue;
                    if (oblique && !(fabs(cut.start + cut.step[0] * (double)i + cut.step[1] * (double)j +
                                          cut.step[2] * (double)k) <= cut.half))
                        continue;
                    (*voxels)[(*count)++] = (uint32_t)voxel;
                }
    }
    return HOT_OK;
}

/* ---- Tensors ---------------------------------------------------------------------------------------------- */

/* One tensor as integers, scaled so that the largest magnitude is 32767. Returns the step. */
static float quantise(const float *tensor, int terms, int values, int16_t *to)
{
    float largest = 0;
    for (int t = 0; t < terms; t++)
        largest = fmaxf(largest, fabsf(tensor[t]));
    const float step = largest / 32767, per = step > 0 ? 1 / step : 0;
    for (int t = 0; t < terms; t++)
        to[t] = (int16_t)lrintf(fmaxf(-32767, fminf(32767, tensor[t] * per)));
    for (int t = terms; t < values; t++)
        to[t] = 0;
    return step;
}

hot_status hot_surface_gather(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                              uint32_t *voxels, size_t count, hot_surface_set *set)
{
    const int terms = (int)hot_symtensor_count(scene->order, 3);
    size_t kept = 0;
    for (size_t v = 0; v < count; v++)
        if (hot_scene_has_surface(scene, state, voxels[v]))
            voxels[kept++] = voxels[v];
    *set = (hot_surface_set){.count = kept, .texels = (terms + 3) / 4, .voxel = voxels};
    const size_t row = (size_t)set->texels * 4;
    const int here = !scene->device_tensors;
    set->values = here ? hot_context_alloc(context, kept, row * sizeof *set->values) : NULL;
    set->step = hot_context_alloc(context, kept, sizeof *set->step);
    if ((here && !set->values) || !set->step) {
        hot_surface_free(context, set);
        return HOT_ERROR_MEMORY;
    }
    if (!here)
        return HOT_OK;
    const int threads = hot_context_threads(context), ellipsoids = hot_scene_draws_ellipsoids(scene, state);
#pragma omp parallel for schedule(static) num_threads(hot_team(threads))
    for (size_t v = 0; v < kept; v++) {
        const float *tensor = scene->tensors + (size_t)voxels[v] * (size_t)(terms + 1) + 1;
        float raised[6];
        if (ellipsoids)
            hot_ellipsoid_tensor(tensor, raised);
        set->step[v] = quantise(ellipsoids ? raised : tensor, terms, (int)row, set->values + v * row);
    }
    return HOT_OK;
}

void hot_surface_free(hot_context *context, hot_surface_set *set)
{
    HOT_FREE(context, set->voxel, set->values, set->step);
    memset(set, 0, sizeof *set);
}

/* ---- Colours ---------------------------------------------------------------------------------------------- */

static void to_bytes(const double rgb[3], uint8_t rgba[4])
{
    for (int d = 0; d < 3; d++)
        rgba[d] = (uint8_t)lround(255 * fmin(fmax(rgb[d], 0), 1));
    rgba[3] = 255;
}

static void value_color(const hot_scene *scene, const hot_view_volume *volume, const double range[2], size_t voxel,
                        uint8_t rgba[4])
{
    float values[3] = {0};
    double rgb[3], value;
    if (volume)
        hot_scene_value(scene->images ? scene->images : scene, volume, voxel, values);
    value = volume && volume->components == 3 ? sqrt((double)values[0] * values[0] + (double)values[1] * values[1] +
                                                     (double)values[2] * values[2])
                                              : values[0];
    hot_color_map((value - range[0]) / (range[1] - range[0]), rgb);
    to_bytes(rgb, rgba);
}

/* The colour of the background image in the middle of a voxel, which doubtful sticks fade into. */
static void color_behind(const hot_scene *scene, const hot_view_state *state, size_t voxel, double rgb[3])
{
    const hot_view_volume *volume = state->show_image ? hot_scene_volume(scene, state->background) : NULL;
    float values[3];
    double window[2] = {0, 1};
    memcpy(rgb, state->canvas, 3 * sizeof *rgb);
    if (!volume)
        return;
    hot_scene_value(scene->images ? scene->images : scene, volume, voxel, values);
    hot_volume_window(volume, state->window, window);
    for (int d = 0; d < 3; d++) {
        const double value = ((double)values[volume->components == 3 ? d : 0] - window[0]) / (window[1] - window[0]);
        if (isfinite(value))
            rgb[d] += state->opacity * (fmin(fmax(value, 0), 1) - rgb[d]);
    }
}

static void plain_color(uint8_t rgba[4]) { to_bytes((const double[3]){0.82, 0.82, 0.82}, rgba); }

/* ---- Lists ------------------------------------------------------------------------------------------------ */

static void voxel_center(const hot_scene *scene, size_t voxel, float center[3])
{
    double ras[3];
    hot_scene_index_to_ras(scene, voxel, ras);
    for (int d = 0; d < 3; d++)
        center[d] = (float)ras[d];
}

/* Whether a sphere overlaps the viewport. */
static int in_view(const hot_viewport *viewport, const float center[3], double radius)
{
    for (int row = 0; row < 2; row++) {
        const double *m = viewport->matrix + row;
        const double at = m[0] * center[0] + m[4] * center[1] + m[8] * center[2] + m[12];
        const double side = row == 0 ? viewport->width : viewport->height;
        if (fabs(at) > 1 + radius * 2 / (viewport->mm_per_pixel * side))
            return 0;
    }
    return 1;
}

/* A counting sort by level of detail, in parallel. Each part counts its glyphs per level first; prefix sums then give
 * each part its own range of items, so that threads need no locks and the order of the set is kept. */
enum { LIST_PARTS = 64, CULLED = 255 };

typedef struct list_part {
    size_t count[HOT_SPHERES]; /* of each level; after place_items, index of its next item */
    float widest[HOT_SPHERES];
} list_part;

/* Inputs and state of one list. */
typedef struct list_job {
    const hot_scene *scene;
    const hot_view_state *state;
    const hot_viewport *viewport;
    const hot_surface_set *set;
    hot_surface_list *list;
    const hot_view_volume *volume; /* of --color value */
    double range[2];
    int everywhere, fixed;         /* fixed: the level of detail; -1: chosen by size */
    uint8_t *level;                /* of each glyph of the set, or CULLED */
    list_part part[LIST_PARTS];
} list_job;

static size_t part_begins(size_t count, int part)
{
    return count / LIST_PARTS * (size_t)part + count % LIST_PARTS * (size_t)part / LIST_PARTS;
}

static double mm_per_value(const list_job *job, size_t g)
{
    return hot_scene_surface_mm(job->scene, job->state, job->set->voxel[g]);
}

/* Radius of the set's glyph g, mm. */
static float reach_mm(const list_job *job, size_t g)
{
    return (float)(mm_per_value(job, g) * job->scene->radius[job->set->voxel[g]]);
}

static int find_level(const list_job *job, size_t g, double reach)
{
    const double pixels = reach / job->viewport->mm_per_pixel;
    float center[3];
    if (!job->everywhere) {
        voxel_center(job->scene, job->set->voxel[g], center);
        if (!in_view(job->viewport, center, HOT_GLYPH_MAX_REACH * reach))
            return CULLED;
    }
    return job->fixed >= 0 ? job->fixed : hot_glyph_detail(hot_scene_surface_order(job->scene, job->state), pixels);
}

static void make_item(const list_job *job, size_t g, hot_surface_item *item)
{
    const hot_scene *scene = job->scene;
    const size_t voxel = job->set->voxel[g];
    *item = (hot_surface_item){
        .slot = (uint32_t)g, .size = (float)(mm_per_value(job, g) * job->set->step[g]), .reach = reach_mm(job, g)};
    voxel_center(scene, voxel, item->center);
    if (job->state->color == HOT_COLOR_FIBER) {
        double rgb[3];
        hot_color_fiber(hot_scene_fibers(scene, voxel) - 1, rgb);
        to_bytes(rgb, item->rgba);
    } else if (job->state->color == HOT_COLOR_VALUE) {
        value_color(scene, job->volume, job->range, voxel, item->rgba);
    } else if (job->state->color == HOT_COLOR_PLAIN) {
        plain_color(item->rgba);
    }
}

static void count_part(void *given, int p, int thread)
{
    list_job *job = given;
    list_part part = {{0}, {0}};
    (void)thread;
    for (size_t g = part_begins(job->set->count, p); g < part_begins(job->set->count, p + 1); g++) {
        const float reach = reach_mm(job, g);
        const int l = find_level(job, g, (double)reach);
        job->level[g] = (uint8_t)l;
        if (l == CULLED)
            continue;
        part.count[l]++;
        part.widest[l] = fmaxf(part.widest[l], reach);
    }
    job->part[p] = part;
}

/* Index of each part's first item of each level. Returns the number of items. */
static size_t place_items(list_job *job)
{
    hot_surface_list *list = job->list;
    size_t kept = 0;
    memset(list->widest, 0, sizeof list->widest);
    for (int l = 0; l < HOT_SPHERES; l++) {
        list->first[l] = kept;
        for (int p = 0; p < LIST_PARTS; p++) {
            const size_t count = job->part[p].count[l];
            job->part[p].count[l] = kept;
            kept += count;
            list->widest[l] = fmaxf(list->widest[l], job->part[p].widest[l]);
        }
    }
    list->first[HOT_SPHERES] = kept;
    return kept;
}

static void fill_part(void *given, int p, int thread)
{
    list_job *job = given;
    (void)thread;
    for (size_t g = part_begins(job->set->count, p); g < part_begins(job->set->count, p + 1); g++)
        if (job->level[g] != CULLED)
            make_item(job, g, &job->list->items[job->part[p].count[job->level[g]]++]);
}

static void run_parts(hot_context *context, void (*work)(void *, int, int), list_job *job)
{
    enum { PARALLEL = 4096 }; /* fewer glyphs are done before other threads have started */
    if (job->set->count >= PARALLEL) {
        hot_parallel_for(context, LIST_PARTS, work, job);
        return;
    }
    for (int p = 0; p < LIST_PARTS; p++)
        work(job, p, 0);
}

hot_status hot_surface_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                                 const hot_viewport *viewport, int everywhere, const hot_surface_set *set,
                                 hot_surface_list *list)
{
    list_job job = {.scene = scene, .state = state, .viewport = viewport, .set = set, .list = list,
                    .everywhere = everywhere, .fixed = state->detail ? hot_glyph_nearest_detail(state->detail) : -1};
    hot_status status = HOT_OK;
    job.volume = hot_scene_color_volume(scene, state, job.range);
    if (set->count > list->capacity) {
        hot_surface_list_free(context, list);
        list->items = hot_context_alloc(context, set->count, sizeof *list->items);
        list->capacity = list->items ? set->count : 0;
    }
    job.level = hot_context_alloc(context, set->count, 1);
    if ((!list->items && set->count) || !job.level) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    run_parts(context, count_part, &job);
    list->culled = set->count - place_items(&job);
    run_parts(context, fill_part, &job);
cleanup:
    hot_context_free(context, job.level);
    return status;
}

void hot_surface_list_free(hot_context *context, hot_surface_list *list)
{
    hot_context_free(context, list->items);
    memset(list, 0, sizeof *list);
}

hot_status hot_stick_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                               const uint32_t *voxels, size_t count, hot_stick_item **items, size_t *sticks)
{
    const size_t max_fibers = (size_t)scene->max_fibers;
    const float width = (float)hot_scene_stick_radius(scene, state);
    double range[2];
    const hot_view_volume *volume = hot_scene_color_volume(scene, state, range);
    *sticks = 0;
    *items = hot_context_alloc(context, count, max_fibers * sizeof **items);
    if (!*items)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < count; v++) {
        const float *peaks = scene->peaks + (size_t)voxels[v] * 3 * max_fibers;
        const double mm = hot_scene_stick_mm(scene, state, voxels[v]);
        for (size_t f = 0; f < max_fibers; f++) {
            const float *p = peaks + 3 * f;
            const double length = sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
            if (!(length > 0) || !isfinite(length) || length < state->threshold || !isfinite(mm))
                continue;
            hot_stick_item *item = &(*items)[(*sticks)++];
            const double shown = scene->certainty ? (double)scene->certainty[voxels[v] * max_fibers + f] : 1;
            double direction[3], rgb[3], behind[3] = {0}, out = 1;
            voxel_center(scene, voxels[v], item->center);
            for (int d = 0; d < 3; d++)
                direction[d] = scene->sign[d] * peaks[3 * f + (size_t)d];
            if (state->clip) { /* cut off at the nearest wall */
                for (int axis = 0; axis < 3; axis++) {
                    double along = 0;
                    for (int d = 0; d < 3; d++)
                        along += scene->from_ras[axis][d] * direction[d] * mm;
                    out = fmin(out, 0.5 / fmax(fabs(along), 1e-9));
                }
            }
            for (int d = 0; d < 3; d++)
                item->half[d] = (float)(out * mm * direction[d]);
            item->width = width;
            if (shown < 1)
                color_behind(scene, state, voxels[v], behind);
            switch ((hot_view_color)state->color) {
            case HOT_COLOR_DIRECTION:
                hot_color_direction(direction, rgb);
                hot_color_fade(shown, behind, rgb);
                to_bytes(rgb, item->rgba);
                break;
            case HOT_COLOR_FIBER:
                hot_color_fiber((int)f, rgb);
                hot_color_fade(shown, behind, rgb);
                to_bytes(rgb, item->rgba);
                break;
            case HOT_COLOR_VALUE: value_color(scene, volume, range, voxels[v], item->rgba); break;
            case HOT_COLOR_PLAIN: plain_color(item->rgba); break;
            }
        }
    }
    return HOT_OK;
}

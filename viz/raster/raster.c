#include "raster.h"

#include <math.h>
#include <string.h>

#include "common/flow.h"
#include "common/free.h"
#include "glyph/parallel_for.h"
#include "scene/glyph_size.h"
#include "raster_parts.h"

/* Pixels per band, or samples if pixels have several: bounds the memory for pictures of any size, in the host and in
 * textures. */
enum { BAND_PIXELS = 1 << 20, BAND_SAMPLES = 1 << 18 };

struct hot_raster {
    hot_context *context;
    raster_glyph *glyph;
    raster_level level[HOT_SPHERES];
    int order;               /* of the prepared levels, with sign */
    double sign[3];
    hot_raster_job job;
    raster_frame frame;
    double matrix[12];
    int width, height, side; /* of the picture; side of a tile */
    int columns, rows;       /* number of tiles */
    int band;                /* rows of tiles per band */
    size_t *first;           /* index of each tile's first entry; the last is their number */
    uint32_t *entries;       /* indices of items */
    uint32_t *sorted;        /* indices of items, front to back */
    size_t tile_capacity, entry_capacity, sorted_capacity;
    float *scratch;          /* of all threads */
    size_t scratch_capacity;     /* floats */
};

/* ---- Spheres ---------------------------------------------------------------------------------------------- */

static void free_level(hot_context *context, raster_level *level)
{
    HOT_FREE(context, level->memory, level->corner[0]);
    memset(level, 0, sizeof *level);
}

static size_t padded(size_t count, size_t to) { return (count + to - 1) / to * to; }

static void fill_forms(int order, const double sign[3], size_t count, float *const unit[3], float *forms)
{
    int exponents[3 * RASTER_TERMS];
    double times[RASTER_TERMS];
    const size_t terms = hot_symtensor_count(order - 1, 3);
    hot_symtensor_exponents(order - 1, 3, exponents); /* neither fails for such small orders */
    hot_symtensor_multiplicity(order - 1, 3, times);
    for (size_t t = 0; t < terms; t++, forms += count)
        for (size_t v = 0; v < count; v++) {
            double product = times[t];
            for (int d = 0; d < 3; d++)
                for (int p = 0; p < exponents[3 * t + (size_t)d]; p++)
                    product *= sign[d] * (double)unit[d][v];
            forms[v] = (float)product;
        }
}

static hot_status make_level(hot_context *context, int parts, int order, const double sign[3], raster_level *level)
{
    hot_sphere sphere = {0}, half = {0};
    float *unit[3];
    const size_t terms = (size_t)order * (size_t)(order + 1) / 2;
    hot_status status = hot_sphere_create(context, parts, &sphere);
    if (status == HOT_OK)
        status = hot_sphere_halve(context, &sphere, &half);
    if (status != HOT_OK)
        goto cleanup;
    level->triangles = padded(half.triangles, RASTER_LANES);
    level->vertices = padded(half.vertices, 2 * RASTER_LANES);
    level->corner[0] = hot_context_calloc(context, level->triangles, 3 * sizeof **level->corner);
    level->memory = hot_context_calloc(context, level->vertices, (6 + terms) * sizeof *level->memory);
    if (!level->corner[0] || !level->memory) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (int c = 0; c < 3; c++) {
        level->corner[c] = level->corner[0] + (size_t)c * level->triangles;
        for (size_t t = 0; t < half.triangles; t++)
            level->corner[c][t] = half.triangle[t][c];
    }
    for (int d = 0; d < 3; d++) {
        level->unit[d] = unit[d] = level->memory + (size_t)d * level->vertices;
        level->way[d] = level->memory + (size_t)(3 + d) * level->vertices;
        for (size_t v = 0; v < level->vertices; v++)
            unit[d][v] = half.vertex[v < half.vertices ? v : 0][d];
    }
    level->forms = level->memory + 6 * level->vertices;
    fill_forms(order, sign, level->vertices, unit, level->memory + 6 * level->vertices);
    level->bend = (float)hot_glyph_bend(order, parts);
cleanup:
    if (status != HOT_OK)
        free_level(context, level);
    hot_sphere_free(context, &half);
    hot_sphere_free(context, &sphere);
    return status;
}

/* ---- Creation --------------------------------------------------------------------------------------------- */

hot_status hot_raster_create(hot_context *context, hot_raster **raster)
{
    *raster = hot_context_calloc(context, 1, sizeof **raster);
    if (!*raster)
        return HOT_ERROR_MEMORY;
    (*raster)->context = context;
    (*raster)->glyph = hot_raster_glyph_base;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        (*raster)->glyph = hot_raster_glyph_avx2;
#endif
    return HOT_OK;
}

void hot_raster_set_variant(hot_raster *raster, raster_glyph *glyph) { raster->glyph = glyph; }

void hot_raster_destroy(hot_raster **raster)
{
    HOT_DESTROY_BEGIN(hot_raster, raster);
    for (int l = 0; l < HOT_SPHERES; l++)
        free_level(gone->context, &gone->level[l]);
    HOT_FREE(gone->context, gone->first, gone->entries, gone->sorted, gone->scratch, gone);
}

/* Makes an array at least this large; its contents are lost. */
static hot_status reserve(hot_context *context, void **array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return HOT_OK;
    hot_context_free(context, *array);
    *capacity = 0;
    *array = hot_context_alloc(context, count, size);
    if (!*array)
        return HOT_ERROR_MEMORY;
    *capacity = count;
    return HOT_OK;
}

/* ---- Constants of a picture ------------------------------------------------------------------------------- */

static void set_matrix(hot_raster *raster, const hot_viewport *viewport)
{
    const double half[3] = {viewport->width / 2, viewport->height / 2, 0.5};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            raster->matrix[4 * r + c] = half[r] * (viewport->matrix[4 * c + r] + (c == 3));
}

static void unit_vector(const double v[3], float to[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; d++)
        to[d] = (float)(v[d] / length);
}

static void set_frame(hot_raster *raster, const hot_raster_job *job)
{
    raster_frame *frame = &raster->frame;
    double light[3], half[3];
    hot_viewport_light(job->viewport, light);
    for (int d = 0; d < 3; d++)
        half[d] = light[d] + job->viewport->toward[d];
    *frame = (raster_frame){.order = job->scene->order,
                            .lit = job->state->light,
                            .clipped = job->state->clip,
                            .ellipsoid = hot_scene_draws_ellipsoids(job->scene, job->state),
                            .samples = job->samples,
                            .items = job->list->items,
                            .values = job->set->values,
                            .row = 4 * (size_t)job->set->texels,
                            .matrix = raster->matrix};
    unit_vector(light, frame->light);
    unit_vector(half, frame->half);
    for (int r = 0; r < 3; r++)
        frame->flip[r] = (float)job->scene->sign[r];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            frame->to_voxel[r][c] = (float)job->scene->from_ras[r][c];
            frame->per_mm[r][c] = (r < 2 ? 256 : 1) * (float)raster->matrix[4 * r + c];
        }
    memcpy(frame->sample, job->sample, sizeof frame->sample);
    for (int d = 0; d < 2; d++) {
        frame->low[d] = frame->high[d] = job->sample[0][d];
        for (int s = 1; s < job->samples; s++) {
            frame->low[d] = fminf(frame->low[d], job->sample[s][d]);
            frame->high[d] = fmaxf(frame->high[d], job->sample[s][d]);
        }
    }
}

static hot_status prepare_levels(hot_raster *raster)
{
    const hot_scene *scene = raster->job.scene;
    const hot_surface_list *list = raster->job.list;
    size_t max_needed = 0;
    if (raster->order != scene->order || memcmp(raster->sign, scene->sign, sizeof raster->sign) != 0) {
        for (int l = 0; l < HOT_SPHERES; l++)
            free_level(raster->context, &raster->level[l]);
        raster->order = scene->order;
        memcpy(raster->sign, scene->sign, sizeof raster->sign);
    }
    for (int l = 0; l < HOT_SPHERES; l++) {
        raster_level *level = &raster->level[l];
        hot_status status = HOT_OK;
        if (list->first[l + 1] == list->first[l])
            continue;
        if (!level->memory)
            status = make_level(raster->context, hot_sphere_parts[l], scene->order, scene->sign, level);
        if (status != HOT_OK)
            return status;
        for (int r = 0; r < 3; r++) {
            const float x = raster->frame.per_mm[r][0], y = raster->frame.per_mm[r][1], z = raster->frame.per_mm[r][2];
            for (size_t v = 0; v < level->vertices; v++)
                level->way[r][v] = x * level->unit[0][v] + y * level->unit[1][v] + z * level->unit[2][v];
        }
        const size_t needed = 12 * level->vertices + level->triangles;
        max_needed = needed > max_needed ? needed : max_needed;
    }
    return reserve(raster->context, (void **)&raster->scratch, &raster->scratch_capacity,
                     max_needed * (size_t)hot_context_threads(raster->context), sizeof *raster->scratch);
}

/* ---- Tiles ------------------------------------------------------------------------------------------------ */

/* A glyph's centre (pixels and depth), and its radius in pixels and in depth. */
static void project(const hot_raster *raster, const hot_surface_item *item, double center[3], double *reach_pixels,
                    double *reach_depth)
{
    for (int r = 0; r < 3; r++) {
        const double *m = raster->matrix + 4 * r;
        center[r] = m[0] * (double)item->center[0] + m[1] * (double)item->center[1] + m[2] * (double)item->center[2] +
                    m[3];
    }
    const double *m = raster->matrix, reach = HOT_GLYPH_MAX_REACH * (double)item->reach;
    *reach_pixels = reach * sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) + 1;
    *reach_depth = reach * sqrt(m[8] * m[8] + m[9] * m[9] + m[10] * m[10]);
}

/* First and last column and row of the tiles that a glyph may cover; returns 0 if there are none. */
static int tiles_touched(const hot_raster *raster, size_t item, int low[2], int high[2])
{
    double center[3], reach_pixels, reach_depth;
    project(raster, &raster->job.list->items[item], center, &reach_pixels, &reach_depth);
    const int last[2] = {raster->columns - 1, raster->rows - 1}, size[2] = {raster->width, raster->height};
    if (!(reach_pixels < 1e7)) /* larger than any picture, or not finite */
        return 0;
    for (int d = 0; d < 2; d++) {
        if (!(center[d] + reach_pixels >= 0 && center[d] - reach_pixels <= size[d]))
            return 0;
        low[d] = (int)fmax(0, floor((center[d] - reach_pixels) / raster->side));
        high[d] = (int)fmin(last[d], floor((center[d] + reach_pixels) / raster->side));
    }
    return 1;
}

static size_t depth_bin(const hot_raster *raster, size_t item, int bins)
{
    const double *m = raster->matrix + 8;
    const float *c = raster->job.list->items[item].center;
    const double depth = m[0] * (double)c[0] + m[1] * (double)c[1] + m[2] * (double)c[2] + m[3];
    return (size_t)fmin(bins - 1, fmax(0, bins * depth));
}

/* Sorts items front to back (counting sort by depth), so that hidden glyphs are found early. */
static hot_status sort_by_depth(hot_raster *raster)
{
    enum { BINS = 4096 };
    const size_t count = raster->job.list->first[HOT_SPHERES];
    size_t begin[BINS + 1] = {0};
    HOT_TRY(reserve(raster->context, (void **)&raster->sorted, &raster->sorted_capacity, count,
                    sizeof *raster->sorted));
    for (size_t g = 0; g < count; g++)
        begin[depth_bin(raster, g, BINS) + 1]++;
    for (int b = 0; b < BINS; b++)
        begin[b + 1] += begin[b];
    for (size_t g = 0; g < count; g++)
        raster->sorted[begin[depth_bin(raster, g, BINS)]++] = (uint32_t)g;
    return HOT_OK;
}

static hot_status sort_into_tiles(hot_raster *raster)
{
    const size_t tiles = (size_t)raster->columns * (size_t)raster->rows, count = raster->job.list->first[HOT_SPHERES];
    const int behind = raster->job.viewport->space;
    int low[2], high[2];
    hot_status status = reserve(raster->context, (void **)&raster->first, &raster->tile_capacity, tiles + 2,
                                  sizeof *raster->first);
    if (status == HOT_OK && behind)
        status = sort_by_depth(raster);
    if (status != HOT_OK)
        return status;
    /* counts are stored two entries further on: filling the tiles then moves each start to its final place */
    memset(raster->first, 0, (tiles + 2) * sizeof *raster->first);
    size_t *next = raster->first + 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t g = 0; g < count; g++) {
            const size_t item = behind ? raster->sorted[g] : g;
            if (!tiles_touched(raster, item, low, high))
                continue;
            for (int row = low[1]; row <= high[1]; row++)
                for (int column = low[0]; column <= high[0]; column++) {
                    const size_t tile = (size_t)row * (size_t)raster->columns + (size_t)column;
                    if (pass == 0)
                        next[tile + 1]++;
                    else
                        raster->entries[next[tile]++] = (uint32_t)item;
                }
        }
        for (size_t t = 0; t < tiles && pass == 0; t++)
            next[t + 1] += next[t];
        if (pass == 0)
            status = reserve(raster->context, (void **)&raster->entries, &raster->entry_capacity, next[tiles],
                               sizeof *raster->entries);
        if (status != HOT_OK)
            return status;
    }
    return HOT_OK;
}

hot_status hot_raster_begin(hot_raster *raster, const hot_raster_job *job, int *band)
{
    raster->job = *job;
    raster->width = (int)job->viewport->width;
    raster->height = (int)job->viewport->height;
    /* large tiles, because glyphs on tile borders are drawn twice; but enough tiles for all threads */
    raster->side = 256;
    while (raster->side > 32 && (double)raster->width * raster->height <
                                    4. * hot_context_threads(raster->context) * raster->side * raster->side)
        raster->side /= 2;
    const double max_samples = job->samples > 1 ? BAND_SAMPLES : BAND_PIXELS;
    while (raster->side > 32 && (double)raster->side * raster->width * job->samples > max_samples)
        raster->side /= 2;
    raster->columns = (raster->width + raster->side - 1) / raster->side;
    raster->rows = (raster->height + raster->side - 1) / raster->side;
    raster->band = (int)fmax(1, max_samples / ((double)raster->side * raster->width * job->samples));
    if (raster->band > raster->rows)
        raster->band = raster->rows;
    *band = raster->side * raster->band;
    set_matrix(raster, job->viewport);
    set_frame(raster, job);
    hot_status status = prepare_levels(raster);
    return status == HOT_OK ? sort_into_tiles(raster) : status;
}

/* ---- Drawing ---------------------------------------------------------------------------------------------- */

static void thread_scratch(const hot_raster *raster, const raster_level *level, int thread, raster_scratch *scratch)
{
    const size_t share = raster->scratch_capacity / (size_t)hot_context_threads(raster->context);
    float *at = raster->scratch + share * (size_t)thread;
    for (int a = 0; a < 12; a++, at += level->vertices)
        (a < 3 ? scratch->gradient : a < 6 ? scratch->place : a < 9 ? scratch->front : scratch->back)[a % 3] = at;
    scratch->side = (int32_t *)at;
}

/* Whether everything drawn within a glyph's bounds is nearer than the glyph. */
static int is_hidden(const hot_raster *raster, const raster_tile *tile, const hot_surface_item *item)
{
    double center[3], reach_pixels, reach_depth;
    project(raster, item, center, &reach_pixels, &reach_depth);
    const float nearest = (float)(center[2] - reach_depth);
    const int samples = raster->frame.samples;
    const int from_x = (int)fmax(0, floor(center[0] - reach_pixels - tile->x)),
              from_y = (int)fmax(0, floor(center[1] - reach_pixels - tile->y));
    const int to_x = (int)fmin(tile->width, ceil(center[0] + reach_pixels - tile->x));
    const int to_y = (int)fmin(tile->height, ceil(center[1] + reach_pixels - tile->y));
    for (int y = from_y; y < to_y; y++) {
        const float *depth = tile->depth + (size_t)y * tile->row;
        for (int x = from_x * samples; x < to_x * samples; x++)
            if (depth[x] > nearest)
                return 0;
    }
    return 1;
}

static void draw_tile(const hot_raster *raster, int thread, int column, int row, uint8_t (*color)[4], float *depth)
{
    const hot_surface_list *list = raster->job.list;
    const int samples = raster->frame.samples;
    raster_tile tile = {.x = column * raster->side,
                        .y = row * raster->side,
                        .width = raster->side,
                        .height = raster->side,
                        .row = (size_t)raster->width * (size_t)samples};
    raster_scratch scratch;
    if (tile.x + tile.width > raster->width)
        tile.width = raster->width - tile.x;
    if (tile.y + tile.height > raster->height)
        tile.height = raster->height - tile.y;
    tile.color = color + tile.x * samples;
    tile.depth = depth + tile.x * samples;
    for (int y = 0; y < tile.height; y++) {
        memset(tile.color + (size_t)y * tile.row, 0, (size_t)(tile.width * samples) * sizeof *tile.color);
        for (int x = 0; x < tile.width * samples; x++)
            tile.depth[(size_t)y * tile.row + (size_t)x] = 1;
    }
    const size_t number = (size_t)row * (size_t)raster->columns + (size_t)column;
    for (size_t e = raster->first[number]; e < raster->first[number + 1]; e++) {
        const size_t item = raster->entries[e];
        int l = 0;
        if (raster->job.viewport->space && is_hidden(raster, &tile, &list->items[item]))
            continue;
        if (e % 64 == 0 && hot_context_cancelled(raster->context))
            return;
        while (item >= list->first[l + 1])
            l++;
        thread_scratch(raster, &raster->level[l], thread, &scratch);
        raster->glyph(&raster->frame, &raster->level[l], &tile, item, &scratch);
    }
}

/* A band of the picture; threads draw its tiles. */
struct band {
    const hot_raster *raster;
    int begin;
    uint8_t (*color)[4];
    float *depth;
};

static void draw_part(void *job, int part, int thread)
{
    const struct band *band = job;
    const hot_raster *raster = band->raster;
    const size_t row = (size_t)raster->side * (size_t)raster->width * (size_t)raster->frame.samples;
    const int r = part / raster->columns;
    draw_tile(raster, thread, part % raster->columns, band->begin + r, band->color + row * (size_t)r,
              band->depth + row * (size_t)r);
}

hot_status hot_raster_draw(hot_raster *raster, int first, uint8_t (*color)[4], float *depth)
{
    const int begin = first / raster->side,
              rows = begin + raster->band < raster->rows ? raster->band : raster->rows - begin;
    struct band band = {.raster = raster, .begin = begin, .color = color, .depth = depth};
    hot_parallel_for(raster->context, rows * raster->columns, draw_part, &band);
    return hot_context_check(raster->context, "drawing");
}

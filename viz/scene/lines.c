#include "lines.h"

#include <math.h>
#include <stdlib.h>

#include "common/compare.h"
#include "color.h"

hot_status hot_lines_measure(hot_context *context, hot_lines *lines)
{
    float *sample = hot_context_alloc(context, lines->count, sizeof *sample);
    size_t taken = 0;
    if (!sample)
        return HOT_ERROR_MEMORY;
    for (size_t n = 0; n < lines->count; n++) /* once for each voxel: where a line is the longest */
        if (lines->line[n].largest > 0 && (n == 0 || lines->line[n].largest != lines->line[n - 1].largest))
            sample[taken++] = lines->line[n].largest;
    qsort(sample, taken, sizeof *sample, hot_ascending_f32);
    lines->typical = taken ? (double)sample[(size_t)(0.75 * (double)(taken - 1))] : 1;
    hot_context_free(context, sample);
    return HOT_OK;
}

int hot_has_lines(const hot_scene *scene, const hot_view_state *state)
{
    for (int n = 0; n < state->layers; n++) {
        const hot_lines *lines = hot_scene_layer_lines(scene, &state->layer[n]);
        if (state->layer[n].visible && lines && lines->count)
            return 1;
    }
    return 0;
}

/* ---- Which lines are in the slices ------------------------------------------------------------------------ */

/* Ranges of voxel coordinates along the axes, or of the distance from an oblique plane. */
typedef struct cut {
    const hot_scene *scene;
    const hot_viewport *viewport;
    int everything, oblique, any; /* any: in one of the ranges; else in the one of `axis` */
    int axis;
    double low[3], high[3], half;
} cut;

static cut make_cut(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport)
{
    cut made = {.scene = scene, .viewport = viewport, .axis = viewport->axis, .any = viewport->space};
    made.everything = viewport->space && state->extent == HOT_EXTENT_VOLUME;
    made.oblique = !viewport->space && !state->lock_axes;
    const int slab = viewport->space ? 1 : state->slab;
    for (int d = 0; d < 3; d++) { /* as in glyph_set.c */
        double step = 0;
        made.low[d] = state->voxel[d] - (slab - 1) / 2 - 0.5;
        made.high[d] = made.low[d] + slab;
        for (int r = 0; r < 3; r++)
            step += viewport->normal[r] * scene->to_ras[r][d];
        made.half = fmax(made.half, slab * fabs(step) / 2);
    }
    return made;
}

static int is_within(const cut *within, const double ras[3])
{
    double voxel[3], away = 0;
    if (within->everything)
        return 1;
    for (int d = 0; d < 3; d++)
        away += within->viewport->normal[d] * (ras[d] - within->viewport->point[d]);
    if (within->oblique)
        return fabs(away) <= within->half;
    hot_scene_from_ras(within->scene, ras, voxel);
    for (int d = 0; d < 3; d++)
        if ((within->any || d == within->axis) && voxel[d] >= within->low[d] && voxel[d] < within->high[d])
            return 1;
    return 0;
}

/* ---- Sticks ----------------------------------------------------------------------------------------------- */

/* mm per unit of amplitude, as hot_scene_stick_mm. */
static double mm_per_unit(const hot_lines *lines, const hot_view_state *state, const hot_line *line)
{
    static const double MAX_SIZE = 1.5;
    const double largest = (double)line->largest;
    const double full = state->normalise ? largest : fmax(lines->typical, largest / MAX_SIZE);
    return line->largest > 0 ? state->scale * lines->voxel / 2 / full : 1;
}

static int is_shown(const hot_scene *scene, const hot_view_state *state, const hot_view_layer *layer,
                    const hot_line *line, const double ras[3])
{
    const double length = sqrt((double)line->half[0] * (double)line->half[0] +
                               (double)line->half[1] * (double)line->half[1] +
                               (double)line->half[2] * (double)line->half[2]);
    int voxel[3];
    if (!(length > 0) || (line->largest > 0 && !isnan(layer->threshold) && length < layer->threshold))
        return 0;
    return !state->use_mask || !scene->mask ||
           (!hot_scene_voxel_at(scene, ras, voxel) && scene->mask[hot_scene_index(scene, voxel)]);
}

/* items: NULL = they are only counted. */
static void add_layer(const hot_scene *scene, const hot_view_state *state, const hot_view_layer *layer,
                      const hot_lines *lines, const cut *within, hot_stick_item *items, size_t *count)
{
    for (size_t n = 0; n < lines->count; n++) {
        const hot_line *line = &lines->line[n];
        const double ras[3] = {(double)line->center[0], (double)line->center[1], (double)line->center[2]};
        if (!is_within(within, ras) || !is_shown(scene, state, layer, line, ras))
            continue;
        const size_t place = (*count)++;
        if (!items)
            continue;
        hot_stick_item *item = &items[place];
        const double mm = mm_per_unit(lines, state, line);
        const double half[3] = {(double)line->half[0], (double)line->half[1], (double)line->half[2]};
        const int constant = layer->color_set ? layer->constant : line->largest > 0;
        double rgb[3];
        hot_color_direction(half, rgb);
        for (int d = 0; d < 3; d++) {
            item->center[d] = line->center[d];
            item->half[d] = (float)(mm * half[d]);
            item->rgba[d] = (uint8_t)lround(255 * fmin(fmax(constant ? layer->color[d] : rgb[d], 0), 1));
        }
        item->rgba[3] = (uint8_t)lround(255 * layer->opacity);
        item->width = (float)(state->stick_width * lines->voxel / 2);
    }
}

hot_status hot_line_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                              const hot_viewport *viewport, hot_stick_item **items, size_t *count)
{
    const cut within = make_cut(scene, state, viewport);
    *items = NULL;
    for (int pass = 0; pass < 2; pass++) { /* whole tractograms have far more lines than a slice */
        *count = 0;
        for (int n = 0; n < state->layers; n++) {
            const hot_lines *lines = hot_scene_layer_lines(scene, &state->layer[n]);
            if (lines && state->layer[n].visible)
                add_layer(scene, state, &state->layer[n], lines, &within, *items, count);
        }
        if (pass == 0 && !(*items = hot_context_alloc(context, *count, sizeof **items)))
            return HOT_ERROR_MEMORY;
    }
    return HOT_OK;
}

/* Crosshair, orientation letters, scale bar and caption of a viewport. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "overlay_parts.h"
#include "scene/glyph_size.h"
#include "scene/vector.h"

double hot_overlay_line(const hot_overlay_page *page, hot_text_style style)
{
    return (double)page->list->text->faces[style].line;
}

double hot_overlay_ascent(const hot_overlay_page *page, hot_text_style style)
{
    return (double)page->list->text->faces[style].ascent;
}

/* ---- Colours on the canvas ------------------------------------------------------------------------------- */

/* Whether letters must be dark: white paper. */
static int is_bright(const hot_overlay_page *page)
{
    const double *canvas = page->state->canvas;
    return 0.3 * canvas[0] + 0.59 * canvas[1] + 0.11 * canvas[2] > 0.5;
}

hot_rgba hot_overlay_ink(const hot_overlay_page *page)
{
    return is_bright(page) ? (hot_rgba){0.08f, 0.09f, 0.10f, 1} : HOT_INK;
}

hot_rgba hot_overlay_dim(const hot_overlay_page *page)
{
    return is_bright(page) ? (hot_rgba){0.35f, 0.37f, 0.40f, 1} : HOT_INK_DIM;
}

hot_rgba hot_overlay_accent(const hot_overlay_page *page)
{
    return is_bright(page) ? (hot_rgba){0.60f, 0.33f, 0, 1} : HOT_ACCENT;
}

hot_rgba hot_overlay_rim(const hot_overlay_page *page)
{
    return is_bright(page) ? (hot_rgba){1, 1, 1, 0.6f} : (hot_rgba){0, 0, 0, 0.6f};
}

/* ---- Letters --------------------------------------------------------------------------------------------- */

void hot_overlay_letters(const double ras[3], int known, char letters[3])
{
    static const double LEAN = 0.2679491924311227; /* tan 15 degrees */
    int first = 0, count = 0;
    memset(letters, 0, 3);
    for (int d = 1; d < 3; d++)
        if (fabs(ras[d]) > fabs(ras[first]) + 1e-9)
            first = d;
    int second = (first + 1) % 3, third = (first + 2) % 3;
    if (fabs(ras[third]) > fabs(ras[second]) + 1e-9)
        second = third;
    if (!known) {
        letters[0] = ras[first] < 0 ? '-' : '+';
        letters[1] = "xyz"[first];
        return;
    }
    letters[count++] = (ras[first] < 0 ? "LPI" : "RAS")[first];
    if (fabs(ras[second]) > LEAN * fabs(ras[first]))
        letters[count++] = (ras[second] < 0 ? "LPI" : "RAS")[second];
}

/* Anatomical directions at the edges of a plane. */
static void add_edge_letters(const hot_overlay_page *page, const hot_viewport *viewport)
{
    const double margin = 9 * page->unit, ascent = hot_overlay_ascent(page, HOT_TEXT_LETTER);
    /* capitals are about .73 of the ascent high; this centres them */
    const double x = viewport->x + viewport->width / 2, y = viewport->y + viewport->height / 2 + 0.37 * ascent;
    const struct { const double *axis; double sign, x, y, align; } edges[4] = {
        {viewport->right, -1, viewport->x + margin, y, 0},
        {viewport->right, 1, viewport->x + viewport->width - margin, y, 1},
        {viewport->up, 1, x, viewport->y + margin + 0.75 * ascent, 0.5},
        {viewport->up, -1, x, viewport->y + viewport->height - margin, 0.5}};
    for (int e = 0; e < 4; e++) {
        double direction[3];
        char letters[3];
        for (int d = 0; d < 3; d++)
            direction[d] = edges[e].sign * edges[e].axis[d];
        hot_overlay_letters(direction, page->scene->grid.space != HOT_SPACE_UNKNOWN, letters);
        hot_draw_text(page->list, edges[e].x, edges[e].y, edges[e].align, HOT_TEXT_LETTER, hot_overlay_accent(page),
                      "%s", letters);
    }
}

/* The ball of directions, with letters at the axes: first those behind it. */
static void add_ball_letters(const hot_overlay_page *page, const hot_viewport *viewport)
{
    static const char *const named[6] = {"R", "A", "S", "L", "P", "I"}, *const unnamed[6] = {"+x", "+y", "+z",
                                                                                             "−x", "−y", "−z"};
    const int known = page->scene->grid.space != HOT_SPACE_UNKNOWN;
    const double radius = 24 * page->unit, reach = radius + 11 * page->unit;
    /* a single view, and the first pane, have the status below the ball */
    const int linked = page->layout->count > 1 && !page->layout->panes;
    const double below = linked ? 0 : 1.6 * hot_overlay_line(page, HOT_TEXT_PLAIN);
    const double x = viewport->x + reach + 14 * page->unit;
    const double y = viewport->y + viewport->height - reach - 14 * page->unit - below;
    const double ascent = hot_overlay_ascent(page, HOT_TEXT_BOLD);
    for (int front = 0; front < 2; front++) {
        if (front) {
            double frame[3][3];
            memcpy(frame[0], viewport->right, sizeof frame[0]);
            memcpy(frame[1], viewport->up, sizeof frame[1]);
            memcpy(frame[2], viewport->toward, sizeof frame[2]);
            hot_draw_ball(page->list, x, y, radius, (const double (*)[3])frame);
        }
        for (int i = 0; i < 6; i++) {
            const double sign = i < 3 ? 1 : -1;
            const int axis = i % 3;
            if ((sign * viewport->toward[axis] >= -1e-9) != front)
                continue;
            hot_draw_text(page->list, x + reach * sign * viewport->right[axis],
                          y - reach * sign * viewport->up[axis] + 0.37 * ascent, 0.5, HOT_TEXT_BOLD,
                          front ? hot_overlay_accent(page) : hot_overlay_dim(page), "%s",
                          known ? named[i] : unnamed[i]);
        }
    }
}

void hot_overlay_add_orientation(const hot_overlay_page *page, const hot_viewport *viewport)
{
    if (viewport->space && viewport->layer < 0)
        add_ball_letters(page, viewport);
    else if (!viewport->space)
        add_edge_letters(page, viewport);
}

/* ---- Crosshair ------------------------------------------------------------------------------------------- */

/* Clips a line through `at` with direction `along` to the viewport. ends: distances from the point. Returns 0 if
 * nothing is left. */
static int clip_line(const hot_viewport *viewport, const double at[2], const double along[2], double ends[2])
{
    const double low[2] = {viewport->x, viewport->y};
    const double high[2] = {viewport->x + viewport->width, viewport->y + viewport->height};
    for (int d = 0; d < 2; d++) {
        if (fabs(along[d]) < 1e-12) {
            if (at[d] < low[d] || at[d] > high[d])
                return 0;
            continue;
        }
        const double a = (low[d] - at[d]) / along[d], b = (high[d] - at[d]) / along[d];
        ends[0] = fmax(ends[0], fmin(a, b));
        ends[1] = fmin(ends[1], fmax(a, b));
    }
    return ends[0] < ends[1];
}

/* A line through the point from `from` to `to`, with a gap that keeps the voxel visible. */
static void add_gapped_line(const hot_overlay_page *page, const hot_viewport *viewport, const double at[2],
                            const double along[2], double from, double to, double gap)
{
    const hot_rgba color = is_bright(page) ? (hot_rgba){0.60f, 0.33f, 0, 0.7f} : (hot_rgba){1.0f, 0.86f, 0.35f, 0.62f};
    const double parts[2][2] = {{from, -gap}, {gap, to}};
    for (int p = 0; p < 2; p++) {
        double ends[2] = {parts[p][0], parts[p][1]};
        if (ends[0] < ends[1] && clip_line(viewport, at, along, ends))
            hot_draw_line(page->list, at[0] + ends[0] * along[0], at[1] + ends[0] * along[1],
                          at[0] + ends[1] * along[0], at[1] + ends[1] * along[1], fmax(1, round(page->unit)), color);
    }
}

void hot_overlay_add_crosshair(const hot_overlay_page *page, const hot_viewport *viewport)
{
    const hot_scene *scene = page->scene;
    const double largest = fmax(scene->spacing[0], fmax(scene->spacing[1], scene->spacing[2]));
    const double gap = fmax(0.75 * largest / viewport->mm_per_pixel, 5 * page->unit);
    const double whole = viewport->width + viewport->height;
    double at[2];
    hot_viewport_project(viewport, viewport->point, at);
    if (!viewport->space) {
        /* pixel centres: lines one pixel wide stay sharp */
        const double middle[2] = {floor(at[0]) + 0.5, floor(at[1]) + 0.5};
        add_gapped_line(page, viewport, middle, (const double[2]){1, 0}, -whole, whole, gap);
        add_gapped_line(page, viewport, middle, (const double[2]){0, 1}, -whole, whole, gap);
        return;
    }
    for (int axis = 0; axis < 3; axis++) { /* along the voxel axes, to the grid's borders */
        const double last = (double)scene->grid.size[axis] - 1, here = page->state->voxel[axis];
        double step[3], flat[2], length;
        for (int d = 0; d < 3; d++)
            step[d] = scene->to_ras[d][axis];
        flat[0] = dot(step, viewport->right) / viewport->mm_per_pixel;
        flat[1] = -dot(step, viewport->up) / viewport->mm_per_pixel;
        length = hypot(flat[0], flat[1]);
        if (length < 1e-3) /* it points at the viewer */
            continue;
        flat[0] /= length;
        flat[1] /= length;
        add_gapped_line(page, viewport, at, flat, -(here + 0.5) * length, (last - here + 0.5) * length,
                        fmin(gap, length));
    }
}

/* ---- Scale and caption ----------------------------------------------------------------------------------- */

double hot_overlay_round_length(double max_length)
{
    double length = pow(10, floor(log10(max_length) + 1e-9));
    length *= max_length >= 5 * length * (1 - 1e-9) ? 5 : max_length >= 2 * length * (1 - 1e-9) ? 2 : 1;
    return length;
}

void hot_overlay_add_scale_bar(const hot_overlay_page *page, const hot_viewport *viewport)
{
    const double unit = page->unit, max_length = fmin(viewport->width / 4, 200 * unit) * viewport->mm_per_pixel;
    if (!(max_length > 0) || !isfinite(max_length))
        return;
    const double length = hot_overlay_round_length(max_length), pixels = length / viewport->mm_per_pixel;
    const double x2 = round(viewport->x + viewport->width - 14 * unit), x = round(x2 - pixels);
    const double y = round(viewport->y + viewport->height - 14 * unit), thick = fmax(2, round(2 * unit)),
                 tick = 4 * unit;
    const hot_rgba rim = hot_overlay_rim(page);
    const double rims = fmax(1, round(unit));
    hot_draw_rectangle(page->list, x - rims, y - thick - rims, x2 + rims, y + rims, rim, rim);
    hot_draw_rectangle(page->list, x, y - thick, x2, y, hot_overlay_ink(page), hot_overlay_ink(page));
    hot_draw_text(page->list, (x + x2) / 2, y - thick - tick, 0.5, HOT_TEXT_PLAIN, hot_overlay_ink(page), "%g mm",
                  length);
}

/* Which set a pane shows, how many fibres it has at the crosshair, and its own threshold. */
static void describe_set(const hot_overlay_page *page, const hot_viewport *viewport, char *text, size_t size)
{
    const hot_view_state *state = page->state;
    const hot_scene *set = hot_viewport_glyphs_of(viewport, page->scene, state);
    const hot_view_layer *layer = viewport->layer < 0 ? NULL : &state->layer[viewport->layer];
    const char *name = layer ? layer->source : page->scene->title, *slash = layer ? strrchr(name, '/') : NULL;
    const int missing = (state->glyph == HOT_GLYPH_SURFACE && !set->order) ||
                        (state->glyph == HOT_GLYPH_STICKS && !set->max_fibers);
    size_t used = (size_t)snprintf(text, size, "%s", slash && slash[1] ? slash + 1 : name);
    if (missing && used < size)
        used += (size_t)snprintf(text + used, size - used, ": no %s",
                                 state->glyph == HOT_GLYPH_SURFACE ? "tensors" : "directions");
    if (layer && !isnan(layer->threshold) && used < size)
        used += (size_t)snprintf(text + used, size - used, ", threshold %.3g", layer->threshold);
    if (set->max_fibers && used < size) {
        const int fibers = hot_scene_fibers(set, hot_scene_index(set, state->voxel));
        snprintf(text + used, size - used, ": %d fibre%s", fibers, fibers == 1 ? "" : "s");
    }
}

void hot_overlay_add_caption(const hot_overlay_page *page, const hot_viewport *viewport)
{
    static const char *const planes[3] = {"axial", "sagittal", "coronal"};
    const double x = viewport->x + 12 * page->unit;
    const double y = viewport->y + 9 * page->unit + hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    char place[128], set[400] = "";
    if (viewport->space)
        snprintf(place, sizeof place, "3-D");
    else
        snprintf(place, sizeof place, "%s%s, slice %d of %zu", planes[viewport->plane],
                 fabs(page->state->tilt[0]) < 1 - 1e-12 ? " (turned)" : "", page->state->voxel[viewport->axis] + 1,
                 page->scene->grid.size[viewport->axis]);
    if (page->layout->panes)
        describe_set(page, viewport, set, sizeof set);
    const int first = viewport->layer < 0;
    hot_draw_text(page->list, x, y, 0, HOT_TEXT_PLAIN, viewport->space && !page->layout->panes ? hot_overlay_dim(page)
                  : hot_overlay_ink(page), "%s%s%s", first ? place : "", first && set[0] ? "   " : "", set);
}

/* Without this, a voxel below the threshold looks like one without fibres. */
static void list_in_force(const hot_overlay_page *page, char *text, size_t size)
{
    const hot_view_state *state = page->state;
    const hot_scene *scene = page->scene;
    size_t used = 0;
    text[0] = '\0';
    if (!scene->order && !scene->max_fibers)
        return;
    const struct { int shown; const char *format; double value; } parts[] = {
        {state->glyph == HOT_GLYPH_NONE, "no glyphs", 0},
        {state->threshold > 0, "threshold %.3g", state->threshold},
        {state->normalise, "equal sizes", 0},
        {fabs(state->scale - 1) > 1e-9, "scale %.3g", state->scale},
        {state->clip, "cut at voxels", 0},
        {scene->diffusion && !hot_scene_draws_ellipsoids(scene, state), "peanuts", 0},
        {state->slab > 1 && state->mode != HOT_VIEW_SPACE, "slab of %g", state->slab},
        {state->use_mask && scene->mask != NULL, "inside the mask", 0},
        {scene->order && scene->max_fibers && state->glyph == HOT_GLYPH_SURFACE, "surfaces only", 0},
        {scene->order && scene->max_fibers && state->glyph == HOT_GLYPH_STICKS, "sticks only", 0},
    };
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        char part[64];
        snprintf(part, sizeof part, parts[p].format, parts[p].value);
        if (parts[p].shown && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", part);
    }
}

void hot_overlay_add_in_force(const hot_overlay_page *page, const hot_viewport *viewport)
{
    const double x = viewport->x + 12 * page->unit, line = hot_overlay_line(page, HOT_TEXT_PLAIN);
    double y = viewport->y + 9 * page->unit + hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    char text[512];
    list_in_force(page, text, sizeof text);
    if (text[0])
        hot_draw_text(page->list, x, y += line, 0, HOT_TEXT_PLAIN, hot_overlay_dim(page), "%s", text);
    if (page->state->show_hint)
        hot_draw_text(page->list, x, y + line, 0, HOT_TEXT_PLAIN, hot_overlay_dim(page), "%s",
                      page->state->show_hint == 2 ? "H: help   Tab: panel" : "H: help");
}

/* A closer look at where most fibres cross: in each plane a window of voxels, and in each of these a body that reaches
 * as far in every direction as its fibres say, a lobe along each. Parallel rays hit it from the front. */
#include <math.h>
#include <string.h>

#include "page.h"
#include "common/entry.h"

enum { WINDOW = 10, TILE = 52, FINER = 2, STEPS = 20, HALVINGS = 6, FIBERS = 4 };
/* The colour of a lobe that is not certain at all: a gray just above the ground's. */
static const double FADED = .15;

typedef struct body {
    int fibers;
    double along[FIBERS][3]; /* unit vectors: to the right, downwards, and to the reader or away from him */
    double reach[FIBERS];    /* 1: half a voxel */
    double color[FIBERS][3];
} body;

/* How far a body reaches beyond p, in units of half a voxel; below 0 within it. weight: of each lobe there. */
static double beyond(const body *b, const double p[3], double weight[FIBERS])
{
    const double square = fmax(1e-12, p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    double reach = .04; /* a bead where the lobes meet */
    for (int n = 0; n < b->fibers; n++) {
        const double dot = b->along[n][0] * p[0] + b->along[n][1] * p[1] + b->along[n][2] * p[2];
        double lobe = dot * dot / square;
        for (int power = 0; power < 3; power++) /* |cos|^16: half as far at 17 degrees */
            lobe *= lobe;
        weight[n] = b->reach[n] * lobe;
        reach += weight[n];
    }
    return sqrt(square) - reach;
}

/* Whether the ray through x, y passes a body by, wherever on it: its points are no nearer than the first, and no nearer
 * in angle to a lobe than the plane that it spans with the centre. Most rays are done with here. */
static int passes_by(const body *b, double x, double y)
{
    const double square = fmax(1e-12, x * x + y * y);
    double reach = .04;
    for (int n = 0; n < b->fibers; n++) {
        const double dot = b->along[n][0] * x + b->along[n][1] * y;
        double lobe = dot * dot / square + b->along[n][2] * b->along[n][2];
        for (int power = 0; power < 3; power++)
            lobe *= lobe;
        reach += b->reach[n] * lobe;
    }
    return sqrt(square) > reach + 1e-6; /* more than the rounding of beyond */
}

/* The colour of a ray, 0 to 1: light comes from the upper left. Returns 0 where it hits nothing. */
static int trace(const body *b, double x, double y, double color[3])
{
    static const double light[3] = {-.45, -.55, .70};
    double weight[FIBERS], sum = 1e-9, p[3] = {x, y, 0}, slope[3], inside = -1;
    const double most = sqrt(fmax(0, 1 - x * x - y * y)); /* nothing reaches farther than .94 */
    int hit = 0;
    if (most == 0 || passes_by(b, x, y))
        return 0;
    for (int step = 0; step <= STEPS && !hit; step++) {
        p[2] = most * (1 - 2. * step / STEPS);
        hit = beyond(b, p, weight) < 0;
    }
    if (!hit)
        return 0;
    inside = p[2];
    double outside = fmin(most, inside + 2 * most / STEPS);
    for (int half = 0; half < HALVINGS; half++) {
        p[2] = .5 * (inside + outside);
        *(beyond(b, p, weight) < 0 ? &inside : &outside) = p[2];
    }
    for (int d = 0; d < 3; d++) {
        const double here = p[d], step = 1e-3;
        p[d] = here + step;
        slope[d] = beyond(b, p, weight);
        p[d] = here - step;
        slope[d] -= beyond(b, p, weight);
        p[d] = here;
    }
    beyond(b, p, weight);
    const double length = fmax(1e-12, sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]));
    double bright = 0;
    memset(color, 0, 3 * sizeof *color);
    for (int d = 0; d < 3; d++)
        bright += light[d] * slope[d] / length;
    for (int n = 0; n < b->fibers; n++) {
        sum += weight[n];
        for (int d = 0; d < 3; d++)
            color[d] += weight[n] * b->color[n][d];
    }
    for (int d = 0; d < 3; d++)
        color[d] *= (.35 + .65 * fmax(0, bright)) / sum;
    return 1;
}

static void make_body(const hot_page *page, const hot_panel *panel, size_t voxel, body *b)
{
    const size_t row = 3 * (size_t)page->fibers->max_fibers;
    const double full = fmax(1e-12, page->lengths[0].p95);
    double sign[3];
    hot_space_ras_sign(page->grid.space, sign);
    b->fibers = page->fibers->counts[voxel] < FIBERS ? page->fibers->counts[voxel] : FIBERS;
    for (int n = 0; n < b->fibers; n++) {
        const float *peak = page->fibers->peaks + voxel * row + 3 * n;
        const double length = sqrt((double)peak[0] * peak[0] + (double)peak[1] * peak[1] + (double)peak[2] * peak[2]);
        const double shown = hot_fiber_field_shown(page->fibers, voxel, (size_t)n);
        double ras[3], axes[3] = {0}, size = 0;
        for (int d = 0; d < 3; d++)
            ras[d] = sign[d] * peak[d] / fmax(1e-12, length);
        for (int axis = 0; axis < 3; axis++)
            for (int d = 0; d < 3; d++)
                axes[axis] += page->layout.to_axes[axis][d] * ras[d];
        const double screen[3] = {panel->across_sign * axes[panel->across], panel->down_sign * axes[panel->down],
                                  axes[panel->through]};
        for (int d = 0; d < 3; d++)
            size += screen[d] * screen[d];
        for (int d = 0; d < 3; d++) {
            b->along[n][d] = screen[d] / fmax(1e-12, sqrt(size));
            b->color[n][d] = shown * fabs(ras[d]) + (1 - shown) * FADED;
        }
        b->reach[n] = .9 * fmin(1, length / full);
    }
}

static size_t voxel_at(const hot_page *page, const hot_panel *panel, size_t column, size_t row)
{
    size_t at[3];
    hot_panel_voxel(&page->layout, panel, column, row, at);
    return at[0] + page->grid.size[0] * (at[1] + page->grid.size[1] * at[2]);
}

/* The window in which most fibres cross. */
static void choose_window(const hot_page *page, const hot_panel *panel, hot_page_window *w)
{
    size_t columns, rows, most = 0;
    hot_panel_size(&page->layout, panel, &columns, &rows);
    *w = (hot_page_window){.columns = columns < WINDOW ? columns : WINDOW, .rows = rows < WINDOW ? rows : WINDOW};
    for (size_t r = 0; r + w->rows <= rows; r++)
        for (size_t c = 0; c + w->columns <= columns; c++) {
            size_t sum = 0;
            for (size_t i = 0; i < w->rows * w->columns; i++) {
                const size_t voxel = voxel_at(page, panel, c + i % w->columns, r + i / w->columns);
                const size_t fibers = page->fibers->counts[voxel];
                sum += fibers > 1 ? 3 : fibers;
            }
            if (sum > most) {
                most = sum;
                w->column = c;
                w->row = r;
            }
        }
    w->empty = most == 0;
}

static hot_status draw(hot_page *page, const hot_panel *panel, const hot_page_window *w, hot_png *png)
{
    const size_t width = w->columns * TILE, height = w->rows * TILE, voxels = w->columns * w->rows;
    unsigned char *rgb = hot_context_alloc(page->context, width * height, 3);
    if (!rgb)
        return HOT_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(hot_context_threads(page->context)))
    for (size_t v = 0; v < voxels; v++) {
        const size_t column = v % w->columns, row = v / w->columns;
        body b;
        make_body(page, panel, voxel_at(page, panel, w->column + column, w->row + row), &b);
        for (int y = 0; y < TILE; y++)
            for (int x = 0; x < TILE; x++) {
                static const double ground[3] = {.047, .051, .063};
                double sum[3] = {0}, color[3];
                for (int part = 0; part < FINER * FINER; part++) {
                    const double at_x = (x + (part % FINER + .5) / FINER) / (.5 * TILE) - 1;
                    const double at_y = (y + (part / FINER + .5) / FINER) / (.5 * TILE) - 1;
                    const int hit = b.fibers > 0 && trace(&b, at_x, at_y, color);
                    for (int d = 0; d < 3; d++)
                        sum[d] += hit ? color[d] : ground[d];
                }
                unsigned char *to = rgb + 3 * ((row * TILE + (size_t)y) * width + column * TILE + (size_t)x);
                for (int d = 0; d < 3; d++)
                    to[d] = (unsigned char)lround(255 * fmin(1, sum[d] / (FINER * FINER)));
            }
    }
    FILE *file = hot_png_begin(page->context, png);
    hot_status status = file ? hot_png_put(page->context, rgb, (int)width, (int)height, 0, file) : HOT_ERROR_MEMORY;
    hot_context_free(page->context, rgb);
    return hot_png_end(page->context, png, file, status);
}

hot_status hot_page_draw_glyphs(hot_page *page)
{
    hot_status status = HOT_OK;
    for (int p = 0; p < HOT_PAGE_PLANES && status == HOT_OK; p++) {
        const hot_panel *panel = &page->layout.panels[p];
        if (hot_page_is_thin(page, p))
            continue;
        choose_window(page, panel, &page->window[p]);
        if (!page->window[p].empty)
            status = draw(page, panel, &page->window[p], &page->glyphs[p]);
        if (status == HOT_OK)
            status = hot_context_progress(page->context, "drawing glyphs", (p + 1.) / HOT_PAGE_PLANES);
    }
    return status;
}

void hot_page_write_glyphs(FILE *file, const hot_page *page)
{
    static const int order[HOT_PAGE_PLANES] = {2, 0, 1};
    if (!page->glyphs[0].bytes && !page->glyphs[1].bytes && !page->glyphs[2].bytes)
        return;
    fputs("<h3>Glyphs: a closer look</h3>\n<div class=\"planes\">\n", file);
    for (int i = 0; i < HOT_PAGE_PLANES; i++) {
        const hot_panel *panel = &page->layout.panels[order[i]];
        const hot_page_window *w = &page->window[order[i]];
        size_t one[3], other[3];
        char where[120];
        if (!page->glyphs[order[i]].bytes)
            continue;
        hot_panel_voxel(&page->layout, panel, w->column, w->row, one);
        hot_panel_voxel(&page->layout, panel, w->column + w->columns - 1, w->row + w->rows - 1, other);
        const int a = panel->across, d = panel->down;
        snprintf(where, sizeof where, "%s, %c = %zu, %c = %zu to %zu, %c = %zu to %zu", panel->name,
                 "ijk"[panel->through], panel->slice, "ijk"[a], one[a] < other[a] ? one[a] : other[a],
                 one[a] < other[a] ? other[a] : one[a], "ijk"[d], one[d] < other[d] ? one[d] : other[d],
                 one[d] < other[d] ? other[d] : one[d]);
        hot_page_write_plane(file, panel, &page->glyphs[order[i]], (double)w->columns, (double)w->rows, 1, "Glyphs",
                           where);
    }
    fputs("</div>\n<p class=\"soft\">Where most fibres cross in each slice: a glyph per voxel, with a lobe along each "
          "fibre, as long as its stick.</p>\n", file);
}

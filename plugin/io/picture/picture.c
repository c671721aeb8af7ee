/* png: a picture of the three middle slices, fibres as sticks over the background, or (dec.png) voxels in the colours
 * of their directions. Lines and text by cairo. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "picture_layout.h"
#include "plane.h"

typedef struct hot_picture {
    hot_context *context;
    const hot_fiber_field *fibers;
    const float *background; /* NULL: the sum of the fibres' amplitudes */
    int colors;              /* voxels in the colours of their directions instead of sticks */
    hot_picture_layout layout;
    double sign[3];          /* world -> RAS */
    double low, high;        /* the background's window */
    double full;             /* amplitude of full brightness: the 95th percentile */
    double typical;          /* amplitude of a stick as long as a voxel: the upper quartile, as in the viewer */
    cairo_t *cairo;
} hot_picture;

static double vector_length(const float v[3])
{
    return sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
}

static size_t voxel_index(const hot_grid *grid, const size_t at[3])
{
    return at[0] + grid->size[0] * (at[1] + grid->size[1] * at[2]);
}

static double background_value(const hot_picture *picture, size_t voxel)
{
    if (picture->background)
        return picture->background[voxel];
    const hot_fiber_field *fibers = picture->fibers;
    double sum = 0;
    for (size_t fiber = 0; fiber < fibers->counts[voxel]; fiber++)
        sum += vector_length(fibers->peaks + 3 * (voxel * (size_t)fibers->max_fibers + fiber));
    return sum;
}

/* ---- Windows --------------------------------------------------------------------------------------------- */

/* The background's 2nd and 98th percentile and the amplitudes' 75th and 95th, over the voxels that are not 0 (a sample
 * of them in large volumes). */
static hot_status find_windows(hot_context *context, hot_picture *picture)
{
    enum { MOST = 200000 };
    size_t voxels = hot_grid_voxels(&picture->fibers->grid), step = voxels / MOST + 1, count = 0, sticks = 0;
    float *values = hot_context_alloc(context, 2 * (voxels / step + 1), sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    float *amplitudes = values + voxels / step + 1;
    for (size_t voxel = 0; voxel < voxels; voxel += step) {
        double value = background_value(picture, voxel);
        if (isfinite(value) && value != 0)
            values[count++] = (float)value;
        double length = vector_length(picture->fibers->peaks + 3 * (size_t)picture->fibers->max_fibers * voxel);
        if (length > 0)
            amplitudes[sticks++] = (float)length;
    }
    qsort(values, count, sizeof *values, hot_ascending_f32);
    qsort(amplitudes, sticks, sizeof *amplitudes, hot_ascending_f32);
    picture->low = count ? values[(size_t)(0.02 * (double)(count - 1))] : 0;
    picture->high = count ? values[(size_t)(0.98 * (double)(count - 1))] : 1;
    picture->full = sticks ? amplitudes[(size_t)(0.95 * (double)(sticks - 1))] : 1;
    picture->typical = sticks ? amplitudes[(size_t)(0.75 * (double)(sticks - 1))] : 1;
    if (!picture->background || picture->high <= picture->low)
        picture->low = fmin(0, picture->low);
    hot_context_free(context, values);
    return HOT_OK;
}

/* ---- Slices ---------------------------------------------------------------------------------------------- */

static void draw_background(const hot_picture *picture, const hot_panel *panel, size_t columns, size_t rows)
{
    cairo_t *cairo = picture->cairo;
    cairo_surface_t *slice = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)columns, (int)rows);
    unsigned char *pixels = cairo_image_surface_get_data(slice);
    for (size_t r = 0; pixels && r < rows; r++) {
        uint32_t *row = (uint32_t *)(void *)(pixels + r * (size_t)cairo_image_surface_get_stride(slice));
        for (size_t c = 0; c < columns; c++) {
            size_t at[3];
            hot_panel_voxel(&picture->layout, panel, c, r, at);
            size_t voxel = voxel_index(&picture->fibers->grid, at);
            if (picture->colors) {
                row[c] = hot_picture_color(picture->fibers, picture->full, voxel);
                continue;
            }
            double value = background_value(picture, voxel);
            double gray = (value - picture->low) / fmax(picture->high - picture->low, 1e-300);
            /* not brighter than half: the sticks must stand out */
            uint32_t level = gray > 0 ? (uint32_t)(128 * fmin(gray, 1)) : 0; /* NaN is 0 */
            row[c] = level << 16 | level << 8 | level;
        }
    }
    cairo_surface_mark_dirty(slice);
    cairo_save(cairo);
    cairo_translate(cairo, panel->x, panel->y);
    cairo_scale(cairo, panel->width / (double)columns, panel->height / (double)rows);
    cairo_set_source_surface(cairo, slice, 0, 0);
    /* a blend of two colours would be a direction that is not there */
    cairo_pattern_set_filter(cairo_get_source(cairo), picture->colors ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_BILINEAR);
    cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
    cairo_rectangle(cairo, 0, 0, (double)columns, (double)rows);
    cairo_fill(cairo);
    cairo_restore(cairo);
    cairo_surface_destroy(slice);
}

/* The colour of a direction, a unit vector: its parts in scanner axes, as in the viewer. */
static void direction_color(const double ras[3], double color[3])
{
    for (int d = 0; d < 3; d++)
        color[d] = fabs(ras[d]);
}

/* One stick about (x, y), half a voxel to each side at amplitude `full`. `under`: its dark rim, which keeps it apart
 * from its neighbours and from bright background. shown: 1, or less where it fades. */
static void draw_stick(const hot_picture *picture, const hot_panel *panel, const float v[3], double shown, double full,
                       double x, double y, int under)
{
    const hot_picture_layout *layout = &picture->layout;
    double ras[3], along[3] = {0}, color[3], amplitude = vector_length(v);
    double smallest = fmin(layout->spacing[0], fmin(layout->spacing[1], layout->spacing[2])) * layout->scale;
    const double strength = fmin(1, amplitude / full), half = 0.5 * smallest * amplitude / full;
    for (int d = 0; d < 3; d++)
        ras[d] = picture->sign[d] * v[d] / amplitude;
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            along[axis] += layout->to_axes[axis][d] * ras[d];
    double dx = half * panel->across_sign * along[panel->across], dy = half * panel->down_sign * along[panel->down];
    /* thicker when strong, and the more it points at us: a dot is seen as well as a line */
    double thick = fmax(1.3, (0.05 + (0.08 + 0.1 * fabs(along[panel->through])) * strength) * smallest);
    direction_color(ras, color);
    cairo_set_line_width(picture->cairo, under ? thick + 2 : thick);
    if (under)
        cairo_set_source_rgba(picture->cairo, 0, 0, 0, 0.55 * shown);
    else
        cairo_set_source_rgba(picture->cairo, color[0], color[1], color[2], shown);
    cairo_move_to(picture->cairo, x - dx, y - dy);
    cairo_line_to(picture->cairo, x + dx, y + dy);
    cairo_stroke(picture->cairo); /* round caps: a stick that points at us is a dot */
}

static double longest_stick(const hot_fiber_field *fibers, size_t voxel)
{
    double longest = 0;
    for (size_t fiber = 0; fiber < fibers->counts[voxel]; fiber++)
        longest = fmax(longest, vector_length(fibers->peaks + 3 * (voxel * (size_t)fibers->max_fibers + fiber)));
    return longest;
}

static void draw_sticks(const hot_picture *picture, const hot_panel *panel, size_t columns, size_t rows)
{
    const hot_fiber_field *fibers = picture->fibers;
    double step_x = panel->width / (double)columns, step_y = panel->height / (double)rows;
    for (size_t r = 0; r < rows && !hot_context_cancelled(picture->context); r++)
        for (size_t c = 0; c < columns; c++) {
            size_t at[3];
            hot_panel_voxel(&picture->layout, panel, c, r, at);
            size_t voxel = voxel_index(&fibers->grid, at);
            double x = panel->x + ((double)c + 0.5) * step_x, y = panel->y + ((double)r + 0.5) * step_y;
            /* the viewer's rule of length: a typical stick fills its voxel, none is longer than 1.5 times that */
            const double full = fmax(picture->typical, longest_stick(fibers, voxel) / 1.5);
            for (size_t fiber = fibers->counts[voxel]; fiber-- > 0;) { /* the longest on top */
                const float *v = fibers->peaks + 3 * (voxel * (size_t)fibers->max_fibers + fiber);
                const double shown = hot_fiber_field_shown(fibers, voxel, fiber);
                if (step_x >= 8)
                    draw_stick(picture, panel, v, shown, full, x, y, 1);
                draw_stick(picture, panel, v, shown, full, x, y, 0);
            }
        }
}

static void draw_slice(const hot_picture *picture, const hot_panel *panel)
{
    size_t columns, rows;
    hot_panel_size(&picture->layout, panel, &columns, &rows);
    draw_background(picture, panel, columns, rows);
    cairo_save(picture->cairo);
    cairo_rectangle(picture->cairo, panel->x, panel->y, panel->width, panel->height);
    cairo_clip(picture->cairo);
    if (!picture->colors)
        draw_sticks(picture, panel, columns, rows);
    cairo_restore(picture->cairo);
}

/* ---- Text and legend ------------------------------------------------------------------------------------- */

static void set_gray(const hot_picture *picture, double gray)
{
    cairo_set_source_rgb(picture->cairo, gray, gray, gray);
}

/* Text with its middle line at y; align 0 = begins at x, .5 = centred, 1 = ends there. */
static void draw_text(const hot_picture *picture, double x, double y, double align, const char *text)
{
    cairo_text_extents_t text_size;
    cairo_font_extents_t font;
    cairo_text_extents(picture->cairo, text, &text_size);
    cairo_font_extents(picture->cairo, &font);
    cairo_move_to(picture->cairo, x - align * text_size.x_advance, y + (font.ascent - font.descent) / 2);
    cairo_show_text(picture->cairo, text);
}

static void draw_panel(const hot_picture *picture, const hot_panel *panel)
{
    const hot_picture_layout *layout = &picture->layout;
    const double font = layout->font, right = panel->x + panel->width, bottom = panel->y + panel->height;
    draw_slice(picture, panel);
    set_gray(picture, 0.35);
    cairo_set_line_width(picture->cairo, 1);
    cairo_rectangle(picture->cairo, panel->x - 0.5, panel->y - 0.5, panel->width + 1, panel->height + 1);
    cairo_stroke(picture->cairo);

    char caption[96];
    snprintf(caption, sizeof caption, "%s, slice %zu of %zu", panel->name, panel->slice + 1,
             picture->fibers->grid.size[panel->through]);
    set_gray(picture, 0.75);
    draw_text(picture, panel->x + panel->width / 2, panel->y - 2.4 * font, 0.5, caption);
    set_gray(picture, 1);
    draw_text(picture, panel->x - 0.5 * font, panel->y + panel->height / 2, 1, panel->letters[0]);
    draw_text(picture, right + 0.5 * font, panel->y + panel->height / 2, 0, panel->letters[1]);
    draw_text(picture, panel->x + panel->width / 2, panel->y - 0.9 * font, 0.5, panel->letters[2]);
    draw_text(picture, panel->x + panel->width / 2, bottom + 0.9 * font, 0.5, panel->letters[3]);
}

/* The half sphere of directions, as the axial slice shows them, in their colours. */
static void draw_color_ball(const hot_picture *picture, double x, double y, double radius)
{
    int size = (int)ceil(2 * radius) + 2;
    cairo_surface_t *ball = cairo_image_surface_create(CAIRO_FORMAT_RGB24, size, size);
    unsigned char *pixels = cairo_image_surface_get_data(ball);
    for (int r = 0; pixels && r < size; r++) {
        uint32_t *row = (uint32_t *)(void *)(pixels + (size_t)r * (size_t)cairo_image_surface_get_stride(ball));
        for (int c = 0; c < size; c++) {
            double u = (c + 0.5 - size / 2.) / radius, v = (r + 0.5 - size / 2.) / radius, color[3];
            const double direction[3] = {u, v, sqrt(fmax(0, 1 - u * u - v * v))};
            direction_color(direction, color);
            row[c] = (uint32_t)lround(255 * color[0]) << 16 | (uint32_t)lround(255 * color[1]) << 8 |
                     (uint32_t)lround(255 * color[2]);
        }
    }
    cairo_surface_mark_dirty(ball);
    cairo_set_source_surface(picture->cairo, ball, x - size / 2., y - size / 2.);
    cairo_arc(picture->cairo, x, y, radius, 0, 6.283185307179586);
    cairo_fill(picture->cairo);
    cairo_surface_destroy(ball);
}

static void draw_legend(const hot_picture *picture)
{
    const hot_picture_layout *layout = &picture->layout;
    const hot_fiber_field *fibers = picture->fibers;
    const double font = layout->font, line = 1.55 * font, radius = 4 * font;
    const int known = fibers->grid.space != HOT_SPACE_UNKNOWN;
    double x = layout->legend_x, y = layout->legend_y + radius + 1.6 * font;
    size_t voxels = hot_grid_voxels(&fibers->grid), having[4] = {0};
    char text[6][128];
    for (size_t voxel = 0; voxel < voxels; voxel++)
        having[fibers->counts[voxel] < 3 ? fibers->counts[voxel] : 3]++;

    double ball_x = x + radius + 1.6 * font;
    draw_color_ball(picture, ball_x, y, radius);
    set_gray(picture, 1);
    draw_text(picture, ball_x - radius - 0.4 * font, y, 1, known ? "R" : "+x");
    draw_text(picture, ball_x + radius + 0.4 * font, y, 0, known ? "L" : "-x");
    draw_text(picture, ball_x, y - radius - 0.9 * font, 0.5, known ? "A" : "+y");
    draw_text(picture, ball_x, y + radius + 0.9 * font, 0.5, known ? "P" : "-y");

    /* a bar of 1, 2 or 5 times a power of ten mm, up to a third of the legend's width */
    double longest = layout->legend_width / 3 / layout->scale, bar = pow(10, floor(log10(longest)));
    bar *= longest / bar >= 5 ? 5 : longest / bar >= 2 ? 2 : 1;
    double bar_x = ball_x + radius + 3 * font, bar_y = y + 0.8 * font;
    cairo_set_line_width(picture->cairo, 3);
    cairo_move_to(picture->cairo, bar_x, bar_y);
    cairo_rel_line_to(picture->cairo, bar * layout->scale, 0);
    cairo_stroke(picture->cairo);
    snprintf(text[0], sizeof text[0], "%g mm", bar);
    draw_text(picture, bar_x, bar_y - font, 0, text[0]);

    snprintf(text[0], sizeof text[0], known ? "radiological: the patient's right is on the left"
                                            : "no anatomical space known: axes x, y, z of the file");
    snprintf(text[1], sizeof text[1],
             known ? "red left-right, green front-back, blue up-down" : "red x, green y, blue z");
    snprintf(text[2], sizeof text[2], picture->colors ? "brightness: amplitude, full at %.3g"
                                                      : "stick length: amplitude, a voxel's side at %.3g",
             picture->colors ? picture->full : picture->typical);
    snprintf(text[3], sizeof text[3], "voxels with 1 / 2 / 3%s fibres: %zu / %zu / %zu",
             fibers->max_fibers > 3 ? "+" : "", having[1], having[2], having[3]);
    snprintf(text[4], sizeof text[4], "voxel %.3g x %.3g x %.3g mm, hotfiber %s", layout->spacing[0],
             layout->spacing[1], layout->spacing[2], hot_version());
    snprintf(text[5], sizeof text[5], "fainter: less certain, in number or direction");
    y += radius + 2.6 * font;
    for (int i = 0; i < 5 + (fibers->certainty != NULL); i++) {
        set_gray(picture, i == 0 ? 1 : 0.75);
        draw_text(picture, x, y + i * line, 0, text[i]);
    }
}

/* ---- The whole ------------------------------------------------------------------------------------------- */

/* Writes a PNG. fast: libpng's fast mode; its default mode takes longer than the drawing. */
static hot_status put_png(hot_context *context, cairo_surface_t *surface, int fast, FILE *file)
{
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    unsigned char *rgb = hot_context_alloc(context, (size_t)width * (size_t)height, 3), *to = rgb;
    if (!rgb)
        return HOT_ERROR_MEMORY;
    cairo_surface_flush(surface);
    for (int r = 0; r < height; r++) {
        const uint32_t *row = (const void *)(cairo_image_surface_get_data(surface) + (size_t)r * stride);
        for (int c = 0; c < width; c++)
            for (int shift = 16; shift >= 0; shift -= 8)
                *to++ = (unsigned char)(row[c] >> shift);
    }
    hot_status status = hot_png_put(context, rgb, width, height, fast, file);
    hot_context_free(context, rgb);
    return status;
}

/* HOT_OK, or what cairo ran out of. */
static hot_status check_drawn(hot_context *context, cairo_t *cairo)
{
    const cairo_status_t drawn = cairo_status(cairo);
    return drawn == CAIRO_STATUS_SUCCESS ? HOT_OK
                                         : hot_context_fail(context, HOT_ERROR_MEMORY, "cannot draw a picture: %s",
                                                            cairo_status_to_string(drawn));
}

static hot_status put_picture(hot_context *context, FILE *file, const void *what)
{
    hot_picture picture = *(const hot_picture *)what;
    const hot_fiber_field *fibers = picture.fibers;
    hot_picture_lay_out(&fibers->grid, fibers->counts, &picture.layout);
    hot_space_ras_sign(fibers->grid.space, picture.sign);
    hot_status status = find_windows(context, &picture);
    if (status != HOT_OK)
        return status;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture.layout.width,
                                                          picture.layout.height);
    picture.cairo = cairo_create(surface);
    cairo_set_source_rgb(picture.cairo, 0.055, 0.055, 0.07);
    cairo_paint(picture.cairo);
    cairo_select_font_face(picture.cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(picture.cairo, picture.layout.font);
    cairo_set_line_cap(picture.cairo, CAIRO_LINE_CAP_ROUND);
    for (int p = 0; status == HOT_OK && p < 3; p++) {
        draw_panel(&picture, &picture.layout.panels[p]);
        status = hot_context_progress(context, "drawing the picture", (p + 1.) / 4);
    }
    draw_legend(&picture);
    if (status == HOT_OK)
        status = check_drawn(context, picture.cairo);
    if (status == HOT_OK)
        status = put_png(context, surface, 1, file);
    cairo_destroy(picture.cairo);
    cairo_surface_destroy(surface);
    return status;
}

hot_status hot_export_picture(hot_context *context, const hot_fiber_field *fibers, const float *background,
                              const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, fibers, path);
    return hot_output_write(context, path, put_picture,
                            &(hot_picture){.context = context, .fibers = fibers, .background = background});
}

hot_status hot_color_picture(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    return hot_output_write(context, path, put_picture,
                            &(hot_picture){.context = context, .fibers = fibers, .colors = 1});
}

hot_status hot_write_png(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    return hot_export_picture(context, fibers, NULL, path);
}

hot_status hot_plane_fibers(hot_context *context, const hot_fiber_field *fibers, const float *background,
                            const hot_picture_layout *layout, int plane, double most, hot_png *png)
{
    hot_picture picture = {.context = context, .fibers = fibers, .background = background, .layout = *layout};
    hot_panel *panel = &picture.layout.panels[plane];
    hot_space_ras_sign(fibers->grid.space, picture.sign);
    HOT_TRY(find_windows(context, &picture));
    const double grow = most / fmax(panel->width, panel->height); /* enlarged only as far as the layout says */
    const double scale = fmin(grow, hot_picture_largest_scale(layout) / layout->scale);
    picture.layout.scale *= scale;
    panel->x = panel->y = 0;
    panel->width = fmax(1, round(scale * panel->width));
    panel->height = fmax(1, round(scale * panel->height));
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)panel->width, (int)panel->height);
    picture.cairo = cairo_create(surface);
    cairo_set_line_cap(picture.cairo, CAIRO_LINE_CAP_ROUND);
    draw_slice(&picture, panel);
    hot_status status = check_drawn(context, picture.cairo);
    FILE *file = status == HOT_OK ? hot_png_begin(context, png) : NULL;
    if (status == HOT_OK)
        status = file ? put_png(context, surface, 0, file) : HOT_ERROR_MEMORY;
    cairo_destroy(picture.cairo);
    cairo_surface_destroy(surface);
    return hot_png_end(context, png, file, status);
}

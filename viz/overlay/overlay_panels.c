/* Status, legend, values of the voxel, help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/color.h"
#include "input/input.h"
#include "overlay_parts.h"
#include "scene/lines.h"
#include "scene/pick.h"

static hot_rgba opaque(const double rgb[3]) { return (hot_rgba){(float)rgb[0], (float)rgb[1], (float)rgb[2], 1}; }

/* ---- The crosshair's voxel ------------------------------------------------------------------------------- */

void hot_overlay_add_status(const hot_overlay_page *page)
{
    const hot_scene *scene = page->scene;
    const int *voxel = page->state->voxel;
    char words[HOT_PICK_WORDS][HOT_PICK_WORD];
    const hot_viewport *last = &page->layout->viewport[page->layout->panes ? 0 : page->layout->count - 1];
    const int linked = page->layout->count > 1 && !page->layout->panes;
    if (linked && page->state->show_values) /* the panel is in the same place and shows all of this */
        return;
    hot_pick_words(scene, page->state, voxel, words);
    if (linked) { /* below the caption of the 3-D view */
        double y = last->y + 9 * page->unit + hot_overlay_ascent(page, HOT_TEXT_PLAIN);
        for (int w = 0; w < HOT_PICK_WORDS; w++)
            if (words[w][0])
                hot_draw_text(page->list, last->x + 12 * page->unit, y += hot_overlay_line(page, HOT_TEXT_PLAIN), 0,
                              HOT_TEXT_PLAIN, hot_overlay_ink(page), "%s", words[w]);
        return;
    }
    char line[HOT_PICK_WORDS * (HOT_PICK_WORD + 4)];
    hot_pick_line(scene, page->state, voxel, line, sizeof line);
    double y = last->y + last->height - 12 * page->unit;
    /* in narrow pictures: above the orientation letter in the middle */
    if (!last->space && 50 * page->unit + hot_text_width(page->list->text, HOT_TEXT_PLAIN, line) > last->width / 2)
        y -= hot_overlay_line(page, HOT_TEXT_LETTER);
    hot_draw_text(page->list, 12 * page->unit, y, 0, HOT_TEXT_PLAIN, hot_overlay_ink(page), "%s", line);
}

/* ---- Legend ---------------------------------------------------------------------------------------------- */

/* Round tick values from low to high: returns the first, and the step in *step. */
static double round_ticks(double low, double high, double *step)
{
    *step = hot_overlay_round_length((high - low) / 2.5);
    return *step * ceil(low / *step - 1e-9);
}

static void add_color_bar(const hot_overlay_page *page, double top)
{
    enum { BANDS = 64 };
    double range[2];
    const hot_view_volume *volume = hot_scene_color_volume(page->scene, page->state, range);
    const double low = range[0], high = range[1];
    if (!volume || volume->components != 1)
        return;
    const double unit = page->unit, width = round(12 * unit), x2 = page->layout->width - round(14 * unit),
                 x = x2 - width;
    const double y = round(top + 1.9 * hot_overlay_line(page, HOT_TEXT_PLAIN));
    const double height = round(fmin(160 * unit, page->layout->height / 4.)),
                 ascent = hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    const hot_rgba rim = hot_overlay_rim(page);
    if (!(high > low))
        return;
    hot_draw_text(page->list, x2, y - 0.75 * ascent, 1, HOT_TEXT_PLAIN, hot_overlay_ink(page), "%s", volume->name);
    hot_draw_rectangle(page->list, x - unit, y - unit, x2 + unit, y + height + unit, rim, rim);
    for (int band = 0; band < BANDS; band++) {
        double a[3], b[3];
        hot_color_map(1 - band / (double)BANDS, a);
        hot_color_map(1 - (band + 1) / (double)BANDS, b);
        hot_draw_rectangle(page->list, x, y + height * band / BANDS, x2, y + height * (band + 1) / BANDS, opaque(a),
                           opaque(b));
    }
    double step, first = round_ticks(low, high, &step);
    for (int tick = 0; tick < 12; tick++) {
        const double value = first + tick * step;
        if (value > high + 1e-9 * (high - low))
            break;
        const double at = round(y + height * (high - value) / (high - low));
        hot_draw_rectangle(page->list, x - round(4 * unit), at - fmax(1, floor(unit / 2)), x,
                           at + fmax(1, floor(unit / 2)) - 1, hot_overlay_ink(page), hot_overlay_ink(page));
        hot_draw_text(page->list, x - 7 * unit, at + 0.36 * ascent, 1, HOT_TEXT_PLAIN, hot_overlay_ink(page), "%.4g",
                      value + 0.);
    }
}

static void add_fiber_colors(const hot_overlay_page *page, double top)
{
    const double line = hot_overlay_line(page, HOT_TEXT_PLAIN), ascent = hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    const double x2 = page->layout->width - 14 * page->unit, side = round(0.8 * ascent);
    const int count = page->scene->max_fibers < 5 ? page->scene->max_fibers : 5;
    const int sticks = page->state->glyph == HOT_GLYPH_STICKS;
    for (int f = 0; f < count; f++) {
        double rgb[3];
        const double y = top + (1.4 + f) * line;
        hot_color_fiber(f, rgb);
        hot_draw_round(page->list, x2 - side, y - side, x2, y, opaque(rgb));
        hot_draw_text(page->list, x2 - side - 7 * page->unit, y, 1, HOT_TEXT_PLAIN, hot_overlay_ink(page),
                      sticks ? "fibre %d%s" : "%d%s", f + 1, f == 4 ? "+" : "");
    }
}

/* A line for every layer on display, from the topmost: what it is and its window, in its own colour. Returns where the
 * last line is. */
static double add_layers(const hot_overlay_page *page, double top)
{
    const hot_view_state *state = page->state;
    for (int n = state->layers - 1; n >= 0; n--) {
        const hot_view_layer *layer = &state->layer[n];
        const hot_view_volume *volume = hot_scene_layer_volume(page->scene, layer);
        const hot_lines *lines = hot_scene_layer_lines(page->scene, layer);
        const char *slash = strrchr(layer->source, '/');
        hot_rgba ink = hot_overlay_ink(page);
        char window[64] = "";
        if (!layer->visible || layer->beside) /* panes have captions */
            continue;
        if (lines && (layer->color_set ? layer->constant : lines->typical > 0))
            ink = opaque(layer->color);
        if (volume && volume->components == 1 && !volume->labels) {
            double range[2];
            hot_layer_window(volume, layer, range);
            snprintf(window, sizeof window, "  %.4g to %.4g", range[0] + 0., range[1]);
        }
        hot_draw_text(page->list, page->layout->width - 14 * page->unit,
                      top += hot_overlay_line(page, HOT_TEXT_PLAIN), 1, HOT_TEXT_PLAIN, ink, "%s%s",
                      volume ? volume->name : slash ? slash + 1 : layer->source, window);
    }
    return top;
}

void hot_overlay_add_legend(const hot_overlay_page *page)
{
    const hot_view_state *state = page->state;
    const hot_view_volume *image = state->show_image ? hot_scene_volume(page->scene, state->background) : NULL;
    const double unit = page->unit;
    double top = 9 * unit + hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    char series[128];
    if (image) {
        double window[2];
        hot_volume_window(image, state->window, window);
        hot_draw_text(page->list, page->layout->width - 14 * unit, top, 1, HOT_TEXT_PLAIN, hot_overlay_ink(page),
                      "%s  %.4g to %.4g", image->name, window[0] + 0., window[1]);
        const int described = hot_volume_describe_frame(image, series, sizeof series);
        if (described && hot_text_width(page->list->text, HOT_TEXT_PLAIN, series) > 0.6 * page->layout->width)
            top += hot_overlay_line(page, HOT_TEXT_PLAIN); /* below the text at the left */
        if (described)
            hot_draw_text(page->list, page->layout->width - 14 * unit,
                          top += hot_overlay_line(page, HOT_TEXT_PLAIN), 1, HOT_TEXT_PLAIN, hot_overlay_ink(page),
                          "%s", series);
    }
    top = add_layers(page, top);
    if (!state->show_colorbar || state->glyph == HOT_GLYPH_NONE)
        return;
    const hot_viewport *view = &page->layout->viewport[0];
    const int linked = page->layout->count > 1 && !page->layout->panes;
    if (state->color == HOT_COLOR_VALUE) {
        add_color_bar(page, top);
    } else if (state->color == HOT_COLOR_FIBER) {
        add_fiber_colors(page, top);
    } else if (state->color == HOT_COLOR_DIRECTION && !linked && !view->space) {
        /* in 3-D views add_ball_letters draws the ball */
        const double radius = 20 * unit,
                     y = view->y + view->height - 3.2 * hot_overlay_line(page, HOT_TEXT_PLAIN) - radius;
        double frame[3][3];
        memcpy(frame[0], view->right, sizeof frame[0]);
        memcpy(frame[1], view->up, sizeof frame[1]);
        memcpy(frame[2], view->toward, sizeof frame[2]);
        hot_draw_ball(page->list, 14 * unit + radius, y, radius, (const double (*)[3])frame);
    }
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

void hot_overlay_add_values(const hot_overlay_page *page, const char *text)
{
    const hot_text *font = page->list->text;
    const double unit = page->unit, line = hot_overlay_line(page, HOT_TEXT_MONO), pad = 10 * unit, gap = 24 * unit;
    const double caption = hot_overlay_line(page, HOT_TEXT_PLAIN);
    const hot_viewport *view = &page->layout->viewport[page->layout->panes ? 0 : page->layout->count - 1];
    /* Below the caption. In a plane: right of the letter at its left edge and above the status. With several views: in
     * the last, which is 3-D. */
    const double x = round(view->x + (view->space ? 12 : 44) * unit), y = round(view->y + 16 * unit + caption);
    const double under = page->layout->count > 1 && !page->layout->panes ? 10 * unit : 3 * caption;
    const double room = view->y + view->height - y - 2 * pad - under;
    const size_t lines = count_lines(text), fit = room > 4 * line ? (size_t)(room / line) : 4;
    double width = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        width = fmax(width, hot_text_width(font, HOT_TEXT_MONO, at));
    size_t columns = (lines + fit - 1) / fit;
    const double wide = view->x + view->width - x - 10 * unit - 2 * pad + gap;
    const size_t max_columns = wide > 2 * (width + gap) ? (size_t)(wide / (width + gap)) : 1;
    const size_t shown_columns = columns < max_columns ? columns : max_columns;
    /* if lines do not fit, the last line says how many are missing */
    const size_t room_lines = shown_columns * fit, shown = lines <= room_lines ? lines : room_lines - 1;
    const size_t rows = shown_columns > 1 || lines > fit ? fit : lines;
    hot_draw_round(page->list, x, y, x + 2 * pad + (double)shown_columns * (width + gap) - gap,
                   y + 2 * pad + (double)rows * line, HOT_PAPER);
    const char *at = text;
    for (size_t l = 0; l < shown; l++, at += strcspn(at, "\n") + 1) {
        const double left = x + pad + (double)(l / fit) * (width + gap), row = (double)(l % fit);
        char piece[256];
        snprintf(piece, sizeof piece, "%.*s", (int)strcspn(at, "\n"), at);
        hot_draw_text(page->list, left, y + pad + row * line + hot_overlay_ascent(page, HOT_TEXT_MONO), 0,
                      HOT_TEXT_MONO, piece[0] == ' ' ? HOT_INK : HOT_ACCENT, "%s", piece);
    }
    if (shown < lines)
        hot_draw_text(page->list, x + pad + (double)(shown_columns - 1) * (width + gap),
                      y + pad + (double)(fit - 1) * line + hot_overlay_ascent(page, HOT_TEXT_MONO), 0, HOT_TEXT_MONO,
                      HOT_INK_DIM, "… %zu more lines; a click prints them all", lines - shown);
}

/* ---- Messages -------------------------------------------------------------------------------------------- */

/* Number of bytes of `text` that fit in `room` pixels, up to the last blank if possible. */
static size_t fitting(const hot_text *font, const char *text, double room)
{
    size_t blank = 0;
    double width = 0;
    for (const char *at = text; *at;) {
        const char *letter = at;
        const uint32_t code = hot_text_next(&at);
        width += (double)hot_text_find(font, HOT_TEXT_PLAIN, code)->advance;
        if (width > room && letter > text)
            return blank ? blank : (size_t)(letter - text);
        if (code == ' ')
            blank = (size_t)(at - text);
    }
    return strlen(text);
}

void hot_overlay_add_message(const hot_overlay_page *page, const char *message)
{
    enum { LINES = 6 };
    const double unit = page->unit, line = hot_overlay_line(page, HOT_TEXT_PLAIN), pad = 12 * unit;
    const double max_width = fmax(page->layout->width - 2 * pad - 40 * unit, 60 * unit), top = round(44 * unit);
    const char *starts[LINES];
    size_t lengths[LINES], lines = 0;
    double widest = 0;
    char piece[512];
    for (const char *at = message; *at && lines < LINES; at += lengths[lines++]) {
        starts[lines] = at;
        lengths[lines] = fitting(page->list->text, at, max_width);
        snprintf(piece, sizeof piece, "%.*s", (int)lengths[lines], at);
        widest = fmax(widest, hot_text_width(page->list->text, HOT_TEXT_PLAIN, piece));
    }
    const double x = round((page->layout->width - widest) / 2 - pad);
    hot_draw_round(page->list, x, top, x + widest + 2 * pad, top + 2 * pad + (double)lines * line,
                   (hot_rgba){0.36f, 0.08f, 0.06f, 0.94f});
    for (size_t l = 0; l < lines; l++) {
        snprintf(piece, sizeof piece, "%.*s", (int)lengths[l], starts[l]);
        hot_draw_text(page->list, x + pad, top + pad + (double)l * line + hot_overlay_ascent(page, HOT_TEXT_PLAIN), 0,
                      HOT_TEXT_PLAIN, HOT_INK, "%s", piece);
    }
}

/* ---- Help ------------------------------------------------------------------------------------------------ */

enum { HELP_COLUMNS = 4 };

typedef struct help_layout {
    int columns;
    int rows;                           /* of the highest column */
    double width;                       /* of all columns, without margins */
    double label[HELP_COLUMNS], help[HELP_COLUMNS]; /* widths of the two parts of a column, including the gap after
                                                       each */
    size_t first[HELP_COLUMNS + 1];     /* first row of the table in each column */
} help_layout;

/* Breaks groups of rows[] into columns of at most `height` rows. Returns the number of columns. Writes the first
 * `columns` entries of first[]. */
static int break_groups(const int *rows, const size_t *starts, size_t groups, int height, int columns, size_t *first)
{
    int used = 1, filled = 0;
    first[0] = 0;
    for (size_t g = 0; g < groups; g++) {
        if (filled && filled + rows[g] > height) {
            if (used < columns)
                first[used] = starts[g];
            used++;
            filled = 0;
        }
        filled += rows[g];
    }
    return used;
}

/* Lays the table out in this number of columns. Columns start with groups and have the smallest possible maximum
 * height. */
static void lay_out_help(const hot_overlay_page *page, int columns, help_layout *out)
{
    enum { MAX_GROUPS = 16 };
    size_t count, starts[MAX_GROUPS], groups = 0;
    int rows[MAX_GROUPS] = {0}, height = 1;
    const hot_binding *table = hot_bindings(&count);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        if ((i == 0 || strcmp(table[i].group, table[i - 1].group)) && groups < MAX_GROUPS) {
            starts[groups] = i;
            rows[groups++] = 2; /* the heading, and the gap after the group */
        }
        rows[groups - 1] += table[i].label != NULL;
    }
    while ((out->columns = break_groups(rows, starts, groups, height, columns, out->first)) > columns)
        height++;
    out->first[out->columns] = count;
    out->rows = height - 1;
    for (int c = 0; c < out->columns; c++) {
        for (size_t i = out->first[c]; i < out->first[c + 1]; i++)
            if (table[i].label) {
                out->label[c] = fmax(out->label[c], hot_text_width(page->list->text, HOT_TEXT_BOLD, table[i].label));
                out->help[c] = fmax(out->help[c], hot_text_width(page->list->text, HOT_TEXT_PLAIN, table[i].help));
            }
        out->label[c] += 12 * page->unit;
        out->help[c] += c + 1 < out->columns ? 26 * page->unit : 0;
        out->width += out->label[c] + out->help[c];
    }
}

void hot_overlay_add_help(const hot_overlay_page *page)
{
    size_t count;
    const hot_binding *table = hot_bindings(&count);
    const double unit = page->unit, typical_line = hot_overlay_line(page, HOT_TEXT_PLAIN), pad = 22 * unit,
                 title = 1.9 * typical_line;
    const double width = page->layout->width, height = page->layout->height;
    const double ascent = hot_overlay_ascent(page, HOT_TEXT_PLAIN);
    const hot_rgba shade = {0, 0, 0, 0.45f};
    help_layout best;
    /* the fewest columns that fit the height; otherwise the most that fit the width */
    for (int columns = 1; columns <= HELP_COLUMNS; columns++) {
        help_layout tried;
        lay_out_help(page, columns, &tried);
        if (columns > 1 && tried.width + pad > width)
            break;
        best = tried;
        if (tried.rows * typical_line + title + 2 * pad <= height &&
            (columns > 1 || tried.rows * typical_line < 0.6 * height))
            break;
    }
    /* in low pictures lines move closer together, as far as letters allow */
    const double line = fmax(0.86 * typical_line, fmin(typical_line, (height - title - 1.5 * pad) / best.rows)),
                 tall = best.rows * line;
    const double x = round((width - best.width) / 2 - pad), top = fmax(0, round((height - tall - title) / 2 - pad));
    const double bottom = fmin(height, top + tall + title + 2 * pad);
    hot_draw_rectangle(page->list, 0, 0, width, height, shade, shade);
    hot_draw_round(page->list, x, top, x + best.width + 2 * pad, bottom, (hot_rgba){0.07f, 0.08f, 0.10f, 0.94f});
    hot_draw_text(page->list, x + pad, top + pad + ascent, 0, HOT_TEXT_LETTER, HOT_INK, "Keys and mouse");
    double left = x + pad;
    for (int c = 0; c < best.columns; left += best.label[c] + best.help[c], c++) {
        double y = top + pad + title + ascent;
        const char *group = "";
        for (size_t i = best.first[c]; i < best.first[c + 1]; i++) {
            if (!table[i].label)
                continue;
            if (y > bottom - pad / 2 + unit)
                break;
            if (strcmp(group, table[i].group)) {
                y += *group ? line : 0;
                hot_draw_text(page->list, left, y, 0, HOT_TEXT_BOLD, HOT_INK_DIM, "%s", table[i].group);
                y += line;
            }
            group = table[i].group;
            hot_draw_text(page->list, left, y, 0, HOT_TEXT_BOLD, HOT_ACCENT, "%s", table[i].label);
            hot_draw_text(page->list, left + best.label[c], y, 0, HOT_TEXT_PLAIN, HOT_INK, "%s", table[i].help);
            y += line;
        }
    }
}

#include "text.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/free.h"

enum { REPLACEMENT = 0xfffd, MAX_ATLAS_WIDTH = 8192 /* twice as high; supported by all current drivers */ };

/* Family, weight and height (desktop units) of each style. fontconfig substitutes missing families. */
static const struct {
    const char *family;
    cairo_font_weight_t weight;
    double size;
} style_table[HOT_TEXT_STYLES] = {
    [HOT_TEXT_PLAIN] = {"DejaVu Sans", CAIRO_FONT_WEIGHT_NORMAL, 13},
    [HOT_TEXT_BOLD] = {"DejaVu Sans", CAIRO_FONT_WEIGHT_BOLD, 13},
    [HOT_TEXT_LETTER] = {"DejaVu Sans", CAIRO_FONT_WEIGHT_BOLD, 18},
    [HOT_TEXT_MONO] = {"DejaVu Sans Mono", CAIRO_FONT_WEIGHT_NORMAL, 12},
};

/* Ascending. Extended Latin, Greek and Cyrillic are for file names, which use the plain style. Scales above FEWER_ABOVE
 * leave them out, because the atlas would be too large. */
static const double FEWER_ABOVE = 4;
static const struct {
    uint32_t first, last;
    int plain_only;
} range_table[] = {
    {0x20, 0x7e, 0},     {0xa0, 0xff, 0},     {0x100, 0x17f, 1},   {0x391, 0x3c9, 1},   {0x3bb, 0x3bb, 0},
    {0x400, 0x45f, 1},   {0x2013, 0x2014, 0}, {0x2018, 0x2019, 0}, {0x201c, 0x201d, 0}, {0x2022, 0x2022, 0},
    {0x2026, 0x2026, 0}, {0x2190, 0x2193, 0}, {0x2212, 0x2212, 0}, {0x2248, 0x2248, 0}, {0x2264, 0x2265, 0},
    {0xfffd, 0xfffd, 0},
};
enum { RANGES = sizeof range_table / sizeof range_table[0] };

/* A letter to be drawn into the atlas. */
typedef struct pending {
    hot_text_glyph *glyph;
    unsigned long index; /* of the font */
    hot_text_style style;
} pending;

typedef struct baker {
    hot_text *text;
    cairo_scaled_font_t *fonts[HOT_TEXT_STYLES];
    pending *all;
    size_t count;
    double rim; /* pixels */
} baker;

/* ---- Fonts ----------------------------------------------------------------------------------------------- */

static hot_status open_fonts(hot_context *context, baker *bake)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_matrix_t identity;
    cairo_matrix_init_identity(&identity);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT); /* base lines on whole rows */
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_ON); /* advances of whole pixels */
    hot_status status = HOT_OK;
    for (int s = 0; s < HOT_TEXT_STYLES && status == HOT_OK; s++) {
        cairo_matrix_t size;
        double pixels = fmax(round(style_table[s].size * bake->text->scale), 6);
        cairo_matrix_init_scale(&size, pixels, pixels);
        cairo_font_face_t *face =
            cairo_toy_font_face_create(style_table[s].family, CAIRO_FONT_SLANT_NORMAL, style_table[s].weight);
        bake->fonts[s] = cairo_scaled_font_create(face, &size, &identity, options);
        cairo_font_face_destroy(face);
        if (cairo_scaled_font_status(bake->fonts[s]) != CAIRO_STATUS_SUCCESS)
            status = hot_context_fail(context, HOT_ERROR_MEMORY, "cairo cannot open the font '%s': %s",
                                      style_table[s].family,
                                      cairo_status_to_string(cairo_scaled_font_status(bake->fonts[s])));
        /* without fonts cairo falls back to a built-in stroke font */
        else if (cairo_scaled_font_get_type(bake->fonts[s]) == CAIRO_FONT_TYPE_USER)
            status = hot_context_fail(context, HOT_ERROR_FILE,
                                      "fontconfig found no font: install one (Debian: fonts-dejavu-core), or use "
                                      "--annotations off");
    }
    cairo_font_options_destroy(options);
    return status;
}

static size_t put_utf8(uint32_t code, char out[5])
{
    size_t n = 0;
    if (code < 0x80) {
        out[n++] = (char)code;
    } else if (code < 0x800) {
        out[n++] = (char)(0xc0 | code >> 6);
        out[n++] = (char)(0x80 | (code & 63));
    } else {
        out[n++] = (char)(0xe0 | code >> 12);
        out[n++] = (char)(0x80 | (code >> 6 & 63));
        out[n++] = (char)(0x80 | (code & 63));
    }
    out[n] = 0;
    return n;
}

/* The font's index of a character, or 0. */
static unsigned long font_index(cairo_scaled_font_t *font, uint32_t code)
{
    char utf8[5];
    cairo_glyph_t one, *glyphs = &one;
    int count = 1;
    unsigned long index = 0;
    size_t length = put_utf8(code, utf8);
    if (cairo_scaled_font_text_to_glyphs(font, 0, 0, utf8, (int)length, &glyphs, &count, NULL, NULL, NULL) ==
            CAIRO_STATUS_SUCCESS && count == 1)
        index = glyphs[0].index;
    if (glyphs != &one)
        cairo_glyph_free(glyphs);
    return index;
}

/* Measures all letters that the fonts have. */
static hot_status measure(hot_context *context, baker *bake)
{
    size_t max_letters = 0;
    for (size_t r = 0; r < RANGES; r++)
        max_letters += range_table[r].last - range_table[r].first + 1;
    bake->all = hot_context_alloc(context, HOT_TEXT_STYLES * max_letters, sizeof *bake->all);
    if (!bake->all)
        return HOT_ERROR_MEMORY;
    for (int s = 0; s < HOT_TEXT_STYLES; s++) {
        hot_text_face *face = &bake->text->faces[s];
        cairo_font_extents_t font;
        cairo_scaled_font_extents(bake->fonts[s], &font);
        face->ascent = (float)font.ascent;
        face->descent = (float)font.descent;
        face->line = (float)ceil(font.height * 1.12);
        face->glyphs = hot_context_calloc(context, max_letters, sizeof *face->glyphs);
        if (!face->glyphs)
            return HOT_ERROR_MEMORY;
        const int margin = (int)ceil(bake->rim) + 1;
        uint32_t next = 0;
        for (size_t r = 0; r < RANGES; r++)
            for (uint32_t code = range_table[r].first; code <= range_table[r].last; code++) {
                if (code < next ||
                    (range_table[r].plain_only && (s != HOT_TEXT_PLAIN || bake->text->scale > FEWER_ABOVE)))
                    continue;
                next = code + 1;
                unsigned long index = font_index(bake->fonts[s], code);
                if (!index && code != REPLACEMENT)
                    continue;
                cairo_glyph_t glyph = {index, 0, 0};
                cairo_text_extents_t extents;
                cairo_scaled_font_glyph_extents(bake->fonts[s], &glyph, 1, &extents);
                hot_text_glyph *out = &face->glyphs[face->count++];
                out->code = code;
                out->advance = (float)extents.x_advance;
                if (extents.width <= 0 || extents.height <= 0)
                    continue;
                out->left = (int16_t)(floor(extents.x_bearing) - margin);
                out->top = (int16_t)(floor(extents.y_bearing) - margin);
                out->width = (uint16_t)(ceil(extents.x_bearing + extents.width) + margin - out->left);
                out->height = (uint16_t)(ceil(extents.y_bearing + extents.height) + margin - out->top);
                bake->all[bake->count++] = (pending){out, index, (hot_text_style)s};
            }
    }
    return HOT_OK;
}

/* ---- The atlas ------------------------------------------------------------------------------------------- */

static int taller(const void *a, const void *b)
{
    const pending *p = a, *q = b;
    if (p->glyph->height != q->glyph->height)
        return p->glyph->height > q->glyph->height ? -1 : 1;
    return p->glyph < q->glyph ? -1 : p->glyph > q->glyph; /* ties are broken so that the atlas is deterministic */
}

/* Places the letters in rows, tallest first, in at most side x side pixels; returns 0 if they do not fit. */
static int pack(baker *bake, int side)
{
    hot_text *text = bake->text;
    int x = text->corner + 1, y = 0, row = text->corner + 1;
    for (size_t i = 0; i < bake->count; i++) {
        hot_text_glyph *glyph = bake->all[i].glyph;
        if (x + glyph->width > side) {
            x = 0;
            y += row;
            row = 0;
        }
        if (y + glyph->height > side || glyph->width > side)
            return 0;
        glyph->x = (uint16_t)x;
        glyph->y = (uint16_t)y;
        x += glyph->width + 1;
        row = row > glyph->height + 1 ? row : glyph->height + 1;
    }
    text->width = side;
    text->grown = y + row;
    text->height = 2 * text->grown;
    return 1;
}

static void draw_letters(const baker *bake, cairo_t *cairo)
{
    const hot_text *text = bake->text;
    cairo_set_line_width(cairo, 2 * bake->rim);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < bake->count; i++) {
        const hot_text_glyph *glyph = bake->all[i].glyph;
        cairo_glyph_t at = {bake->all[i].index, glyph->x - glyph->left, glyph->y - glyph->top};
        cairo_set_scaled_font(cairo, bake->fonts[bake->all[i].style]);
        cairo_show_glyphs(cairo, &at, 1);
        at.y += text->grown;
        cairo_show_glyphs(cairo, &at, 1);
        cairo_glyph_path(cairo, &at, 1);
        cairo_stroke(cairo);
    }
    cairo_rectangle(cairo, 0, 0, text->corner, text->corner);
    cairo_clip(cairo);
    cairo_arc(cairo, text->corner, text->corner, text->corner, 0, 6.283185307179586);
    cairo_fill(cairo);
}

static hot_status draw_atlas(hot_context *context, baker *bake)
{
    hot_text *text = bake->text;
    int side = 256;
    qsort(bake->all, bake->count, sizeof *bake->all, taller);
    while (side <= MAX_ATLAS_WIDTH && !pack(bake, side))
        side *= 2;
    if (side > MAX_ATLAS_WIDTH)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the font's letters at content scale %g do not fit a texture of "
                                "%d x %d pixels",
                                text->scale, MAX_ATLAS_WIDTH, 2 * MAX_ATLAS_WIDTH);
    text->pixels = hot_context_alloc(context, (size_t)text->width, (size_t)text->height);
    if (!text->pixels)
        return HOT_ERROR_MEMORY;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, text->width, text->height);
    cairo_t *cairo = cairo_create(surface);
    draw_letters(bake, cairo);
    cairo_surface_flush(surface);
    hot_status status = HOT_OK;
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "cairo cannot draw the letters: %s",
                                  cairo_status_to_string(cairo_status(cairo)));
    const uint8_t *from = cairo_image_surface_get_data(surface);
    const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    for (size_t y = 0; status == HOT_OK && y < (size_t)text->height; y++)
        memcpy(text->pixels + y * (size_t)text->width, from + y * stride, (size_t)text->width);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return status;
}

hot_status hot_text_create(hot_context *context, double scale, hot_text **out)
{
    baker bake = {0};
    hot_status status = HOT_OK;
    *out = NULL;
    if (!(scale >= 0.25 && scale <= 16))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "content scale %g: must be 0.25 to 16", scale);
    bake.text = hot_context_calloc(context, 1, sizeof *bake.text);
    if (!bake.text)
        return HOT_ERROR_MEMORY;
    bake.text->scale = scale;
    bake.text->corner = (int)lround(6 * scale);
    bake.rim = 1.5 * scale;
    status = open_fonts(context, &bake);
    if (status == HOT_OK)
        status = measure(context, &bake);
    if (status == HOT_OK)
        status = draw_atlas(context, &bake);
    for (int s = 0; s < HOT_TEXT_STYLES; s++)
        if (bake.fonts[s])
            cairo_scaled_font_destroy(bake.fonts[s]);
    hot_context_free(context, bake.all);
    if (status != HOT_OK)
        hot_text_destroy(context, &bake.text);
    *out = bake.text;
    return status;
}

void hot_text_destroy(hot_context *context, hot_text **text)
{
    if (!text || !*text)
        return;
    for (int s = 0; s < HOT_TEXT_STYLES; s++)
        hot_context_free(context, (*text)->faces[s].glyphs);
    HOT_FREE(context, (*text)->pixels, *text);
    *text = NULL;
}

/* ---- Strings --------------------------------------------------------------------------------------------- */

const hot_text_glyph *hot_text_find(const hot_text *text, hot_text_style style, uint32_t code)
{
    const hot_text_face *face = &text->faces[style];
    size_t low = 0, high = face->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (face->glyphs[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < face->count && face->glyphs[low].code == code)
        return &face->glyphs[low];
    return &face->glyphs[face->count - 1]; /* U+FFFD, the last letter of every face */
}

uint32_t hot_text_next(const char **utf8)
{
    const unsigned char *s = (const unsigned char *)*utf8;
    if (!*s)
        return 0;
    *utf8 += 1;
    if (*s < 0x80)
        return *s;
    int more = *s >= 0xf0 && *s < 0xf5 ? 3 : *s >= 0xe0 && *s < 0xf0 ? 2 : *s >= 0xc2 && *s < 0xe0 ? 1 : 0;
    uint32_t code = *s & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return REPLACEMENT;
        code = code << 6 | (s[i] & 63u);
    }
    if (!more)
        return REPLACEMENT;
    *utf8 += more;
    return code;
}

double hot_text_width(const hot_text *text, hot_text_style style, const char *utf8)
{
    double width = 0;
    for (uint32_t code; (code = hot_text_next(&utf8)) != 0 && code != '\n';)
        width += hot_text_find(text, style, code)->advance;
    return width;
}

/* A font atlas: cairo draws the letters once into one picture, which is uploaded as a texture. No OpenGL.
 *
 * The atlas is made for one content scale, so that text is sharp on HiDPI screens. It has each letter twice: plain, and
 * grown by a rim. The rim is drawn dark underneath, so that text is readable on any background. */
#pragma once

#include <hotfiber/context.h>

typedef enum hot_text_style {
    HOT_TEXT_PLAIN = 0, /* running text */
    HOT_TEXT_BOLD,      /* headings, names of keys */
    HOT_TEXT_LETTER,    /* large and bold: R L A P S I */
    HOT_TEXT_MONO,      /* columns of numbers */
    HOT_TEXT_STYLES
} hot_text_style;

/* One letter. All in pixels, y downwards. */
typedef struct hot_text_glyph {
    uint32_t code;                /* Unicode */
    uint16_t x, y, width, height; /* in the atlas, including the rim; width 0: nothing to draw (a blank) */
    int16_t left, top;            /* from the pen position to the upper left corner of these pixels */
    float advance;                /* to the next pen position */
} hot_text_glyph;

typedef struct hot_text_face {
    float ascent, descent, line;  /* above and below the base line (both positive), and between lines */
    size_t count;
    hot_text_glyph *glyphs;       /* ascending by code */
} hot_text_face;

typedef struct hot_text {
    double scale;                 /* content scale of the atlas */
    int width, height;            /* of the atlas */
    uint8_t *pixels;              /* height x width, from the top row: coverage, 0 to 255 */
    int grown;                    /* rows from each letter to its copy with the rim */
    hot_text_face faces[HOT_TEXT_STYLES];
    int corner; /* side of the upper left square of the atlas, pixels: a quarter disc centred on its lower right
                   corner, used for the corners of round rectangles */
} hot_text;

/* Draws the atlas: Latin, Greek and Cyrillic in plain, Latin and signs in the other styles. scale: pixels per desktop
 * unit, .25 to 16. Owner of *text: the caller (hot_text_destroy). Errors: HOT_ERROR_FILE if fontconfig has no font,
 * HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT. */
hot_status hot_text_create(hot_context *context, double scale, hot_text **text);
void hot_text_destroy(hot_context *context, hot_text **text);

/* The letter with this code, or the replacement character U+FFFD; never NULL. */
const hot_text_glyph *hot_text_find(const hot_text *text, hot_text_style style, uint32_t code);

/* Returns the next code of a UTF-8 string and advances; 0 at the end. Each invalid byte is U+FFFD. */
uint32_t hot_text_next(const char **utf8);

/* Width of a string, up to its end or a newline. */
double hot_text_width(const hot_text *text, hot_text_style style, const char *utf8);

/* Letters: a font of the system drawn once, by cairo, into one picture (the atlas) that the graphics card then copies
 * from. No GL here. The atlas is made for one content scale, so a letter's pixels are the screen's pixels: text is as
 * crisp on a display of twice the density as on an ordinary one. Every letter is there twice, by itself and grown by
 * the rim that is drawn dark below it, so that it can be read on any ground. */
#ifndef HOT_VIZ_TEXT_H
#define HOT_VIZ_TEXT_H

#include <hotfiber/context.h>

typedef enum hot_text_style {
    HOT_TEXT_PLAIN = 0, /* what one reads */
    HOT_TEXT_BOLD,      /* headings, names of keys */
    HOT_TEXT_LETTER,    /* large and bold: R L A P S I */
    HOT_TEXT_MONO,      /* columns of numbers */
    HOT_TEXT_STYLES
} hot_text_style;

/* One letter. All in pixels, y downwards. */
typedef struct hot_text_glyph {
    uint32_t code;                /* Unicode */
    uint16_t x, y, width, height; /* in the atlas, with the rim; width 0: nothing to draw (a blank) */
    int16_t left, top;            /* from the pen on the base line to the upper left corner of those pixels */
    float advance;                /* how far the pen goes on */
} hot_text_glyph;

typedef struct hot_text_face {
    float ascent, descent, line;  /* above the base line, below it (positive), and from one line to the next */
    size_t count;
    hot_text_glyph *glyphs;       /* ascending code */
} hot_text_face;

typedef struct hot_text {
    double scale;                 /* the content scale it was made for */
    int width, height;            /* of the atlas */
    uint8_t *pixels;              /* height x width, row 0 on top: how much of a pixel is covered, 0 to 255 */
    int grown;                    /* so many rows below a letter stands the same letter with its rim */
    hot_text_face faces[HOT_TEXT_STYLES];
    int corner; /* at 0 0 of the atlas, this many pixels wide and high: the quarter of a disc about its
                   lower right corner, which is the upper left corner of a round rectangle */
} hot_text;

/* Draws the letters (Latin, Greek and Cyrillic in plain, Latin and signs in the other styles). scale: pixels per unit
 * of the desktop, .25 to 16. Owner of *text: the caller, until hot_text_destroy.
 * Errors: HOT_ERROR_FILE when fontconfig knows no font at all, HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT. */
hot_status hot_text_create(hot_context *context, double scale, hot_text **text);
void hot_text_destroy(hot_context *context, hot_text **text);

/* The letter of a code; the sign for "unknown" where the font has none. Never NULL. */
const hot_text_glyph *hot_text_find(const hot_text *text, hot_text_style style, uint32_t code);

/* The next code of a UTF-8 string, and moves on; 0 at its end. Broken bytes are U+FFFD, one by one. */
uint32_t hot_text_next(const char **utf8);

/* How wide a string is, up to its end or a newline. */
double hot_text_width(const hot_text *text, hot_text_style style, const char *utf8);

#endif

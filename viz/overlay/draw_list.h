/* A display list of text, lines, rectangles and direction balls, back to front. overlay.c fills it; hot_draw_list_mesh
 * converts it to triangles. No OpenGL.
 *
 * Pixels of the framebuffer from the upper left corner, y down. */
#pragma once

#include "overlay_mesh.h"
#include "text.h"

typedef struct hot_rgba {
    float r, g, b, a; /* not premultiplied, 0 to 1 */
} hot_rgba;

typedef enum hot_draw_kind {
    HOT_DRAW_RECTANGLE, /* x y to x2 y2, from `color` at the top to `color2` at the bottom */
    HOT_DRAW_ROUND,     /* the same with round corners, in `color` */
    HOT_DRAW_LINE,      /* x y to x2 y2, `size` wide */
    HOT_DRAW_TEXT,      /* pen position x y on the base line */
    HOT_DRAW_BALL /* hemisphere facing the viewer in direction colours; centre x y, radius `size` */
} hot_draw_kind;

typedef struct hot_draw_item {
    hot_draw_kind kind;
    float x, y, x2, y2, size;
    hot_rgba color, color2;
    hot_text_style style;
    size_t text;       /* offset of the string in the list's characters */
    float frame[3][3]; /* ball: right, up and towards the viewer as rows, scanner RAS */
} hot_draw_item;

typedef struct hot_draw_list {
    hot_context *context;
    const hot_text *text;  /* measures strings; borrowed */
    hot_draw_item spare;   /* target of items that do not fit any more */
    hot_draw_item *items;
    size_t count, items_capacity;
    char *characters;      /* NUL-terminated strings */
    size_t used, characters_capacity;
    hot_status status;     /* the first failure, reported by hot_draw_list_mesh */
} hot_draw_list;

/* Initialises an empty list; `text` must outlive it. */
void hot_draw_list_begin(hot_context *context, const hot_text *text, hot_draw_list *list);
/* Removes the items and keeps the memory. */
void hot_draw_list_clear(hot_draw_list *list);
void hot_draw_list_free(hot_draw_list *list);

void hot_draw_rectangle(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba top, hot_rgba bottom);
void hot_draw_round(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba color);
void hot_draw_line(hot_draw_list *list, double x, double y, double x2, double y2, double width, hot_rgba color);
/* align: 0 starts at x, .5 is centred, 1 ends at x. y is the base line. Both are rounded to pixels. Text ends at a
 * newline. */
void hot_draw_text(hot_draw_list *list, double x, double y, double align, hot_text_style style, hot_rgba color,
                   const char *format, ...) HOT_PRINTF(7, 8);
void hot_draw_ball(hot_draw_list *list, double x, double y, double radius, const double frame[3][3]);

/* The string of a text item. */
const char *hot_draw_item_text(const hot_draw_list *list, const hot_draw_item *item);

/* Triangles of the list, three vertices each. Owner of *vertices: the caller (hot_context_free). Errors:
 * HOT_ERROR_MEMORY, list->status. */
hot_status hot_draw_list_mesh(const hot_draw_list *list, hot_overlay_vertex **vertices, size_t *count);

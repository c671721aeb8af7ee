/* What is drawn over the scene: text, lines, rectangles, and a ball of direction colours, first what lies below. Filled
 * by overlay.c, turned into the renderer's triangles by hot_draw_list_mesh. No GL here.
 * Pixels of the framebuffer, origin in the upper left corner, y downwards. */
#ifndef HOT_VIZ_DRAW_LIST_H
#define HOT_VIZ_DRAW_LIST_H

#include "overlay_mesh.h"
#include "text.h"

typedef struct hot_rgba {
    float r, g, b, a; /* not premultiplied, 0 to 1 */
} hot_rgba;

typedef enum hot_draw_kind {
    HOT_DRAW_RECTANGLE, /* x y to x2 y2, from `color` on top to `color2` at the bottom */
    HOT_DRAW_ROUND,     /* the same with round corners, all `color` */
    HOT_DRAW_LINE,      /* x y to x2 y2, `size` wide */
    HOT_DRAW_TEXT,      /* the pen at x y on the base line */
    HOT_DRAW_BALL /* the half sphere towards the viewer, each direction in its colour; middle x y, radius `size` */
} hot_draw_kind;

typedef struct hot_draw_item {
    hot_draw_kind kind;
    float x, y, x2, y2, size;
    hot_rgba color, color2;
    hot_text_style style;
    size_t text;       /* where the string begins in the list's characters */
    float frame[3][3]; /* ball: rows are what points right, up and towards the viewer, in scanner RAS */
} hot_draw_item;

typedef struct hot_draw_list {
    hot_context *context;
    const hot_text *text;  /* measures strings; borrowed */
    hot_draw_item spare;   /* what does not fit any more is written here */
    hot_draw_item *items;
    size_t count, items_capacity;
    char *characters;      /* NUL-terminated strings one after another */
    size_t used, characters_capacity;
    hot_status status;     /* the first failure: a list that could not grow says so once, at the end */
} hot_draw_list;

/* An empty list; `text` must outlive it. */
void hot_draw_list_begin(hot_context *context, const hot_text *text, hot_draw_list *list);
/* Empty again, memory kept. */
void hot_draw_list_clear(hot_draw_list *list);
void hot_draw_list_free(hot_draw_list *list);

void hot_draw_rectangle(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba top, hot_rgba bottom);
void hot_draw_round(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba color);
void hot_draw_line(hot_draw_list *list, double x, double y, double x2, double y2, double width, hot_rgba color);
/* align 0: begins at x, .5: centred, 1: ends there; y is the base line. Set on whole pixels. One line: a newline ends
 * it. */
void hot_draw_text(hot_draw_list *list, double x, double y, double align, hot_text_style style, hot_rgba color,
                   const char *format, ...) HOT_PRINTF(7, 8);
void hot_draw_ball(hot_draw_list *list, double x, double y, double radius, const double frame[3][3]);

/* The string of a text item. */
const char *hot_draw_item_text(const hot_draw_list *list, const hot_draw_item *item);

/* The triangles of a list, three vertices each. Owner of *vertices: the caller (hot_context_free).
 * Errors: HOT_ERROR_MEMORY, or what stands in list->status. */
hot_status hot_draw_list_mesh(const hot_draw_list *list, hot_overlay_vertex **vertices, size_t *count);

#endif

#include "draw_list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/free.h"
#include "scene/color.h"

static const float RIM_ALPHA = 0.7f;
enum {
    BALL_RINGS = 12,
    BALL_SECTORS = 48,
    ITEM_VERTICES = 54 /* upper bound for all items except text and ball; that of a round rectangle */
};

/* ---- Display list ---------------------------------------------------------------------------------------- */

void hot_draw_list_begin(hot_context *context, const hot_text *text, hot_draw_list *list)
{
    memset(list, 0, sizeof *list);
    list->context = context;
    list->text = text;
}

void hot_draw_list_clear(hot_draw_list *list)
{
    list->count = list->used = 0;
    list->status = HOT_OK;
}

void hot_draw_list_free(hot_draw_list *list)
{
    HOT_FREE(list->context, list->items, list->characters);
    memset(list, 0, sizeof *list);
}

/* Makes room for `more` things of `size` bytes after `used` of them; returns 0 without memory. */
static int reserve(hot_draw_list *list, void **things, size_t used, size_t *capacity, size_t more, size_t size)
{
    if (used + more <= *capacity)
        return 1;
    size_t larger = 2 * *capacity + more + 64;
    void *moved = list->status == HOT_OK ? hot_context_alloc(list->context, larger, size) : NULL;
    if (!moved) {
        list->status = HOT_ERROR_MEMORY;
        return 0;
    }
    if (used)
        memcpy(moved, *things, used * size);
    hot_context_free(list->context, *things);
    *things = moved;
    *capacity = larger;
    return 1;
}

/* A new item; without memory, a spare one that is not drawn. */
static hot_draw_item *add_item(hot_draw_list *list, hot_draw_kind kind, double x, double y, double x2, double y2)
{
    void *items = list->items;
    hot_draw_item *item = &list->spare;
    if (reserve(list, &items, list->count, &list->items_capacity, 1, sizeof *item)) {
        list->items = items;
        item = &list->items[list->count++];
    }
    *item = (hot_draw_item){.kind = kind, .x = (float)x, .y = (float)y, .x2 = (float)x2, .y2 = (float)y2};
    return item;
}

void hot_draw_rectangle(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba top, hot_rgba bottom)
{
    hot_draw_item *item = add_item(list, HOT_DRAW_RECTANGLE, x, y, x2, y2);
    item->color = top;
    item->color2 = bottom;
}

void hot_draw_round(hot_draw_list *list, double x, double y, double x2, double y2, hot_rgba color)
{
    add_item(list, HOT_DRAW_ROUND, round(x), round(y), round(x2), round(y2))->color = color;
}

void hot_draw_line(hot_draw_list *list, double x, double y, double x2, double y2, double width, hot_rgba color)
{
    hot_draw_item *item = add_item(list, HOT_DRAW_LINE, x, y, x2, y2);
    item->size = (float)width;
    item->color = color;
}

void hot_draw_text(hot_draw_list *list, double x, double y, double align, hot_text_style style, hot_rgba color,
                   const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    line[strcspn(line, "\n")] = 0;
    size_t length = strlen(line) + 1;
    void *characters = list->characters;
    if (!reserve(list, &characters, list->used, &list->characters_capacity, length, 1))
        return;
    list->characters = characters;
    double width = hot_text_width(list->text, style, line);
    hot_draw_item *item = add_item(list, HOT_DRAW_TEXT, round(x - align * width), round(y), 0, 0);
    item->x2 = item->x + (float)width;
    item->y2 = item->y;
    item->style = style;
    item->color = color;
    item->text = list->used;
    memcpy(list->characters + list->used, line, length);
    list->used += length;
}

void hot_draw_ball(hot_draw_list *list, double x, double y, double radius, const double frame[3][3])
{
    hot_draw_item *item = add_item(list, HOT_DRAW_BALL, x, y, 0, 0);
    item->size = (float)radius;
    for (int row = 0; row < 3; row++)
        for (int d = 0; d < 3; d++)
            item->frame[row][d] = (float)frame[row][d];
}

const char *hot_draw_item_text(const hot_draw_list *list, const hot_draw_item *item)
{
    return item->kind == HOT_DRAW_TEXT ? list->characters + item->text : "";
}

/* ---- Triangles ------------------------------------------------------------------------------------------- */

typedef struct mesh {
    const hot_text *text;
    hot_overlay_vertex *vertices;
    size_t count;
} mesh;

/* A position in the atlas, pixels. */
typedef struct texel {
    float u, v;
} texel;
static const texel NO_TEXEL = {-1, -1};

static void put_vertex(mesh *to, float x, float y, texel at, hot_rgba color)
{
    hot_overlay_vertex *vertex = &to->vertices[to->count++];
    const float parts[4] = {color.r, color.g, color.b, color.a};
    vertex->x = x;
    vertex->y = y;
    vertex->u = at.u < 0 ? -1 : at.u / (float)to->text->width;
    vertex->v = at.u < 0 ? -1 : at.v / (float)to->text->height;
    for (int c = 0; c < 4; c++)
        vertex->rgba[c] = (uint8_t)lroundf(255 * fminf(fmaxf(parts[c], 0), 1));
}

/* A rectangle from x y to x2 y2 with the atlas's part from p to q. */
static void put_quad(mesh *to, float x, float y, float x2, float y2, texel p, texel q, hot_rgba top, hot_rgba bottom)
{
    put_vertex(to, x, y, p, top);
    put_vertex(to, x, y2, (texel){p.u, q.v}, bottom);
    put_vertex(to, x2, y, (texel){q.u, p.v}, top);
    put_vertex(to, x2, y, (texel){q.u, p.v}, top);
    put_vertex(to, x, y2, (texel){p.u, q.v}, bottom);
    put_vertex(to, x2, y2, q, bottom);
}

static void put_area(mesh *to, float x, float y, float x2, float y2, hot_rgba top, hot_rgba bottom)
{
    put_quad(to, x, y, x2, y2, NO_TEXEL, NO_TEXEL, top, bottom);
}

static void put_solid(mesh *to, const float (*points)[2], const hot_rgba colors[3])
{
    for (int i = 0; i < 3; i++)
        put_vertex(to, points[i][0], points[i][1], NO_TEXEL, colors[i]);
}

static void put_round(mesh *to, const hot_draw_item *item)
{
    const float disc = (float)to->text->corner;
    const float r = fminf(disc, floorf(fminf(item->x2 - item->x, item->y2 - item->y) / 2));
    for (int corner = 0; corner < 4; corner++) {
        const int right = corner & 1, low = corner >> 1;
        const float x = right ? item->x2 - r : item->x, y = low ? item->y2 - r : item->y;
        put_quad(to, x, y, x + r, y + r, (texel){right ? disc : 0, low ? disc : 0},
                 (texel){right ? 0 : disc, low ? 0 : disc}, item->color, item->color);
    }
    put_area(to, item->x, item->y + r, item->x + r, item->y2 - r, item->color, item->color);
    put_area(to, item->x + r, item->y, item->x2 - r, item->y2, item->color, item->color);
    put_area(to, item->x2 - r, item->y + r, item->x2, item->y2 - r, item->color, item->color);
}

/* A line with antialiased edges: alpha fades over half a pixel on each side. */
static void put_line(mesh *to, const hot_draw_item *item)
{
    float dx = item->x2 - item->x, dy = item->y2 - item->y, length = sqrtf(dx * dx + dy * dy);
    if (!(length > 0))
        return;
    const float nx = -dy / length, ny = dx / length, half = item->size / 2;
    /* vertical and horizontal lines already end on whole pixels */
    const float fade = fabsf(nx) < 1e-6f || fabsf(ny) < 1e-6f ? 0 : 0.5f;
    const float offset[4] = {-half - fade, -half + fade, half - fade, half + fade};
    hot_rgba clear = item->color;
    clear.a = 0;
    for (int strip = 0; strip < 3; strip++) {
        const float a = offset[strip], b = offset[strip + 1];
        const hot_rgba near = strip == 0 ? clear : item->color, far = strip == 2 ? clear : item->color;
        if (b <= a)
            continue;
        const float points[6][2] = {
            {item->x + a * nx, item->y + a * ny},   {item->x + b * nx, item->y + b * ny},
            {item->x2 + a * nx, item->y2 + a * ny}, {item->x2 + a * nx, item->y2 + a * ny},
            {item->x + b * nx, item->y + b * ny},   {item->x2 + b * nx, item->y2 + b * ny}};
        put_solid(to, points, (hot_rgba[3]){near, far, near});
        put_solid(to, points + 3, (hot_rgba[3]){near, far, far});
    }
}

static size_t count_letters(const char *text)
{
    size_t count = 0;
    while (hot_text_next(&text))
        count++;
    return count;
}

/* All rims first, dark around bright letters and bright around dark ones, then the letters. */
static void put_text(mesh *to, const hot_draw_item *item, const char *text)
{
    const float rim = item->color.r + item->color.g + item->color.b < 1.2f ? 1 : 0;
    for (int pass = 0; pass < 2; pass++) {
        const hot_rgba color = pass ? item->color : (hot_rgba){rim, rim, rim, RIM_ALPHA * item->color.a};
        const float down = pass ? 0 : (float)to->text->grown;
        const char *rest = text;
        float pen = item->x;
        for (uint32_t code; (code = hot_text_next(&rest)) != 0;) {
            const hot_text_glyph *glyph = hot_text_find(to->text, item->style, code);
            const float x = roundf(pen) + glyph->left, y = item->y + glyph->top;
            const float u = glyph->x, v = glyph->y + down;
            if (glyph->width)
                put_quad(to, x, y, x + glyph->width, y + glyph->height, (texel){u, v},
                         (texel){u + glyph->width, v + glyph->height}, color, color);
            pen += glyph->advance;
        }
    }
}

static hot_rgba ball_color(const hot_draw_item *item, const float screen[3])
{
    double ras[3] = {0}, color[3];
    for (int row = 0; row < 3; row++)
        for (int d = 0; d < 3; d++)
            ras[d] += (double)screen[row] * (double)item->frame[row][d];
    hot_color_direction(ras, color);
    return (hot_rgba){(float)color[0], (float)color[1], (float)color[2], 1};
}

static void put_ball(mesh *to, const hot_draw_item *item)
{
    for (int ring = 0; ring < BALL_RINGS; ring++)
        for (int sector = 0; sector < BALL_SECTORS; sector++) {
            float points[4][2];
            hot_rgba colors[4];
            for (int corner = 0; corner < 4; corner++) {
                /* equal steps of the angle from the viewer: triangles are small where colours change fast */
                const float tilt = 1.5707963f * (float)(ring + (corner & 1)) / BALL_RINGS;
                const float turn = 6.2831853f * (float)(sector + (corner >> 1)) / BALL_SECTORS;
                const float screen[3] = {sinf(tilt) * cosf(turn), sinf(tilt) * sinf(turn), cosf(tilt)};
                points[corner][0] = item->x + item->size * screen[0];
                points[corner][1] = item->y - item->size * screen[1];
                colors[corner] = ball_color(item, screen);
            }
            put_solid(to, (const float (*)[2])points, colors);
            put_solid(to, (const float (*)[2])points + 1, colors + 1);
        }
}

hot_status hot_draw_list_mesh(const hot_draw_list *list, hot_overlay_vertex **vertices, size_t *count)
{
    size_t capacity = 0;
    *vertices = NULL;
    *count = 0;
    if (list->status != HOT_OK)
        return list->status;
    for (size_t i = 0; i < list->count; i++) {
        const hot_draw_item *item = &list->items[i];
        capacity += item->kind == HOT_DRAW_TEXT ? 12 * count_letters(hot_draw_item_text(list, item))
                : item->kind == HOT_DRAW_BALL ? (size_t)6 * BALL_RINGS * BALL_SECTORS : ITEM_VERTICES;
    }
    mesh to = {.text = list->text};
    to.vertices = hot_context_alloc(list->context, capacity, sizeof *to.vertices);
    if (!to.vertices)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        const hot_draw_item *item = &list->items[i];
        switch (item->kind) {
        case HOT_DRAW_RECTANGLE:
            put_area(&to, item->x, item->y, item->x2, item->y2, item->color, item->color2);
            break;
        case HOT_DRAW_ROUND:
            put_round(&to, item);
            break;
        case HOT_DRAW_LINE:
            put_line(&to, item);
            break;
        case HOT_DRAW_TEXT:
            put_text(&to, item, hot_draw_item_text(list, item));
            break;
        case HOT_DRAW_BALL:
            put_ball(&to, item);
            break;
        }
    }
    *vertices = to.vertices;
    *count = to.count;
    return HOT_OK;
}

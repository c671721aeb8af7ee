/* Inside the overlay: what it is put together from. */
#ifndef HOT_VIZ_OVERLAY_PARTS_H
#define HOT_VIZ_OVERLAY_PARTS_H

#include "scene/camera.h"
#include "draw_list.h"

/* What the parts are drawn from. */
typedef struct hot_overlay_page {
    const hot_scene *scene;
    const hot_view_state *state;
    const hot_view_layout *layout;
    hot_draw_list *list;
    double unit; /* pixels per unit of the desktop */
} hot_overlay_page;

/* Colours that several parts use. */
static const hot_rgba HOT_INK = {0.93f, 0.94f, 0.95f, 1}, HOT_INK_DIM = {0.68f, 0.71f, 0.75f, 1};
static const hot_rgba HOT_ACCENT = {1.0f, 0.80f, 0.33f, 1}, HOT_PAPER = {0.05f, 0.06f, 0.08f, 0.86f};

/* Height of a line of text, and from its top to its base line. */
double hot_overlay_line(const hot_overlay_page *page, hot_text_style style);
double hot_overlay_ascent(const hot_overlay_page *page, hot_text_style style);

/* ---- overlay_views.c: in every viewport -------------------------------------------------------------------- */

/* Up to two letters for a direction in RAS: the axis it follows, and a second one where it leans over 15 degrees.
 * known = 0: the world has no anatomy, "+x", "-y" ... */
void hot_overlay_letters(const double ras[3], int known, char letters[3]);
/* The longest of 1, 2, 5 times a power of ten that is at most `most` (which is positive). */
double hot_overlay_round_length(double most);

void hot_overlay_add_crosshair(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_orientation(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_scale_bar(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_caption(const hot_overlay_page *page, const hot_viewport *viewport);

/* ---- overlay_panels.c: once in the picture ----------------------------------------------------------------- */

/* The line about the crosshair's voxel; at the lower left. */
void hot_overlay_add_status(const hot_overlay_page *page);
/* What the image shows and what colours mean; at the upper right, and the ball of directions at the lower left. */
void hot_overlay_add_legend(const hot_overlay_page *page);
/* Lines of text about the voxel, in as many columns as there is room for. */
void hot_overlay_add_values(const hot_overlay_page *page, const char *text);
/* The table of keys and mouse, over everything. */
void hot_overlay_add_help(const hot_overlay_page *page);
/* Something that went wrong, across the upper part of the picture. */
void hot_overlay_add_message(const hot_overlay_page *page, const char *message);

#endif

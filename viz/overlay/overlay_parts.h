/* Parts of the overlay. */
#pragma once

#include "scene/camera.h"
#include "draw_list.h"

/* Inputs and target of the parts. */
typedef struct hot_overlay_page {
    const hot_scene *scene;
    const hot_view_state *state;
    const hot_view_layout *layout;
    hot_draw_list *list;
    double unit; /* pixels per desktop unit */
} hot_overlay_page;

/* Common colours, on dark panels. */
static const hot_rgba HOT_INK = {0.93f, 0.94f, 0.95f, 1}, HOT_INK_DIM = {0.68f, 0.71f, 0.75f, 1};
static const hot_rgba HOT_ACCENT = {1.0f, 0.80f, 0.33f, 1}, HOT_PAPER = {0.05f, 0.06f, 0.08f, 0.86f};

/* Colours of letters and lines on the canvas: dark on a bright one. The rim is that around bars. */
hot_rgba hot_overlay_ink(const hot_overlay_page *page);
hot_rgba hot_overlay_dim(const hot_overlay_page *page);
hot_rgba hot_overlay_accent(const hot_overlay_page *page);
hot_rgba hot_overlay_rim(const hot_overlay_page *page);

/* Line height, and its part above the base line. */
double hot_overlay_line(const hot_overlay_page *page, hot_text_style style);
double hot_overlay_ascent(const hot_overlay_page *page, hot_text_style style);

/* ---- overlay_views.c: in every viewport -------------------------------------------------------------------- */

/* One or two letters for a direction in RAS: its main axis, and a second axis if it deviates by more than 15 degrees.
 * known = 0: the space is unknown; "+x", "-y", ... */
void hot_overlay_letters(const double ras[3], int known, char letters[3]);
/* The largest of 1, 2, 5 times a power of ten not above max_length > 0. */
double hot_overlay_round_length(double max_length);

void hot_overlay_add_crosshair(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_orientation(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_scale_bar(const hot_overlay_page *page, const hot_viewport *viewport);
void hot_overlay_add_caption(const hot_overlay_page *page, const hot_viewport *viewport);
/* Below the caption: settings of which glyphs are drawn and how large, if they differ from the defaults, and in
 * windows without the panel the keys of help and panel. */
void hot_overlay_add_in_force(const hot_overlay_page *page, const hot_viewport *viewport);

/* ---- overlay_panels.c: once in the picture ----------------------------------------------------------------- */

/* Position, value and fibres of the crosshair's voxel, at the lower left. */
void hot_overlay_add_status(const hot_overlay_page *page);
/* The image's name and range, and the colour legend, at the upper right; the ball of directions at the lower left. */
void hot_overlay_add_legend(const hot_overlay_page *page);
/* Description of the voxel, in several columns if needed. */
void hot_overlay_add_values(const hot_overlay_page *page, const char *text);
/* The table of keys and mouse, on top of all else. */
void hot_overlay_add_help(const hot_overlay_page *page);
/* An error message across the upper part of the picture. */
void hot_overlay_add_message(const hot_overlay_page *page, const char *message);

/* The layout of the picture of three slices: where each grid axis points on the screen, which slice, how
 * large. No drawing here. */
#pragma once

#include <hotfiber/hotfiber.h>

/* One slice. Screen x grows to the right, screen y downwards. */
typedef struct hot_panel {
    const char *name;           /* "axial" ... */
    int across, down, through;  /* grid axes along screen x, along screen y, and through the screen */
    int across_sign, down_sign; /* +1 when the index grows to the right, or downwards */
    size_t slice;               /* index along `through` */
    char letters[4][3];         /* what lies beyond the left, right, top and bottom edge */
    double x, y, width, height; /* pixels */
} hot_panel;

typedef struct hot_picture_layout {
    hot_panel panels[3];  /* coronal, sagittal, axial */
    size_t low[3], high[3]; /* the part of the grid that is shown, both included */
    double spacing[3];    /* mm, of the grid axes */
    double to_axes[3][3]; /* an RAS vector -> mm along the grid's axes */
    double scale;         /* pixels per mm */
    double font;          /* pixels */
    double legend_x, legend_y, legend_width, legend_height;
    int width, height;    /* pixels */
} hot_picture_layout;

/* counts: fibres per voxel; the voxels that have some say which part is shown and what its middle is
 * (none have: all). */
void hot_picture_lay_out(const hot_grid *grid, const uint8_t *counts, hot_picture_layout *layout);

/* Pixels per mm at which a voxel is as large as it may be. */
double hot_picture_largest_scale(const hot_picture_layout *layout);

/* How many voxels a panel shows, and the voxel in a column and row of it, from the upper left. */
void hot_panel_size(const hot_picture_layout *layout, const hot_panel *panel, size_t *columns, size_t *rows);
void hot_panel_voxel(const hot_picture_layout *layout, const hot_panel *panel, size_t column, size_t row, size_t at[3]);

/* Up to two letters for a direction in RAS: its main axis, and a second one if it deviates by more than 15 degrees.
 * known = 0: the world has no anatomy, "+x" "-y" ... */
void hot_direction_letters(const double direction[3], int known, char letters[3]);

/* A voxel of such a picture, 0xRRGGBB: every fibre's |x| |y| |z|, to which flips do not matter, summed; full at the
 * amplitude of a full stick. */
uint32_t hot_picture_color(const hot_fiber_field *fibers, double full, size_t voxel);

/* The three middle slices as PNG, voxels in the colours of their directions. */
hot_status hot_color_picture(hot_context *context, const hot_fiber_field *fibers, const char *path);

/* Maps the voxels of data to those of another image (a mask, a noise map) that has another order or grid. */
#pragma once

#include "fields.h"

/* The index of a voxel outside the image. */
#define HOT_OUTSIDE SIZE_MAX

/* Whether a grid has a position: a space, or axes or an origin other than the default. */
int hot_grid_placed(const hot_grid *grid);

/* order[a]: which axis of the grid runs along world axis a, one each, so that they agree best. unit: column g is the
 * direction of the grid's axis g in the world. */
void hot_grid_axes_match(const double unit[3][3], int order[3]);

/* Where the voxels of a grid are in an image: index[voxel of the grid] is the image's voxel there, or HOT_OUTSIDE.
 * *index NULL = the same voxels in the same order. Free it with hot_context_free. `what` ("mask"), `name` (its file)
 * and `whose` ("the data") are for messages.
 * The same grid up to flips and permutations of its axes (all corners within half a voxel) is mapped voxel by voxel.
 * If image or grid have no position, arrays of the same sizes are mapped in storage order, with a warning. An image on
 * another grid is resampled (nearest neighbour; a note is printed). Errors: HOT_ERROR_DATA (no overlap; other sizes
 * without a position), HOT_ERROR_MEMORY. */
hot_status hot_grid_match(hot_context *context, const char *what, const char *name, const hot_grid *image,
                          const char *whose, const hot_grid *grid, size_t **index);

/* The exact part of it: *same = whether both are one grid up to flips and permutations of its axes, *index then as
 * above. 0 also where one of them does not say where it is. Errors: HOT_ERROR_MEMORY. */
hot_status hot_grid_reorder(hot_context *context, const hot_grid *image, const hot_grid *grid, int *same,
                            size_t **index);

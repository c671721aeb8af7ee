/* Images that go with data but lie in another order of voxels, or on another grid: which voxel is which. */
#ifndef HOT_PLUGIN_GRID_MATCH_H
#define HOT_PLUGIN_GRID_MATCH_H

#include "fields.h"

/* No voxel of the image lies there. */
#define HOT_OUTSIDE SIZE_MAX

/* Whether a grid says where it is: it has a space, or axes or an origin of its own. */
int hot_grid_placed(const hot_grid *grid);

/* Where the voxels of a grid are in an image: index[voxel of the grid] is the image's voxel there, or HOT_OUTSIDE.
 * *index NULL = the same voxels in the same order. Free it with hot_context_free. `what` ("mask"), `name` (its file)
 * and `whose` ("the data") are for messages.
 * The same grid up to flips and permutations of its axes (all corners within half a voxel) is mapped voxel by voxel.
 * Where image or grid do not say where they are, arrays of the same sizes are taken in the order they are stored, and a
 * warning says so. Other grids are resampled by nearest neighbour, which a note says. Errors: HOT_ERROR_DATA (no
 * overlap; other sizes where a position is missing), HOT_ERROR_MEMORY. */
hot_status hot_grid_match(hot_context *context, const char *what, const char *name, const hot_grid *image,
                          const char *whose, const hot_grid *grid, size_t **index);

/* The exact part of it: *same = whether both are one grid up to flips and permutations of its axes, *index then as
 * above. 0 also where one of them does not say where it is. Errors: HOT_ERROR_MEMORY. */
hot_status hot_grid_reorder(hot_context *context, const hot_grid *image, const hot_grid *grid, int *same,
                            size_t **index);

#endif

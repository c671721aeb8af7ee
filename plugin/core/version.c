/* What every folder of the plugin needs: version, grids, strings. */
#include "fields.h"

#include <string.h>

const char *hot_version(void) { return HOTFIBER_VERSION_STRING; }

size_t hot_grid_voxels(const hot_grid *grid)
{
    size_t voxels = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (grid->size[axis] != 0 && voxels > SIZE_MAX / grid->size[axis])
            return 0;
        voxels *= grid->size[axis];
    }
    return voxels;
}

size_t hot_sample_bytes(hot_sample sample)
{
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return bytes[sample];
}

char *hot_string_copy(hot_context *context, const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = hot_context_alloc(context, length, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void hot_space_ras_sign(hot_space space, double sign[3])
{
    sign[0] = space == HOT_SPACE_LAS || space == HOT_SPACE_LPS ? -1 : 1;
    sign[1] = space == HOT_SPACE_LPS ? -1 : 1;
    sign[2] = 1;
}

void hot_grid_to_ras(const hot_grid *grid, double ras[3][4])
{
    double sign[3];
    hot_space_ras_sign(grid->space, sign);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            ras[row][column] = sign[row] * grid->to_world[row][column];
}

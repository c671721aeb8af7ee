/* Common functions of the plugin: grids, sizes of samples, strings, version. */
#include "fields.h"

#include <math.h>
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

hot_status hot_grid_check(hot_context *context, const hot_grid *grid)
{
    const double(*m)[4] = grid->to_world;
    double lengths = 1;
    if (hot_grid_voxels(grid) == 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "grid", "%zu x %zu x %zu voxels cannot be",
                                          grid->size[0], grid->size[1], grid->size[2]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if (!isfinite(m[r][c]))
                return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "grid", "to_world[%d][%d] is %g; it is "
                                                  "a finite number", r, c, m[r][c]);
    for (int c = 0; c < 3; c++)
        lengths *= sqrt(m[0][c] * m[0][c] + m[1][c] * m[1][c] + m[2][c] * m[2][c]);
    const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                          m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    if (!(fabs(volume) > 1e-6 * lengths) || !isfinite(volume))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "grid", "to_world is singular: its three axes "
                                          "do not span space (determinant %g)", volume);
    if ((int)grid->space < HOT_SPACE_UNKNOWN || (int)grid->space > HOT_SPACE_LPS)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "grid", "there is no space %d",
                                          (int)grid->space);
    return HOT_OK;
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
    if (!sign)
        return;
    sign[0] = space == HOT_SPACE_LAS || space == HOT_SPACE_LPS ? -1 : 1;
    sign[1] = space == HOT_SPACE_LPS ? -1 : 1;
    sign[2] = 1;
}

void hot_grid_to_ras(const hot_grid *grid, double ras[3][4])
{
    double sign[3];
    if (!grid || !ras)
        return;
    hot_space_ras_sign(grid->space, sign);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            ras[row][column] = sign[row] * grid->to_world[row][column];
}

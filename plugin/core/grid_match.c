#include "grid_match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double determinant(const double m[3][4])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

int hot_grid_placed(const hot_grid *grid)
{
    const double (*m)[4] = grid->to_world;
    const double volume = determinant(m);
    if (!(fabs(volume) > 0 && isfinite(volume)))
        return 0;
    int plain = 1;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            plain &= row == column ? m[row][column] > 0 : m[row][column] == 0;
    return grid->space != HOT_SPACE_UNKNOWN || !plain;
}

/* from voxels of the grid to voxels of the image, both in the same world */
static void voxel_to_voxel(const double image[3][4], const double grid[3][4], double m[3][4])
{
    const double volume = determinant(image);
    double inverse[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            inverse[c][r] = (image[r1][c1] * image[r2][c2] - image[r1][c2] * image[r2][c1]) / volume;
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            m[r][c] = 0;
            for (int k = 0; k < 3; k++)
                m[r][c] += inverse[r][k] * (grid[k][c] - (c == 3 ? image[k][3] : 0));
        }
}

/* Whether m is, up to half a voxel at every corner, a change of order of the axes that fills the image: turned into it
 * then. */
static int snap_to_order(const hot_grid *image, const hot_grid *grid, double m[3][4])
{
    double order[3][4] = {{0}};
    int used[3] = {0};
    for (int r = 0; r < 3; r++) {
        int best = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(m[r][c]) * (double)grid->size[c] > fabs(m[r][best]) * (double)grid->size[best])
                best = c;
        for (int c = 0; c < 3 && image->size[r] == 1; c++) /* of axes of one sample any that is left will do */
            if (grid->size[c] == 1 && !used[c] && fabs(m[r][c]) >= .5)
                best = c;
        if (used[best]++ || image->size[r] != grid->size[best])
            return 0;
        order[r][best] = m[r][best] < 0 ? -1 : 1;
        order[r][3] = m[r][best] < 0 ? (double)image->size[r] - 1 : 0;
    }
    for (int corner = 0; corner < 8; corner++)
        for (int r = 0; r < 3; r++) {
            double apart = m[r][3] - order[r][3];
            for (int c = 0; c < 3; c++)
                apart += (m[r][c] - order[r][c]) * (corner >> c & 1 ? (double)grid->size[c] - 1 : 0);
            if (!(fabs(apart) <= 0.501))
                return 0;
        }
    memcpy(m, order, sizeof order);
    return 1;
}

static int is_identity(const double m[3][4])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if (m[r][c] != (r == c))
                return 0;
    return 1;
}

/* The voxel of the image nearest to every voxel of the grid; returns how many there are inside. */
static size_t nearest(const double m[3][4], const hot_grid *image, const hot_grid *grid, size_t *index)
{
    size_t voxel = 0, inside = 0;
    for (size_t k = 0; k < grid->size[2]; k++)
        for (size_t j = 0; j < grid->size[1]; j++)
            for (size_t i = 0; i < grid->size[0]; i++, voxel++) {
                size_t at[3];
                int out = 0;
                for (int r = 0; r < 3; r++) {
                    const double x = m[r][0] * (double)i + m[r][1] * (double)j + m[r][2] * (double)k + m[r][3];
                    const double rounded = floor(x + 0.5);
                    out |= !(rounded >= 0 && rounded < (double)image->size[r]);
                    at[r] = out ? 0 : (size_t)rounded;
                }
                index[voxel] = out ? HOT_OUTSIDE : at[0] + image->size[0] * (at[1] + image->size[1] * at[2]);
                inside += !out;
            }
    return inside;
}

static hot_status other_sizes(hot_context *context, const char *what, const char *name, const hot_grid *image,
                              const char *whose, const hot_grid *grid)
{
    return hot_context_fail(context, HOT_ERROR_DATA, "%s '%s' has %zu x %zu x %zu voxels, %s %zu x %zu x %zu", what,
                            name, image->size[0], image->size[1], image->size[2], whose, grid->size[0], grid->size[1],
                            grid->size[2]);
}

/* The box that a grid fills, in scanner coordinates, as text. */
static void extent_text(const double ras[3][4], const size_t size[3], char *text, size_t capacity)
{
    size_t used = 0;
    for (int r = 0; r < 3 && used < capacity; r++) {
        double low = ras[r][3], high = ras[r][3];
        for (int c = 0; c < 3; c++) {
            const double far = ras[r][c] * ((double)size[c] - 1);
            *(far < 0 ? &low : &high) += far;
        }
        used += (size_t)snprintf(text + used, capacity - used, "%s%.4g to %.4g", r ? ", " : "", low, high);
    }
}

/* m: from voxels of the grid to those of the image, exact where *same. */
static void relate(const hot_grid *image, const hot_grid *grid, double m[3][4], int *same)
{
    double of_image[3][4], of_grid[3][4];
    hot_grid_to_ras(image, of_image);
    hot_grid_to_ras(grid, of_grid);
    voxel_to_voxel((const double (*)[4])of_image, (const double (*)[4])of_grid, m);
    *same = snap_to_order(image, grid, m);
}

/* The index of a relation; NULL where nothing moves. */
static hot_status make_index(hot_context *context, const hot_grid *image, const hot_grid *grid, const double m[3][4],
                             size_t **index, size_t *inside)
{
    *index = NULL;
    *inside = hot_grid_voxels(grid);
    if (is_identity(m) && memcmp(image->size, grid->size, sizeof grid->size) == 0)
        return HOT_OK;
    *index = hot_context_alloc(context, *inside, sizeof **index);
    if (!*index)
        return HOT_ERROR_MEMORY;
    *inside = nearest(m, image, grid, *index);
    return HOT_OK;
}

hot_status hot_grid_reorder(hot_context *context, const hot_grid *image, const hot_grid *grid, int *same,
                            size_t **index)
{
    double m[3][4];
    size_t inside;
    *same = 0;
    *index = NULL;
    if (!hot_grid_placed(image) || !hot_grid_placed(grid))
        return HOT_OK;
    relate(image, grid, m, same);
    return *same ? make_index(context, image, grid, (const double (*)[4])m, index, &inside) : HOT_OK;
}

static hot_status elsewhere(hot_context *context, const char *what, const char *name, const hot_grid *image,
                            const char *whose, const hot_grid *grid)
{
    double ras[3][4];
    char here[128], there[128];
    hot_grid_to_ras(image, ras);
    extent_text((const double (*)[4])ras, image->size, here, sizeof here);
    hot_grid_to_ras(grid, ras);
    extent_text((const double (*)[4])ras, grid->size, there, sizeof there);
    return hot_context_fail(context, HOT_ERROR_DATA,
                            "%s '%s' lies elsewhere than %s: it fills x, y, z = %s mm, %s %s mm (scanner coordinates)",
                            what, name, whose, here, whose, there);
}

void hot_grid_axes_match(const double unit[3][3], int order[3])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double best = -1;
    memcpy(order, orders[0], sizeof orders[0]);
    for (int o = 0; o < 6; o++) {
        double along = 0;
        for (int a = 0; a < 3; a++)
            along += fabs(unit[a][orders[o][a]]);
        if (along > best + 1e-9) {
            best = along;
            memcpy(order, orders[o], sizeof orders[o]);
        }
    }
}

hot_status hot_grid_match(hot_context *context, const char *what, const char *name, const hot_grid *image,
                          const char *whose, const hot_grid *grid, size_t **index)
{
    double m[3][4];
    int same;
    size_t inside;
    const int same_sizes = memcmp(image->size, grid->size, sizeof grid->size) == 0;
    const int image_placed = hot_grid_placed(image), grid_placed = hot_grid_placed(grid);
    const int one_world = (image->space == HOT_SPACE_UNKNOWN) == (grid->space == HOT_SPACE_UNKNOWN);
    *index = NULL;
    if (!image_placed || !grid_placed) {
        if (!same_sizes)
            return other_sizes(context, what, name, image, whose, grid);
        if (image_placed)
            hot_context_log(context, HOT_LOG_WARNING,
                            "%s do not say where they are: the voxels of %s '%s' are taken in the order they are "
                            "stored", whose, what, name);
        else
            hot_context_log(context, HOT_LOG_WARNING,
                            "%s '%s' does not say where it is: its voxels are taken in the order they are stored", what,
                            name);
        return HOT_OK;
    }
    relate(image, grid, m, &same);
    if (!same && !one_world) { /* one has a space, the other only axes */
        if (!same_sizes)
            return other_sizes(context, what, name, image, whose, grid);
        hot_context_log(context, HOT_LOG_WARNING,
                        "%s '%s' and %s are not in the same space: its voxels are taken in the order they are stored",
                        what, name, whose);
        return HOT_OK;
    }
    hot_status status = make_index(context, image, grid, (const double (*)[4])m, index, &inside);
    if (status == HOT_OK && inside == 0) {
        hot_context_free(context, *index);
        *index = NULL;
        status = elsewhere(context, what, name, image, whose, grid);
    } else if (status == HOT_OK && !same)
        hot_context_log(context, HOT_LOG_NOTE,
                        "%s '%s' is on another grid than %s: resampled by nearest neighbour, it holds %.3g %% of their "
                        "voxels", what, name, whose, 100.0 * (double)inside / (double)hot_grid_voxels(grid));
    return status;
}

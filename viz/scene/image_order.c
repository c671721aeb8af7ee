#include "image_order.h"

#include <math.h>
#include <string.h>

/* The assignment of the file's axes to x, y, z with the largest sum of cosines. */
static void nearest_axes(const double ras[3][4], int axis[3])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double best = -1;
    for (int o = 0; o < 6; o++) {
        double agreement = 0;
        for (int d = 0; d < 3; d++) {
            const int a = orders[o][d];
            agreement += fabs(ras[d][a]) / sqrt(ras[0][a] * ras[0][a] + ras[1][a] * ras[1][a] + ras[2][a] * ras[2][a]);
        }
        if (agreement > best + 1e-9) {
            best = agreement;
            memcpy(axis, orders[o], sizeof orders[o]);
        }
    }
}

void hot_image_order_find(const hot_grid *grid, hot_image_order *order)
{
    double ras[3][4];
    int axis[3] = {0, 1, 2};
    const size_t stride[3] = {1, grid->size[0], grid->size[0] * grid->size[1]};
    *order = (hot_image_order){.grid = *grid, .same = 1};
    hot_grid_to_ras(grid, ras);
    if (grid->space != HOT_SPACE_UNKNOWN)
        nearest_axes((const double (*)[4])ras, axis);
    for (int d = 0; d < 3; d++) {
        const int a = axis[d], reversed = grid->space != HOT_SPACE_UNKNOWN && ras[d][a] < 0;
        const double last = reversed ? (double)grid->size[a] - 1 : 0;
        order->same &= a == d && !reversed;
        order->grid.size[d] = grid->size[a];
        order->step[d] = reversed ? -(ptrdiff_t)stride[a] : (ptrdiff_t)stride[a];
        order->start += (ptrdiff_t)(last * (double)stride[a]);
        for (int r = 0; r < 3; r++) {
            order->grid.to_world[r][d] = reversed ? -grid->to_world[r][a] : grid->to_world[r][a];
            order->grid.to_world[r][3] += last * grid->to_world[r][a];
        }
    }
}

void hot_image_order_apply(const hot_image_order *order, size_t row, const float *from, float *to)
{
    const size_t *size = order->grid.size;
    for (size_t k = 0; k < size[2]; k++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t i = 0; i < size[0]; i++, to += row)
                memcpy(to, from + (size_t)(order->start + (ptrdiff_t)i * order->step[0] +
                                           (ptrdiff_t)j * order->step[1] + (ptrdiff_t)k * order->step[2]) * row,
                       row * sizeof *to);
}

#include "picture_layout.h"

#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "core/grid_match.h"
#include "dwi/frames.h"

enum { LARGEST = 2400, VOXEL_LARGEST = 64 /* pixels */ };

void hot_direction_letters(const double direction[3], int known, char letters[3])
{
    int first = 0, count = 0;
    double rest = -1;
    for (int d = 1; d < 3; d++)
        if (fabs(direction[d]) > fabs(direction[first]))
            first = d;
    int second = first == 0 ? 1 : 0;
    for (int d = 0; d < 3; d++)
        if (d != first && fabs(direction[d]) > rest) {
            second = d;
            rest = fabs(direction[d]);
        }
    memset(letters, 0, 3);
    if (!known) {
        letters[0] = direction[first] < 0 ? '-' : '+';
        letters[1] = "xyz"[first];
        return;
    }
    letters[count++] = (direction[first] < 0 ? "LPI" : "RAS")[first];
    if (rest > fabs(direction[first]) * tan(15 * 0.017453292519943295))
        letters[count++] = (direction[second] < 0 ? "LPI" : "RAS")[second];
}

static void find_box(const hot_grid *grid, const uint8_t *counts, hot_picture_layout *layout, size_t middle[3])
{
    size_t low[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, high[3] = {0}, at[3], voxel = 0;
    for (at[2] = 0; at[2] < grid->size[2]; at[2]++)
        for (at[1] = 0; at[1] < grid->size[1]; at[1]++)
            for (at[0] = 0; at[0] < grid->size[0]; at[0]++)
                if (counts[voxel++])
                    for (int d = 0; d < 3; d++) {
                        low[d] = at[d] < low[d] ? at[d] : low[d];
                        high[d] = at[d] > high[d] ? at[d] : high[d];
                    }
    for (int d = 0; d < 3; d++) {
        if (low[d] == SIZE_MAX)
            low[d] = 0, high[d] = grid->size[d] - 1;
        middle[d] = low[d] + (high[d] - low[d]) / 2;
        size_t margin = 1 + (high[d] - low[d]) / 32;
        layout->low[d] = low[d] > margin ? low[d] - margin : 0;
        layout->high[d] = high[d] + margin < grid->size[d] ? high[d] + margin : grid->size[d] - 1;
    }
}

struct cell {
    double x, y, width, height;
};

/* Places for the panels (coronal, sagittal, axial; mm: the box along world x, y, z) and the legend; the scale is the
 * same for all. Captions, letters and gaps take a fixed number of lines of text. */
static void arrange(const double mm[3], double largest_scale, hot_picture_layout *layout, struct cell cells[3])
{
    const double font = layout->font = 20, side = 2.2 * font, over = 3.6 * font, under = 2.0 * font;
    const double legend_width = 24 * font, legend_height = 19 * font, least = 14 * font;
    /* Two by two: coronal and sagittal above, axial and the legend below, so that they line up. */
    double square = fmin((LARGEST - 4 * side) / (mm[0] + mm[1]), (LARGEST - 2 * (over + under)) / (mm[2] + mm[1]));
    /* Flat volumes would leave that mostly empty: stack the slices, with the legend at their side. */
    double column = fmax(mm[0], mm[1]);
    double stacked = fmin((LARGEST - 4 * side - legend_width) / column,
                          (LARGEST - 3 * (over + under)) / (mm[1] + 2 * mm[2]));
    const int stack = fmin(stacked, largest_scale) > 1.15 * fmin(square, largest_scale);
    const double scale = layout->scale = fmin(stack ? stacked : square, largest_scale);
    if (stack) {
        const double width = fmax(scale * column, least), flat = scale * mm[2], deep = scale * mm[1];
        cells[2] = (struct cell){side, over, width, deep};
        cells[0] = (struct cell){side, deep + 2 * over + under, width, flat};
        cells[1] = (struct cell){side, deep + flat + 3 * over + 2 * under, width, flat};
        layout->legend_x = width + 3 * side;
        layout->legend_y = over;
        layout->legend_width = legend_width;
        layout->legend_height = deep;
        layout->height = (int)ceil(fmax(deep + 2 * flat + 3 * (over + under), legend_height + over + under));
    } else {
        const double left = fmax(scale * mm[0], least), right = fmax(scale * mm[1], legend_width);
        const double top = scale * mm[2], bottom = fmax(scale * mm[1], legend_height);
        cells[0] = (struct cell){side, over, left, top};
        cells[1] = (struct cell){left + 3 * side, over, right, top};
        cells[2] = (struct cell){side, top + 2 * over + under, left, bottom};
        layout->legend_x = left + 3 * side;
        layout->legend_y = top + 2 * over + under;
        layout->legend_width = right;
        layout->legend_height = bottom;
        layout->height = (int)ceil(top + bottom + 2 * (over + under));
    }
    layout->width = (int)ceil(layout->legend_x + layout->legend_width + side);
}

double hot_picture_largest_scale(const hot_picture_layout *layout)
{
    return VOXEL_LARGEST / fmin(layout->spacing[0], fmin(layout->spacing[1], layout->spacing[2]));
}

void hot_picture_lay_out(const hot_grid *grid, const uint8_t *counts, hot_picture_layout *layout)
{
    /* A panel's world axes: across, down, through; and their directions on the screen. Radiological: the patient's
     * right is on the left; in sagittal slices, the front is on the left. */
    static const struct { const char *name; int across, down, through; } views[3] = {
        {"coronal", 0, 2, 1}, {"sagittal", 1, 2, 0}, {"axial", 0, 1, 2}};
    double ras[3][4], unit[3][3], mm[3];
    int axis_of[3];
    size_t middle[3];
    memset(layout, 0, sizeof *layout);
    hot_grid_to_ras(grid, ras);
    find_box(grid, counts, layout, middle);
    for (int axis = 0; axis < 3; axis++) {
        layout->spacing[axis] = sqrt(ras[0][axis] * ras[0][axis] + ras[1][axis] * ras[1][axis] +
                                     ras[2][axis] * ras[2][axis]);
        for (int world = 0; world < 3; world++)
            unit[world][axis] = ras[world][axis] / layout->spacing[axis];
    }
    hot_grid_axes_match((const double (*)[3])unit, axis_of);
    double inverse_transpose[3][3];
    hot_inverse_transpose((const double (*)[3])unit, inverse_transpose);
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            layout->to_axes[axis][d] = inverse_transpose[d][axis];

    for (int world = 0; world < 3; world++) {
        int axis = axis_of[world];
        mm[world] = (double)(layout->high[axis] - layout->low[axis] + 1) * layout->spacing[axis];
    }
    struct cell cells[3];
    arrange(mm, hot_picture_largest_scale(layout), layout, cells);

    for (int p = 0; p < 3; p++) {
        hot_panel *panel = &layout->panels[p];
        panel->name = views[p].name;
        panel->across = axis_of[views[p].across];
        panel->down = axis_of[views[p].down];
        panel->through = axis_of[views[p].through];
        panel->slice = middle[panel->through];
        /* screen x runs to the patient's left (or back), screen y downwards: both against the world's axes */
        panel->across_sign = unit[views[p].across][panel->across] < 0 ? 1 : -1;
        panel->down_sign = unit[views[p].down][panel->down] < 0 ? 1 : -1;
        panel->width = layout->scale * mm[views[p].across];
        panel->height = layout->scale * mm[views[p].down];
        panel->x = floor(cells[p].x + (cells[p].width - panel->width) / 2);
        panel->y = floor(cells[p].y + (cells[p].height - panel->height) / 2);
        for (int edge = 0; edge < 4; edge++) {
            int axis = edge < 2 ? panel->across : panel->down;
            double sign = (edge < 2 ? panel->across_sign : panel->down_sign) * (edge % 2 ? 1 : -1), direction[3];
            for (int d = 0; d < 3; d++)
                direction[d] = sign * unit[d][axis];
            hot_direction_letters(direction, grid->space != HOT_SPACE_UNKNOWN, panel->letters[edge]);
        }
    }
}

void hot_panel_size(const hot_picture_layout *layout, const hot_panel *panel, size_t *columns, size_t *rows)
{
    *columns = layout->high[panel->across] - layout->low[panel->across] + 1;
    *rows = layout->high[panel->down] - layout->low[panel->down] + 1;
}

void hot_panel_voxel(const hot_picture_layout *layout, const hot_panel *panel, size_t column, size_t row, size_t at[3])
{
    const size_t *low = layout->low, *high = layout->high;
    at[panel->across] = panel->across_sign > 0 ? low[panel->across] + column : high[panel->across] - column;
    at[panel->down] = panel->down_sign > 0 ? low[panel->down] + row : high[panel->down] - row;
    at[panel->through] = panel->slice;
}

uint32_t hot_picture_color(const hot_fiber_field *fibers, double full, size_t voxel)
{
    const size_t row = 3 * (size_t)fibers->max_fibers;
    double sum[3] = {0}; /* flips of x and y do not matter to |x| and |y| */
    for (size_t i = 0; i < 3 * (size_t)fibers->counts[voxel]; i++)
        sum[i % 3] += hot_fiber_field_shown(fibers, voxel, i / 3) * fabs((double)fibers->peaks[voxel * row + i]);
    uint32_t pixel = 0;
    for (int d = 0; d < 3; d++)
        pixel = pixel << 8 | (uint32_t)lround(255 * fmin(1, sum[d] / full));
    return pixel;
}

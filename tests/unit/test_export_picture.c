/* The picture shows things where they are, in any geometry: the patient's right is on the left, front and top are up; a
 * stick lies as its fibre does and has its colour. Looked at in the pixels of the PNG. */
#include "check.h"

#include <unistd.h>

#include <cairo.h>

#include "core/fields.h"
#include "io/picture/picture_layout.h"

enum { SIDE = 7 };

/* A rotation of unequal spacings, of either handedness, in any space; turn 0 is the identity. */
static hot_grid make_grid(int turn, uint64_t *seed)
{
    static const hot_space spaces[] = {HOT_SPACE_RAS, HOT_SPACE_LAS, HOT_SPACE_LPS};
    hot_grid grid = {.size = {SIDE, SIDE, SIDE}, .space = spaces[turn % 3],
                     .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    if (turn == 0)
        return grid;
    double x[3], y[3], z[3];
    check_random_axes(seed, x, y, z);
    const double hand = turn % 2 ? 1 : -1;
    for (int d = 0; d < 3; d++) {
        grid.to_world[d][0] = 1.8 * x[d];
        grid.to_world[d][1] = 2 * y[d];
        grid.to_world[d][2] = 2.2 * hand * z[d];
    }
    return grid;
}

struct spot {
    double x, y;      /* middle of the pixels of a colour */
    double xx, yy, xy; /* and their spread */
    size_t pixels;
};

/* The pixels of a panel in which only `channel` (0 red, 1 green, 2 blue) is bright. */
static struct spot find_color(cairo_surface_t *image, const hot_panel *panel, int channel)
{
    struct spot spot = {0};
    const unsigned char *data = cairo_image_surface_get_data(image);
    int stride = cairo_image_surface_get_stride(image);
    for (int pass = 0; pass < 2; pass++) {
        for (int y = (int)panel->y; y < panel->y + panel->height; y++)
            for (int x = (int)panel->x; x < panel->x + panel->width; x++) {
                uint32_t pixel;
                memcpy(&pixel, data + (size_t)y * (size_t)stride + 4 * (size_t)x, sizeof pixel);
                const int rgb[3] = {pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255};
                if (rgb[channel] < 180 || rgb[(channel + 1) % 3] > 110 || rgb[(channel + 2) % 3] > 110)
                    continue;
                if (pass == 0) {
                    spot.pixels++;
                    spot.x += x;
                    spot.y += y;
                } else {
                    spot.xx += (x - spot.x) * (x - spot.x) / (double)spot.pixels;
                    spot.yy += (y - spot.y) * (y - spot.y) / (double)spot.pixels;
                    spot.xy += (x - spot.x) * (y - spot.y) / (double)spot.pixels;
                }
            }
        if (pass == 0 && spot.pixels) {
            spot.x /= (double)spot.pixels;
            spot.y /= (double)spot.pixels;
        }
    }
    return spot;
}

/* A red stick (patient's left-right) in one voxel, a green one (front-back) in another, apart along the grid axis that
 * follows world axis `world`. */
static void two_sticks(hot_context *context, const hot_grid *grid, int world, int turn)
{
    double ras[3][4], sign[3];
    int axis = 0;
    hot_grid_to_ras(grid, ras);
    hot_space_ras_sign(grid->space, sign);
    hot_picture_layout layout;
    float *peaks = calloc(SIDE * SIDE * SIDE, 3 * sizeof *peaks);
    size_t first[3] = {3, 3, 3}, second[3] = {3, 3, 3};
    hot_fiber_field *fibers = NULL;
    uint8_t every[SIDE * SIDE * SIDE];
    memset(every, 1, sizeof every);
    hot_picture_lay_out(grid, every, &layout);
    /* the axis that runs across the axial panel, down it, or down the coronal one */
    axis = world == 0 ? layout.panels[2].across : world == 1 ? layout.panels[2].down : layout.panels[0].down;
    first[axis] = 2, second[axis] = 4;
    peaks[3 * (first[0] + SIDE * (first[1] + SIDE * first[2])) + 0] = 1;
    peaks[3 * (second[0] + SIDE * (second[1] + SIDE * second[2])) + 1] = 1;
    CHECK(hot_fiber_field_create(context, grid, 1, peaks, &fibers) == HOT_OK, "fibers");
    CHECK(hot_export_picture(context, fibers, NULL, "p.png") == HOT_OK, "%s", hot_context_message(context));
    cairo_surface_t *image = cairo_image_surface_create_from_png("p.png");
    CHECK(cairo_surface_status(image) == CAIRO_STATUS_SUCCESS, "a PNG");
    hot_picture_lay_out(grid, hot_fiber_field_counts(fibers), &layout);
    CHECK(cairo_image_surface_get_width(image) == layout.width, "width");
    const hot_panel *panel = &layout.panels[world == 2 ? 0 : 2];
    struct spot red = find_color(image, panel, 0), green = find_color(image, panel, 1);
    CHECK(red.pixels > 20 && green.pixels > 20, "turn %d, axis %d: %zu red, %zu green pixels", turn, world, red.pixels,
          green.pixels);
    /* the second voxel minus the first, in RAS, along the world axis: towards R, A or S is left or up */
    double towards = ras[world][axis], apart = 2 * layout.scale * layout.spacing[axis];
    double moved = world == 0 ? red.x - green.x : red.y - green.y,
           aside = world == 0 ? red.y - green.y : red.x - green.x;
    CHECK_NEAR(moved, towards > 0 ? apart : -apart, 3, "turn %d, axis %d", turn, world);
    CHECK_NEAR(aside, 0, 3, "turn %d, axis %d", turn, world);
    /* the red stick's line on the screen is that of the patient's left-right axis */
    double dx = panel->across_sign * layout.to_axes[panel->across][0],
           dy = panel->down_sign * layout.to_axes[panel->down][0];
    if (hypot(dx, dy) > 0.8) {
        double is = 0.5 * atan2(2 * red.xy, red.xx - red.yy), wanted = atan2(dy, dx);
        CHECK(fabs(sin(is - wanted)) < 0.05, "turn %d, axis %d: the stick at %g, wanted %g", turn, world, is, wanted);
    }
    cairo_surface_destroy(image);
    hot_fiber_field_destroy(&fibers);
    free(peaks);
    unlink("p.png");
}

/* The brightest pixel of one colour within a panel. */
static int brightest(const hot_panel *panel, int channel, const char *path)
{
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    const unsigned char *data = cairo_image_surface_get_data(image);
    int most = 0;
    for (int y = (int)panel->y; data && y < panel->y + panel->height; y++)
        for (int x = (int)panel->x; x < panel->x + panel->width; x++) {
            uint32_t pixel;
            memcpy(&pixel, data + (size_t)y * (size_t)cairo_image_surface_get_stride(image) + 4 * (size_t)x,
                   sizeof pixel);
            const int value = (int)(pixel >> (16 - 8 * channel) & 255);
            most = value > most ? value : most;
        }
    cairo_surface_destroy(image);
    return most;
}

/* A red and a green fibre, the green one less and less certain: it fades into the black below, the red one does not. In
 * the picture of sticks and in that of colours. */
static void fade(hot_context *context)
{
    const hot_grid grid = make_grid(0, NULL);
    const size_t middle = 3 + SIDE * (3 + SIDE * 3);
    static float peaks[SIDE * SIDE * SIDE][2][3], certainty[SIDE * SIDE * SIDE][2], black[SIDE * SIDE * SIDE];
    const hot_export_format *dec = hot_export_format_find("dec", NULL);
    hot_fiber_field *fibers = NULL;
    hot_picture_layout layout;
    peaks[middle][0][0] = 1, peaks[middle][1][1] = .9f;
    CHECK(hot_fiber_field_create(context, &grid, 2, peaks[0][0], &fibers) == HOT_OK, "fibers");
    hot_picture_lay_out(&grid, hot_fiber_field_counts(fibers), &layout);
    for (int step = -1; step <= 2; step++) { /* -1: nothing is known */
        const double shown = step < 0 ? 1 : .5 * step;
        certainty[middle][0] = 1, certainty[middle][1] = (float)shown;
        CHECK(hot_fiber_field_set_certainty(context, fibers, step < 0 ? NULL : certainty[0]) == HOT_OK, "set");
        CHECK(hot_export_picture(context, fibers, black, "p.png") == HOT_OK && dec->write(context, fibers, "d.png") ==
                  HOT_OK, "%s", hot_context_message(context));
        for (int color = 0; color < 2; color++) {
            const char *path = color ? "d.png" : "p.png";
            const double full = color ? 255 * .9 : 255; /* colours: full at the largest amplitude */
            CHECK_NEAR(brightest(&layout.panels[2], 0, path), 255, 2, "%s: red at %g", path, shown);
            CHECK_NEAR(brightest(&layout.panels[2], 1, path), full * shown, 3, "%s: green at %g", path, shown);
        }
    }
    hot_fiber_field_destroy(&fibers);
    unlink("p.png");
    unlink("d.png");
}

int main(void)
{
    char folder[] = "/tmp/hot_picture_XXXXXX";
    hot_context *context = NULL;
    uint64_t seed = 4;
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int turn = 0; turn < 8; turn++) {
        hot_grid grid = make_grid(turn, &seed);
        for (int world = 0; world < 3; world++)
            two_sticks(context, &grid, world, turn);
    }
    fade(context);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "empty folder");
    hot_context_destroy(&context);
    HOT_TEST_END();
}

/* Example: a window that shows slices while they are computed. Without a display the program computes all the same.
 *
 *   example_live                  the window stays until it is closed (Q)
 *   example_live poll             the same with the window in this thread, as on macOS
 *   example_live thread plane coronal ...     settings of hotfiber-view */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hotfiber/view.h>

enum { SIDE = 24, SLICES = 12, SLICE = SIDE * SIDE };

/* One slice of directions: circles in the plane, in every other voxel with a fibre across. */
static void compute(int slice, float peaks[SLICE][2][3])
{
    for (int voxel = 0; voxel < SLICE; voxel++) {
        const double x = voxel % SIDE - SIDE / 2 + .5, y = voxel / SIDE - SIDE / 2 + .5, r = hypot(x, y);
        peaks[voxel][0][0] = (float)(-y / r);
        peaks[voxel][0][1] = (float)(x / r);
        peaks[voxel][1][2] = voxel % 2 ? (float)slice / SLICES : 0;
    }
}

int main(int argc, char **argv)
{
    static float none[SLICES][SLICE][2][3], peaks[SLICE][2][3];
    const hot_grid grid = {{SIDE, SIDE, SLICES}, {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, HOT_SPACE_RAS};
    hot_context *context = NULL;
    hot_fiber_field *fibers = NULL;
    hot_view *view = NULL;
    int open = 1;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    hot_status status = hot_fiber_field_create(context, &grid, 2, &none[0][0][0][0], &fibers);
    if (status == HOT_OK) {
        const hot_view_fields fields = {.size = sizeof fields, .fibers = fibers};
        const hot_view_options options = {
            .size = sizeof options,
            .width = 640,
            .height = 480,
            .settings = argc > 2 ? (const char *const *)&argv[2] : NULL, /* argv ends with NULL, as settings must */
            .in_poll = argc > 1 && strcmp(argv[1], "poll") == 0,
        };
        if (hot_view_open(context, &fields, &options, &view) != HOT_OK)
            fprintf(stderr, "example_live: no window, computing without: %s\n", hot_context_message(context));
    }
    for (int slice = 0; slice < SLICES && status == HOT_OK; slice++) {
        compute(slice, peaks);
        const hot_view_slices found = {.size = sizeof found, .first = (size_t)slice, .count = 1,
                                       .peaks = &peaks[0][0][0]};
        status = hot_view_update(context, view, &found);
        if (status == HOT_OK)
            status = hot_view_poll(context, view, 0, &open);
    }
    printf("computed %d slices\n", SLICES);
    fflush(stdout);
    if (status == HOT_OK)
        status = hot_view_poll(context, view, -1, &open); /* until the window is closed */
    if (status != HOT_OK)
        fprintf(stderr, "example_live: %s\n", hot_context_message(context));
    hot_view_close(&view);
    hot_fiber_field_destroy(&fibers);
    hot_context_destroy(&context);
    return status == HOT_OK ? 0 : 1;
}

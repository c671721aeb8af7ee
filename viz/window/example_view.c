/* Example: displays fields in memory, two crossing and bending fibres as surfaces and sticks.
 *
 *   example_view                  a window; returns when it is closed (Q)
 *   example_view out.png          a picture, without a display
 *   example_view out.png glyph sticks plane coronal ...     settings of hotfiber-view ("-" for a window) */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hotfiber/symtensor.h>
#include <hotfiber/view.h>

enum { SIDE = 8, VOXELS = SIDE * SIDE, ORDER = 4, UNIQUE = 15, FIBERS = 2 };

int main(int argc, char **argv)
{
    static float tensors[VOXELS][1 + UNIQUE], peaks[VOXELS][FIBERS][3];
    int exponents[UNIQUE][3];
    hot_context *context = NULL;
    hot_tensor_field *surfaces = NULL;
    hot_fiber_field *sticks = NULL;
    const hot_grid grid = {{SIDE, SIDE, 1}, {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, HOT_SPACE_RAS};
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    hot_symtensor_exponents(ORDER, 3, &exponents[0][0]);
    for (int voxel = 0; voxel < VOXELS; voxel++) {
        tensors[voxel][0] = 1; /* confidence */
        for (int f = 0; f < FIBERS; f++) {
            const double angle = (f ? 0.6 : -0.6) + 0.1 * (voxel % SIDE), v[3] = {cos(angle), sin(angle), 0};
            for (int d = 0; d < 3; d++)
                peaks[voxel][f][d] = (float)v[d];
            for (int t = 0; t < UNIQUE; t++) /* (v . x)^4 */
                tensors[voxel][1 + t] +=
                    (float)(pow(v[0], exponents[t][0]) * pow(v[1], exponents[t][1]) * pow(v[2], exponents[t][2]));
        }
    }
    hot_status status = hot_tensor_field_create(context, &grid, ORDER, "example", &tensors[0][0], &surfaces);
    if (status == HOT_OK)
        status = hot_fiber_field_create(context, &grid, FIBERS, &peaks[0][0][0], &sticks);
    if (status == HOT_OK) {
        const hot_view_fields fields = {.size = sizeof fields, .tensors = surfaces, .fibers = sticks};
        /* argv ends with NULL, as settings must */
        const hot_view_options options = {
            .size = sizeof options,
            .width = 640,
            .height = 480,
            .screenshot = argc > 1 && strcmp(argv[1], "-") ? argv[1] : NULL,
            .settings = argc > 2 ? (const char *const *)&argv[2] : NULL,
        };
        status = hot_view_show(context, &fields, &options);
    }
    if (status != HOT_OK)
        fprintf(stderr, "example_view: %s\n", hot_context_message(context));
    hot_tensor_field_destroy(&surfaces);
    hot_fiber_field_destroy(&sticks);
    hot_context_destroy(&context);
    return status == HOT_OK ? 0 : 1;
}

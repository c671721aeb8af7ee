/* Fibres that are too uncertain are left out of the outputs: --min_probability, --max_cone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "certainty.h"

/* Removes item `at` of `count` items of `width` floats; the last becomes `none`. */
static void remove_item(float *items, int at, int count, size_t width, float none)
{
    if (!items)
        return;
    float *place = items + (size_t)at * width;
    memmove(place, place + width, (size_t)(count - 1 - at) * width * sizeof *items);
    for (size_t i = 0; i < width; i++)
        items[(size_t)(count - 1) * width + i] = none;
}

void hot_fiber_field_filter(hot_context *context, hot_fiber_field *fibers, const hot_signal_maps *maps,
                            double min_probability, double max_cone)
{
    const int max = fibers->max_fibers;
    const size_t voxels = hot_grid_voxels(&fibers->grid);
    size_t dropped = 0;
    if (!(min_probability > 0) && !(max_cone > 0))
        return;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const size_t first = voxel * (size_t)max;
        for (int fiber = fibers->counts[voxel] - 1; fiber >= 0; fiber--) { /* longest first: the weakest goes first */
            const int doubtful = min_probability > 0 &&
                                 hot_fiber_probability(maps->probability + 4 * voxel, fiber) < min_probability;
            if (!doubtful && !(max_cone > 0 && (double)maps->cone[first + (size_t)fiber] > max_cone))
                continue;
            remove_item(fibers->peaks + 3 * first, fiber, max, 3, 0);
            remove_item(fibers->certainty ? fibers->certainty + first : NULL, fiber, max, 1, 0);
            remove_item(fibers->probability ? fibers->probability + first : NULL, fiber, max, 1, NAN);
            remove_item(fibers->cone ? fibers->cone + first : NULL, fiber, max, 1, NAN);
            remove_item(maps->cone ? maps->cone + first : NULL, fiber, max, 1, NAN);
            remove_item(maps->cone_axes ? maps->cone_axes + 6 * first : NULL, fiber, max, 6, 0);
            remove_item(maps->fraction_sd ? maps->fraction_sd + first : NULL, fiber, max, 1, NAN);
            fibers->counts[voxel]--;
            dropped++;
        }
    }
    char why[100] = "";
    if (min_probability > 0)
        snprintf(why, sizeof why, "probability below %g%s", min_probability, max_cone > 0 ? ", or " : "");
    if (max_cone > 0)
        snprintf(why + strlen(why), sizeof why - strlen(why), "cone above %g degrees", max_cone);
    hot_context_log(context, HOT_LOG_NOTE, "%zu fibres are left out: %s", dropped, why);
}

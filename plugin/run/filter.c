/* Fibres that are too uncertain are left out of the outputs: --min_probability, --max_cone. */
#include "run.h"

#include <math.h>
#include <string.h>

/* Removes item `at` of `count` items of `width` floats; the last becomes 0. */
static void remove_item(float *items, int at, int count, size_t width)
{
    if (!items)
        return;
    float *place = items + (size_t)at * width;
    memmove(place, place + width, (size_t)(count - 1 - at) * width * sizeof *items);
    memset(items + (size_t)(count - 1) * width, 0, width * sizeof *items);
}

/* The probability of more than `fiber` fibres. */
static double probability_of(const float *probability, int fiber)
{
    double sum = 0;
    for (int k = fiber + 1; k <= 3; k++)
        sum += (double)probability[k];
    return sum;
}

void hot_run_filter_fibers(hot_run_state *run)
{
    const hot_run_options *options = &run->inputs.options;
    hot_fiber_field *fibers = run->results.fibers;
    const hot_signal_maps *maps = &run->results.maps;
    const int max = fibers->max_fibers;
    const size_t voxels = hot_grid_voxels(&fibers->grid);
    size_t dropped = 0;
    if (!(options->min_probability > 0) && !(options->max_cone > 0))
        return;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const size_t first = voxel * (size_t)max;
        for (int fiber = fibers->counts[voxel] - 1; fiber >= 0; fiber--) { /* longest first: the weakest goes first */
            const int doubtful = options->min_probability > 0 &&
                                 probability_of(maps->probability + 4 * voxel, fiber) < options->min_probability;
            if (!doubtful && !(options->max_cone > 0 && (double)maps->cone[first + (size_t)fiber] > options->max_cone))
                continue;
            remove_item(fibers->peaks + 3 * first, fiber, max, 3);
            remove_item(maps->cone ? maps->cone + first : NULL, fiber, max, 1);
            remove_item(maps->cone_axes ? maps->cone_axes + 6 * first : NULL, fiber, max, 6);
            remove_item(maps->fraction_sd ? maps->fraction_sd + first : NULL, fiber, max, 1);
            fibers->counts[voxel]--;
            dropped++;
        }
    }
    hot_context_log(run->context, HOT_LOG_NOTE,
                    "%zu fibres are left out: probability below %g, or cone above %g degrees", dropped,
                    fmax(options->min_probability, 0), options->max_cone > 0 ? options->max_cone : 90);
}

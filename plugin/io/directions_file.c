/* Fibre directions out: NRRD in the grid's own space, the other formats in scanner RAS. */
#include "common/arguments.h"
#include "common/entry.h"
#include "core/fields.h"
#include "io/common/image_save.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_directions.h"

/* Value `number` of every voxel's directions, in scanner axes. */
static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
    const hot_fiber_field *fibers = from;
    const size_t row = 3 * (size_t)fibers->max_fibers;
    double sign[3];
    hot_space_ras_sign(fibers->grid.space, sign);
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = first; voxel < first + count; voxel++) {
        const float value = fibers->peaks[voxel * row + number];
        samples[voxel - first] = value == 0 ? 0 : (float)sign[number % 3] * value;
    }
}

hot_status hot_fiber_field_save(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, fibers, path);
    HOT_TRY(hot_path_check_image(context, path));
    return hot_path_has_volumes(path)
        ? hot_image_save(context, path, &fibers->grid, HOT_CONTENT_PEAKS, 3 * (size_t)fibers->max_fibers, fill,
                         fibers)
        : hot_nrrd_save_directions(context, fibers, path);
}

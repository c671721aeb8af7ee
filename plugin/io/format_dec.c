/* dec: direction-encoded colours, |x| red, |y| green, |z| blue in scanner axes, every fibre's times its amplitude,
 * summed; and times its certainty, where that is known. Three float volumes rather than the RGB24 type: MRtrix does not
 * read RGB24, and mrview and FSLeyes show three volumes in colour, with the window the user sets. As PNG: a picture of
 * the three middle slices. */
#include <math.h>

#include "io/common/formats.h"
#include "common/entry.h"
#include "io/common/image_save.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_values.h"
#include "io/picture/picture_layout.h"

/* Component d of a voxel's colour; flips of x and y do not matter to |x| and |y|. */
static float color(const hot_fiber_field *fibers, size_t voxel, size_t d)
{
    const size_t max = (size_t)fibers->max_fibers;
    double sum = 0;
    for (size_t fiber = 0; fiber < fibers->counts[voxel]; fiber++)
        sum += hot_fiber_field_shown(fibers, voxel, fiber) *
               fabs((double)fibers->peaks[3 * (voxel * max + fiber) + d]);
    return (float)sum;
}

static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = first; voxel < first + count; voxel++)
        samples[voxel - first] = color(from, voxel, number);
}

/* NRRD, 3 values per voxel: what Slicer reads as a vector volume. */
static hot_status write_nrrd(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const size_t voxels = hot_grid_voxels(&fibers->grid);
    float *colors = hot_context_alloc(context, voxels, 3 * sizeof *colors);
    if (!colors)
        return HOT_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < 3 * voxels; i++)
        colors[i] = color(fibers, i / 3, i % 3);
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = colors, .per = {3}, .kind = HOT_NRRD_COLOR,
                                    .content = HOT_CONTENT_RGB,
                                    .compress = 1};
    hot_status status = hot_nrrd_save_values(context, &values, path);
    hot_context_free(context, colors);
    return status;
}

hot_status hot_write_dec(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    if (hot_path_has_suffix(path, ".png"))
        return hot_color_picture(context, fibers, path);
    HOT_TRY(hot_path_check_image(context, path));
    return hot_path_has_volumes(path)
        ? hot_image_save(context, path, &fibers->grid, HOT_CONTENT_RGB, 3, fill, fibers)
        : write_nrrd(context, fibers, path);
}

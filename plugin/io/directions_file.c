/* Fibre directions out and in: NRRD in the grid's own space, the other formats in scanner RAS. */
#include "common/arguments.h"
#include "core/image.h"
#include "common/entry.h"
#include "io/common/directions_check.h"
#include "io/common/image_save.h"
#include "io/common/input.h"
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
    hot_status status = hot_path_check_image(context, path);
    if (status != HOT_OK)
        return status;
    return hot_path_has_volumes(path)
        ? hot_image_save(context, path, &fibers->grid, 3 * (size_t)fibers->max_fibers, fill, fibers)
        : hot_nrrd_save_directions(context, fibers, path);
}

/* 3N values per voxel in scanner RAS, as MRtrix writes them. */
static hot_status load_image(hot_context *context, hot_input *input, hot_fiber_field **fibers)
{
    hot_image image;
    float *peaks = NULL;
    hot_status status = hot_directions_check_tables(context, input->path, "directions");
    if (status != HOT_OK)
        return status;
    status = hot_image_open_input(context, input, &image);
    if (status == HOT_OK)
        status = hot_directions_check_scheme(&image, "directions");
    if (status == HOT_OK && (image.values < 3 || image.values % 3 != 0 || image.values > 3 * 255))
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds no directions: %zu volumes, where 3 per fibre were expected", image.name,
                                  image.values);
    if (status == HOT_OK)
        hot_image_warn_unplaced(&image);
    if (status == HOT_OK)
        status = hot_image_read(&image);
    if (status != HOT_OK)
        goto cleanup;
    const size_t voxels = hot_grid_voxels(&image.grid);
    peaks = hot_context_alloc(context, voxels, image.values * sizeof *peaks);
    status = peaks ? hot_image_values(&image, 0, voxels, peaks) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_directions_check_values(context, image.name, peaks, voxels, image.values / 3);
    if (status == HOT_OK)
        status = hot_fiber_field_adopt(context, &image.grid, (int)(image.values / 3), &peaks, fibers);
cleanup:
    hot_context_free(context, peaks);
    hot_image_close(&image);
    return status;
}

hot_status hot_fiber_field_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    if (fibers)
        *fibers = NULL;
    HOT_NEED(context, path, fibers);
    hot_input input;
    hot_status status = hot_input_open(context, path, &input);
    if (status == HOT_OK)
        status = input.kind == HOT_FILE_NRRD ? hot_nrrd_load_directions(context, &input, fibers)
                                             : load_image(context, &input, fibers);
    hot_input_close(context, &input);
    return status;
}

/* Fibre directions in NIfTI: 3N volumes, scanner RAS. */
#include "nifti_directions.h"

#include "io/common/directions_check.h"
#include "nifti_image.h"
#include "nifti_volume.h"

/* Value `number` of every voxel's directions, in scanner axes. */
static void fill(hot_context *context, const void *from, size_t number, size_t voxels, float *volume)
{
    const hot_fiber_field *fibers = from;
    const size_t row = 3 * (size_t)fibers->max_fibers;
    double sign[3];
    hot_space_ras_sign(fibers->grid.space, sign);
    (void)context;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const float value = fibers->peaks[voxel * row + number];
        volume[voxel] = value == 0 ? 0 : (float)sign[number % 3] * value;
    }
}

hot_status hot_nifti_save_directions(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    return hot_nifti_save_volumes(context, path, &fibers->grid, 3 * (size_t)fibers->max_fibers, fill, fibers);
}

hot_status hot_nifti_load_directions(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    nifti_image *image = NULL;
    float *volume = NULL, *peaks = NULL;
    hot_grid grid;
    hot_status status = hot_directions_check_tables(context, path);
    if (status == HOT_OK)
        status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    hot_nifti_grid(image, &grid);
    size_t voxels = hot_grid_voxels(&grid), row = voxels ? (size_t)image->nvox / voxels : 0;
    if (row < 3 || row % 3 != 0 || row > 3 * 255) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds no directions: %zu volumes, where 3 per fibre were expected", path, row);
        goto cleanup;
    }
    peaks = hot_context_alloc(context, voxels, row * sizeof *peaks);
    volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!peaks || !volume) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t value = 0; value < row; value++) {
        status = hot_nifti_floats(context, image, path, value * voxels, voxels, volume);
        if (status != HOT_OK)
            goto cleanup;
        for (size_t voxel = 0; voxel < voxels; voxel++)
            peaks[voxel * row + value] = volume[voxel];
    }
    status = hot_directions_check_values(context, path, peaks, voxels, row / 3);
    if (status == HOT_OK)
        status = hot_fiber_field_create(context, &grid, (int)(row / 3), peaks, fibers);
cleanup:
    nifti_image_free(image);
    hot_context_free(context, volume);
    hot_context_free(context, peaks);
    return status;
}

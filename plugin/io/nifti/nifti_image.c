/* Images of one value per voxel from NIfTI: masks, maps, anatomical images. */
#include "nifti_image.h"

#include <string.h>

#include "io/common/image_check.h"
#include "nifti_volume.h"

hot_status hot_nifti_load_mask(hot_context *context, const char *path, hot_mask *mask)
{
    nifti_image *image = NULL;
    hot_grid grid;
    hot_status status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    size_t voxels = hot_grid_voxels(&mask->grid);
    hot_nifti_grid(image, &grid);
    float *values = NULL;
    if (memcmp(grid.size, mask->grid.size, sizeof grid.size) != 0)
        status = hot_mask_other_size(context, path, grid.size, &mask->grid);
    else if ((size_t)image->nvox != voxels)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "mask '%s' has %zu volumes; a mask has one", path,
                                  (size_t)image->nvox / voxels);
    else if (!(values = hot_context_alloc(context, voxels, sizeof *values)))
        status = HOT_ERROR_MEMORY;
    else
        status = hot_nifti_floats(context, image, path, 0, voxels, values);
    if (status == HOT_OK)
        hot_mask_compare_places(context, path, &grid, &mask->grid);
    if (status == HOT_OK)
        hot_mask_threshold(values, HOT_SAMPLE_F32, mask);
    hot_context_free(context, values);
    nifti_image_free(image);
    return status;
}

hot_status hot_nifti_load_image(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    nifti_image *image = NULL;
    hot_status status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    hot_nifti_grid(image, grid);
    const size_t voxels = hot_grid_voxels(grid);
    if (!voxels || (size_t)image->nvox != voxels)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' is no image of one value per voxel: it has %zu volumes", path,
                                  voxels ? (size_t)image->nvox / voxels : 0);
    if (status == HOT_OK) {
        *values = hot_context_alloc(context, voxels, sizeof **values);
        status = *values ? hot_nifti_floats(context, image, path, 0, voxels, *values) : HOT_ERROR_MEMORY;
    }
    nifti_image_free(image);
    return status;
}

hot_status hot_nifti_load_map(hot_context *context, const char *path, size_t voxels, float *values)
{
    nifti_image *image = NULL;
    hot_status status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    status = hot_map_check_count(context, path, (size_t)image->nvox, voxels);
    if (status == HOT_OK)
        status = hot_nifti_floats(context, image, path, 0, voxels, values);
    nifti_image_free(image);
    return status;
}

hot_status hot_nifti_save_volumes(hot_context *context, const char *path, const hot_grid *grid, size_t volumes,
                                  hot_nifti_fill *fill, const void *from)
{
    hot_nifti_writer writer;
    const size_t voxels = hot_grid_voxels(grid);
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!volume)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_nifti_begin(context, path, grid, volumes, DT_FLOAT32, 0, 0, &writer);
    for (size_t number = 0; number < volumes && status == HOT_OK; number++) {
        fill(context, from, number, voxels, volume);
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
    }
    status = hot_nifti_end(context, &writer, status);
    hot_context_free(context, volume);
    return status;
}

hot_status hot_nifti_save_bytes(hot_context *context, const char *path, const hot_grid *grid, const uint8_t *values)
{
    hot_nifti_writer writer;
    hot_status status = hot_nifti_begin(context, path, grid, 1, DT_UINT8, 0, 0, &writer);
    if (status == HOT_OK)
        status = hot_nifti_write(context, &writer, values, hot_grid_voxels(grid));
    return hot_nifti_end(context, &writer, status);
}

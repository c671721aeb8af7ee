/* Images to NIfTI: one or several volumes. */
#include "nifti_image.h"

#include "nifti_volume.h"

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

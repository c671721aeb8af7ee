/* The signal method's maps as files, and a noise map from a file. */
#include <string.h>

#include "core/fields.h"
#include "io/nrrd/nrrdio.h"
#include "io/nifti/nifti_volume.h"

/* values: voxels x per, floats; NIfTI wants the volumes one after the other. */
static hot_status save_nifti(hot_context *context, const hot_grid *grid, const void *values, int type, size_t per,
                             const char *path)
{
    const size_t voxels = hot_grid_voxels(grid);
    hot_nifti_writer writer;
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!volume)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_nifti_begin(context, path, grid, per, type, 0, 0, &writer);
    for (size_t p = 0; p < per && status == HOT_OK; p++) {
        if (type == DT_UINT8) {
            status = hot_nifti_write(context, &writer, values, voxels);
            continue;
        }
        for (size_t v = 0; v < voxels; v++)
            volume[v] = ((const float *)values)[v * per + p];
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
    }
    status = hot_nifti_end(context, &writer, status);
    hot_context_free(context, volume);
    return status;
}

hot_status hot_signal_map_save(hot_context *context, const hot_signal_maps *maps, const char *name, const char *path)
{
    const void *values = NULL;
    size_t per = 1;
    int bytes = 0;
    if (!strcmp(name, "probability"))
        values = maps->probability, per = 4;
    else if (!strcmp(name, "margin"))
        values = maps->margin;
    else if (!strcmp(name, "residual"))
        values = maps->residual;
    else if (!strcmp(name, "width"))
        values = maps->width;
    else if (!strcmp(name, "flags"))
        values = maps->flags, bytes = 1;
    if (!values)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "there is no map '%s': probability, margin, residual, width or flags", name);
    if (hot_path_is_nifti(path))
        return save_nifti(context, &maps->grid, values, bytes ? DT_UINT8 : DT_FLOAT32, per, path);
    const size_t sizes[4] = {per, maps->grid.size[0], maps->grid.size[1], maps->grid.size[2]};
    const unsigned int list = per > 1;
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_wrap(context, values, bytes ? nrrdTypeUChar : nrrdTypeFloat, 3 + list,
                                      list ? sizes : sizes + 1, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_set_grid(context, nrrd, list, &maps->grid);
    if (status == HOT_OK && list)
        nrrd->axis[0].kind = nrrdKindList;
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_map", name);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 1);
    nrrdNix(nrrd);
    return status;
}

hot_status hot_noise_map_load(hot_context *context, const char *path, const hot_grid *grid, float **map)
{
    const size_t voxels = hot_grid_voxels(grid);
    hot_status status = HOT_OK;
    Nrrd *nrrd = NULL;
    nifti_image *image = NULL;
    size_t samples = 0;
    float *values = hot_context_alloc(context, voxels, sizeof *values);
    *map = NULL;
    if (!values)
        return HOT_ERROR_MEMORY;
    if (hot_path_is_nifti(path)) {
        status = hot_nifti_load(context, path, &image);
        samples = status == HOT_OK ? (size_t)image->nvox : 0;
    } else {
        status = hot_nrrd_load(context, path, &nrrd);
        samples = status == HOT_OK ? nrrdElementNumber(nrrd) : 0;
        if (status == HOT_OK && nrrd->type == nrrdTypeBlock)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds blocks, not numbers", path);
    }
    if (status == HOT_OK && samples != voxels)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "'%s' has %zu values; one for each of %zu voxels was expected", path, samples,
                                  voxels);
    if (status == HOT_OK && image)
        status = hot_nifti_floats(context, image, path, 0, voxels, values);
    for (size_t v = 0; v < voxels && status == HOT_OK && nrrd; v++)
        values[v] = nrrdFLookup[nrrd->type](nrrd->data, v);
    if (status == HOT_OK)
        *map = values;
    else
        hot_context_free(context, values);
    nrrdNuke(nrrd);
    if (image)
        nifti_image_free(image);
    return status;
}

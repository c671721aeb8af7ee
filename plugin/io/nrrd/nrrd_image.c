/* Images of one value per voxel from NRRD: masks, maps, anatomical images. */
#include "nrrd_image.h"

#include <math.h>

#include "io/common/image_check.h"
#include "nrrdfile.h"

hot_status hot_nrrd_load_mask(hot_context *context, const char *path, hot_mask *mask)
{
    hot_nrrd_file file = {0};
    hot_sample type;
    void *data = NULL;
    hot_status status = hot_nrrd_open(context, path, &file);
    if (status != HOT_OK)
        return status;
    /* Axes of size 1 (as left by cropping a larger array) do not count. */
    size_t size[3] = {1, 1, 1};
    unsigned int axes = 0;
    for (unsigned int axis = 0; axis < file.nrrd->dim; axis++)
        if (file.nrrd->axis[axis].size != 1 || file.nrrd->dim <= 3) {
            if (axes < 3)
                size[axes] = file.nrrd->axis[axis].size;
            axes++;
        }
    if (axes > 3)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "mask '%s' has %u axes; a mask has one value per voxel, 3 axes", path,
                                  file.nrrd->dim);
    else if (file.samples != hot_grid_voxels(&mask->grid))
        status = hot_mask_other_size(context, path, size, &mask->grid);
    for (int a = 0; a < 3 && status == HOT_OK && file.nrrd->dim <= 3; a++)
        if (size[a] != mask->grid.size[a])
            status = hot_mask_other_size(context, path, size, &mask->grid);
    hot_grid place;
    if (status == HOT_OK && file.nrrd->dim == 3 &&
        hot_nrrd_get_grid(context, file.nrrd, (unsigned int[]){0, 1, 2}, &place) == HOT_OK)
        hot_mask_compare_places(context, path, &place, &mask->grid);
    if (status == HOT_OK) {
        data = hot_context_alloc(context, file.bytes, 1);
        status = data ? hot_nrrd_read(context, &file, data) : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK && hot_nrrd_to_sample(file.nrrd->type, &type))
        hot_mask_threshold(data, type, mask);
    hot_context_free(context, data);
    hot_nrrd_close(context, &file);
    return status;
}

/* The three axes of a NRRD that are in space: those with a direction, or where none is said those longer than one
 * sample (axes of one sample are left over by cropping). */
static hot_status find_axes(hot_context *context, const char *path, const Nrrd *nrrd, unsigned int axes[3])
{
    unsigned int directed = 0, long_ones = 0, found = 0;
    for (unsigned int a = 0; a < nrrd->dim; a++) {
        directed += nrrd->spaceDim >= 3 && isfinite(nrrd->axis[a].spaceDirection[0]);
        long_ones += nrrd->axis[a].size != 1;
    }
    for (unsigned int a = 0; a < nrrd->dim; a++) {
        const int space = nrrd->spaceDim >= 3 && isfinite(nrrd->axis[a].spaceDirection[0]);
        if (directed == 3 ? space : nrrd->dim == 3 || nrrd->axis[a].size != 1) {
            if (found < 3)
                axes[found] = a;
            found++;
        } else if (nrrd->axis[a].size != 1) {
            found = 4; /* more than a value per voxel */
        }
    }
    if (found != 3)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' is no image of one value per voxel: it has %u axes, %u of them longer than 1",
                                path, nrrd->dim, long_ones);
    return HOT_OK;
}

hot_status hot_nrrd_load_image(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    Nrrd *nrrd = NULL;
    unsigned int axes[3];
    hot_status status = hot_nrrd_load(context, path, &nrrd);
    if (status == HOT_OK && nrrd->type == nrrdTypeBlock)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds blocks, not numbers", path);
    if (status == HOT_OK)
        status = find_axes(context, path, nrrd, axes);
    if (status == HOT_OK) {
        status = hot_nrrd_get_grid(context, nrrd, axes, grid);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s'", path);
    }
    const size_t voxels = status == HOT_OK ? hot_grid_voxels(grid) : 0;
    if (status == HOT_OK) {
        *values = hot_context_alloc(context, voxels, sizeof **values);
        status = *values ? HOT_OK : HOT_ERROR_MEMORY;
    }
    for (size_t v = 0; v < voxels && status == HOT_OK; v++)
        (*values)[v] = nrrdFLookup[nrrd->type](nrrd->data, v);
    nrrdNuke(nrrd);
    return status;
}

hot_status hot_nrrd_load_map(hot_context *context, const char *path, size_t voxels, float *values)
{
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_load(context, path, &nrrd);
    if (status == HOT_OK && nrrd->type == nrrdTypeBlock)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds blocks, not numbers", path);
    if (status == HOT_OK)
        status = hot_map_check_count(context, path, nrrdElementNumber(nrrd), voxels);
    for (size_t v = 0; v < voxels && status == HOT_OK; v++)
        values[v] = nrrdFLookup[nrrd->type](nrrd->data, v);
    nrrdNuke(nrrd);
    return status;
}

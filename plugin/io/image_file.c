/* An image on a grid of its own, from whatever file holds one. */
#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "io/nrrd/nrrdio.h"
#include "io/nifti/nifti_volume.h"

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

static hot_status load_nrrd(hot_context *context, const char *path, hot_grid *grid, float **values)
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

static hot_status load_nifti(hot_context *context, const char *path, hot_grid *grid, float **values)
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

hot_status hot_image_load(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    *values = NULL;
    hot_status status = hot_path_is_nifti(path) ? load_nifti(context, path, grid, values)
                                                : load_nrrd(context, path, grid, values);
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    return status;
}

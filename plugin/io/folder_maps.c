/* Maps of a run's folder that belong to its directions. */
#include <string.h>
#include <unistd.h>

#include "core/grid_match.h"
#include "field_file.h"
#include "io/common/paths.h"

/* Rows of `count` values into the order of another grid. */
static hot_status put_in_order(hot_context *context, const size_t *index, const hot_grid *grid, size_t count,
                               float **values)
{
    const size_t voxels = hot_grid_voxels(grid);
    float *turned = hot_context_calloc(context, voxels, count * sizeof *turned);
    if (!turned)
        return HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        if (index[voxel] != HOT_OUTSIDE)
            memcpy(turned + voxel * count, *values + index[voxel] * count, count * sizeof *turned);
    hot_context_free(context, *values);
    *values = turned;
    return HOT_OK;
}

hot_status hot_run_folder_map(hot_context *context, const char *folder, const char *name, const hot_grid *grid,
                              size_t count, float **values)
{
    hot_grid own;
    size_t has = 0, *index = NULL;
    *values = NULL;
    char *path = hot_path_join(context, folder, name);
    if (!path)
        return HOT_ERROR_MEMORY;
    hot_status status = access(path, F_OK) == 0 ? hot_image_load_values(context, path, &own, values, &has) : HOT_OK;
    if (status == HOT_OK && *values && has != count)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu values per voxel, not %zu: it is not of the "
                                  "same run as the directions", path, has, count);
    if (status == HOT_OK && *values)
        status = hot_grid_match(context, "image", path, &own, "the directions", grid, &index);
    if (status == HOT_OK && index)
        status = put_in_order(context, index, grid, count, values);
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    HOT_FREE(context, index, path);
    return status;
}

hot_status hot_run_folder_certainty(hot_context *context, const char *folder, hot_fiber_field *fibers)
{
    float *values = NULL;
    hot_status status = hot_run_folder_map(context, folder, "certainty.nii.gz", &fibers->grid,
                                           (size_t)fibers->max_fibers, &values);
    if (status == HOT_OK && values)
        status = hot_fiber_field_set_certainty(context, fibers, values);
    hot_context_free(context, values);
    return status;
}

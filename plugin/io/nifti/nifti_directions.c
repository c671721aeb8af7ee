/* Fibre directions in NIfTI: 3N volumes, scanner RAS. */
#include "nifti_directions.h"

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

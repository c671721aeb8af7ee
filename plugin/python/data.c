#include "data.h"

#include <string.h>

#include "core/fields.h"
#include "dwi/dwi_private.h"
#include "dwi/frames.h"

hot_status hot_python_dwi(hot_context *context, const hot_grid *grid, size_t volumes, const double *b,
                          const double *gradients, int unit, const void *data, int sample, const size_t stride[3],
                          size_t apart, hot_dwi **dwi)
{
    hot_dwi *made = NULL;
    *dwi = NULL;
    if (hot_grid_voxels(grid) == 0 || volumes == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "data of %zu x %zu x %zu voxels and %zu volumes",
                                grid->size[0], grid->size[1], grid->size[2], volumes);
    hot_status status = hot_dwi_begin(context, grid, volumes, apart, "", &made);
    if (status != HOT_OK)
        return status;
    made->data = (void *)(uintptr_t)data; /* only read; not released, because release_data is NULL */
    made->sample = (hot_sample)sample;
    memcpy(made->stride, stride, sizeof made->stride);
    memcpy(made->b, b, volumes * sizeof *b);
    memcpy(made->gradients, gradients, 3 * volumes * sizeof *gradients);
    status = unit ? hot_dwi_find_shells(context, made) : hot_dwi_complete(context, made);
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}

void hot_python_bvec_frame(const hot_grid *grid, double *frame)
{
    double rows[3][3];
    hot_grid_bvec_frame(grid, rows);
    memcpy(frame, rows, sizeof rows);
}

#include "io/common/series.h"

#include <string.h>

#include "common/entry.h"
#include "core/image.h"
#include "dwi/select.h"

struct hot_series {
    hot_context *context;
    hot_dwi *dwi;    /* NULL: there is no gradient table */
    hot_image image; /* then */
};

hot_status hot_series_open(hot_context *context, const char *path, hot_series **series)
{
    HOT_ENTRY(context);
    *series = NULL;
    hot_series *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    hot_status status = hot_dwi_load(context, path, NULL, NULL, &made->dwi);
    if (status != HOT_OK && status != HOT_ERROR_MEMORY && status != HOT_ERROR_CANCELLED)
        status = hot_image_load_all(context, path, &made->image);
    if (status != HOT_OK)
        hot_series_close(&made);
    *series = made;
    return status;
}

void hot_series_close(hot_series **series)
{
    HOT_DESTROY_BEGIN(hot_series, series);
    hot_dwi_destroy(&gone->dwi);
    hot_image_close(&gone->image);
    hot_context_free(gone->context, gone);
}

const hot_grid *hot_series_grid(const hot_series *series)
{
    return series->dwi ? &series->dwi->grid : &series->image.grid;
}

size_t hot_series_volumes(const hot_series *series)
{
    return series->dwi ? series->dwi->volumes : series->image.values;
}

size_t hot_series_start(const hot_series *series)
{
    const hot_dwi *dwi = series->dwi;
    for (size_t v = 0; dwi && dwi->has_b0 && v < dwi->volumes; v++)
        if (dwi->shell_of[v] == 0)
            return v;
    return 0;
}

int hot_series_has_b0(const hot_series *series) { return series->dwi && series->dwi->has_b0; }

int hot_series_gradient(const hot_series *series, size_t volume, double *b, double ras[3])
{
    double sign[3];
    if (!series->dwi)
        return 0;
    *b = series->dwi->b[volume];
    hot_space_ras_sign(series->dwi->grid.space, sign);
    for (int d = 0; d < 3; d++)
        ras[d] = sign[d] * series->dwi->gradients[3 * volume + (size_t)d] + 0.; /* + 0.: turns -0 to 0 */
    return 1;
}

hot_status hot_series_read(hot_context *context, const hot_series *series, size_t volume, float *values)
{
    HOT_ENTRY(context);
    const size_t voxels = hot_grid_voxels(hot_series_grid(series));
    if (series->dwi) {
        hot_dwi *one = NULL;
        hot_status status = hot_dwi_select(context, series->dwi, 1, &volume, &one);
        if (status == HOT_OK)
            status = hot_dwi_read(context, one, 0, voxels, values);
        hot_dwi_destroy(&one);
        return status;
    }
    hot_image one = series->image; /* the same samples, seen as an image of this value alone */
    one.position += volume;
    one.values = 1;
    return hot_image_values(&one, 0, voxels, values);
}

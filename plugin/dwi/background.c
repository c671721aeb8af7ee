/* The grey image behind the fibres of a picture. */
#include "core/fields.h"

hot_status hot_export_background(hot_context *context, const hot_dwi *dwi, float *background)
{
    enum { CHUNK = 8192 };
    const size_t voxels = hot_grid_voxels(&dwi->grid), volumes = dwi->volumes;
    hot_status status = HOT_OK;
    float *signals = hot_context_alloc(context, CHUNK, volumes * sizeof *signals);
    if (!signals)
        return HOT_ERROR_MEMORY;
    for (size_t first = 0; status == HOT_OK && first < voxels; first += CHUNK) {
        size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, signals);
        for (size_t i = 0; status == HOT_OK && i < count; i++) {
            double sum = 0;
            size_t used = 0;
            for (size_t v = 0; v < volumes; v++)
                if (!dwi->has_b0 || dwi->shell_of[v] == 0) {
                    sum += signals[i * volumes + v];
                    used++;
                }
            background[first + i] = (float)(sum / (double)used);
        }
        if (status == HOT_OK)
            status = hot_context_progress(context, "background", (double)(first + count) / (double)voxels);
    }
    hot_context_free(context, signals);
    return status;
}

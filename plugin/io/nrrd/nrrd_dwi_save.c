/* A DWI as NRRD with the NA-MIC keys. */
#include <math.h>
#include <stdio.h>

#include "nrrd_dwi.h"
#include "nrrd_wrap_dwi.h"
#include "nrrd_image.h"

hot_status hot_dwi_wrap_nrrd(hot_context *context, const hot_dwi *dwi, int type, const void *samples,
                             const double frame[3][3], Nrrd **nrrd)
{
    static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const size_t sizes[4] = {dwi->grid.size[0], dwi->grid.size[1], dwi->grid.size[2], dwi->volumes};
    HOT_TRY(hot_nrrd_wrap(context, samples, type, 4, sizes, nrrd));
    if (!frame)
        frame = identity;
    (*nrrd)->axis[3].kind = nrrdKindList;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            (*nrrd)->measurementFrame[c][r] = frame[r][c];
    double largest = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        largest = fmax(largest, dwi->b[v]);
    char key[64], value[128];
    snprintf(value, sizeof value, "%.15g", largest);
    hot_status status = hot_nrrd_set_grid(context, *nrrd, 0, &dwi->grid);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, *nrrd, "modality", "DWMRI");
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, *nrrd, "DWMRI_b-value", value);
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        /* b is coded in the gradient's length: b_v = b |g_v|^2, the longest being 1. */
        const double *g = dwi->gradients + 3 * v;
        double length = largest > 0 ? sqrt(dwi->b[v] / largest) : 0, in_file[3];
        for (int d = 0; d < 3; d++) /* world = frame * file, and the frame is a rotation */
            in_file[d] = length * (frame[0][d] * g[0] + frame[1][d] * g[1] + frame[2][d] * g[2]);
        snprintf(key, sizeof key, "DWMRI_gradient_%04zu", v);
        snprintf(value, sizeof value, "%.16g %.16g %.16g", in_file[0], in_file[1], in_file[2]);
        status = hot_nrrd_set_key(context, *nrrd, key, value);
    }
    if (status != HOT_OK)
        *nrrd = nrrdNix(*nrrd);
    return status;
}

hot_status hot_dwi_save_nrrd(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples)
{
    Nrrd *nrrd = NULL;
    hot_status status = hot_dwi_wrap_nrrd(context, dwi, hot_nrrd_type(sample), samples, NULL, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}

/* The signals that the check of rows works on. */
#include "check_rows.h"

#include <math.h>
#include <stdlib.h>

#include "common/compare.h"
#include "gather.h"

enum { VOLUMES_MAX = 400 };
static const double bright = 0.7; /* voxels with at least this share of the median's mean are used */

/* Lists every `step`-th volume, except those without any signal. signals: of `count` voxels, `all` volumes of each. */
static void list_volumes(size_t all, size_t step, size_t count, const float *signals, hot_rows *rows)
{
    rows->volumes = 0;
    for (size_t v = 0; v < all; v += step) {
        size_t lit = 0;
        for (size_t x = 0; x < count; x++)
            lit += signals[x * all + v] != 0 && isfinite(signals[x * all + v]);
        if (10 * lit > count)
            rows->number[rows->volumes++] = v;
    }
}

/* The mean of each voxel over the listed volumes; 0 if it is not positive. Returns the median. */
static float average_voxels(size_t all, size_t count, const float *signals, const hot_rows *rows, float *mean,
                            float *sorted)
{
    for (size_t x = 0; x < count; x++) {
        double sum = 0;
        for (size_t i = 0; i < rows->volumes; i++)
            sum += (double)signals[x * all + rows->number[i]];
        mean[x] = sum > 0 && isfinite(sum) ? (float)(sum / (double)rows->volumes) : 0;
        sorted[x] = mean[x];
    }
    qsort(sorted, count, sizeof *sorted, hot_ascending_f32);
    return count ? sorted[count / 2] : 0;
}

hot_status hot_rows_read(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most,
                         hot_rows *rows)
{
    const size_t all = dwi->volumes, sample = 2 * most, step = (all + VOLUMES_MAX - 1) / VOLUMES_MAX;
    size_t *voxel = hot_context_alloc(context, sample, sizeof *voxel);
    const size_t count = voxel ? hot_mask_sample(mask, sample, voxel) : 0;
    float *signals = hot_context_alloc(context, count + 1, all * sizeof *signals);
    float *mean = hot_context_alloc(context, 2 * count + 1, sizeof *mean), *sorted = mean + count;
    rows->number = hot_context_alloc(context, all, sizeof *rows->number);
    rows->signals = hot_context_alloc(context, count + 1, all * sizeof *rows->signals);
    rows->level = hot_context_alloc(context, count + 1, sizeof *rows->level);
    rows->slice = hot_context_alloc(context, count + 1, sizeof *rows->slice);
    hot_status status = voxel && signals && mean && rows->number && rows->signals && rows->slice &&
                                rows->level ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK && count > 0)
        status = hot_dwi_read_list(context, dwi, voxel, count, signals);
    if (status != HOT_OK)
        goto cleanup;
    rows->voxels = 0;
    list_volumes(all, step, count, signals, rows);
    const size_t n = rows->volumes;
    const float least = (float)bright * average_voxels(all, count, signals, rows, mean, sorted);
    for (size_t x = 0; x < count; x++) {
        if (!(mean[x] > 0) || mean[x] < least || rows->voxels == most)
            continue;
        rows->level[rows->voxels] = mean[x];
        rows->slice[rows->voxels] = voxel[x] / (dwi->grid.size[0] * dwi->grid.size[1]);
        float *y = rows->signals + rows->voxels++ * n;
        for (size_t i = 0; i < n; i++)
            y[i] = signals[x * all + rows->number[i]] / mean[x];
    }
cleanup:
    HOT_FREE(context, mean, signals, voxel);
    return status;
}

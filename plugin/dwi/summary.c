#include "summary.h"

#include <math.h>
#include <omp.h>

enum { CHUNK = 8192 };

/* Mean and variance of the b=0 volumes of one voxel; without b=0 the mean of all. */
static void average_b0(const hot_dwi *dwi, const float *signals, hot_dwi_summary *made, size_t voxel)
{
    double sum = 0, squares = 0;
    size_t used = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        if (!dwi->has_b0 || dwi->shell_of[v] == 0) {
            sum += (double)signals[v];
            used++;
        }
    const double mean = sum / (double)used;
    made->mean[voxel] = mean;
    if (!made->variance)
        return;
    for (size_t v = 0; v < dwi->volumes; v++)
        if (dwi->shell_of[v] == 0)
            squares += (signals[v] - mean) * (signals[v] - mean);
    made->variance[voxel] = isfinite(squares) ? (float)(squares / (double)(used - 1)) : NAN;
}

/* Means of one voxel over the lowest and over the highest shell. */
static void average_shells(const hot_dwi *dwi, const float *signals, hot_dwi_summary *made, size_t voxel)
{
    const int last = (int)dwi->shells - 1;
    double sum[2] = {0, 0};
    size_t members[2] = {0, 0};
    for (size_t v = 0; v < dwi->volumes; v++) {
        const float s = signals[v];
        const int which = dwi->shell_of[v] == last;
        if (dwi->shell_of[v] != 0 && !which)
            continue;
        sum[which] += isfinite(s) ? s : 0;
        members[which]++;
    }
    made->high[voxel] = (float)fmax(sum[1] / (double)(members[1] ? members[1] : 1), 0);
    made->low[voxel] = members[0] ? (float)fmax(sum[0] / (double)members[0], 0) : made->high[voxel];
}

static hot_status make_summary(hot_context *context, const hot_dwi *dwi, hot_dwi_summary **summary)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid), volumes = dwi->volumes;
    hot_dwi_summary *made = hot_context_calloc(context, 1, sizeof *made);
    *summary = NULL;
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->grid = dwi->grid;
    for (size_t v = 0; v < volumes; v++)
        made->repeats += dwi->has_b0 && dwi->shell_of[v] == 0;
    float *signals = hot_context_alloc(context, CHUNK < voxels ? CHUNK : voxels, volumes * sizeof *signals);
    made->mean = hot_context_alloc(context, voxels, sizeof *made->mean);
    made->low = hot_context_alloc(context, voxels, sizeof *made->low);
    made->high = hot_context_alloc(context, voxels, sizeof *made->high);
    if (made->repeats > 1)
        made->variance = hot_context_alloc(context, voxels, sizeof *made->variance);
    hot_status status = signals && made->mean && made->low && made->high && (made->variance || made->repeats < 2)
                            ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        const size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, signals);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(static) num_threads(hot_context_threads(context))
        for (size_t n = 0; n < count; n++) {
            average_b0(dwi, signals + n * volumes, made, first + n);
            average_shells(dwi, signals + n * volumes, made, first + n);
        }
        status = hot_context_progress(context, "averaging volumes", (double)(first + count) / (double)voxels);
    }
    hot_context_free(context, signals);
    if (status != HOT_OK)
        hot_dwi_summary_free(&made);
    *summary = made;
    return status;
}

hot_status hot_dwi_keep_summary(hot_context *context, hot_dwi *dwi)
{
    return dwi->summary ? HOT_OK : make_summary(context, dwi, &dwi->summary);
}

hot_status hot_dwi_summary_get(hot_context *context, const hot_dwi *dwi, const hot_dwi_summary **summary,
                               hot_dwi_summary **made)
{
    *made = NULL;
    hot_status status = dwi->summary ? HOT_OK : make_summary(context, dwi, made);
    *summary = dwi->summary ? dwi->summary : *made;
    return status;
}

void hot_dwi_summary_free(hot_dwi_summary **summary)
{
    HOT_DESTROY_BEGIN(hot_dwi_summary, summary);
    hot_context *context = gone->context;
    hot_context_free(context, gone->mean);
    hot_context_free(context, gone->variance);
    hot_context_free(context, gone->low);
    hot_context_free(context, gone->high);
    hot_context_free(context, gone);
}

hot_status hot_export_background(hot_context *context, const hot_dwi *dwi, float *background)
{
    const hot_dwi_summary *summary;
    hot_dwi_summary *made;
    hot_status status = hot_dwi_summary_get(context, dwi, &summary, &made);
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    for (size_t voxel = 0; voxel < voxels && status == HOT_OK; voxel++)
        background[voxel] = (float)summary->mean[voxel];
    hot_dwi_summary_free(&made);
    return status;
}

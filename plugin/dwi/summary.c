#include "summary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ceiling.h"
#include "common/arguments.h"
#include "common/entry.h"
#include "gather.h"
#include "paged.h"

/* CHUNK: voxels between two reports of progress. Threads are waited for at each, and while the driver of the GPU starts
 * one of them is displaced for milliseconds: few chunks, and pieces that any thread takes. */
enum { BLOCK = 1024, CHUNK = 4096 * BLOCK };

/* Updates the largest samples, and whether a diffusion-weighted one is as large. */
static void update_largest(const float *s, size_t count, uint8_t directed, float *largest, uint8_t *weighted)
{
    for (size_t n = 0; n < count; n++) {
        weighted[n] = s[n] > largest[n] ? directed : s[n] == largest[n] ? weighted[n] | directed : weighted[n];
        largest[n] = s[n] > largest[n] ? s[n] : largest[n];
    }
}

/* Standard deviations between the b=0 volumes. */
static void deviate(const hot_dwi_mapped *held, const double *mean, size_t averaged, size_t first, size_t count,
                    float *deviation)
{
    double squares[BLOCK] = {0};
    float s[BLOCK];
    for (size_t v = 0; v < held->view.volumes; v++)
        if (held->view.shell_of[v] == 0) {
            hot_dwi_read_row(&held->view, v, first - held->origin, count, s);
            for (size_t n = 0; n < count; n++)
                squares[n] += (s[n] - mean[n]) * (s[n] - mean[n]);
        }
    for (size_t n = 0; n < count; n++)
        deviation[first + n] = isfinite(squares[n]) ? (float)sqrt(squares[n] / (double)(averaged - 1)) : NAN;
}

/* The averages and largest samples of voxels first ... first + count - 1, at most BLOCK, volume by volume, which is the
 * order of most files. Intermediate shells are not read: a voxel clipped there is clipped at lower b too. */
static void average(const hot_dwi_mapped *held, hot_dwi_summary *made, float *largest, uint8_t *weighted, size_t first,
                    size_t count)
{
    const hot_dwi *dwi = &held->view;
    double mean[BLOCK] = {0}, low[BLOCK] = {0}, high[BLOCK] = {0};
    float s[BLOCK];
    const int last = (int)dwi->shells - 1;
    memset(largest + first, 0, count * sizeof *largest);
    memset(weighted + first, 0, count);
    size_t averaged = 0, in_low = 0, in_high = 0;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const int shell = dwi->shell_of[v], averages = !dwi->has_b0 || shell == 0;
        double *of_shell = shell == last ? high : shell == 0 ? low : NULL;
        if (!averages && !of_shell)
            continue;
        hot_dwi_read_row(dwi, v, first - held->origin, count, s);
        update_largest(s, count, dwi->has_b0 && shell > 0, largest + first, weighted + first);
        for (size_t n = 0; averages && n < count; n++)
            mean[n] += (double)s[n];
        for (size_t n = 0; of_shell && n < count; n++)
            of_shell[n] += isfinite(s[n]) ? (double)s[n] : 0;
        averaged += (size_t)averages;
        in_high += of_shell == high;
        in_low += of_shell == low;
    }
    for (size_t n = 0; n < count; n++) {
        mean[n] /= (double)averaged;
        made->mean[first + n] = (float)mean[n];
        made->high[first + n] = (float)fmax(high[n] / (double)(in_high ? in_high : 1), 0);
        made->low[first + n] = in_low ? (float)fmax(low[n] / (double)in_low, 0) : made->high[first + n];
    }
    if (made->deviation)
        deviate(held, mean, averaged, first, count, made->deviation);
}

/* The largest value that the samples' type holds, as it reads when scaled. */
static double type_limit(const hot_dwi *dwi)
{
    switch (dwi->sample) {
    case HOT_SAMPLE_U8: return dwi->slope * UINT8_MAX + dwi->intercept;
    case HOT_SAMPLE_I8: return dwi->slope * INT8_MAX + dwi->intercept;
    case HOT_SAMPLE_U16: return dwi->slope * UINT16_MAX + dwi->intercept;
    case HOT_SAMPLE_I16: return dwi->slope * INT16_MAX + dwi->intercept;
    default: return INFINITY; /* 32 bits are more than a scanner fills */
    }
}

static hot_status make_summary(hot_context *context, const hot_dwi *dwi, hot_dwi_summary **summary)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    hot_dwi_summary *made = hot_context_calloc(context, 1, sizeof *made);
    *summary = NULL;
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->grid = dwi->grid;
    for (size_t v = 0; v < dwi->volumes; v++)
        made->repeats += dwi->has_b0 && dwi->shell_of[v] == 0;
    made->mean = hot_context_alloc(context, voxels, sizeof *made->mean);
    made->low = hot_context_alloc(context, voxels, sizeof *made->low);
    made->high = hot_context_alloc(context, voxels, sizeof *made->high);
    if (made->repeats > 1)
        made->deviation = hot_context_alloc(context, voxels, sizeof *made->deviation);
    float *largest = hot_context_alloc(context, voxels, sizeof *largest);
    uint8_t *weighted = hot_context_alloc(context, voxels, 1);
    hot_status status = made->mean && made->low && made->high && largest && weighted &&
                                (made->deviation || made->repeats < 2)
                            ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0, end; first < voxels && status == HOT_OK; first = end) {
        hot_dwi_mapped held;
        status = hot_dwi_map(context, dwi, first, &held);
        if (status != HOT_OK)
            break;
        end = first + (held.count < CHUNK ? held.count : CHUNK);
#pragma omp parallel for schedule(dynamic, 4) num_threads(hot_team(hot_context_threads(context)))
        for (size_t at = first; at < end; at += BLOCK)
            if (!hot_context_cancelled(context))
                average(&held, made, largest, weighted, at, end - at < BLOCK ? end - at : BLOCK);
        status = hot_context_progress(context, "averaging volumes", (double)end / (double)voxels);
    }
    if (status == HOT_OK)
        made->ceiling = hot_ceiling_find(largest, weighted, voxels, type_limit(dwi), &made->clipped);
    HOT_FREE(context, weighted, largest);
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

hot_status hot_dwi_ceiling(hot_context *context, const hot_dwi *dwi, double *ceiling)
{
    const hot_dwi_summary *summary;
    hot_dwi_summary *made;
    hot_status status = hot_dwi_summary_get(context, dwi, &summary, &made);
    if (status == HOT_OK)
        *ceiling = summary->ceiling;
    hot_dwi_summary_free(&made);
    return status;
}

void hot_dwi_summary_free(hot_dwi_summary **summary)
{
    HOT_DESTROY_BEGIN(hot_dwi_summary, summary);
    hot_context *context = gone->context;
    HOT_FREE(context, gone->mean, gone->deviation, gone->low, gone->high, gone);
}

void hot_dwi_summary_masked(hot_dwi_summary *summary)
{
    if (!summary)
        return;
    HOT_FREE(summary->context, summary->low, summary->high);
    summary->low = summary->high = NULL;
}

hot_status hot_export_background(hot_context *context, const hot_dwi *dwi, float *background)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, background);
    const hot_dwi_summary *summary;
    hot_dwi_summary *made;
    hot_status status = hot_dwi_summary_get(context, dwi, &summary, &made);
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    for (size_t voxel = 0; voxel < voxels && status == HOT_OK; voxel++)
        background[voxel] = summary->mean[voxel];
    hot_dwi_summary_free(&made);
    return status;
}

/* The fit of a plan to many voxels, slab by slab. */
#include <string.h>

#include "dwi/gather.h"
#include "model.h"

/* Floats of signal per thread in a slab: two megabytes stay in a core's cache between the passes over them. */
enum { SLAB_FLOATS = 1 << 19 };

static size_t slab_of(const hot_plan *plan, size_t voxels)
{
    size_t slab = SLAB_FLOATS / plan->volumes;
    slab = (slab < 64 ? 64 : slab) * (size_t)hot_context_threads(plan->context);
    return slab < voxels ? slab : voxels;
}

hot_status hot_plan_fit_listed(const hot_plan *plan, const size_t *voxel, size_t count, const char *stage,
                               float *values)
{
    hot_context *context = plan->context;
    const size_t slab = slab_of(plan, count), width = hot_plan_width(plan);
    float *signals = hot_context_alloc(context, slab, plan->volumes * sizeof *signals);
    float *work = hot_context_alloc(context, slab, (plan->used_count + 1) * sizeof *work);
    hot_status status = signals && work ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < count && status == HOT_OK; first += slab) {
        const size_t here = count - first < slab ? count - first : slab;
        status = hot_dwi_read_list(context, plan->dwi, voxel + first, here, signals);
        if (status == HOT_OK)
            status = hot_plan_fit(plan, here, signals, work, values + first * width);
        if (status == HOT_OK)
            status = hot_context_progress(context, stage, (double)(first + here) / (double)count);
    }
    HOT_FREE(context, work, signals);
    return status;
}

/* Where the mask is empty that may be nearly all of a volume. */
static hot_status clear(hot_context *context, const char *doing, float *values, size_t count)
{
    enum { PORTION = 1 << 20 };
    hot_status status = HOT_OK;
    for (size_t first = 0; first < count && status == HOT_OK; first += PORTION) {
        memset(values + first, 0, (count - first < PORTION ? count - first : PORTION) * sizeof *values);
        status = hot_context_check(context, doing);
    }
    return status;
}

hot_status hot_plan_fit_voxels(const hot_plan *plan, const uint8_t *inside, const char *stage, float *values,
                               float *extra, size_t *fitted, size_t *flagged)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(plan->dwi));
    const size_t width = 1 + plan->terms, whole = hot_plan_width(plan);
    const size_t slab = slab_of(plan, voxels);
    size_t next = 0;
    float *signals = hot_context_alloc(context, slab, plan->volumes * sizeof *signals);
    float *work = hot_context_alloc(context, slab, (plan->used_count + 1) * sizeof *work);
    float *fits = hot_context_alloc(context, slab, whole * sizeof *fits);
    size_t *voxel = hot_context_alloc(context, slab, sizeof *voxel);
    *fitted = *flagged = 0;
    if (!signals || !work || !fits || !voxel)
        status = HOT_ERROR_MEMORY;
    while (next < voxels && status == HOT_OK) {
        const size_t first = next, count = hot_mask_next(inside, voxels, &next, slab, voxel);
        status = clear(context, stage, values + first * width, (next - first) * width);
        if (extra && status == HOT_OK)
            status = clear(context, stage, extra + first * plan->extra, (next - first) * plan->extra);
        if (count > 0 && status == HOT_OK)
            status = hot_dwi_read_list(context, plan->dwi, voxel, count, signals);
        if (count > 0 && status == HOT_OK)
            status = hot_plan_fit(plan, count, signals, work, fits);
        for (size_t i = 0; i < count && status == HOT_OK; i++) {
            memcpy(values + voxel[i] * width, fits + i * whole, width * sizeof *fits);
            if (extra)
                memcpy(extra + voxel[i] * plan->extra, fits + i * whole + width, plan->extra * sizeof *fits);
            if (fits[i * whole] > 0)
                ++*fitted;
            else
                ++*flagged;
        }
        if (status == HOT_OK)
            status = hot_context_progress(context, stage, (double)next / (double)voxels);
    }
    HOT_FREE(context, voxel, fits, work, signals);
    return status;
}

#include "empty.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi_private.h"
#include "gather.h"
#include "select.h"

enum { LOOKED_AT = 400, LEAST = 20, NAMED_MAX = 6 };

void hot_dwi_name_volumes(const size_t *volume, size_t count, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t n = 0; n < count && n < NAMED_MAX && used < bytes; n++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%zu", n ? ", " : "", volume[n]);
    if (count > NAMED_MAX && used < bytes)
        snprintf(text + used, bytes - used, " and %zu more", count - NAMED_MAX);
}

/* Marks the volumes that have a signal in some voxel of those where most have one; returns how many these are. */
static size_t mark(size_t volumes, size_t voxels, const float *signals, uint8_t *has_signal)
{
    size_t told = 0;
    memset(has_signal, 0, volumes);
    for (size_t n = 0; n < voxels; n++) {
        const float *s = signals + n * volumes;
        size_t here = 0;
        for (size_t v = 0; v < volumes; v++)
            here += s[v] != 0 && isfinite(s[v]);
        if (2 * here < volumes)
            continue;
        told++;
        for (size_t v = 0; v < volumes; v++)
            has_signal[v] |= s[v] != 0 && isfinite(s[v]);
    }
    return told;
}

static void warn(hot_context *context, const hot_dwi *dwi, const size_t *empty, size_t count)
{
    char names[128];
    hot_dwi_name_volumes(empty, count, names, sizeof names);
    hot_context_log(context, HOT_LOG_WARNING,
                    count == 1 ? "volume %s (counted from 0) of '%s' has no signal, only zeros or NaN: it is left out"
                               : "volumes %s (counted from 0) of '%s' have no signal, only zeros or NaN: they are left "
                                 "out", names, hot_dwi_source(dwi)[0] ? hot_dwi_source(dwi) : "the data set");
}

/* The volumes that are not empty, ascending, into kept. */
static hot_status find_kept(hot_context *context, const hot_dwi *dwi, size_t *kept, size_t *count)
{
    const size_t volumes = dwi->volumes, voxels = hot_grid_voxels(&dwi->grid);
    const size_t looked_at = voxels < LOOKED_AT ? voxels : LOOKED_AT;
    size_t voxel[LOOKED_AT], lost = 0;
    float *signals = hot_context_alloc(context, looked_at * volumes, sizeof *signals);
    size_t *empty = hot_context_alloc(context, volumes, sizeof *empty);
    uint8_t *has_signal = hot_context_alloc(context, volumes, 1);
    *count = 0;
    for (size_t n = 0; n < looked_at; n++)
        voxel[n] = (2 * n + 1) * voxels / (2 * looked_at);
    hot_status status = signals && empty && has_signal ? hot_dwi_gather(context, dwi, voxel, looked_at, signals)
                                                       : HOT_ERROR_MEMORY;
    if (status == HOT_OK && mark(volumes, looked_at, signals, has_signal) < LEAST)
        memset(has_signal, 1, volumes);
    for (size_t v = 0; v < volumes && status == HOT_OK; v++)
        *(has_signal[v] ? &kept[(*count)++] : &empty[lost++]) = v;
    if (lost > 0)
        warn(context, dwi, empty, lost);
    hot_context_free(context, has_signal);
    hot_context_free(context, empty);
    hot_context_free(context, signals);
    return status;
}

hot_status hot_dwi_drop_empty(hot_context *context, hot_dwi *dwi)
{
    /* a new list: pages that are held are those of the old one's volumes (paged.c) */
    size_t count, *kept = hot_context_alloc(context, dwi->volumes, sizeof *kept);
    hot_status status = kept ? find_kept(context, dwi, kept, &count) : HOT_ERROR_MEMORY;
    if (status != HOT_OK || count == dwi->volumes) {
        hot_context_free(context, kept);
        return status;
    }
    for (size_t n = 0; n < count; n++) {
        const size_t v = kept[n];
        dwi->b[n] = dwi->b[v];
        memmove(dwi->gradients + 3 * n, dwi->gradients + 3 * v, 3 * sizeof *dwi->gradients);
        kept[n] = dwi->position[v];
    }
    hot_context_free(context, dwi->position);
    dwi->position = kept;
    dwi->volumes = count;
    return hot_dwi_find_shells(context, dwi);
}

hot_status hot_dwi_without_empty(hot_context *context, const hot_dwi *dwi, hot_dwi **rest)
{
    size_t count, *kept = hot_context_alloc(context, dwi->volumes, sizeof *kept);
    hot_status status = kept ? find_kept(context, dwi, kept, &count) : HOT_ERROR_MEMORY;
    *rest = NULL;
    if (status == HOT_OK && count < dwi->volumes)
        status = hot_dwi_select(context, dwi, count, kept, rest);
    hot_context_free(context, kept);
    return status;
}

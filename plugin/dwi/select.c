#include "select.h"

#include <string.h>

#include "dwi_private.h"

hot_status hot_dwi_select(hot_context *context, const hot_dwi *dwi, size_t count, const size_t *volume, hot_dwi **view)
{
    hot_dwi *made = NULL;
    hot_status status = hot_dwi_begin(context, &dwi->grid, count, 0, dwi->source, &made);
    *view = NULL;
    if (status != HOT_OK)
        return status;
    made->data = dwi->data; /* borrowed: there is no release_data */
    made->paged = dwi->paged; /* likewise */
    made->sample = dwi->sample;
    made->slope = dwi->slope;
    made->intercept = dwi->intercept;
    made->gradients_in = dwi->gradients_in;
    memcpy(made->stride, dwi->stride, sizeof made->stride);
    memcpy(made->frame, dwi->frame, sizeof made->frame);
    for (size_t v = 0; v < count; v++) {
        made->b[v] = dwi->b[volume[v]];
        made->position[v] = dwi->position[volume[v]];
        memcpy(made->gradients + 3 * v, dwi->gradients + 3 * volume[v], 3 * sizeof *made->gradients);
    }
    status = hot_dwi_find_shells(context, made);
    if (status != HOT_OK)
        hot_dwi_destroy(&made);
    *view = made;
    return status;
}

hot_status hot_dwi_keep(hot_context *context, hot_dwi *dwi, size_t count, const size_t *volume)
{
    if (count == dwi->volumes)
        return HOT_OK;
    /* a new list: pages that are held are those of the old one's volumes (paged.c) */
    size_t *position = hot_context_alloc(context, count, sizeof *position);
    if (!position)
        return HOT_ERROR_MEMORY;
    for (size_t n = 0; n < count; n++) {
        const size_t v = volume[n];
        dwi->b[n] = dwi->b[v];
        memmove(dwi->gradients + 3 * n, dwi->gradients + 3 * v, 3 * sizeof *dwi->gradients);
        position[n] = dwi->position[v];
    }
    hot_context_free(context, dwi->position);
    dwi->position = position;
    dwi->volumes = count;
    return hot_dwi_find_shells(context, dwi);
}

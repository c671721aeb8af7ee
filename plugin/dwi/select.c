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

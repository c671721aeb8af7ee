/* Denoising a data set, slab by slab. */
#include <string.h>

#include "dwi_private.h"
#include "common/arguments.h"
#include "common/entry.h"

/* Signals of a slab that are in memory in addition to the result. */
enum { SLAB_BYTES = 256 << 20 };

/* An empty data set like the given one, for float samples voxel by voxel. */
static hot_status begin_like(hot_context *context, const hot_dwi *dwi, hot_dwi **like)
{
    const size_t volumes = dwi->volumes, voxels = hot_grid_voxels(&dwi->grid);
    hot_dwi *made = NULL;
    HOT_TRY(hot_dwi_begin(context, &dwi->grid, volumes, 1, dwi->source, &made));
    memcpy(made->b, dwi->b, volumes * sizeof *made->b);
    memcpy(made->gradients, dwi->gradients, 3 * volumes * sizeof *made->gradients);
    memcpy(made->frame, dwi->frame, sizeof made->frame);
    made->sample = HOT_SAMPLE_F32;
    made->stride[0] = volumes;
    made->stride[1] = volumes * dwi->grid.size[0];
    made->stride[2] = volumes * dwi->grid.size[0] * dwi->grid.size[1];
    made->data = hot_context_alloc(context, voxels * volumes, sizeof(float));
    made->release_data = hot_dwi_free_data;
    hot_status status = made->data ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < dwi->input_count && status == HOT_OK; i++)
        status = hot_dwi_add_input(context, made, dwi->inputs[i]);
    if (status == HOT_OK)
        status = hot_dwi_complete(context, made);
    if (status != HOT_OK)
        hot_dwi_destroy(&made);
    *like = made;
    return status;
}

hot_status hot_dwi_denoise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                           const hot_denoise_options *options, hot_dwi **denoised, float *noise)
{
    HOT_ENTRY(context);
    HOT_CLEAR(denoised);
    HOT_NEED(context, dwi, denoised);
    const size_t *size = dwi->grid.size, volumes = dwi->volumes, plane = size[0] * size[1];
    hot_denoise_options slab = {.size = sizeof slab};
    size_t window[3], step[3];
    float *signals = NULL;
    hot_dwi *made = NULL;
    if (options && options->size != sizeof slab)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: options->size is %zu, not %zu", options->size,
                                sizeof slab);
    if (options)
        slab = *options;
    slab.is_complex = 0;
    HOT_TRY(mask ? hot_mask_check(context, mask, &dwi->grid) : HOT_OK);
    hot_denoise_window(&slab, size, volumes, window, step);
    /* The margins of a slab are read again for the next one: slabs are not thinner than these. */
    const size_t margin = window[2] - 1, fits = SLAB_BYTES / (plane * volumes * sizeof(float));
    const size_t thick = fits > 4 * margin + 1 ? fits - 2 * margin : 2 * margin + 1;
    const size_t most = thick + 2 * margin < size[2] ? thick + 2 * margin : size[2];
    HOT_TRY(begin_like(context, dwi, &made));
    signals = hot_context_alloc(context, most * plane, volumes * sizeof *signals);
    hot_status status = signals ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t begin = 0; begin < size[2] && status == HOT_OK; begin += thick) {
        const size_t end = begin + thick < size[2] ? begin + thick : size[2],
                     first = begin < margin ? 0 : begin - margin;
        const size_t last = end + margin < size[2] ? end + margin : size[2], here[3] = {size[0], size[1], last - first};
        slab.slices = size[2];
        slab.first = first;
        slab.begin = begin;
        slab.end = end;
        slab.progress[0] = (double)begin / (double)size[2];
        slab.progress[1] = (double)end / (double)size[2];
        status = hot_dwi_read(context, dwi, first * plane, (last - first) * plane, signals);
        if (status == HOT_OK)
            status = hot_denoise_f32(context, &slab, here, volumes, signals, mask ? mask->bytes + first * plane : NULL,
                                     (float *)made->data + begin * plane * volumes,
                                     noise ? noise + begin * plane : NULL);
    }
    hot_context_free(context, signals);
    if (status != HOT_OK)
        hot_dwi_destroy(&made);
    *denoised = made;
    return status;
}

/* A DWI out: NRRD with the NA-MIC keys, NIfTI with FSL's bval and bvec, or MIF. Samples keep their type unless the
 * file they came from scales them (then float). */
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "dwi/gather.h"
#include "io/common/output.h"
#include "io/common/paths.h"
#include "io/fsl/fsl_dwi.h"
#include "io/mrtrix/mif_write.h"
#include "io/nrrd/nrrd_dwi.h"

static int volume_by_volume(const hot_dwi *dwi)
{
    size_t voxels = hot_grid_voxels(&dwi->grid);
    if (dwi->stride[0] != 1 || dwi->stride[1] != dwi->grid.size[0] ||
        dwi->stride[2] != dwi->grid.size[0] * dwi->grid.size[1])
        return 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        if (dwi->position[v] != v * voxels)
            return 0;
    return 1;
}

#define COPY(NAME, TYPE)                                                                                               \
    static void copy_##NAME(const hot_dwi *dwi, size_t volume, size_t slice, void *out)                                \
    {                                                                                                                  \
        const TYPE *data = (const TYPE *)dwi->data + dwi->position[volume] + slice * dwi->stride[2];                   \
        TYPE *to = out;                                                                                                \
        for (size_t j = 0; j < dwi->grid.size[1]; j++)                                                                 \
            for (size_t i = 0; i < dwi->grid.size[0]; i++)                                                             \
                *to++ = data[i * dwi->stride[0] + j * dwi->stride[1]];                                                 \
    }

COPY(1, uint8_t)
COPY(2, uint16_t)
COPY(4, uint32_t)
COPY(8, uint64_t)

/* The samples volume by volume, voxels in i, j, k order: the DWI's own memory when it lies so, else a copy. */
static hot_status arranged(hot_context *context, const hot_dwi *dwi, hot_sample *sample, const void **samples,
                           void **copy)
{
    size_t voxels = hot_grid_voxels(&dwi->grid), volumes = dwi->volumes;
    int scaled = dwi->slope != 1 || dwi->intercept != 0;
    *copy = NULL;
    *sample = scaled ? HOT_SAMPLE_F32 : dwi->sample;
    *samples = dwi->data;
    if (!scaled && volume_by_volume(dwi))
        return HOT_OK;
    size_t one = hot_sample_bytes(*sample);
    char *made = hot_context_alloc(context, voxels * volumes, one);
    if (!made)
        return HOT_ERROR_MEMORY;
    *copy = made;
    *samples = made;
    if (scaled)
        return hot_dwi_read_volumes(context, dwi, (float *)(void *)made);
    const size_t slices = dwi->grid.size[2], plane = voxels / slices;
    hot_status status = HOT_OK;
    for (size_t k = 0; k < slices && status == HOT_OK; k++) { /* what does not fit into memory is read once */
        for (size_t v = 0; v < volumes; v++) {
            void *to = made + (v * voxels + k * plane) * one;
            switch (one) {
            case 1: copy_1(dwi, v, k, to); break;
            case 2: copy_2(dwi, v, k, to); break;
            case 4: copy_4(dwi, v, k, to); break;
            default: copy_8(dwi, v, k, to); break;
            }
        }
        status = hot_context_progress(context, "writing", (double)k / (double)slices);
    }
    return status;
}

hot_status hot_dwi_check_distinct(hot_context *context, const hot_dwi *dwi, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, path);
    hot_status status = HOT_OK;
    for (size_t i = 0; i < dwi->input_count && status == HOT_OK; i++)
        status = hot_output_check_distinct(context, dwi->inputs[i], path);
    return status;
}

/* None of the files that a save to `path` makes may be one that the data came from. */
static hot_status check_inputs(hot_context *context, const hot_dwi *dwi, const char *path)
{
    const int nifti = hot_path_is_nifti(path);
    const char *const suffixes[2] = {nifti ? ".bval"
                                     : hot_path_has_suffix(path, ".nhdr") ? ".raw"
                                     : hot_path_has_suffix(path, ".mih") ? ".dat" : NULL, nifti ? ".bvec" : NULL};
    hot_status status = hot_path_check_image(context, path);
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, path);
    for (int s = 0; s < 2 && status == HOT_OK && suffixes[s]; s++) {
        char *name = hot_path_beside(context, path, suffixes[s]);
        status = name ? hot_dwi_check_distinct(context, dwi, name) : HOT_ERROR_MEMORY;
        hot_context_free(context, name);
    }
    return status;
}

hot_status hot_dwi_save(hot_context *context, const hot_dwi *dwi, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, path);
    hot_sample sample;
    const void *samples;
    void *copy = NULL;
    hot_status status = check_inputs(context, dwi, path);
    if (status == HOT_OK)
        status = arranged(context, dwi, &sample, &samples, &copy);
    if (status == HOT_OK)
        status = hot_path_is_nifti(path) ? hot_dwi_save_fsl(context, dwi, path, sample, samples)
                 : hot_path_is_mif(path) ? hot_dwi_save_mif(context, dwi, path, sample, samples)
                                         : hot_dwi_save_nrrd(context, dwi, path, sample, samples);
    hot_context_free(context, copy);
    return status;
}

/* See denoise_complex.h. */
#include "denoise_complex.h"

#include <string.h>

#include "io/nrrd/nrrd_image.h"
#include "io/common/output.h"

/* Which axis is what: complex, i, j, k, volumes; and how far apart their samples are. */
typedef struct layout {
    unsigned int axis[5];
    size_t size[5], stride[5];
} layout;

static hot_status find_axes(hot_context *context, const Nrrd *nrrd, const char *input, layout *found)
{
    unsigned int part = NRRD_DIM_MAX, list = NRRD_DIM_MAX, next = 1;
    size_t stride = 1;
    for (unsigned int a = 0; a < nrrd->dim; a++) {
        const int kind = nrrd->axis[a].kind;
        if (kind == nrrdKindComplex && nrrd->axis[a].size == 2)
            part = a;
        else if (kind == nrrdKindList || kind == nrrdKindVector)
            list = a;
    }
    if (list == NRRD_DIM_MAX && nrrd->dim == 5) /* said of no axis: the last one */
        list = part == 4 ? 3 : 4;
    if (nrrd->dim != 5 || part == NRRD_DIM_MAX || list == NRRD_DIM_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has %u axes and %s of kind complex and size 2: one such, three of space and one "
                                "of volumes are needed",
                                input, nrrd->dim, part == NRRD_DIM_MAX ? "none" : "one");
    for (unsigned int a = 0; a < 5; a++) {
        const unsigned int role = a == part ? 0 : a == list ? 4 : next++;
        found->axis[role] = a;
        found->size[role] = nrrd->axis[a].size;
        found->stride[role] = stride;
        stride *= nrrd->axis[a].size;
    }
    return HOT_OK;
}

/* The index of a sample in the file's order. */
static size_t place(const layout *l, size_t voxel, size_t volume, size_t part)
{
    const size_t i = voxel % l->size[1], j = voxel / l->size[1] % l->size[2], k = voxel / l->size[1] / l->size[2];
    return part * l->stride[0] + i * l->stride[1] + j * l->stride[2] + k * l->stride[3] + volume * l->stride[4];
}

/* The input's header around float samples. */
static hot_status save_like(hot_context *context, const Nrrd *nrrd, const float *samples, const char *path)
{
    size_t sizes[5];
    Nrrd *out = NULL;
    for (unsigned int a = 0; a < 5; a++)
        sizes[a] = nrrd->axis[a].size;
    hot_status status = hot_nrrd_wrap(context, samples, nrrdTypeFloat, 5, sizes, &out);
    if (status != HOT_OK)
        return status;
    if (nrrdAxisInfoCopy(out, nrrd, NULL, NRRD_AXIS_INFO_SIZE_BIT) ||
        nrrdBasicInfoCopy(out, nrrd,
                          NRRD_BASIC_INFO_DATA_BIT | NRRD_BASIC_INFO_TYPE_BIT | NRRD_BASIC_INFO_BLOCKSIZE_BIT |
                              NRRD_BASIC_INFO_DIMENSION_BIT))
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for a header");
    if (status == HOT_OK)
        status = hot_nrrd_save(context, out, path, 0);
    nrrdNix(out);
    return status;
}

static hot_status save_noise(hot_context *context, const Nrrd *nrrd, const layout *l, const float *noise,
                             const char *path)
{
    hot_grid grid;
    Nrrd *out = NULL;
    hot_status status = hot_nrrd_get_grid(context, nrrd, l->axis + 1, &grid);
    if (status == HOT_OK)
        status = hot_nrrd_wrap(context, noise, nrrdTypeFloat, 3, l->size + 1, &out);
    if (status == HOT_OK)
        status = hot_nrrd_set_grid(context, out, 0, &grid);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, out, path, 0);
    if (out)
        nrrdNix(out);
    return status;
}

hot_status cli_denoise_complex(hot_context *context, const char *input, const char *output, const char *noise_path,
                               const hot_denoise_options *options)
{
    Nrrd *nrrd = NULL;
    float *signals = NULL, *denoised = NULL, *noise = NULL;
    layout l;
    hot_denoise_options complex_options = *options;
    complex_options.is_complex = 1;
    hot_status status = hot_output_check_distinct(context, input, output);
    if (status == HOT_OK && noise_path)
        status = hot_output_check_distinct(context, input, noise_path);
    if (status == HOT_OK)
        status = hot_nrrd_load(context, input, &nrrd);
    if (status == HOT_OK)
        status = find_axes(context, nrrd, input, &l);
    if (status != HOT_OK)
        goto cleanup;
    float (*lookup)(const void *, size_t) = nrrd->type == nrrdTypeBlock ? NULL : nrrdFLookup[nrrd->type];
    const size_t voxels = l.size[1] * l.size[2] * l.size[3], volumes = l.size[4];
    signals = hot_context_alloc(context, voxels * volumes, 2 * sizeof *signals);
    denoised = hot_context_alloc(context, voxels * volumes, 2 * sizeof *denoised);
    noise = hot_context_alloc(context, voxels, sizeof *noise);
    if (!lookup)
        status = hot_context_fail(context, HOT_ERROR_DATA, "values of type block are not numbers");
    else if (!signals || !denoised || !noise)
        status = HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    for (size_t v = 0; v < voxels; v++)
        for (size_t m = 0; m < volumes; m++)
            for (size_t part = 0; part < 2; part++)
                signals[(v * volumes + m) * 2 + part] = lookup(nrrd->data, place(&l, v, m, part));
    status = hot_denoise_f32(context, &complex_options, l.size + 1, volumes, signals, NULL, denoised, noise);
    for (size_t v = 0; v < voxels && status == HOT_OK; v++)
        for (size_t m = 0; m < volumes; m++)
            for (size_t part = 0; part < 2; part++)
                signals[place(&l, v, m, part)] = denoised[(v * volumes + m) * 2 + part];
    if (status == HOT_OK && noise_path)
        status = save_noise(context, nrrd, &l, noise, noise_path);
    if (status == HOT_OK)
        status = save_like(context, nrrd, signals, output);
cleanup:
    hot_nrrd_free(context, nrrd);
    HOT_FREE(context, signals, denoised, noise);
    return status;
}

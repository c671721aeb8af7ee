/* A DWI out: NRRD with the NA-MIC keys, or NIfTI with FSL's bval and bvec. Samples keep their type unless the file they
 * came from scales them (then float). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/nrrd/nrrdio.h"
#include "output.h"
#include "plain_numbers.h"
#include "dwi/frames.h"
#include "dwi/dwi_private.h"
#include "dwi_save.h"
#include "io/nifti/nifti_volume.h"

static const int nrrd_types[] = {
    [HOT_SAMPLE_I8] = nrrdTypeChar,   [HOT_SAMPLE_U8] = nrrdTypeUChar,   [HOT_SAMPLE_I16] = nrrdTypeShort,
    [HOT_SAMPLE_U16] = nrrdTypeUShort, [HOT_SAMPLE_I32] = nrrdTypeInt,   [HOT_SAMPLE_U32] = nrrdTypeUInt,
    [HOT_SAMPLE_I64] = nrrdTypeLLong, [HOT_SAMPLE_U64] = nrrdTypeULLong, [HOT_SAMPLE_F32] = nrrdTypeFloat,
    [HOT_SAMPLE_F64] = nrrdTypeDouble,
};

static const int nifti_types[] = {
    [HOT_SAMPLE_I8] = DT_INT8,    [HOT_SAMPLE_U8] = DT_UINT8,   [HOT_SAMPLE_I16] = DT_INT16,
    [HOT_SAMPLE_U16] = DT_UINT16, [HOT_SAMPLE_I32] = DT_INT32,  [HOT_SAMPLE_U32] = DT_UINT32,
    [HOT_SAMPLE_I64] = DT_INT64,  [HOT_SAMPLE_U64] = DT_UINT64, [HOT_SAMPLE_F32] = DT_FLOAT32,
    [HOT_SAMPLE_F64] = DT_FLOAT64,
};

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
    static void copy_##NAME(const hot_dwi *dwi, size_t volume, void *out)                                              \
    {                                                                                                                  \
        const TYPE *data = (const TYPE *)dwi->data + dwi->position[volume];                                            \
        TYPE *to = out;                                                                                                \
        for (size_t k = 0; k < dwi->grid.size[2]; k++)                                                                 \
            for (size_t j = 0; j < dwi->grid.size[1]; j++)                                                             \
                for (size_t i = 0; i < dwi->grid.size[0]; i++)                                                         \
                    *to++ = data[i * dwi->stride[0] + j * dwi->stride[1] + k * dwi->stride[2]];                        \
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
    if (!scaled) {
        for (size_t v = 0; v < volumes; v++) {
            void *to = made + v * voxels * one;
            switch (one) {
            case 1: copy_1(dwi, v, to); break;
            case 2: copy_2(dwi, v, to); break;
            case 4: copy_4(dwi, v, to); break;
            default: copy_8(dwi, v, to); break;
            }
            hot_status status = hot_context_progress(context, "writing", (double)v / (double)volumes);
            if (status != HOT_OK)
                return status;
        }
        return HOT_OK;
    }
    enum { CHUNK = 1024 };
    float *some = hot_context_alloc(context, CHUNK * volumes, sizeof *some), *to = (float *)(void *)made;
    if (!some)
        return HOT_ERROR_MEMORY;
    hot_status status = HOT_OK;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, some);
        for (size_t v = 0; v < volumes && status == HOT_OK; v++)
            for (size_t n = 0; n < count; n++)
                to[v * voxels + first + n] = some[n * volumes + v];
        if (status == HOT_OK)
            status = hot_context_progress(context, "writing", (double)first / (double)voxels);
    }
    hot_context_free(context, some);
    return status;
}

hot_status hot_dwi_wrap_nrrd(hot_context *context, const hot_dwi *dwi, int type, const void *samples,
                             const double frame[3][3], Nrrd **nrrd)
{
    static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const size_t sizes[4] = {dwi->grid.size[0], dwi->grid.size[1], dwi->grid.size[2], dwi->volumes};
    hot_status status = hot_nrrd_wrap(context, samples, type, 4, sizes, nrrd);
    if (status != HOT_OK)
        return status;
    if (!frame)
        frame = identity;
    (*nrrd)->axis[3].kind = nrrdKindList;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            (*nrrd)->measurementFrame[c][r] = frame[r][c];
    double largest = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        largest = fmax(largest, dwi->b[v]);
    char key[64], value[128];
    snprintf(value, sizeof value, "%.15g", largest);
    status = hot_nrrd_set_grid(context, *nrrd, 0, &dwi->grid);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, *nrrd, "modality", "DWMRI");
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, *nrrd, "DWMRI_b-value", value);
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        /* b is coded in the gradient's length: b_v = b |g_v|^2, the longest being 1. */
        const double *g = dwi->gradients + 3 * v;
        double length = largest > 0 ? sqrt(dwi->b[v] / largest) : 0, in_file[3];
        for (int d = 0; d < 3; d++) /* world = frame * file, and the frame is a rotation */
            in_file[d] = length * (frame[0][d] * g[0] + frame[1][d] * g[1] + frame[2][d] * g[2]);
        snprintf(key, sizeof key, "DWMRI_gradient_%04zu", v);
        snprintf(value, sizeof value, "%.16g %.16g %.16g", in_file[0], in_file[1], in_file[2]);
        status = hot_nrrd_set_key(context, *nrrd, key, value);
    }
    if (status != HOT_OK)
        *nrrd = nrrdNix(*nrrd);
    return status;
}

static hot_status save_nrrd(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples)
{
    Nrrd *nrrd = NULL;
    hot_status status = hot_dwi_wrap_nrrd(context, dwi, nrrd_types[sample], samples, NULL, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}

/* path with another suffix instead of .nii, .nii.gz or .nhdr */
static char *beside(hot_context *context, const char *path, const char *suffix)
{
    size_t length = strlen(path);
    size_t stem = length - (strcmp(path + length - 3, ".gz") == 0 ? 7 : strcmp(path + length - 4, ".nii") == 0 ? 4 : 5);
    char *name = hot_context_alloc(context, stem + strlen(suffix) + 1, 1);
    if (name) {
        memcpy(name, path, stem);
        strcpy(name + stem, suffix);
    }
    return name;
}

hot_status hot_dwi_check_distinct(hot_context *context, const hot_dwi *dwi, const char *path)
{
    hot_status status = HOT_OK;
    for (size_t i = 0; i < dwi->input_count && status == HOT_OK; i++)
        status = hot_output_check_distinct(context, dwi->inputs[i], path);
    return status;
}

/* None of the files that a save to `path` makes may be one that the data came from. */
static hot_status spare_inputs(hot_context *context, const hot_dwi *dwi, const char *path)
{
    size_t length = strlen(path);
    int detached = length > 5 && strcmp(path + length - 5, ".nhdr") == 0;
    const char *suffixes[3] = {NULL, NULL, NULL};
    if (hot_path_is_nifti(path))
        suffixes[1] = ".bval", suffixes[2] = ".bvec";
    else if (detached)
        suffixes[1] = ".raw";
    hot_status status = HOT_OK;
    for (int s = 0; s < 3 && status == HOT_OK; s++) {
        if (s && !suffixes[s])
            continue;
        char *name = s ? beside(context, path, suffixes[s]) : hot_string_copy(context, path);
        if (!name)
            return HOT_ERROR_MEMORY;
        status = hot_dwi_check_distinct(context, dwi, name);
        hot_context_free(context, name);
    }
    return status;
}

static hot_status begin_beside(hot_context *context, const char *path, const char *suffix, hot_output *output,
                               FILE **to)
{
    char *name = beside(context, path, suffix);
    if (!name)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_output_begin(context, name, output);
    if (status == HOT_OK)
        status = hot_output_file(context, output, to);
    hot_context_free(context, name);
    return status;
}

static hot_status save_nifti(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                             const void *samples)
{
    hot_output bval = {0}, bvec = {0};
    hot_nifti_writer image = {0};
    FILE *b = NULL, *g = NULL;
    size_t volume_bytes = hot_grid_voxels(&dwi->grid) * hot_sample_bytes(sample);
    hot_status status = hot_nifti_begin(context, path, &dwi->grid, dwi->volumes, nifti_types[sample], 1, 0, &image);
    if (status != HOT_OK)
        return status;
    status = begin_beside(context, path, ".bval", &bval, &b);
    if (status == HOT_OK)
        status = begin_beside(context, path, ".bvec", &bvec, &g);
    if (status == HOT_OK) {
        double frame[3][3];
        hot_grid_bvec_frame(&dwi->grid, frame);
        for (size_t v = 0; v < dwi->volumes; v++)
            fprintf(b, "%s%.15g", v ? " " : "", dwi->b[v]);
        fputc('\n', b);
        for (int axis = 0; axis < 3; axis++) {
            for (size_t v = 0; v < dwi->volumes; v++) {
                const double *w = dwi->gradients + 3 * v;
                double along = frame[0][axis] * w[0] + frame[1][axis] * w[1] + frame[2][axis] * w[2];
                fprintf(g, "%s%.15g", v ? " " : "", along + 0.0); /* no "-0" */
            }
            fputc('\n', g);
        }
    }
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        status = hot_nifti_write(context, &image, (const char *)samples + v * volume_bytes, volume_bytes);
        if (status == HOT_OK)
            status = hot_context_progress(context, "writing", (double)(v + 1) / (double)dwi->volumes);
    }
    /* All three are whole before the first appears; the image last: where it is, its tables are. */
    if (status == HOT_OK)
        status = hot_output_finish(context, &bval);
    if (status == HOT_OK)
        status = hot_output_finish(context, &bvec);
    status = hot_nifti_finish(context, &image, status);
    status = hot_output_end(context, &bval, status);
    status = hot_output_end(context, &bvec, status);
    return hot_nifti_end(context, &image, status);
}

hot_status hot_dwi_save(hot_context *context, const hot_dwi *dwi, const char *path)
{
    hot_sample sample;
    const void *samples;
    void *copy = NULL;
    locale_t before = hot_plain_numbers_begin();
    hot_status status = spare_inputs(context, dwi, path);
    if (status == HOT_OK)
        status = arranged(context, dwi, &sample, &samples, &copy);
    if (status == HOT_OK)
        status = hot_path_is_nifti(path) ? save_nifti(context, dwi, path, sample, samples)
                                         : save_nrrd(context, dwi, path, sample, samples);
    hot_context_free(context, copy);
    hot_plain_numbers_end(before);
    return status;
}

/* DWI data as NIfTI with FSL's bval and bvec. */
#include "fsl_dwi.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "dwi/dwi_private.h"
#include "dwi/frames.h"
#include "gradient_files.h"
#include "io/common/paths.h"
#include "io/nifti/nifti_volume.h"

static const int types[] = {
    [HOT_SAMPLE_I8] = DT_INT8,    [HOT_SAMPLE_U8] = DT_UINT8,   [HOT_SAMPLE_I16] = DT_INT16,
    [HOT_SAMPLE_U16] = DT_UINT16, [HOT_SAMPLE_I32] = DT_INT32,  [HOT_SAMPLE_U32] = DT_UINT32,
    [HOT_SAMPLE_I64] = DT_INT64,  [HOT_SAMPLE_U64] = DT_UINT64, [HOT_SAMPLE_F32] = DT_FLOAT32,
    [HOT_SAMPLE_F64] = DT_FLOAT64,
};

/* The text of a gradient file: of the one named, or of the one beside the image. *name is what was read, for messages;
 * free it. */
static hot_status table_text(hot_context *context, const char *path, const char *given, const char *suffix, char **name,
                             char **text)
{
    *name = given ? hot_string_copy(context, given) : hot_path_beside(context, path, suffix);
    if (!*name)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_text_load(context, *name, text);
    if (status == HOT_ERROR_FILE && !given)
        status = hot_context_add(context, status, "the %s file of '%s' must lie beside it, or be given with --%s",
                                 suffix + 1, path, suffix + 1);
    return status;
}

/* b-values go with the square of the vector's length when the vectors are clearly not unit: this is how scanners code
 * several shells under one nominal b, and what MRtrix does (its limit too: one percent in the squared length). */
static void scale_by_length(hot_context *context, hot_dwi *dwi, const char *name)
{
    int scaled = 0;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        double squared = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        scaled |= dwi->b[v] > 0 && squared > 0 && isfinite(squared) && fabs(log(squared)) > 0.01;
    }
    if (!scaled)
        return;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        double squared = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (squared > 0)
            dwi->b[v] *= squared;
    }
    hot_context_log(context, HOT_LOG_NOTE,
                    "'%s': vectors are not of length 1, b-values are multiplied by their squared length", name);
}

static hot_status read_tables(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi *dwi)
{
    char *b_name = NULL, *g_name = NULL, *b_text = NULL, *g_text = NULL;
    double *b = NULL, *g = NULL;
    size_t b_count = 0, g_count = 0;
    hot_status status = table_text(context, path, bval, ".bval", &b_name, &b_text);
    if (status == HOT_OK)
        status = hot_bval_parse(context, b_name, b_text, &b, &b_count);
    if (status != HOT_OK && bval) /* a table that was named is at fault */
        hot_context_blame(context, status, "bval");
    if (status == HOT_OK) {
        status = table_text(context, path, bvec, ".bvec", &g_name, &g_text);
        if (status == HOT_OK)
            status = hot_bvec_parse(context, g_name, g_text, &g, &g_count);
        if (status != HOT_OK && bvec)
            hot_context_blame(context, status, "bvec");
    }
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, b_name);
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, g_name);
    if (status == HOT_OK && (b_count != dwi->volumes || g_count != dwi->volumes))
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has %zu volumes, but '%s' has %zu b-values and '%s' %zu vectors", path,
                                  dwi->volumes, b_name, b_count, g_name, g_count);
    if (status == HOT_ERROR_FORMAT && (b_count == dwi->volumes ? bvec : bval))
        hot_context_blame(context, status, b_count == dwi->volumes ? "bvec" : "bval");
    if (status == HOT_OK) {
        double frame[3][3];
        hot_grid_bvec_frame(&dwi->grid, frame);
        for (size_t v = 0; v < dwi->volumes; v++) {
            dwi->b[v] = b[v];
            for (int r = 0; r < 3; r++)
                dwi->gradients[3 * v + r] = frame[r][0] * g[3 * v] + frame[r][1] * g[3 * v + 1] +
                    frame[r][2] * g[3 * v + 2];
        }
        scale_by_length(context, dwi, g_name);
        status = hot_dwi_complete(context, dwi);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s' and '%s'", b_name, g_name);
    }
    hot_context_free(context, b_name);
    hot_context_free(context, g_name);
    hot_context_free(context, b_text);
    hot_context_free(context, g_text);
    hot_context_free(context, b);
    hot_context_free(context, g);
    return status;
}

static hot_status read_samples(hot_context *context, const nifti_image *image, hot_dwi *dwi)
{
    size_t one = hot_sample_bytes(dwi->sample), samples = hot_grid_voxels(&dwi->grid);
    if (samples == 0 || samples > SIZE_MAX / 2 / one / dwi->volumes)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its sizes are more than memory can address",
                                image->fname);
    samples *= dwi->volumes;
    dwi->data = hot_context_alloc(context, samples, one);
    dwi->release_data = hot_dwi_free_data;
    return dwi->data ? hot_nifti_samples(context, image, dwi->data) : HOT_ERROR_MEMORY;
}

hot_status hot_dwi_load_fsl(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi)
{
    nifti_image *image = NULL;
    hot_dwi *made = NULL;
    hot_grid grid;
    hot_sample sample;
    *dwi = NULL;
    hot_status status = hot_nifti_open(context, path, &image);
    if (status != HOT_OK)
        return status;
    size_t volumes = 1;
    for (int axis = 4; axis <= image->dim[0]; axis++)
        volumes *= (size_t)image->dim[axis]; /* hot_nifti_open has seen that the file can hold them */
    if (image->dim[0] < 4 || volumes < 2) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is one volume; diffusion-weighted data are several",
                                  path);
        goto cleanup;
    }
    if (!hot_sample_find(types, image->datatype, &sample)) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has samples of type %s; real numbers of up to 64 bits are read", path,
                                  nifti_datatype_string(image->datatype));
        goto cleanup;
    }
    hot_nifti_grid(image, &grid);
    size_t voxels = hot_grid_voxels(&grid);
    status = hot_dwi_begin(context, &grid, volumes, voxels, path, &made);
    if (status != HOT_OK)
        goto cleanup;
    made->sample = sample;
    made->stride[0] = 1;
    made->stride[1] = grid.size[0];
    made->stride[2] = grid.size[0] * grid.size[1];
    if (image->scl_slope != 0 && isfinite(image->scl_slope) && isfinite(image->scl_inter)) {
        made->slope = image->scl_slope;
        made->intercept = image->scl_inter;
    }
    status = hot_dwi_add_input(context, made, image->fname);
    if (status == HOT_OK && strcmp(image->iname, image->fname) != 0)
        status = hot_dwi_add_input(context, made, image->iname);
    if (status == HOT_OK)
        status = read_tables(context, path, bval, bvec, made);
    if (status == HOT_OK)
        status = read_samples(context, image, made);
cleanup:
    nifti_image_free(image);
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}

/* ---- out ---- */

static hot_status begin_beside(hot_context *context, const char *path, const char *suffix, hot_output *output,
                               FILE **to)
{
    char *name = hot_path_beside(context, path, suffix);
    if (!name)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_output_begin(context, name, output);
    if (status == HOT_OK)
        status = hot_output_file(context, output, to);
    hot_context_free(context, name);
    return status;
}

hot_status hot_dwi_save_fsl(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                             const void *samples)
{
    hot_output bval = {0}, bvec = {0};
    hot_nifti_writer image = {0};
    FILE *b = NULL, *g = NULL;
    size_t volume_bytes = hot_grid_voxels(&dwi->grid) * hot_sample_bytes(sample);
    hot_status status = hot_nifti_begin(context, path, &dwi->grid, dwi->volumes, types[sample], 1, 0, &image);
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

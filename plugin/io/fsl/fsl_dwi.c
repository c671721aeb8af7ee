/* DWI data out as NIfTI with FSL's bval and bvec. */
#include "fsl_dwi.h"

#include "dwi/frames.h"
#include "io/common/paths.h"
#include "io/nifti/nifti_volume.h"

static const int types[] = {
    [HOT_SAMPLE_I8] = DT_INT8,    [HOT_SAMPLE_U8] = DT_UINT8,   [HOT_SAMPLE_I16] = DT_INT16,
    [HOT_SAMPLE_U16] = DT_UINT16, [HOT_SAMPLE_I32] = DT_INT32,  [HOT_SAMPLE_U32] = DT_UINT32,
    [HOT_SAMPLE_I64] = DT_INT64,  [HOT_SAMPLE_U64] = DT_UINT64, [HOT_SAMPLE_F32] = DT_FLOAT32,
    [HOT_SAMPLE_F64] = DT_FLOAT64,
};

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
    hot_volume_writer image = {0};
    FILE *b = NULL, *g = NULL;
    size_t volume_bytes = hot_grid_voxels(&dwi->grid) * hot_sample_bytes(sample);
    HOT_TRY(hot_nifti_begin(context, path, &dwi->grid, dwi->volumes, types[sample], 1, 0, HOT_CONTENT_DWI, NULL,
                            &image));
    hot_status status = begin_beside(context, path, ".bval", &bval, &b);
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
        status = hot_volume_write(context, &image, (const char *)samples + v * volume_bytes, volume_bytes);
        if (status == HOT_OK)
            status = hot_context_progress(context, "writing", (double)(v + 1) / (double)dwi->volumes);
    }
    /* All three are whole before the first appears; the image last: where it is, its tables are. */
    status = hot_volume_finish(context, &image, status);
    return hot_output_end_all(context, (hot_output *const[]){&bval, &bvec, &image.output}, 3, status);
}

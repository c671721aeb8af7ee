/* sh: tensors as spherical harmonics in MRtrix's basis and scanner axes, one volume per coefficient, so that mrview
 * draws them as surfaces and sh2peaks, sh2amp, fod2fixel and tckgen take them. */
#include "io/formats.h"
#include "io/nifti/nifti_volume.h"

/* sh_i = sum_j matrix_ij tensor_j for a tensor in the grid's space: a mirrored axis changes the sign of the values that
 * name it an odd number of times. */
static hot_status make_matrix(hot_context *context, const hot_tensor_field *tensors, size_t terms, double *matrix,
                              int *exponents)
{
    double sign[3];
    hot_status status = hot_symtensor_to_sh(context, tensors->order, matrix);
    if (status == HOT_OK)
        status = hot_symtensor_exponents(tensors->order, 3, exponents);
    if (status != HOT_OK)
        return status;
    hot_space_ras_sign(tensors->grid.space, sign);
    for (size_t j = 0; j < terms; j++) {
        double flip = 1;
        for (size_t d = 0; d < 3; d++)
            if (exponents[3 * j + d] % 2 != 0)
                flip *= sign[d];
        for (size_t i = 0; i < terms; i++)
            matrix[i * terms + j] *= flip;
    }
    return HOT_OK;
}

static hot_status write_sh(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    hot_nifti_writer writer;
    const size_t voxels = hot_grid_voxels(&tensors->grid), terms = hot_symtensor_count(tensors->order, 3);
    const int threads = hot_context_threads(context);
    double *matrix = hot_context_alloc(context, terms * terms, sizeof *matrix);
    int *exponents = hot_context_alloc(context, terms * 3, sizeof *exponents);
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    hot_status status = HOT_ERROR_MEMORY;
    if (matrix && exponents && volume)
        status = make_matrix(context, tensors, terms, matrix, exponents);
    if (status != HOT_OK)
        goto cleanup;
    status = hot_nifti_begin(context, path, &tensors->grid, terms, DT_FLOAT32, 0, 0, &writer);
    for (size_t i = 0; status == HOT_OK && i < terms; i++) {
        const double *row = matrix + i * terms;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t voxel = 0; voxel < voxels; voxel++) {
            const float *tensor = tensors->values + voxel * (terms + 1);
            double sum = 0;
            if (tensor[0] > 0)
                for (size_t j = 0; j < terms; j++)
                    sum += row[j] * tensor[1 + j];
            volume[voxel] = (float)sum;
        }
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
        if (status == HOT_OK)
            status = hot_context_progress(context, "sh", (double)(i + 1) / (double)terms);
    }
    status = hot_nifti_end(context, &writer, status);
cleanup:
    hot_context_free(context, matrix);
    hot_context_free(context, exponents);
    hot_context_free(context, volume);
    return status;
}

const hot_export_format hot_format_sh = {
    .name = "sh",
    .suffix = ".nii.gz|.nii",
    .help = "tensors as spherical harmonics in MRtrix's basis (mrview draws them, sh2peaks, sh2amp, tckgen)",
    .write_tensors = write_sh,
};

/* sh: tensors as spherical harmonics in MRtrix's basis and scanner axes, one volume per coefficient, so that mrview
 * draws them as surfaces and sh2peaks, sh2amp, fod2fixel and tckgen take them. */
#include "io/common/formats.h"
#include "io/common/image_save.h"
#include "model/model.h"

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

typedef struct harmonics {
    const hot_tensor_field *tensors;
    size_t terms;
    const double *matrix;
} harmonics;

/* Coefficient `number` of every voxel. */
static void fill(hot_context *context, const void *from, size_t number, size_t voxels, float *volume)
{
    const harmonics *h = from;
    const size_t terms = h->terms;
    const double *row = h->matrix + number * terms;
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const float *tensor = h->tensors->values + voxel * (terms + 1);
        double sum = 0;
        if (tensor[0] > 0)
            for (size_t j = 0; j < terms; j++)
                sum += row[j] * tensor[1 + j];
        volume[voxel] = (float)sum;
    }
    (void)hot_context_progress(context, "writing", (double)(number + 1) / (double)terms);
}

hot_status hot_write_sh(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    const size_t terms = hot_symtensor_count(tensors->order, 3);
    double matrix[HOT_MODEL_TERMS_MAX * HOT_MODEL_TERMS_MAX];
    int exponents[3 * HOT_MODEL_TERMS_MAX];
    hot_status status = make_matrix(context, tensors, terms, matrix, exponents);
    return status == HOT_OK ? hot_image_save(context, path, &tensors->grid, terms, fill,
                                                     &(harmonics){tensors, terms, matrix}) : status;
}

/* Tensor fields out and in: NRRD in the grid's own space; NIfTI and MIF in scanner RAS, a volume for the confidence and
 * then one for each unique value. */
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "image_content.h"
#include "io/common/image_save.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_tensors.h"
#include "io/nrrd/tensor_frame.h"
#include "model/model.h"
#include "tensors_image.h"

typedef struct values_in_ras {
    const hot_tensor_field *field;
    double sign[HOT_FIELD_TERMS_MAX]; /* of each unique value */
} values_in_ras;

/* Value `number` of every voxel. */
static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
    const values_in_ras *tensors = from;
    const size_t row = 1 + hot_symtensor_count(tensors->field->order, 3);
    const float sign = number ? (float)tensors->sign[number - 1] : 1.0f;
    (void)context;
    for (size_t voxel = first; voxel < first + count; voxel++)
        samples[voxel - first] = sign * tensors->field->values[voxel * row + number];
}

hot_status hot_tensor_field_save(hot_context *context, const hot_tensor_field *field, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, field, path);
    HOT_TRY(hot_path_check_image(context, path));
    if (!hot_path_has_volumes(path))
        return hot_nrrd_save_tensors(context, field, path);
    const size_t terms = hot_symtensor_count(field->order, 3);
    values_in_ras tensors = {.field = field};
    int exponents[3 * HOT_FIELD_TERMS_MAX];
    double sign[3];
    HOT_TRY(hot_symtensor_exponents(field->order, 3, exponents));
    hot_space_ras_sign(field->grid.space, sign);
    for (size_t k = 0; k < terms; k++) {
        tensors.sign[k] = 1;
        for (size_t d = 0; d < 3; d++)
            tensors.sign[k] *= exponents[3 * k + d] % 2 ? sign[d] : 1;
    }
    char said[HOT_TENSORS_SAID];
    const int length = snprintf(said, sizeof said, "%s", field->model);
    if (field->judged)
        snprintf(said + length, sizeof said - (size_t)length, " %.4g %.4g", field->recovered[0], field->recovered[1]);
    return hot_image_save_tensors(context, path, &field->grid, said, 1 + terms, fill, &tensors);
}

/* The model, and the shares of simulated voxels whose number of fibres the maxima tell, by a header of ours. */
static void take_what_is_said(const hot_image *image, hot_tensor_field *field)
{
    char model[sizeof field->model];
    double share[2] = {0};
    const int got = sscanf(image->tensors, "%15s %lf %lf", model, &share[0], &share[1]);
    if (got < 1 || !hot_model_find(model)) {
        hot_context_log(image->context, HOT_LOG_NOTE,
                        "'%s' is taken as plain tensors of order %d: it does not say of which model (for fod: "
                        "--min_amplitude .1)", image->name, field->order);
        return;
    }
    strcpy(field->model, model);
    field->judged = got == 3 && share[0] >= 0 && share[0] <= 1 && share[1] >= 0 && share[1] <= 1;
    memcpy(field->recovered, share, sizeof share);
    hot_tensor_field_warn(image->context, field);
}

/* Rows of values of some layout become a confidence and the unique values in order. */
static void unpack_matrices(const float *from, size_t values, hot_tensor_layout layout, size_t voxels, float *to)
{
    static const unsigned char whole[6] = {0, 1, 2, 4, 5, 8};
    const unsigned char *places = values == 9 ? whole : hot_tensor_layout_places(layout);
    for (size_t voxel = 0; voxel < voxels; voxel++, from += values, to += 7) {
        float any = 0, odd = 0;
        for (int i = 0; i < 6; i++) {
            to[1 + i] = from[places[i]];
            any += to[1 + i] != 0;
            odd += to[1 + i] * 0.0f; /* NaN for NaN and Inf */
        }
        to[0] = any > 0 && odd == 0 ? 1.0f : 0.0f;
        for (int i = 1; i < 7 && to[0] == 0; i++)
            to[i] = 0;
    }
}

/* Matrices of order 2 without a confidence, in the order and axes of image->layout. */
static hot_status load_matrices(hot_image *image, hot_tensor_field **field)
{
    enum { CHUNK = 1 << 13 };
    const size_t voxels = hot_grid_voxels(&image->grid);
    double frame[3][3];
    hot_status status = hot_image_read(image);
    if (status == HOT_OK)
        status = hot_tensor_field_make(image->context, &image->grid, 2, "unknown", field);
    float *rows = status == HOT_OK ? hot_context_alloc(image->context, CHUNK, image->values * sizeof *rows) : NULL;
    if (status == HOT_OK && !rows)
        status = HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        const size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_image_values(image, first, count, rows);
        if (status == HOT_OK)
            unpack_matrices(rows, image->values, image->layout, count, (*field)->values + 7 * first);
    }
    hot_context_free(image->context, rows);
    if (status == HOT_OK && hot_tensor_layout_frame(image->layout, &image->grid, frame))
        status = hot_tensor_frame_apply(image->context, 2, (const double (*)[3])frame, voxels, (*field)->values, 7);
    for (size_t voxel = 0; voxel < voxels && status == HOT_OK; voxel++)
        (*field)->fitted += (*field)->values[7 * voxel] > 0;
    if (status == HOT_OK)
        hot_context_log(image->context, HOT_LOG_NOTE, "'%s' is taken as tensors of order 2, %s (--as)", image->name,
                        hot_tensor_layout_words(image->layout));
    else
        hot_tensor_field_destroy(field);
    return status;
}

hot_status hot_tensors_image_load(hot_image *image, hot_tensor_field **field)
{
    const int order = hot_tensors_image_order(image->values);
    if (image->values == 6 || image->values == 9)
        return load_matrices(image, field);
    if (!order)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s' holds no tensors: %zu volumes, where 7, 16, 29 or 46 (order 2, 4, 6, 8 with a "
                                "confidence) were expected; `hotfiber peaks` takes spherical harmonics", image->name,
                                image->values);
    HOT_TRY(hot_image_check_one_list(image, "tensors"));
    HOT_TRY(hot_image_read(image));
    HOT_TRY(hot_tensor_field_make(image->context, &image->grid, order, "unknown", field));
    const size_t voxels = hot_grid_voxels(&image->grid);
    hot_status status = hot_image_values(image, 0, voxels, (*field)->values);
    for (size_t voxel = 0; voxel < voxels; voxel++)
        (*field)->fitted += (*field)->values[voxel * image->values] > 0;
    if (status == HOT_OK)
        take_what_is_said(image, *field);
    else
        hot_tensor_field_destroy(field);
    return status;
}

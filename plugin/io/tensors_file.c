/* Tensor fields out and in: NRRD in the grid's own space; NIfTI and MIF in scanner RAS, a volume for the confidence and
 * then one for each unique value. */
#include "common/arguments.h"
#include "io/common/image_save.h"
#include "common/entry.h"
#include "io/common/input.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_tensors.h"
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
    hot_status status = hot_path_check_image(context, path);
    if (status != HOT_OK)
        return status;
    if (!hot_path_has_volumes(path))
        return hot_nrrd_save_tensors(context, field, path);
    const size_t terms = hot_symtensor_count(field->order, 3);
    values_in_ras tensors = {.field = field};
    int exponents[3 * HOT_FIELD_TERMS_MAX];
    double sign[3];
    status = hot_symtensor_exponents(field->order, 3, exponents);
    if (status != HOT_OK)
        return status;
    hot_space_ras_sign(field->grid.space, sign);
    for (size_t k = 0; k < terms; k++) {
        tensors.sign[k] = 1;
        for (size_t d = 0; d < 3; d++)
            tensors.sign[k] *= exponents[3 * k + d] % 2 ? sign[d] : 1;
    }
    return hot_image_save(context, path, &field->grid, 1 + terms, fill, &tensors);
}

int hot_tensors_image_order(size_t values)
{
    for (int order = 2; order <= 8; order += 2)
        if (values == 1 + hot_symtensor_count(order, 3))
            return order;
    return 0;
}

hot_status hot_tensors_image_load(hot_image *image, hot_tensor_field **field)
{
    const int order = hot_tensors_image_order(image->values);
    if (!order)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s' holds no tensors: %zu volumes, where 7, 16, 29 or 46 (order 2, 4, 6, 8 with a "
                                "confidence) were expected; `hotfiber peaks` takes spherical harmonics", image->name,
                                image->values);
    hot_status status = hot_image_check_one_list(image, "tensors");
    if (status == HOT_OK)
        status = hot_image_read(image);
    if (status == HOT_OK)
        status = hot_tensor_field_make(image->context, &image->grid, order, "unknown", field);
    if (status != HOT_OK)
        return status;
    const size_t voxels = hot_grid_voxels(&image->grid);
    status = hot_image_values(image, 0, voxels, (*field)->values);
    for (size_t voxel = 0; voxel < voxels; voxel++)
        (*field)->fitted += (*field)->values[voxel * image->values] > 0;
    if (status != HOT_OK)
        hot_tensor_field_destroy(field);
    return status;
}

hot_status hot_tensor_field_load(hot_context *context, const char *path, hot_tensor_field **field)
{
    HOT_ENTRY(context);
    if (field)
        *field = NULL;
    HOT_NEED(context, path, field);
    hot_input input;
    hot_image image = {0};
    hot_status status = hot_input_open(context, path, &input);
    if (status == HOT_OK && input.kind == HOT_FILE_NRRD) {
        status = hot_nrrd_load_tensors(context, &input, field);
    } else if (status == HOT_OK) {
        status = hot_image_open_input(context, &input, &image);
        if (status == HOT_OK)
            status = hot_tensors_image_load(&image, field);
        hot_image_close(&image);
    }
    hot_input_close(context, &input);
    return status;
}

/* A field of packed symmetric tensors: memory and access. */
#include "common/arguments.h"
#include "core/fields.h"
#include "common/entry.h"

#include <string.h>

hot_status hot_tensor_field_make(hot_context *context, const hot_grid *grid, int order, const char *model,
                                 hot_tensor_field **field)
{
    *field = NULL;
    if (order < 2 || order > HOT_FIELD_ORDER_MAX || order % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensor fields have order 2, 4, 6, 8, 10 or 12, not %d",
                                order);
    const size_t voxels = hot_grid_voxels(grid), row = 1 + hot_symtensor_count(order, 3);
    if (!voxels || voxels > SIZE_MAX / (row * sizeof(float)))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a tensor field of %zu x %zu x %zu voxels cannot be",
                                grid->size[0], grid->size[1], grid->size[2]);
    hot_tensor_field *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_tensor_field){.context = context, .grid = *grid, .order = order};
    hot_status status = HOT_OK;
    if (!model || strlen(model) >= sizeof made->model)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "a model's name has 1 to %zu letters",
                                  sizeof made->model - 1);
    else if (!(made->values = hot_context_alloc(context, voxels, row * sizeof *made->values)))
        status = HOT_ERROR_MEMORY;
    else
        strcpy(made->model, model);
    if (status != HOT_OK)
        hot_tensor_field_destroy(&made);
    *field = made;
    return status;
}

hot_status hot_tensor_field_create(hot_context *context, const hot_grid *grid, int order, const char *model,
                                   const float *values, hot_tensor_field **field)
{
    HOT_ENTRY(context);
    HOT_CLEAR(field);
    HOT_NEED(context, grid, model, values, field);
    HOT_TRY(hot_grid_check(context, grid));
    HOT_TRY(hot_tensor_field_make(context, grid, order, model, field));
    const size_t voxels = hot_grid_voxels(grid), row = 1 + hot_symtensor_count(order, 3);
    memcpy((*field)->values, values, voxels * row * sizeof *values);
    for (size_t voxel = 0; voxel < voxels; voxel++)
        (*field)->fitted += values[voxel * row] > 0;
    return HOT_OK;
}

void hot_tensor_field_destroy(hot_tensor_field **field)
{
    HOT_DESTROY_BEGIN(hot_tensor_field, field);
    hot_response_destroy(&gone->response);
    HOT_FREE(gone->context, gone->extra, gone->simulated, gone->values, gone);
}

const hot_grid *hot_tensor_field_grid(const hot_tensor_field *field) { return field ? &field->grid : NULL; }

int hot_tensor_field_order(const hot_tensor_field *field) { return field ? field->order : 0; }

const char *hot_tensor_field_model(const hot_tensor_field *field) { return field ? field->model : NULL; }

const float *hot_tensor_field_values(const hot_tensor_field *field) { return field ? field->values : NULL; }

const hot_response *hot_tensor_field_response(const hot_tensor_field *field) { return field ? field->response : NULL; }

void hot_tensor_field_counts(const hot_tensor_field *field, size_t *fitted, size_t *flagged)
{
    if (fitted)
        *fitted = field ? field->fitted : 0;
    if (flagged)
        *flagged = field ? field->flagged : 0;
}

size_t hot_tensor_field_tissues(const hot_tensor_field *field)
{
    return field && field->extra ? field->extra_count - 1 : 0;
}

hot_status hot_tensor_field_amounts(hot_context *context, const hot_tensor_field *field, float *amounts,
                                    float *residual)
{
    HOT_ENTRY(context);
    HOT_NEED(context, field);
    if (!field->extra)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a field of the model %s has no tissues; msmt's has",
                                field->model);
    const size_t voxels = hot_grid_voxels(&field->grid), tissues = field->extra_count - 1;
    for (size_t v = 0; v < voxels; v++) {
        const float *from = field->extra + v * field->extra_count;
        if (amounts)
            memcpy(amounts + v * tissues, from, tissues * sizeof *amounts);
        if (residual)
            residual[v] = from[tissues];
    }
    return HOT_OK;
}

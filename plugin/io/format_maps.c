/* Maps of one number per voxel, from tensors (fa, md, afd_total, afd_max, afd_sum, nufo) and of one number per fibre,
 * from directions (amplitude): NIfTI, or NRRD by name. */
#include <math.h>

#include "common/arguments.h"
#include "io/common/formats.h"
#include "common/entry.h"
#include "map_save.h"

static hot_status write_map(hot_context *context, const hot_tensor_field *tensors, const char *name, const char *path)
{
    float *values = hot_context_alloc(context, hot_grid_voxels(&tensors->grid), sizeof *values);
    hot_status status = values ? hot_tensor_field_map(context, tensors, name, values) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_map_save(context, &tensors->grid, values, 1, name, path);
    hot_context_free(context, values);
    return status;
}

#define MAP(NAME)                                                                                                      \
    hot_status hot_write_##NAME(hot_context *context, const hot_tensor_field *tensors, const char *path)               \
    {                                                                                                                  \
        HOT_ENTRY(context);                                                                                            \
        return write_map(context, tensors, #NAME, path);                                                               \
    }
MAP(fa)
MAP(md)
MAP(afd_total)
MAP(afd_max)
MAP(afd_sum)
MAP(nufo)

hot_status hot_write_amplitude(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    const size_t per = (size_t)fibers->max_fibers, count = hot_grid_voxels(&fibers->grid) * per;
    float *values = hot_context_alloc(context, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        const float *v = fibers->peaks + 3 * i;
        values[i] = (float)sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    }
    hot_status status = values ? hot_map_save(context, &fibers->grid, values, per, "amplitude", path)
                               : HOT_ERROR_MEMORY;
    hot_context_free(context, values);
    return status;
}

static hot_status save_found(hot_context *context, const hot_tensor_field *field, int residual, const char *path)
{
    const size_t per = residual ? 1 : hot_tensor_field_tissues(field);
    float *values = hot_context_alloc(context, hot_grid_voxels(&field->grid), (per + 1) * sizeof *values);
    hot_status status = values ? hot_tensor_field_amounts(context, field, residual ? NULL : values,
                                                          residual ? values : NULL)
                               : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_map_save(context, &field->grid, values, per, residual ? "residual" : "tissues", path);
    hot_context_free(context, values);
    return status;
}

hot_status hot_tensor_field_save_tissues(hot_context *context, const hot_tensor_field *field, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, field, path);
    return save_found(context, field, 0, path);
}

hot_status hot_tensor_field_save_residual(hot_context *context, const hot_tensor_field *field, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, field, path);
    return save_found(context, field, 1, path);
}

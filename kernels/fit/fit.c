/* The public functions of the fit family: bounds, and which backend. */
#include "common/backend.h"
#include "common/context_internal.h"
#include "fit.h"

/* The memory a packed problem takes must be countable: refuses what no data set can mean. */
static hot_status check_sizes(hot_context *context, size_t rows, size_t columns, size_t count, size_t stride_in,
                              size_t need_in, size_t stride_out, size_t need_out)
{
    if (rows == 0 || columns == 0 || rows > 65536 || columns > 65536)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a matrix of %zu x %zu; rows and columns go from 1 to 65536", rows, columns);
    if (count > 0 && (stride_in < need_in || stride_out < need_out))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "strides of %zu in and %zu out do not hold %zu and %zu values", stride_in, stride_out,
                                need_in, need_out);
    return HOT_OK;
}

/* Arrays of the host are not worth the way to a GPU and back: the CPU reads them once, at the memory's speed. */
static const hot_backends backends = {.family = "fit", .cuda = HOT_CUDA_BACKEND(hot_fit_linear_cuda),
                                      .device_arrays = 1};
static const hot_backends weighted_backends = {.family = "fit", .cuda = HOT_CUDA_BACKEND(hot_fit_weighted_cuda),
                                               .device_arrays = 1};

hot_status hot_fit_linear_f32(hot_context *context, size_t rows, size_t columns, const double *matrix, size_t count,
                              const float *input, size_t input_stride, float *output, size_t output_stride)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    hot_status status = check_sizes(context, rows, columns, count, input_stride, columns, output_stride, rows);
    if (status != HOT_OK || count == 0)
        return status;
    if (!matrix || !input || !output)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a linear fit needs a matrix, an input and an output");
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE) {
        hot_fit_linear_args args = {rows, columns, count, input_stride, output_stride, matrix, input, output};
        return hot_backend_run(context, &backends, &args);
    }
    if (hot_context_device(context) == HOT_DEVICE_REFERENCE) {
        hot_fit_linear_f32_ref(rows, columns, matrix, count, input, input_stride, output, output_stride);
        return HOT_OK;
    }
    return hot_fit_linear_f32_cpu(context, hot_context_cpu_level(context), rows, columns, matrix, count, input,
                                  input_stride, output, output_stride);
}

hot_status hot_fit_weighted_f32(hot_context *context, size_t rows, size_t columns, const double *design, size_t count,
                                const float *input, const float *weight, float *coefficients, size_t output_stride,
                                uint8_t *flags)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    hot_status status = check_sizes(context, rows, columns, count, rows, rows, output_stride, columns);
    if (status == HOT_OK && columns > 1024)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu coefficients per voxel; at most 1024", columns);
    if (status != HOT_OK || count == 0)
        return status;
    if (!design || !input || !weight || !coefficients)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a weighted fit needs a design, an input, weights and an output");
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE) {
        hot_fit_weighted_args args = {rows, columns, count, output_stride, design, input, weight, coefficients, flags};
        return hot_backend_run(context, &weighted_backends, &args);
    }
    if (hot_context_device(context) == HOT_DEVICE_REFERENCE)
        return hot_fit_weighted_f32_ref(context, rows, columns, design, count, input, weight, coefficients,
                                        output_stride, flags);
    return hot_fit_weighted_f32_cpu(context, hot_context_cpu_level(context), rows, columns, design, count, input,
                                    weight, coefficients, output_stride, flags);
}

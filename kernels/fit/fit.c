/* The public functions of the fit family: bounds, and which backend. */
#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
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

static hot_status linear_ref(hot_context *context, void *argument)
{
    const hot_fit_linear_args *args = argument;
    (void)context;
    hot_fit_linear_f32_ref(args->rows, args->columns, args->matrix, args->count, args->input, args->input_stride,
                           args->output, args->output_stride);
    return HOT_OK;
}

static hot_status linear_cpu(hot_context *context, void *argument)
{
    const hot_fit_linear_args *args = argument;
    return hot_fit_linear_f32_cpu(context, hot_context_cpu_level(context), args->rows, args->columns, args->matrix,
                                  args->count, args->input, args->input_stride, args->output, args->output_stride);
}

/* Linear fits, the same bits on CPU and GPU. Arrays of the host with fewer products are not worth the way to a GPU and
 * back. */
#define GPU_LINEAR_PRODUCTS 5e8
static const hot_backends backends = {"fit", linear_ref, linear_cpu, HOT_CUDA_BACKEND(hot_fit_linear_cuda), 1};

static hot_status weighted_ref(hot_context *context, void *argument)
{
    const hot_fit_weighted_args *args = argument;
    return hot_fit_weighted_f32_ref(context, args->rows, args->columns, args->design, args->count, args->input,
                                    args->weight, args->coefficients, args->output_stride, args->flags);
}

static hot_status weighted_cpu(hot_context *context, void *argument)
{
    const hot_fit_weighted_args *args = argument;
    return hot_fit_weighted_f32_cpu(context, hot_context_cpu_level(context), args->rows, args->columns, args->design,
                                    args->count, args->input, args->weight, args->coefficients, args->output_stride,
                                    args->flags);
}

/* Weighted fits: those of fewer products are not worth it either (some 10 ms of 16 cores). */
#define GPU_PRODUCTS 1e9
static const hot_backends weighted_backends = {"fit", weighted_ref, weighted_cpu,
                                               HOT_CUDA_BACKEND(hot_fit_weighted_cuda), 1};

hot_status hot_fit_linear_f32(hot_context *context, size_t rows, size_t columns, const double *matrix, size_t count,
                              const float *input, size_t input_stride, float *output, size_t output_stride)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, matrix, input, output);
    hot_status status = check_sizes(context, rows, columns, count, input_stride, columns, output_stride, rows);
    if (status != HOT_OK || count == 0)
        return status;
    hot_fit_linear_args args = {rows, columns, count, input_stride, output_stride, matrix, input, output};
    const double products = (double)count * (double)rows * (double)columns;
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE || products >= GPU_LINEAR_PRODUCTS)
        return hot_backend_run(context, &backends, &args);
    return hot_context_device(context) == HOT_DEVICE_REFERENCE ? linear_ref(context, &args)
                                                               : linear_cpu(context, &args);
}

hot_status hot_fit_weighted_f32(hot_context *context, size_t rows, size_t columns, const double *design, size_t count,
                                const float *input, const float *weight, float *coefficients, size_t output_stride,
                                uint8_t *flags)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, design, input, weight, coefficients);
    hot_status status = check_sizes(context, rows, columns, count, rows, rows, output_stride, columns);
    if (status == HOT_OK && columns > 1024)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu coefficients per voxel; at most 1024", columns);
    if (status != HOT_OK || count == 0)
        return status;
    hot_fit_weighted_args args = {rows, columns, count, output_stride, design, input, weight, coefficients, flags};
    const double products = (double)count * (double)rows * (double)(columns * (columns + 1) / 2);
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE || products >= GPU_PRODUCTS)
        return hot_backend_run(context, &weighted_backends, &args);
    return hot_context_device(context) == HOT_DEVICE_REFERENCE ? weighted_ref(context, &args)
                                                               : weighted_cpu(context, &args);
}

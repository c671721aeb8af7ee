/* See sshopm_measure.h: SS-HOPM of any shape with all data on the GPU. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "sshopm_measure.h"

namespace {

enum { REPEATS = 60, LANES = 128 /* for single precision, of a multiprocessor since 8.6 */ };

/* Independent values between -1/2 and 1/2, from their numbers. */
__global__ void fill(float *values, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        values[i] = (float)(((double)((z ^ (z >> 31)) >> 11) * 0x1p-53) - 0.5);
    }
}

double peak(void)
{
    int device = 0, processors = 0, kilohertz = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device);
    return 2e3 * LANES * processors * (double)kilohertz;
}

/* Mean steps per start. */
hot_status mean_steps(hot_context *context, const hot_sshopm_args *args, double *mean)
{
    const size_t results = args->count * args->starts;
    int32_t *steps = (int32_t *)hot_context_alloc(context, results, sizeof *steps);
    if (!steps)
        return HOT_ERROR_MEMORY;
    const hot_status status = hot_cuda_status(context, cudaMemcpy(steps, args->iterations, results * sizeof *steps,
                                                                  cudaMemcpyDeviceToHost), "results");
    double sum = 0;
    for (size_t i = 0; i < results && status == HOT_OK; i++)
        sum += abs(steps[i]);
    *mean = sum / (double)results;
    hot_context_free(context, steps);
    return status;
}

} // namespace

hot_status hot_sshopm_shape_time(hot_context *context, const hot_sshopm_shape *shape, hot_sshopm_figure *figure)
{
    enum { ARRAYS = 6 };
    const size_t unique = hot_symtensor_count(shape->order, shape->dim), dim = (size_t)shape->dim,
                 results = shape->count * shape->starts;
    hot_sshopm_args args;
    hot_sshopm_tables tables;
    void *arrays[ARRAYS] = {NULL};
    double times[REPEATS];
    memset(figure, 0, sizeof *figure);
    memset(&args, 0, sizeof args);
    memset(&tables, 0, sizeof tables);
    args.order = shape->order, args.dim = shape->dim, args.unique = args.stride = unique, args.count = shape->count;
    args.starts = shape->starts, args.shift = shape->shift, args.sign = 1, args.tolerance = shape->tolerance;
    args.exact = !(shape->tolerance > 0), args.max_iterations = shape->iterations;
    if (hot_cuda_count() == 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found; use the CPU");
    args.scratch_bytes = hot_sshopm_scratch(&args);
    const size_t bytes[ARRAYS] = {shape->count * unique * sizeof(float), shape->starts * dim * sizeof(float),
                                  results * sizeof(float), results * dim * sizeof(float), results * sizeof(int32_t),
                                  args.scratch_bytes};
    double *wide = (double *)hot_context_alloc(context, shape->starts * dim, sizeof *wide);
    float *start = (float *)hot_context_alloc(context, shape->starts * dim, sizeof *start);
    hot_status status = wide && start ? hot_sshopm_tables_create(context, shape->order, shape->dim, &tables)
                                      : HOT_ERROR_MEMORY;
    for (int k = 0; k < ARRAYS && status == HOT_OK; k++)
        status = hot_cuda_status(context, cudaMalloc(&arrays[k], bytes[k] + 1), "memory");
    if (status == HOT_OK) {
        hot_starts_random(7, shape->dim, shape->starts, wide);
        for (size_t i = 0; i < shape->starts * dim; i++)
            start[i] = (float)wide[i];
        fill<<<1024, 256>>>((float *)arrays[0], shape->count * unique);
        status = hot_cuda_status(context, cudaMemcpy(arrays[1], start, bytes[1], cudaMemcpyHostToDevice), "starts");
    }
    args.tensors = arrays[0], args.start = arrays[1], args.lambda = arrays[2], args.x = arrays[3];
    args.iterations = (int32_t *)arrays[4], args.scratch = arrays[5];
    if (status == HOT_OK) {
        hot_cuda_timing timing;
        timing.warm_up = 1, timing.least = 3, timing.most = REPEATS, timing.seconds = shape->seconds;
        status = hot_cuda_time_runs(context, timing, [&] {
            return hot_sshopm_launch(context, &args, &tables, shape->algorithm, NULL);
        }, times, &figure->repeats);
    }
    if (status == HOT_OK) {
        std::sort(times, times + figure->repeats);
        figure->seconds = times[figure->repeats / 2];
        figure->fastest = times[0];
        figure->peak = peak();
        status = mean_steps(context, &args, &figure->iterations);
    }
    for (int k = 0; k < ARRAYS; k++)
        cudaFree(arrays[k]);
    hot_sshopm_tables_destroy(context, &tables);
    hot_context_free(context, wide);
    hot_context_free(context, start);
    return status;
}

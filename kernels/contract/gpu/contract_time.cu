/* Times a contraction on the GPU with cold data. Part of the library, unlike all other measuring code (bench/), because
 * tuning is a feature of it: hot_contract_tune. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>

#include "common/cuda_status.h"
#include "contract_cuda.h"

/* Overwrites more than the second-level cache holds. */
static __global__ void sweep(float *memory, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        memory[i] = memory[i] * .5f + 1;
}

/* The sum of the absolute values of C. */
static hot_status sum_result(hot_context *context, const hot_contract_plan *plan, const void *device, size_t values,
                             double *sum)
{
    const size_t size = plan->f64 ? sizeof(double) : sizeof(float);
    void *back = hot_context_alloc(context, values, size);
    *sum = 0;
    if (!back)
        return HOT_ERROR_MEMORY;
    const hot_status status =
        hot_cuda_status(context, cudaMemcpy(back, device, values * size, cudaMemcpyDeviceToHost), "contraction");
    for (size_t i = 0; i < values && status == HOT_OK; i++)
        *sum += plan->f64 ? fabs(((double *)back)[i]) : fabs((double)((float *)back)[i]);
    hot_context_free(context, back);
    return status;
}

extern "C" hot_status hot_contract_cuda_time(hot_context *context, const hot_contract_plan *plan, double seconds,
                                             double *median, double *sum)
{
    enum { MOST = 100 };
    const size_t size = plan->f64 ? sizeof(double) : sizeof(float), cache = (size_t)128 << 20;
    size_t values[3];
    void *device[3] = {NULL, NULL, NULL};
    float *dirt = NULL, times[MOST], elapsed = 0;
    cudaEvent_t begin = NULL, end = NULL;
    int count = 0;
    const void *const host[3] = {plan->a, plan->b, plan->c};
    hot_contract_plan there = *plan;
    hot_status status = HOT_OK;
    for (int o = 0; o < 3 && status == HOT_OK; o++) {
        values[o] = hot_contract_extent(plan, o);
        status = hot_cuda_status(context, cudaMalloc(&device[o], values[o] * size + 16), "memory");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy(device[o], host[o], values[o] * size, cudaMemcpyHostToDevice),
                                     "copy");
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&dirt, cache), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemset(dirt, 0, cache), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&begin), "event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&end), "event");
    there.a = device[0], there.b = device[1], there.c = device[2];
    if (status == HOT_OK)
        status = hot_contract_launch(context, &there, NULL, NULL);
    *sum = 0;
    if (status == HOT_OK)
        status = sum_result(context, plan, device[2], values[2], sum);
    while (status == HOT_OK && count < MOST && (count < 5 || elapsed < 1e3 * seconds)) {
        sweep<<<1024, 256>>>(dirt, cache / sizeof(float));
        cudaEventRecord(begin);
        status = hot_contract_launch(context, &there, NULL, NULL);
        cudaEventRecord(end);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventSynchronize(end), "contraction");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventElapsedTime(&times[count], begin, end), "timing");
        elapsed += status == HOT_OK ? times[count++] + .1f : 0;
    }
    if (count) {
        std::sort(times, times + count);
        *median = 1e-3 * times[count / 2];
    }
    for (int o = 0; o < 3; o++)
        cudaFree(device[o]);
    cudaFree(dirt);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return status;
}

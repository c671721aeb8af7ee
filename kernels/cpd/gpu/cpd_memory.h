/* Memory and launches on the GPU for products and decompositions: what is made for one call is got as every call's is
 * (common/device_memory.h: with arrays in device memory in the order of the caller's stream), what a kept tensor has
 * from the driver. */
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "common/device_memory.h"

static inline hot_status hot_cpd_get(hot_context *context, int kept, size_t bytes, void *where, const char *what)
{
    if (!kept)
        return hot_device_alloc(context, bytes, (void **)where, what);
    const cudaError_t error = cudaMalloc((void **)where, bytes);
    if (error != cudaSuccess)
        *(void **)where = NULL;
    return hot_cuda_status(context, error, what);
}

static inline void hot_cpd_give(hot_context *context, int kept, void *memory)
{
    if (kept)
        cudaFree(memory);
    else
        hot_device_release(context, memory);
}

/* The status of the last launch. */
static inline hot_status hot_cpd_launched(hot_context *context, const char *what)
{
    return hot_cuda_status(context, cudaGetLastError(), what);
}

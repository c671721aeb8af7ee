/* Kernels with more dynamic shared memory than a launch has without asking. */
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_status.h"

/* Lets a kernel's launches have `bytes` of dynamic shared memory. The bound belongs to the kernel, not to the launch:
 * where every call set what it needs, one in another thread that needs less would take the memory away before the
 * launch. So a kernel that needs more than it may have gets all that the GPU has. */
static inline cudaError_t raise_shared_memory(const void *kernel, size_t bytes)
{
    cudaFuncAttributes now;
    int device = 0, most = 0;
    cudaError_t error = cudaFuncGetAttributes(&now, kernel);
    if (error != cudaSuccess || (size_t)now.maxDynamicSharedSizeBytes >= bytes)
        return error;
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess)
        return error;
    const size_t left = (size_t)most > now.sharedSizeBytes ? (size_t)most - now.sharedSizeBytes : 0;
    return bytes > left ? cudaErrorInvalidValue
                        : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)left);
}

/* Allows a kernel `bytes` of dynamic shared memory. Up to 40,000 no call is needed: with the kernels' static shared
 * memory that is below the 48 KiB that every launch may have. */
template <typename... A>
static inline hot_status allow_shared_memory(hot_context *context, void (*kernel)(A...), size_t bytes)
{
    if (bytes <= 40000)
        return HOT_OK;
    return hot_cuda_status(context, raise_shared_memory((const void *)kernel, bytes), "shared memory");
}

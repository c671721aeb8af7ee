/* Kernels with more dynamic shared memory than a launch has without asking. */
#ifndef HOT_COMMON_SHARED_MEMORY_CUH
#define HOT_COMMON_SHARED_MEMORY_CUH

#include <cuda_runtime.h>

#include "common/cuda_status.h"

/* Asks for `bytes` of dynamic shared memory. Up to 40,000 nothing needs to be asked: with what kernels have of static
 * shared memory that is below the 48 KiB that every launch may have. */
template <typename... A>
static inline hot_status allow_shared_memory(hot_context *context, void (*kernel)(A...), size_t bytes)
{
    if (bytes <= 40000)
        return HOT_OK;
    return hot_cuda_status(
        context, cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        "shared memory");
}

#endif

/* Programmatic dependent launch (CUDA programming guide): a kernel may start while the previous one in the stream still
 * runs. Every kernel here waits for the previous one and then lets the next one start. So after the wait all earlier
 * kernels have ended; before it, all but the last. */
#pragma once

#include <cuda_runtime.h>

namespace {

__device__ __forceinline__ void dependency_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void dependents_launch()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Launches a kernel that may start before the one before it has ended. cluster: blocks of a cluster. */
inline cudaError_t launch_dependent(const void *kernel, dim3 blocks, unsigned threads, size_t shared,
                                    cudaStream_t stream, void **arguments, unsigned cluster = 1)
{
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = cluster, attributes[1].val.clusterDim.y = 1, attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = dim3(threads), config.dynamicSmemBytes = shared,
    config.stream = stream;
    config.attrs = attributes, config.numAttrs = cluster > 1 ? 2 : 1;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

} // namespace

/* Kernels in a chain: one may be started while the one before it ends. Each waits before it touches memory, and then
 * lets the next one come; so whoever has waited knows that all before have ended, but for the one just before those. */
#ifndef HOT_CPD_CHAIN_CUH
#define HOT_CPD_CHAIN_CUH

#include <cuda_runtime.h>

namespace {

__device__ __forceinline__ void chain_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void chain_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Launches a link. cluster: blocks of a cluster. */
inline cudaError_t chain_launch(const void *kernel, dim3 blocks, unsigned threads, size_t shared,
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

#endif

/* Sums and maxima over a warp and over a block, in an order that does not depend on timing. */
#pragma once

#include <cuda_runtime.h>
#include <math.h>

/* Over the lanes of a warp; every lane has the result. */
static __device__ __forceinline__ double warp_sum(double value)
{
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(~0u, value, offset);
    return value;
}
static __device__ __forceinline__ double warp_max(double value)
{
    for (int offset = 16; offset; offset /= 2)
        value = fmax(value, __shfl_xor_sync(~0u, value, offset));
    return value;
}

/* Over the threads of a block; every thread has the result. workspace: a value per warp in shared memory, which for
 * block_sum nobody reads any more. */
static __device__ __forceinline__ double block_sum(double value, double *workspace)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        workspace[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        value += workspace[warp];
    return value;
}
static __device__ __forceinline__ double block_max(double value, double *workspace)
{
    value = warp_max(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        workspace[threadIdx.x / 32] = value;
    __syncthreads();
    value = workspace[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; warp++)
        value = fmax(value, workspace[warp]);
    return value;
}

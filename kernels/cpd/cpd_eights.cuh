/* What passes keep, eight columns at a time. */
#ifndef HOT_CPD_EIGHTS_CUH
#define HOT_CPD_EIGHTS_CUH

#include <cuda_fp16.h>

namespace {

/* Eight neighbouring columns of what was stored. */
__device__ __forceinline__ void get(const __half *from, float (&to)[8])
{
    const uint4 all = *(const uint4 *)from;
    const unsigned words[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const float2 both = __half22float2(*(const __half2 *)&words[w]);
        to[2 * w] = both.x, to[2 * w + 1] = both.y;
    }
}

__device__ __forceinline__ void get(const float *from, float (&to)[8])
{
    const float4 one = *(const float4 *)from, two = *(const float4 *)(from + 4);
    to[0] = one.x, to[1] = one.y, to[2] = one.z, to[3] = one.w, to[4] = two.x, to[5] = two.y, to[6] = two.z,
    to[7] = two.w;
}

} // namespace

#endif

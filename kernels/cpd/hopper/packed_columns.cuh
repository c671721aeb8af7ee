/* Partial sums that passes keep, as halves or floats, read eight neighbouring columns at a time. */
#pragma once

#include <cuda_fp16.h>

namespace {

/* In memory's order. */
template <typename T> struct packed_columns;
template <> struct packed_columns<__half> {
    uint4 all;
};
template <> struct packed_columns<float> {
    float4 low, high;
};

__device__ __forceinline__ void unpack(const packed_columns<__half> &from, float (&to)[8])
{
    const unsigned words[4] = {from.all.x, from.all.y, from.all.z, from.all.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const float2 both = __half22float2(*(const __half2 *)&words[w]);
        to[2 * w] = both.x, to[2 * w + 1] = both.y;
    }
}

__device__ __forceinline__ void unpack(const packed_columns<float> &from, float (&to)[8])
{
    to[0] = from.low.x, to[1] = from.low.y, to[2] = from.low.z, to[3] = from.low.w, to[4] = from.high.x,
    to[5] = from.high.y, to[6] = from.high.z, to[7] = from.high.w;
}

/* Eight neighbouring stored columns. */
template <typename T> __device__ __forceinline__ void load_packed(const T *from, float (&to)[8])
{
    unpack(*(const packed_columns<T> *)from, to);
}

} // namespace

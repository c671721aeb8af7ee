/* Instructions of one warp: loads, and tensor-core products (mma) of 16 x 16 with 16 x 8 halves. */
#pragma once

#include <cuda_fp16.h>

namespace {

/* Loads that stay where they are written: the compiler would put each before its use, and wait for it there. */
__device__ __forceinline__ uint4 load(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
    return v;
}
__device__ __forceinline__ uint2 load(const uint2 *from)
{
    uint2 v;
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
    return v;
}
__device__ __forceinline__ unsigned load(const unsigned *from)
{
    unsigned v;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(from));
    return v;
}
__device__ __forceinline__ float4 load(const float4 *from)
{
    float4 v;
    asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}
__device__ __forceinline__ float2 load(const float2 *from)
{
    const uint2 v = load((const uint2 *)from);
    return make_float2(__uint_as_float(v.x), __uint_as_float(v.y));
}
__device__ __forceinline__ float load(const float *from)
{
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(from));
    return v;
}

/* d (16 x 8) += a (16 x 16) b (16 x 8) */
__device__ __forceinline__ void multiply(float (&d)[4], const uint4 &a, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

} // namespace

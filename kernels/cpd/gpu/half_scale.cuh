/* The common scale of numbers that are rounded to halves. */
#pragma once

#include <cuda_runtime.h>

namespace {

enum { HALF_BIAS = 15 /* halves reach 2^16 */ };

/* The power of two that brings the largest of `most` (bits of a float >= 0) to [2^(HALF_BIAS - 1), 2^HALF_BIAS). */
__device__ __forceinline__ float half_scale(unsigned bits)
{
    const int exponent = (int)(bits >> 23) - 126; /* most < 2^exponent */
    return bits ? exp2f((float)max(-126, min(126, HALF_BIAS - exponent))) : 1;
}

/* 1 / such a power. */
__device__ __forceinline__ float scale_inverse(float power)
{
    return __uint_as_float((254u << 23) - __float_as_uint(power));
}

} // namespace

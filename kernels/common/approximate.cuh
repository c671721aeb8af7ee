/* Approximate functions of the GPU's special function unit, within two units in the last place: for iterations that
 * correct themselves. On the host the exact ones, so that shared arithmetic compiles there. */
#pragma once

#include <math.h>

#include "common/portable.h"

HOT_FN float approximate_reciprocal(float a)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
#else
    return 1.0f / a;
#endif
}

HOT_FN float approximate_sqrt(float a)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
#else
    return sqrtf(a);
#endif
}

HOT_FN float approximate_rsqrt(float a)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
#else
    return 1.0f / sqrtf(a);
#endif
}

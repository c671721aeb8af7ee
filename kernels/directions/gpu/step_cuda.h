/* The arithmetic of step.h on the GPU, one form per thread: what its template asks for. */
#ifndef HOT_DIRECTIONS_STEP_CUDA_H
#define HOT_DIRECTIONS_STEP_CUDA_H

#include "common/portable.h"

typedef float HOT_V;
typedef bool HOT_MASK;
#define HOT_SET(x) (x)
#define HOT_FMA(a, b, c) fmaf(a, b, c)
#define HOT_MAX(a, b) fmaxf(a, b)
#define HOT_LT(a, b) ((a) < (b))
#define HOT_GE(a, b) ((a) >= (b))
#define HOT_AND(m, n) ((m) && (n))
#define HOT_NOT(m) (!(m))
#define HOT_SELECT(m, a, b) ((m) ? (a) : (b))
#define HOT_SELECT_MASK(m, a, b) ((m) ? (a) : (b))
/* Within two units in the last place; Newton's method corrects itself. */
__device__ __forceinline__ float approximate_inverse(float a)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}
__device__ __forceinline__ float approximate_root(float a)
{
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}
#define HOT_INVERSE(a) approximate_inverse(a)
#define HOT_SQRT(a) approximate_root(a)
#undef HOT_FN
#define HOT_FN static __device__ __forceinline__

#endif

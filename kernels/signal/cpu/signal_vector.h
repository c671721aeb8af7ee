/* One arithmetic, many machines: the fits are written on `vf`, a number per voxel. On the CPU a vf holds HOT_LANES
 * voxels (GCC's vector extension, so that one source serves SSE, AVX2 and AVX-512); under nvcc it is a plain float and
 * a voxel is a thread. Comparisons give masks (vm), select() chooses by them: no branch depends on a voxel. */
#ifndef HOT_SIGNAL_VECTOR_H
#define HOT_SIGNAL_VECTOR_H

#include <math.h>
#include <stdint.h>

#include "common/portable.h"

#ifdef __CUDACC__

#define HOT_LANES 1
typedef float vf;
typedef int vi;
typedef bool vm; /* masks combine with & and |, and turn round with vnot */
HOT_FN vf vset(float a) { return a; }
HOT_FN vi vseti(int a) { return a; }
HOT_FN vf vsel(vm m, vf a, vf b) { return m ? a : b; }
HOT_FN vi vseli(vm m, vi a, vi b) { return m ? a : b; }
HOT_FN vf vsqrt(vf a) { return sqrtf(a); }
/* 1 / a and 1 / sqrt(a), a > 0, to 2 units in the last place: one instruction on the special-function unit */
#ifdef __CUDA_ARCH__
HOT_FN vf vrcp(vf a) { return __fdividef(1.0f, a); }
#else
HOT_FN vf vrcp(vf a) { return 1.0f / a; }
#endif
HOT_FN vf vrsqrt(vf a) { return rsqrtf(a); }
HOT_FN vf vabs(vf a) { return fabsf(a); }
HOT_FN vf vcopysign(vf a, vf b) { return copysignf(a, b); }
HOT_FN bool vany(vm m) { return m; }
HOT_FN vf vexp(vf a) { return expf(fminf(fmaxf(a, -80.0f), 80.0f)); }
HOT_FN vf vlog(vf a) { return logf(a); }
HOT_FN float vlane(vf a, int) { return a; }
HOT_FN vm vmask(bool a) { return a; }
HOT_FN vm vnot(vm a) { return !a; }

#else

#ifndef HOT_LANES
#error "define HOT_LANES before including signal_vector.h"
#endif
typedef float vf __attribute__((vector_size(4 * HOT_LANES)));
typedef int32_t vi __attribute__((vector_size(4 * HOT_LANES)));
typedef vi vm; /* -1 where true, 0 where false */
HOT_FN vf vset(float a) { return a - (vf){0}; }
HOT_FN vi vseti(int a) { return a - (vi){0}; }
HOT_FN vi vseli(vm m, vi a, vi b) { return (a & m) | (b & ~m); }
HOT_FN vf vsel(vm m, vf a, vf b) { return (vf)vseli(m, (vi)a, (vi)b); }
HOT_FN vf vabs(vf a) { return (vf)((vi)a & vseti(0x7fffffff)); }
HOT_FN vf vcopysign(vf a, vf b) { return (vf)(((vi)a & vseti(0x7fffffff)) | ((vi)b & vseti((int)0x80000000u))); }
HOT_FN vf vsqrt(vf a)
{
    vf r;
    for (int i = 0; i < HOT_LANES; i++)
        r[i] = sqrtf(a[i]);
    return r;
}
HOT_FN vf vrcp(vf a) { return 1 / a; }
HOT_FN vf vrsqrt(vf a) { return 1 / vsqrt(a); }
HOT_FN int vany(vm m)
{
    int any = 0;
    for (int i = 0; i < HOT_LANES; i++)
        any |= m[i];
    return any != 0;
}
/* e^a, |a| <= 80, relative error 2e-7: 2^n times a polynomial on half an octave to either side. */
HOT_FN vf vexp(vf a)
{
    a = vsel(a > 80.0f, vset(80), vsel(a < -80.0f, vset(-80), a));
    vf scaled = a * 1.44269504f;
    vi n = __builtin_convertvector(scaled + vcopysign(vset(0.5f), scaled), vi);
    vf r = a - __builtin_convertvector(n, vf) * 0.693359375f;
    r = r + __builtin_convertvector(n, vf) * 2.12194440e-4f;
    vf p = 1 + r * (1 + r * (0.5f + r * (0.166666657f + r * (0.0416666f + r * (0.00833336f + r * 0.00139f)))));
    return p * (vf)((n + 127) << 23);
}
/* ln a for a normal and positive, absolute error 1e-6. */
HOT_FN vf vlog(vf a)
{
    vi bits = (vi)a;
    vi n = (bits - 0x3f3504f3) >> 23; /* mantissa into [sqrt(1/2), sqrt 2) */
    vf m = (vf)(bits - (n << 23));
    vf s = (m - 1) / (m + 1), s2 = s * s;
    vf p = 2 * s * (1 + s2 * (0.33333333f + s2 * (0.2f + s2 * (0.142857f + s2 * 0.1142f))));
    return __builtin_convertvector(n, vf) * 0.69314718f + p;
}
HOT_FN float vlane(vf a, int i) { return a[i]; }
HOT_FN vm vmask(int a) { return vseti(a ? -1 : 0); }
HOT_FN vm vnot(vm a) { return ~a; }

#endif

HOT_FN vf vmax(vf a, vf b) { return vsel(a > b, a, b); }
HOT_FN vf vmin(vf a, vf b) { return vsel(a < b, a, b); }
HOT_FN vf vclamp(vf a, float low, float high) { return vmin(vmax(a, vset(low)), vset(high)); }

#endif

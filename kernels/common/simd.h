/* Vectors of numbers, a lane per item (tensor, voxel, starting vector, matrix), of the width that the file is compiled
 * for: SSE2 or Neon (16 bytes), AVX2 (32) or AVX-512 (64). They are those of GCC's vector extension, so + - * / < > and
 * the bitwise operators work on them; the functions here add what the extension lacks. Under nvcc a vector is one float
 * and a thread is a lane, so that one source serves both.
 *
 *   vf, vd     float, double                        HOT_LANES_F32, HOT_LANES_F64 lanes
 *   vi, vl     int32_t, int64_t                     vu, vul: unsigned
 *   vm         mask of vf: -1 (true) or 0 per lane, as comparisons make it; the mask of vd is a vl
 *
 * No branch depends on a lane: vsel() chooses. Functions of vf and vd have one name. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "portable.h"

#ifdef __CUDACC__

#define HOT_LANES_F32 1
typedef float vf;
typedef int vi;
typedef bool vm; /* combine with & and |, negate with vnot */
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
HOT_FN vf vmax(vf a, vf b) { return vsel(a > b, a, b); }
HOT_FN vf vmin(vf a, vf b) { return vsel(a < b, a, b); }
HOT_FN vf vgather(const float *table, vi at) { return table[at]; }

#else

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define HOT_SIMD_AVX512 1
#define HOT_SIMD_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define HOT_SIMD_AVX2 1
#define HOT_SIMD_BYTES 32
#else
#define HOT_SIMD_BYTES 16
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { HOT_LANES_F32 = HOT_SIMD_BYTES / 4, HOT_LANES_F64 = HOT_SIMD_BYTES / 8 };
typedef float vf __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef double vd __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef int32_t vi __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef int64_t vl __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef uint32_t vu __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef uint64_t vul __attribute__((vector_size(HOT_SIMD_BYTES)));
typedef vi vm;

/* One function per type under one name; the type is that of the last argument. */
#define HOT_OF_FLOATS(name, a) _Generic((a), vf: name##_f32, vd: name##_f64)

HOT_FN vf vset(float a) { return a - (vf){0}; }
HOT_FN vd vsetd(double a) { return a - (vd){0}; }
HOT_FN vi vseti(int a) { return a - (vi){0}; }

/* m ? a : b of each lane. */
HOT_FN vi vseli(vm m, vi a, vi b) { return (a & m) | (b & ~m); }
HOT_FN vf vsel_f32(vm m, vf a, vf b) { return (vf)(((vi)a & m) | ((vi)b & ~m)); }
HOT_FN vd vsel_f64(vl m, vd a, vd b) { return (vd)(((vl)a & m) | ((vl)b & ~m)); }
#define vsel(m, a, b) HOT_OF_FLOATS(vsel, b)(m, a, b)

/* The larger and the smaller; b where they are equal or one is NaN. */
#if defined(HOT_SIMD_AVX512)
HOT_FN vf vmax_f32(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
HOT_FN vd vmax_f64(vd a, vd b) { return (vd)_mm512_max_pd((__m512d)a, (__m512d)b); }
HOT_FN vf vmin_f32(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
#elif defined(HOT_SIMD_AVX2)
HOT_FN vf vmax_f32(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
HOT_FN vd vmax_f64(vd a, vd b) { return (vd)_mm256_max_pd((__m256d)a, (__m256d)b); }
HOT_FN vf vmin_f32(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
#elif defined(__SSE2__)
HOT_FN vf vmax_f32(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
HOT_FN vd vmax_f64(vd a, vd b) { return (vd)_mm_max_pd((__m128d)a, (__m128d)b); }
HOT_FN vf vmin_f32(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
#else
HOT_FN vf vmax_f32(vf a, vf b) { return vsel_f32(a > b, a, b); }
HOT_FN vd vmax_f64(vd a, vd b) { return vsel_f64(a > b, a, b); }
HOT_FN vf vmin_f32(vf a, vf b) { return vsel_f32(a < b, a, b); }
#endif
#define vmax(a, b) HOT_OF_FLOATS(vmax, b)(a, b)
#define vmin(a, b) vmin_f32(a, b)

HOT_FN vf vabs_f32(vf a) { return (vf)((vi)a & 0x7fffffff); }
HOT_FN vd vabs_f64(vd a) { return (vd)((vl)a & INT64_MAX); }
#define vabs(a) HOT_OF_FLOATS(vabs, a)(a)
HOT_FN vf vcopysign(vf a, vf b) { return (vf)(((vi)a & 0x7fffffff) | ((vi)b & vseti((int)0x80000000u))); }

HOT_FN vf vsqrt_f32(vf a)
{
#if defined(HOT_SIMD_AVX512)
    return (vf)_mm512_sqrt_ps((__m512)a);
#elif defined(HOT_SIMD_AVX2)
    return (vf)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    return (vf)_mm_sqrt_ps((__m128)a);
#else
    for (int i = 0; i < HOT_LANES_F32; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}
HOT_FN vd vsqrt_f64(vd a)
{
#if defined(HOT_SIMD_AVX512)
    return (vd)_mm512_sqrt_pd((__m512d)a);
#elif defined(HOT_SIMD_AVX2)
    return (vd)_mm256_sqrt_pd((__m256d)a);
#else /* not _mm_sqrt_pd: GCC 12 ends with an internal error in a selection that follows it */
    for (int i = 0; i < HOT_LANES_F64; i++)
        a[i] = sqrt(a[i]);
    return a;
#endif
}
#define vsqrt(a) HOT_OF_FLOATS(vsqrt, a)(a)

/* 1 / a and 1 / sqrt(a), rounded as written. */
HOT_FN vf vrcp(vf a) { return 1 / a; }
HOT_FN vf vrsqrt(vf a) { return 1 / vsqrt_f32(a); }

/* 1 / sqrt(a) to the precision's last bits for normal a > 0: the processor's estimate and Newton's correction, which
 * together cost less than a root and a division. */
HOT_FN vf vrsqrt_newton_f32(vf a)
{
#if defined(HOT_SIMD_AVX512)
    vf r = (vf)_mm512_rsqrt14_ps((__m512)a);
    return r * (1.5f - a * 0.5f * r * r);
#elif defined(HOT_SIMD_AVX2)
    vf r = (vf)_mm256_rsqrt_ps((__m256)a);
    return r * (1.5f - a * 0.5f * r * r);
#else
    return 1 / vsqrt_f32(a);
#endif
}
HOT_FN vd vrsqrt_newton_f64(vd a)
{
#if defined(HOT_SIMD_AVX512)
    vd r = (vd)_mm512_rsqrt14_pd((__m512d)a);
    r = r * (1.5 - a * 0.5 * r * r);
    return r * (1.5 - a * 0.5 * r * r);
#else
    return 1 / vsqrt_f64(a);
#endif
}
#define vrsqrt_newton(a) HOT_OF_FLOATS(vrsqrt_newton, a)(a)

/* a b + c, rounded once if the instruction set has a fused multiply-add. */
HOT_FN vf vfma(vf a, vf b, vf c)
{
#if defined(HOT_SIMD_AVX512)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(HOT_SIMD_AVX2)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/* Whether every lane, or any, of a mask is set; a bit per lane, lane 0 the lowest. */
HOT_FN int vall_i32(vi m)
{
#if defined(HOT_SIMD_AVX512)
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) == 0xffff;
#elif defined(HOT_SIMD_AVX2)
    return _mm256_movemask_epi8((__m256i)m) == -1;
#else
    int all = -1;
    for (int i = 0; i < HOT_LANES_F32; i++)
        all &= m[i];
    return all != 0;
#endif
}
HOT_FN int vall_i64(vl m) { return vall_i32((vi)m); }
#define vall(m) _Generic((m), vi: vall_i32, vl: vall_i64)(m)
HOT_FN int vany(vm m)
{
    int any = 0;
    for (int i = 0; i < HOT_LANES_F32; i++)
        any |= m[i];
    return any != 0;
}
HOT_FN unsigned vbits(vm m)
{
#if defined(HOT_SIMD_AVX512)
    return _mm512_movepi32_mask((__m512i)m);
#elif defined(HOT_SIMD_AVX2)
    return (unsigned)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)m);
#else
    unsigned bits = 0;
    for (int i = 0; i < HOT_LANES_F32; i++)
        bits |= (unsigned)(m[i] & 1) << i;
    return bits;
#endif
}
/* A mask as the instruction set likes it best: AVX-512 has registers for masks. For code that keeps masks and selects
 * by them often; & and | work on it. */
#if defined(HOT_SIMD_AVX512)
typedef __mmask16 vk_mask;
HOT_FN vk_mask vk_less(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
HOT_FN vk_mask vk_not_less(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ); }
HOT_FN vk_mask vk_not(vk_mask m) { return (vk_mask)~m; }
HOT_FN vf vk_select(vk_mask m, vf a, vf b) { return (vf)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a); }
HOT_FN unsigned vk_bits(vk_mask m) { return m; }
#else
typedef vm vk_mask;
HOT_FN vk_mask vk_less(vf a, vf b) { return a < b; }
HOT_FN vk_mask vk_not_less(vf a, vf b) { return a >= b; }
HOT_FN vk_mask vk_not(vk_mask m) { return ~m; }
HOT_FN vf vk_select(vk_mask m, vf a, vf b)
{
#if defined(HOT_SIMD_AVX2)
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#else
    return vsel_f32(m, a, b);
#endif
}
HOT_FN unsigned vk_bits(vk_mask m) { return vbits(m); }
#endif

HOT_FN vm vmask(int a) { return vseti(a ? -1 : 0); }
HOT_FN vm vnot(vm a) { return ~a; }
HOT_FN float vlane(vf a, int i) { return a[i]; }

/* Memory of any alignment. */
HOT_FN vf vload_f32(const float *p)
{
    vf a;
    memcpy(&a, p, sizeof a);
    return a;
}
HOT_FN vd vload_f64(const double *p)
{
    vd a;
    memcpy(&a, p, sizeof a);
    return a;
}
HOT_FN vi vload_i32(const int32_t *p)
{
    vi a;
    memcpy(&a, p, sizeof a);
    return a;
}
#define vload(p) _Generic(*(p), float: vload_f32, double: vload_f64, int32_t: vload_i32)(p)
HOT_FN void vstore_f32(float *p, vf a) { memcpy(p, &a, sizeof a); }
HOT_FN void vstore_f64(double *p, vd a) { memcpy(p, &a, sizeof a); }
#define vstore(p, a) HOT_OF_FLOATS(vstore, a)(p, a)

/* table[at] of each lane. */
HOT_FN vf vgather(const float *table, vi at)
{
#if defined(HOT_SIMD_AVX512)
    return (vf)_mm512_i32gather_ps((__m512i)at, table, 4);
#elif defined(HOT_SIMD_AVX2)
    return (vf)_mm256_i32gather_ps(table, (__m256i)at, 4);
#else
    vf r;
    for (int i = 0; i < HOT_LANES_F32; i++)
        r[i] = table[at[i]];
    return r;
#endif
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

#endif

HOT_FN vf vclamp(vf a, float low, float high) { return vmin(vmax(a, vset(low)), vset(high)); }

/* Vectors of the width this file is compiled for (SSE2, AVX2 or AVX-512; another architecture's compiler splits them as
 * it likes), by GCC's vector extension, and what the extension lacks. For files whose loops run over lanes. */
#ifndef HOT_COMMON_LANES_H
#define HOT_COMMON_LANES_H

#include <math.h>
#include <stdint.h>

#include "portable.h"

#if defined(__AVX512F__)
#define HOT_LANE_BYTES 64
#elif defined(__AVX2__)
#define HOT_LANE_BYTES 32
#else
#define HOT_LANE_BYTES 16
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { HOT_LANES_F32 = HOT_LANE_BYTES / 4, HOT_LANES_F64 = HOT_LANE_BYTES / 8 };
typedef float lanes_f32 __attribute__((vector_size(HOT_LANE_BYTES)));
typedef double lanes_f64 __attribute__((vector_size(HOT_LANE_BYTES)));
/* Masks (-1 or 0 per lane, as comparisons make them) and counts. */
typedef int32_t lanes_i32 __attribute__((vector_size(HOT_LANE_BYTES)));
typedef int64_t lanes_i64 __attribute__((vector_size(HOT_LANE_BYTES)));

HOT_FN lanes_f32 lanes_select_f32(lanes_i32 mask, lanes_f32 yes, lanes_f32 no)
{
    return (lanes_f32)(((lanes_i32)yes & mask) | ((lanes_i32)no & ~mask));
}
HOT_FN lanes_f64 lanes_select_f64(lanes_i64 mask, lanes_f64 yes, lanes_f64 no)
{
    return (lanes_f64)(((lanes_i64)yes & mask) | ((lanes_i64)no & ~mask));
}
HOT_FN lanes_f32 lanes_max_f32(lanes_f32 a, lanes_f32 b) { return lanes_select_f32(a > b, a, b); }
HOT_FN lanes_f64 lanes_max_f64(lanes_f64 a, lanes_f64 b) { return lanes_select_f64(a > b, a, b); }
HOT_FN lanes_f32 lanes_abs_f32(lanes_f32 a) { return (lanes_f32)((lanes_i32)a & 0x7fffffff); }
HOT_FN lanes_f64 lanes_abs_f64(lanes_f64 a) { return (lanes_f64)((lanes_i64)a & INT64_MAX); }

/* Whether every lane of a mask is set. */
HOT_FN int lanes_all_i32(lanes_i32 mask)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) == 0xffff;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8((__m256i)mask) == -1;
#else
    int all = -1;
    for (int i = 0; i < HOT_LANES_F32; i++)
        all &= mask[i];
    return all != 0;
#endif
}
HOT_FN int lanes_all_i64(lanes_i64 mask) { return lanes_all_i32((lanes_i32)mask); }

HOT_FN lanes_f32 lanes_sqrt_f32(lanes_f32 a)
{
#if defined(__AVX512F__)
    return (lanes_f32)_mm512_sqrt_ps((__m512)a);
#elif defined(__AVX2__)
    return (lanes_f32)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < HOT_LANES_F32; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}
HOT_FN lanes_f64 lanes_sqrt_f64(lanes_f64 a)
{
#if defined(__AVX512F__)
    return (lanes_f64)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (lanes_f64)_mm256_sqrt_pd((__m256d)a);
#else
    for (int i = 0; i < HOT_LANES_F64; i++)
        a[i] = sqrt(a[i]);
    return a;
#endif
}

/* 1 / sqrt(a) to the precision's last bits for normal a > 0: the processor's estimate and Newton's correction, which
 * together cost less than a root and a division. */
HOT_FN lanes_f32 lanes_rsqrt_f32(lanes_f32 a)
{
#if defined(__AVX512F__)
    lanes_f32 r = (lanes_f32)_mm512_rsqrt14_ps((__m512)a);
    return r * (1.5f - a * 0.5f * r * r);
#elif defined(__AVX2__)
    lanes_f32 r = (lanes_f32)_mm256_rsqrt_ps((__m256)a);
    return r * (1.5f - a * 0.5f * r * r);
#else
    return 1 / lanes_sqrt_f32(a);
#endif
}
HOT_FN lanes_f64 lanes_rsqrt_f64(lanes_f64 a)
{
#if defined(__AVX512F__)
    lanes_f64 r = (lanes_f64)_mm512_rsqrt14_pd((__m512d)a);
    r = r * (1.5 - a * 0.5 * r * r);
    return r * (1.5 - a * 0.5 * r * r);
#else
    return 1 / lanes_sqrt_f64(a);
#endif
}

#endif

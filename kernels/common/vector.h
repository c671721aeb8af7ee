/* Float vectors of the width that this file is compiled for, for templates that serve every instruction set:
 * HOT_V (HOT_WIDTH floats), HOT_MASK and their operations. + - * / and unary minus work on HOT_V as they are. */
#ifndef HOT_COMMON_VECTOR_H
#define HOT_COMMON_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "portable.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define HOT_WIDTH 16
typedef __m512 HOT_V;
typedef __mmask16 HOT_MASK;
typedef __m512i HOT_INDEX;
#define HOT_SET(x) _mm512_set1_ps(x)
#define HOT_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define HOT_MAX(a, b) _mm512_max_ps(a, b)
#define HOT_MIN(a, b) _mm512_min_ps(a, b)
#define HOT_SQRT(a) _mm512_sqrt_ps(a)
#define HOT_LT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define HOT_GE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define HOT_AND(m, n) ((HOT_MASK)((m) & (n)))
#define HOT_OR(m, n) ((HOT_MASK)((m) | (n)))
#define HOT_NOT(m) ((HOT_MASK) ~(m))
#define HOT_SELECT(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define HOT_BITS(m) ((unsigned)(m))
#define HOT_LOAD(p) _mm512_loadu_ps(p)
#define HOT_STORE(p, a) _mm512_storeu_ps(p, a)
#define HOT_INDEX_LOAD(p) _mm512_loadu_si512(p)
#define HOT_GATHER(base, index) _mm512_i32gather_ps(index, base, 4)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define HOT_WIDTH 8
typedef __m256 HOT_V;
typedef __m256 HOT_MASK;
typedef __m256i HOT_INDEX;
#define HOT_SET(x) _mm256_set1_ps(x)
#define HOT_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define HOT_MAX(a, b) _mm256_max_ps(a, b)
#define HOT_MIN(a, b) _mm256_min_ps(a, b)
#define HOT_SQRT(a) _mm256_sqrt_ps(a)
#define HOT_LT(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define HOT_GE(a, b) _mm256_cmp_ps(a, b, _CMP_GE_OQ)
#define HOT_AND(m, n) _mm256_and_ps(m, n)
#define HOT_OR(m, n) _mm256_or_ps(m, n)
#define HOT_NOT(m) _mm256_xor_ps(m, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))
#define HOT_SELECT(m, a, b) _mm256_blendv_ps(b, a, m)
#define HOT_BITS(m) ((unsigned)_mm256_movemask_ps(m))
#define HOT_LOAD(p) _mm256_loadu_ps(p)
#define HOT_STORE(p, a) _mm256_storeu_ps(p, a)
#define HOT_INDEX_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define HOT_GATHER(base, index) _mm256_i32gather_ps(base, index, 4)
#else
/* Four lanes in the compiler's own vectors: SSE2 on x86-64, NEON on 64-bit Arm. */
#define HOT_WIDTH 4
typedef float HOT_V __attribute__((vector_size(16)));
typedef int32_t HOT_MASK __attribute__((vector_size(16)));
typedef int32_t HOT_INDEX __attribute__((vector_size(16)));
#define HOT_SET(x) ((HOT_V){x, x, x, x})
#define HOT_FMA(a, b, c) ((a) * (b) + (c))
HOT_FN HOT_V hot_v_select(HOT_MASK m, HOT_V a, HOT_V b) { return (HOT_V)((m & (HOT_MASK)a) | (~m & (HOT_MASK)b)); }
HOT_FN HOT_V hot_v_max(HOT_V a, HOT_V b) { return hot_v_select(a > b, a, b); }
HOT_FN HOT_V hot_v_min(HOT_V a, HOT_V b) { return hot_v_select(a < b, a, b); }
HOT_FN HOT_V hot_v_sqrt(HOT_V a) { return (HOT_V){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }
HOT_FN HOT_V hot_v_load(const float *p)
{
    HOT_V a;
    memcpy(&a, p, sizeof a);
    return a;
}
HOT_FN HOT_INDEX hot_v_index_load(const int32_t *p)
{
    HOT_INDEX a;
    memcpy(&a, p, sizeof a);
    return a;
}
HOT_FN void hot_v_store(float *p, HOT_V a) { memcpy(p, &a, sizeof a); }
HOT_FN HOT_V hot_v_gather(const float *base, HOT_INDEX i)
{
    return (HOT_V){base[i[0]], base[i[1]], base[i[2]], base[i[3]]};
}
#define HOT_MAX(a, b) hot_v_max(a, b)
#define HOT_MIN(a, b) hot_v_min(a, b)
#define HOT_SQRT(a) hot_v_sqrt(a)
#define HOT_LT(a, b) ((HOT_MASK)((a) < (b)))
#define HOT_GE(a, b) ((HOT_MASK)((a) >= (b)))
#define HOT_AND(m, n) ((m) & (n))
#define HOT_OR(m, n) ((m) | (n))
#define HOT_NOT(m) (~(m))
#define HOT_SELECT(m, a, b) hot_v_select(m, a, b)
#define HOT_BITS(m) ((unsigned)(((m)[0] & 1) | ((m)[1] & 2) | ((m)[2] & 4) | ((m)[3] & 8)))
#define HOT_LOAD(p) hot_v_load(p)
#define HOT_STORE(p, a) hot_v_store(p, a)
#define HOT_INDEX_LOAD(p) hot_v_index_load(p)
#define HOT_GATHER(base, index) hot_v_gather(base, index)
#endif

#define HOT_INVERSE(a) (HOT_SET(1.0f) / (a))

/* m ? a : b of masks */
#define HOT_SELECT_MASK(m, a, b) HOT_OR(HOT_AND(m, a), HOT_AND(HOT_NOT(m), b))

#endif

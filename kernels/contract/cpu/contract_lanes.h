/* Everything of a variant, for the instruction set that the including file is compiled for. The includer defines
 * CONTRACT_VARIANT, the name of its table. */
#include <string.h>

#include "common/simd.h"
#include "contract_variant.h"
#if HOT_SIMD_BYTES > 16
#include "contract_dense.h"
#endif

/* The register tile: the sums that fit into the registers in addition to a row of B and a factor. */
#if defined(__AVX512F__)
enum { TILE_ROWS = 8, TILE_VECTORS = 3 };
#define TILE_SHAPES(F) \
    F(1, 1) F(1, 2) F(1, 3) F(2, 1) F(2, 2) F(2, 3) F(3, 1) F(3, 2) F(3, 3) F(4, 1) F(4, 2) F(4, 3) \
    F(5, 1) F(5, 2) F(5, 3) F(6, 1) F(6, 2) F(6, 3) F(7, 1) F(7, 2) F(7, 3) F(8, 1) F(8, 2) F(8, 3)
#define TILE_TABLE(F)                                                                                                  \
    {F(1, 1), F(1, 2), F(1, 3)}, {F(2, 1), F(2, 2), F(2, 3)}, {F(3, 1), F(3, 2), F(3, 3)},                             \
        {F(4, 1), F(4, 2), F(4, 3)}, {F(5, 1), F(5, 2), F(5, 3)}, {F(6, 1), F(6, 2), F(6, 3)},                         \
        {F(7, 1), F(7, 2), F(7, 3)},                                                                                   \
    {                                                                                                                  \
        F(8, 1), F(8, 2), F(8, 3)                                                                                      \
    }
#elif defined(__AVX2__)
enum { TILE_ROWS = 4, TILE_VECTORS = 3 };
#define TILE_SHAPES(F) \
    F(1, 1) F(1, 2) F(1, 3) F(2, 1) F(2, 2) F(2, 3) F(3, 1) F(3, 2) F(3, 3) F(4, 1) F(4, 2) F(4, 3)
#define TILE_TABLE(F) \
    {F(1, 1), F(1, 2), F(1, 3)}, {F(2, 1), F(2, 2), F(2, 3)}, {F(3, 1), F(3, 2), F(3, 3)}, {F(4, 1), F(4, 2), F(4, 3)}
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#define TILE_SHAPES(F) F(1, 1) F(1, 2) F(2, 1) F(2, 2) F(3, 1) F(3, 2) F(4, 1) F(4, 2)
#define TILE_TABLE(F) {F(1, 1), F(1, 2)}, {F(2, 1), F(2, 2)}, {F(3, 1), F(3, 2)}, {F(4, 1), F(4, 2)}
#endif

/* Values of the items that are worked on at a time. */
enum { TILE_GROUP = 2048 };

/* Square items of these sizes have unrolled code, up to SQUARE_ONES also for alpha = beta = 1. */
enum { SQUARE_ONES = 12 };
#if HOT_SIMD_BYTES > 16
#define SQUARE_SIZES(F) \
    F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17) F(18) F(19) F(20) F(21) \
    F(22) F(23) F(24) F(25) F(26) F(27) F(28) F(29) F(30) F(31) F(32)
enum { SQUARE_LAST = 32 };
#else
#define SQUARE_SIZES(F) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
enum { SQUARE_LAST = 8 };
#endif

/* PARTS(NAME, TYPE, BYTES, INTERNAL, ...): vectors of so many bytes, NAME_vector, and their first n lanes alone:
 * NAME_load(n, p), the other lanes 0, and NAME_store(n, p, v); nothing behind them is touched. */
#define PARTS_TYPE(NAME, TYPE, BYTES)                                                                                  \
    typedef TYPE NAME##_vector __attribute__((vector_size(BYTES), aligned(sizeof(TYPE)), may_alias));                  \
    enum { NAME##_lanes = (BYTES) / (int)sizeof(TYPE) };
#if defined(__AVX512F__)
#define PARTS(NAME, TYPE, BYTES, MASK, LOAD, STORE, INTERNAL)                                                          \
    PARTS_TYPE(NAME, TYPE, BYTES)                                                                                      \
    HOT_FN NAME##_vector NAME##_load(int n, const TYPE *p) { return (NAME##_vector)LOAD((MASK)((1u << n) - 1), p); }   \
    HOT_FN void NAME##_store(int n, TYPE *p, NAME##_vector v) { STORE(p, (MASK)((1u << n) - 1), (INTERNAL)v); }
PARTS(f64_in_64, double, 64, __mmask8, _mm512_maskz_loadu_pd, _mm512_mask_storeu_pd, __m512d)
PARTS(f64_in_32, double, 32, __mmask8, _mm256_maskz_loadu_pd, _mm256_mask_storeu_pd, __m256d)
PARTS(f64_in_16, double, 16, __mmask8, _mm_maskz_loadu_pd, _mm_mask_storeu_pd, __m128d)
PARTS(f32_in_64, float, 64, __mmask16, _mm512_maskz_loadu_ps, _mm512_mask_storeu_ps, __m512)
PARTS(f32_in_32, float, 32, __mmask8, _mm256_maskz_loadu_ps, _mm256_mask_storeu_ps, __m256)
PARTS(f32_in_16, float, 16, __mmask8, _mm_maskz_loadu_ps, _mm_mask_storeu_ps, __m128)
#elif defined(__AVX2__)
/* Masks of n lanes start n before the zeros. */
static const int64_t mask_f64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static const int32_t mask_f32[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
#define PARTS(NAME, TYPE, BYTES, MASK, LOAD, STORE, INTERNAL)                                                          \
    PARTS_TYPE(NAME, TYPE, BYTES)                                                                                      \
    HOT_FN NAME##_vector NAME##_load(int n, const TYPE *p) { return (NAME##_vector)LOAD(p, MASK); }                    \
    HOT_FN void NAME##_store(int n, TYPE *p, NAME##_vector v) { STORE(p, MASK, (INTERNAL)v); }
#define MASK_32(TABLE, ZEROS) _mm256_loadu_si256((const __m256i *)(const void *)(TABLE + ZEROS - n))
#define MASK_16(TABLE, ZEROS) _mm_loadu_si128((const __m128i *)(const void *)(TABLE + ZEROS - n))
PARTS(f64_in_32, double, 32, MASK_32(mask_f64, 4), _mm256_maskload_pd, _mm256_maskstore_pd, __m256d)
PARTS(f64_in_16, double, 16, MASK_16(mask_f64, 4), _mm_maskload_pd, _mm_maskstore_pd, __m128d)
PARTS(f32_in_32, float, 32, MASK_32(mask_f32, 8), _mm256_maskload_ps, _mm256_maskstore_ps, __m256)
PARTS(f32_in_16, float, 16, MASK_16(mask_f32, 8), _mm_maskload_ps, _mm_maskstore_ps, __m128)
#else
#define PARTS(NAME, TYPE, BYTES)                                                                                       \
    PARTS_TYPE(NAME, TYPE, BYTES)                                                                                      \
    HOT_FN NAME##_vector NAME##_load(int n, const TYPE *p)                                                             \
    {                                                                                                                  \
        NAME##_vector v = {0};                                                                                         \
        for (int i = 0; i < NAME##_lanes - 1; i++)                                                                     \
            v[i] = i < n ? p[i] : 0;                                                                                   \
        return v;                                                                                                      \
    }                                                                                                                  \
    HOT_FN void NAME##_store(int n, TYPE *p, NAME##_vector v)                                                          \
    {                                                                                                                  \
        for (int i = 0; i < NAME##_lanes - 1; i++)                                                                     \
            if (i < n)                                                                                                 \
                p[i] = v[i];                                                                                           \
    }
PARTS(f64_in_16, double, 16)
PARTS(f32_in_16, float, 16)
#endif

/* The widest vectors that there are, up to so many bytes. */
#if HOT_SIMD_BYTES == 64
#define UP_TO_64(before, after) HOT_JOIN(HOT_JOIN(before, in_64), after)
#define UP_TO_32(before, after) HOT_JOIN(HOT_JOIN(before, in_32), after)
#elif HOT_SIMD_BYTES == 32
#define UP_TO_64(before, after) HOT_JOIN(HOT_JOIN(before, in_32), after)
#define UP_TO_32(before, after) HOT_JOIN(HOT_JOIN(before, in_32), after)
#else
#define UP_TO_64(before, after) HOT_JOIN(HOT_JOIN(before, in_16), after)
#define UP_TO_32(before, after) HOT_JOIN(HOT_JOIN(before, in_16), after)
#endif

#define TILE(name) HOT_JOIN(tile_f64_, name)
#define TILE_T double
#define TILE_V vd
#define TILE_LANES HOT_LANES_F64
#define TILE_PART(name) UP_TO_64(f64_, HOT_JOIN(_, name))
#define SQUARE_T double
#define SQUARE_FMA "vfmadd231pd"
#define SQUARE_BROADCAST "vmovddup" /* of two; without optimization it is assembled, though never used */
#define SQUARE(name) HOT_JOIN(tile_f64_in_16_, name)
#define SQUARE_PART(name) HOT_JOIN(f64_in_16_, name)
#include "contract_square.h"
#undef SQUARE_BROADCAST
#define SQUARE_BROADCAST "vbroadcastsd"
#if HOT_SIMD_BYTES >= 32
#define SQUARE(name) HOT_JOIN(tile_f64_in_32_, name)
#define SQUARE_PART(name) HOT_JOIN(f64_in_32_, name)
#include "contract_square.h"
#endif
#if HOT_SIMD_BYTES >= 64
#define SQUARE(name) HOT_JOIN(tile_f64_in_64_, name)
#define SQUARE_PART(name) HOT_JOIN(f64_in_64_, name)
#include "contract_square.h"
#endif
#undef SQUARE_T
#undef SQUARE_FMA
#undef SQUARE_BROADCAST
#include "contract_tile.h"
#include "fem/cpu/fem_lanes.h"
#undef TILE
#undef TILE_T
#undef TILE_V
#undef TILE_LANES
#undef TILE_PART

#define TILE(name) HOT_JOIN(tile_f32_, name)
#define TILE_T float
#define TILE_V vf
#define TILE_LANES HOT_LANES_F32
#define TILE_PART(name) UP_TO_64(f32_, HOT_JOIN(_, name))
#define SQUARE_T float
#define SQUARE_FMA "vfmadd231ps"
#define SQUARE_BROADCAST "vbroadcastss"
#define SQUARE(name) HOT_JOIN(tile_f32_in_16_, name)
#define SQUARE_PART(name) HOT_JOIN(f32_in_16_, name)
#include "contract_square.h"
#if HOT_SIMD_BYTES >= 32
#define SQUARE(name) HOT_JOIN(tile_f32_in_32_, name)
#define SQUARE_PART(name) HOT_JOIN(f32_in_32_, name)
#include "contract_square.h"
#endif
#if HOT_SIMD_BYTES >= 64
#define SQUARE(name) HOT_JOIN(tile_f32_in_64_, name)
#define SQUARE_PART(name) HOT_JOIN(f32_in_64_, name)
#include "contract_square.h"
#endif
#undef SQUARE_T
#undef SQUARE_FMA
#undef SQUARE_BROADCAST
#include "contract_tile.h"
#include "fem/cpu/fem_lanes.h"

const hot_contract_variant CONTRACT_VARIANT = {
    tile_f64_run, tile_f32_run, TILE_ROWS, TILE_VECTORS, HOT_LANES_F64, HOT_LANES_F32,
    tile_f64_action, tile_f32_action, tile_f64_assemble, tile_f32_assemble,
};

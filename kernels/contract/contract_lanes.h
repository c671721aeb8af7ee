/* Everything of a variant, for the instruction set that the including file is compiled for. The includer defines
 * CONTRACT_VARIANT, the name of its table. */
#include <string.h>

#include "../common/lanes.h"
#include "contract_variant.h"
#include "fem.h"

/* The register tile: as many sums as the registers hold beside a row of B and a factor. */
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
/* Masks of n lanes start n before the zeros. */
static const int64_t tile_mask_64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static const int32_t tile_mask_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#define TILE_SHAPES(F) F(1, 1) F(1, 2) F(2, 1) F(2, 2) F(3, 1) F(3, 2) F(4, 1) F(4, 2)
#define TILE_TABLE(F) {F(1, 1), F(1, 2)}, {F(2, 1), F(2, 2)}, {F(3, 1), F(3, 2)}, {F(4, 1), F(4, 2)}
#endif

#define TILE(name) HOT_JOIN(tile_f64_, name)
#define TILE_T double
#define TILE_V lanes_f64
#define TILE_LANES HOT_LANES_F64
#define TILE_AVX512_LOAD(n, p) ((lanes_f64)_mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p))
#define TILE_AVX512_STORE(n, p, v) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), (__m512d)(v))
#define TILE_AVX2_LOAD(n, p) \
    ((lanes_f64)_mm256_maskload_pd(p, _mm256_loadu_si256((const __m256i *)(const void *)(tile_mask_64 + 4 - (n)))))
#define TILE_AVX2_STORE(n, p, v) \
    _mm256_maskstore_pd(p, _mm256_loadu_si256((const __m256i *)(const void *)(tile_mask_64 + 4 - (n))), (__m256d)(v))
#include "contract_tile.h"
#include "fem_lanes.h"
#undef TILE
#undef TILE_T
#undef TILE_V
#undef TILE_LANES
#undef TILE_AVX512_LOAD
#undef TILE_AVX512_STORE
#undef TILE_AVX2_LOAD
#undef TILE_AVX2_STORE

#define TILE(name) HOT_JOIN(tile_f32_, name)
#define TILE_T float
#define TILE_V lanes_f32
#define TILE_LANES HOT_LANES_F32
#define TILE_AVX512_LOAD(n, p) ((lanes_f32)_mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p))
#define TILE_AVX512_STORE(n, p, v) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), (__m512)(v))
#define TILE_AVX2_LOAD(n, p) \
    ((lanes_f32)_mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(const void *)(tile_mask_32 + 8 - (n)))))
#define TILE_AVX2_STORE(n, p, v) \
    _mm256_maskstore_ps(p, _mm256_loadu_si256((const __m256i *)(const void *)(tile_mask_32 + 8 - (n))), (__m256)(v))
#include "contract_tile.h"
#include "fem_lanes.h"

const hot_contract_variant CONTRACT_VARIANT = {
    tile_f64_run, tile_f32_run, TILE_ROWS, TILE_VECTORS, HOT_LANES_F64, HOT_LANES_F32,
    tile_f64_action, tile_f32_action, tile_f64_assemble, tile_f32_assemble,
};

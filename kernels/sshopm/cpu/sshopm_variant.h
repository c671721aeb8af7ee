/* SS-HOPM on the CPU for one instruction set: every unrolled shape and the general one, in both precisions, and the
 * table that sshopm_cpu.c chooses from. Included by sshopm_cpu.c, sshopm_avx2.c and sshopm_avx512.c, with
 *
 *   #define HOT_VARIANT(name)     name##_avx2
 */
#include <string.h>

#include "common/simd.h"
#include "symtensor/classes.h"
#include "sshopm_cpu.h"

#define HOT_GLUE_(name, order, dim, type) name##_##order##_##dim##_##type
#define HOT_GLUE(name, order, dim, type) HOT_GLUE_(name, order, dim, type)
#define HOT_RUN(name) HOT_GLUE(name, HOT_ORDER, HOT_DIM, HOT_TYPE)
/* Rows of a tile of the unfolded tensor: with two vectors each they fill the registers. */
#if defined(HOT_SIMD_AVX512)
#define HOT_TILE_ROWS 12
#else
#define HOT_TILE_ROWS 6
#endif
#define HOT_SHAPE_TEMPLATE "sshopm/cpu/sshopm_lanes.h"

#define HOT_SCALAR float
#define HOT_REAL vf
#define HOT_MASK vi
#define HOT_COUNT int32_t
#define HOT_TYPE f32
#define HOT_TINY 1e-30
#include "sshopm/sshopm_shapes.h"
#undef HOT_SCALAR
#undef HOT_REAL
#undef HOT_MASK
#undef HOT_COUNT
#undef HOT_TYPE
#undef HOT_TINY

#define HOT_SCALAR double
#define HOT_REAL vd
#define HOT_MASK vl
#define HOT_COUNT int64_t
#define HOT_TYPE f64
#define HOT_TINY 1e-280
#include "sshopm/sshopm_shapes.h"

#define HOT_LINE(order, dim) {order, dim, tensor_##order##_##dim##_f32, tensor_##order##_##dim##_f64},
static const hot_sshopm_shape shapes[] = {HOT_SSHOPM_SHAPES(HOT_LINE)};

const hot_sshopm_variant HOT_VARIANT(hot_sshopm_variant) = {HOT_LANES_F32, HOT_LANES_F64, HOT_TILE_ROWS,
                                                            sizeof shapes / sizeof shapes[0], shapes};

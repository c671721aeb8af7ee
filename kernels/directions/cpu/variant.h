/* The block functions of every order for the instruction set this is compiled for. Defines block_of(order). */
#include "common/simd.h"
#include "scratch.h"

/* The vector operations of directions/step.h. */
#define HOT_V vf
#define HOT_MASK vk_mask
#define HOT_SET(x) vset(x)
#define HOT_FMA(a, b, c) vfma(a, b, c)
#define HOT_MAX(a, b) vmax(a, b)
#define HOT_SQRT(a) vsqrt(a)
#define HOT_INVERSE(a) vrcp(a)
#define HOT_SELECT(m, a, b) vk_select(m, a, b)
#define HOT_SELECT_MASK(m, a, b) (((m) & (a)) | (vk_not(m) & (b)))
#define HOT_LT(a, b) vk_less(a, b)
#define HOT_GE(a, b) vk_not_less(a, b)
#define HOT_AND(m, n) ((m) & (n))
#define HOT_NOT(m) vk_not(m)

#define HOT_STEP(name) HOT_JOIN(name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "directions/cpu/block.h"
#include "common/orders.h"
/* Orders that spherical harmonics of other programs have and no model of ours. */
#define HOT_ORDER 10
#include "directions/cpu/block.h"
#undef HOT_ORDER
#define HOT_ORDER 12
#include "directions/cpu/block.h"
#undef HOT_ORDER

static hot_directions_block block_of(int order)
{
    return order == 4    ? block_4
           : order == 6  ? block_6
           : order == 8  ? block_8
           : order == 10 ? block_10
           : order == 12 ? block_12
                         : NULL;
}

/* The block functions of every order for the instruction set this is compiled for. Defines block_of(order). */
#include "common/vector.h"
#include "scratch.h"

#define HOT_STEP(name) HOT_JOIN(name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "directions/cpu/block.h"
#include "common/orders.h"

static hot_directions_block block_of(int order)
{
    return order == 4 ? block_4 : order == 6 ? block_6 : order == 8 ? block_8 : NULL;
}

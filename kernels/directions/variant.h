/* The block functions of every order for the instruction set this is compiled for. Defines block_of(order). */
#include "common/vector.h"
#include "directions/work.h"

#define HOT_ORDER 4
#define HOT_STEP(name) HOT_JOIN(name, _4)
#include "directions/step.h"
#include "directions/block.h"
#undef HOT_ORDER
#undef HOT_STEP

#define HOT_ORDER 6
#define HOT_STEP(name) HOT_JOIN(name, _6)
#include "directions/step.h"
#include "directions/block.h"
#undef HOT_ORDER
#undef HOT_STEP

#define HOT_ORDER 8
#define HOT_STEP(name) HOT_JOIN(name, _8)
#include "directions/step.h"
#include "directions/block.h"
#undef HOT_ORDER
#undef HOT_STEP

static hot_directions_block block_of(int order)
{
    return order == 4 ? block_4 : order == 6 ? block_6 : order == 8 ? block_8 : NULL;
}

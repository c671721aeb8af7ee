/* Directions with AVX2 and FMA, 8 lanes. */
#if defined(__AVX2__) && defined(__FMA__)
#include "directions/variant.h"

hot_directions_block hot_directions_block_avx2(int order) { return block_of(order); }
#else
#include "directions/plan.h"

hot_directions_block hot_directions_block_avx2(int order)
{
    (void)order;
    return NULL;
}
#endif

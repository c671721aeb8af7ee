/* Directions with AVX2 and FMA, 8 lanes. */
#if defined(__AVX2__) && defined(__FMA__)
#include "variant.h"

hot_directions_block hot_directions_block_avx2(int order) { return block_of(order); }
#else
#include "directions/directions_args.h"

hot_directions_block hot_directions_block_avx2(int order)
{
    (void)order;
    return NULL;
}
#endif

/* Directions with AVX-512, 16 lanes. */
#if defined(__AVX512F__)
#include "variant.h"

hot_directions_block hot_directions_block_avx512(int order) { return block_of(order); }
#else
#include "directions/directions_args.h"

hot_directions_block hot_directions_block_avx512(int order)
{
    (void)order;
    return NULL;
}
#endif

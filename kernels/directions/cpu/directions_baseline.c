/* Directions with the vectors that every processor of the architecture has. */
#include "variant.h"

hot_directions_block hot_directions_block_baseline(int order) { return block_of(order); }

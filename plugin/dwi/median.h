/* The median of every voxel's 3 x 3 x 3 neighbours. */
#pragma once

#include <hotfiber/context.h>

/* from, to: size[0] x size[1] x size[2], i fastest; no value may be NaN. Neighbours beyond the border are left out; of
 * an even number of values the upper middle one counts. Errors: HOT_ERROR_CANCELLED. */
hot_status hot_median_3x3x3(hot_context *context, const size_t size[3], const float *from, float *to);

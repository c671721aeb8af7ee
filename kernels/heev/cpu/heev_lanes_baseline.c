/* Small matrices, one per lane, with what every processor of the architecture has. */
#define HOT_VARIANT(name) name##_baseline
#include "heev_lanes_variant.h"

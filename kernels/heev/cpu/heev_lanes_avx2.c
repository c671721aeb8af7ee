/* Small matrices, one per lane, with AVX2 and FMA. Compiled for them; called only if the processor has them. */
#if defined(__AVX2__)
#define HOT_VARIANT(name) name##_avx2
#include "heev_lanes_variant.h"
#endif

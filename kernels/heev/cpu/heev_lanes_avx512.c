/* Small matrices, one per lane, with AVX-512. Compiled for it; called only if the processor has it. */
#if defined(__AVX512F__)
#define HOT_VARIANT(name) name##_avx512
#include "heev_lanes_variant.h"
#endif

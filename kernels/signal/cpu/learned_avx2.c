/* Fibres in signal space for AVX2: 8 voxels side by side. */
#ifdef __AVX2__
#define HOT_VARIANT(name) name##_avx2
#include "learned_variant.h"
#endif

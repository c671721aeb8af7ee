/* Fibres in signal space for AVX-512: 16 voxels side by side. */
#ifdef __AVX512F__
#define HOT_VARIANT(name) name##_avx512
#include "learned_variant.h"
#endif

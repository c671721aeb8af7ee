/* Rank-k of tensors for AVX2: 8 of them side by side. */
#ifdef __AVX2__
#define HOT_VARIANT(name) name##_avx2
#include "lowrank_variant.h"
#endif

/* Rank-k of tensors for AVX-512: 16 of them side by side. */
#ifdef __AVX512F__
#define HOT_VARIANT(name) name##_avx512
#include "lowrank_variant.h"
#endif

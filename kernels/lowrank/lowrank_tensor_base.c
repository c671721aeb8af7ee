/* Rank-k of tensors for any processor: 4 of them side by side. */
#define HOT_LANES 4
#define HOT_VARIANT(name) name##_base
#include "lowrank_tensor_variant.h"

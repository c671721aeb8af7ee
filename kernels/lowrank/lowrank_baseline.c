/* Rank-k of tensors for any processor: 4 of them side by side. */
#define HOT_VARIANT(name) name##_baseline
#include "lowrank_variant.h"

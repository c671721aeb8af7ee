/* Fibres in signal space for any processor: 4 voxels side by side. */
#define HOT_VARIANT(name) name##_baseline
#include "learned_variant.h"

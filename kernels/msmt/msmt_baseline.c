/* Deconvolution for any processor: 2 voxels side by side. */
#define HOT_VARIANT(name) name##_baseline
#include "msmt_variant.h"

/* Deconvolution for AVX2: 4 voxels side by side. */
#ifdef __AVX2__
#define HOT_VARIANT(name) name##_avx2
#include "msmt_variant.h"
#endif

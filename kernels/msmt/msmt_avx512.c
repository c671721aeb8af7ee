/* Deconvolution for AVX-512: 8 voxels side by side. */
#ifdef __AVX512F__
#define HOT_VARIANT(name) name##_avx512
#include "msmt_variant.h"
#endif

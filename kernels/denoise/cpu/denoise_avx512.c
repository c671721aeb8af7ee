/* Denoising for AVX-512. */
#ifdef __AVX512F__
#define HOT_VARIANT(name) name##_avx512
#include "denoise_row.h"
#endif

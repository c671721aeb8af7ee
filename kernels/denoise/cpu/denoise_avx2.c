/* Denoising for AVX2. */
#ifdef __AVX2__
#define HOT_VARIANT(name) name##_avx2
#include "denoise_row.h"
#endif

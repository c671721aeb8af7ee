/* Denoising for any processor. */
#define HOT_VARIANT(name) name##_baseline
#include "denoise_row.h"

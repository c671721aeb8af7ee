/* raster_glyph.h compiled for AVX2 and FMA (viz/CMakeLists.txt). */
#if defined(__x86_64__)
#define RASTER_GLYPH hot_raster_glyph_avx2
#include "raster_glyph.h"
#else
typedef int hot_raster_no_avx2; /* ISO C forbids an empty file */
#endif

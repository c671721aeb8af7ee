/* The loops of viz/raster/raster_glyph.h for processors with AVX2 and FMA: compiled for them (viz/CMakeLists.txt). */
#if defined(__x86_64__)
#define RASTER_GLYPH hot_raster_glyph_avx2
#include "raster_glyph.h"
#else
typedef int hot_raster_no_avx2; /* a file is not empty */
#endif

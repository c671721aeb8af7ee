/* raster_glyph.h compiled for any processor. */
#define RASTER_GLYPH hot_raster_glyph_base
#include "raster_glyph.h"

/* Interface between raster.c and raster_glyph.h, which is compiled for several instruction sets. */
#pragma once

#include "raster.h"

enum { RASTER_LANES = 8, RASTER_TERMS = 45 };

/* Half a sphere: ten faces of the icosahedron, no two of them opposite. The other half is drawn as its point
 * reflection. Arrays are padded to whole vectors with copies of the first entry. */
typedef struct raster_level {
    size_t vertices, triangles; /* after padding */
    float *memory;
    const float *unit[3];  /* RAS */
    const float *forms;    /* monomials of degree order - 1 times multiplicities: one row of vertices each */
    float *way[3];         /* in this picture, per mm of radius: 1/256 pixel to the right and up, and depth */
    int32_t *corner[3];    /* of the triangles, counter-clockwise seen from outside */
    float bend;
} raster_level;

/* Constants of a picture. */
typedef struct raster_frame {
    int order, lit, clipped, samples, ellipsoid;
    float sample[HOT_RASTER_SAMPLES][2], low[2], high[2]; /* sample positions and their bounds */
    float light[3], half[3]; /* directions to the light, and halfway between light and viewer */
    float to_voxel[3][3], flip[3]; /* from RAS: to voxels, to the tensors' world */
    float per_mm[3][3];      /* of RAS: 1/256 pixel to the right and up, and depth, as raster_level's `way` */
    const hot_surface_item *items;
    const int16_t *values;
    size_t row;              /* values per glyph */
    const double
        *matrix; /* RAS mm -> pixels from the viewport's bottom left corner, and depth 0 to 1: 3 rows of 4 */
} raster_frame;

/* A rectangle of the picture. */
typedef struct raster_tile {
    int x, y, width, height;
    uint8_t (*color)[4];     /* of its first sample */
    float *depth;
    size_t row;              /* samples between rows */
} raster_tile;

/* Scratch memory of one thread. */
typedef struct raster_scratch {
    float *gradient[3], *place[3], *front[3], *back[3]; /* per vertex: gradient, position, colour, colour of the
                                                           antipode */
    int32_t *side;                                      /* per triangle: 0 hidden, 1 draw it, 2 draw its antipode */
} raster_scratch;

/* Draws one glyph into a tile. */
typedef void raster_glyph(const raster_frame *frame, const raster_level *level, const raster_tile *tile, size_t item,
                          const raster_scratch *scratch);
raster_glyph hot_raster_glyph_base; /* variants may differ in the last bits */
#if defined(__x86_64__)
raster_glyph hot_raster_glyph_avx2;
#endif

/* Selects a variant instead of the best one for this processor (tests). */
void hot_raster_set_variant(hot_raster *raster, raster_glyph *glyph);

/* Between raster.c and the loops it calls, which are compiled for more than one instruction set. */
#ifndef HOT_VIZ_RASTER_PARTS_H
#define HOT_VIZ_RASTER_PARTS_H

#include "raster.h"

enum { RASTER_LANES = 8, RASTER_TERMS = 45 };

/* Half a sphere: ten faces of the icosahedron, none opposite to another. What is drawn of the other half is this half
 * seen through the middle. Arrays are padded to whole vectors with copies of the first. */
typedef struct raster_level {
    size_t vertices, triangles; /* padded */
    float *memory;
    const float *unit[3];  /* RAS */
    const float *forms;    /* monomials of degree order - 1 times multiplicities: one row of vertices each */
    float *way[3];         /* of this picture: 1/256 pixel to the right and up, depth, per mm of radius */
    int32_t *corner[3];    /* of the triangles, counter-clockwise from outside */
    float bend;
} raster_level;

/* What all glyphs of a picture share. */
typedef struct raster_frame {
    int order, lit, clipped, samples;
    float sample[HOT_RASTER_SAMPLES][2], low[2], high[2]; /* and the bounds of those */
    float light[3], half[3]; /* to the light, and between it and the viewer */
    float to_voxel[3][3], flip[3]; /* from RAS: to voxels, to the tensors' world */
    const hot_surface_item *items;
    const int16_t *values;
    size_t row;              /* of values, per glyph */
    const double
        *matrix; /* RAS mm -> pixels of the viewport from its bottom left corner, and depth 0 to 1: 3 rows of 4 */
} raster_frame;

/* A rectangle of the picture. */
typedef struct raster_tile {
    int x, y, width, height;
    uint8_t (*color)[4];     /* its first sample */
    float *depth;
    size_t row;              /* samples from one row to the next */
} raster_tile;

/* What one thread writes while it draws a glyph. */
typedef struct raster_scratch {
    float *gradient[3], *place[3], *front[3], *back[3]; /* of each vertex: and its colour, and its antipode's */
    int32_t *side;                                      /* of each triangle: 0 not drawn, 1 itself, 2 its antipode */
} raster_scratch;

/* Draws one glyph into a tile. */
typedef void raster_glyph(const raster_frame *frame, const raster_level *level, const raster_tile *tile, size_t item,
                          const raster_scratch *scratch);
raster_glyph hot_raster_glyph_base; /* pictures differ in last bits */
#if defined(__x86_64__)
raster_glyph hot_raster_glyph_avx2;
#endif

/* The variant that is used from now on, instead of the processor's best (for tests). */
void hot_raster_set_variant(hot_raster *raster, raster_glyph *glyph);

#endif

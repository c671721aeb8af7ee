/* Geometry of glyphs: spheres of triangles at many levels of detail, and what is to know about a tensor before it is
 * drawn. Free of GL. */
#ifndef HOT_VIZ_GLYPH_H
#define HOT_VIZ_GLYPH_H

#include <stdint.h>

#include <hotfiber/symtensor.h>

/* A level n divides every edge of an icosahedron into n: 20 n^2 triangles, 10 n^2 + 2 vertices. */
enum { HOT_GLYPH_LEVEL_MOST = 32 };

typedef struct hot_sphere {
    int level;
    size_t vertices, triangles;
    float (*vertex)[3];      /* unit */
    uint16_t (*triangle)[3]; /* counter-clockwise from outside, neighbours near each other in the list */
} hot_sphere;

hot_status hot_sphere_create(hot_context *context, int level, hot_sphere *sphere);
void hot_sphere_free(hot_context *context, hot_sphere *sphere);

/* The coarsest level whose picture of a surface of this order is everywhere within `tolerance` pixels of the true one, when
 * its largest radius is `radius` pixels. */
int hot_glyph_level(int order, double radius, double tolerance);

/* The largest radius max(A v^m) of every voxel's surface, to within a hundredth; 0 for a voxel without a tensor (confidence
 * not above 0), with NaN or Inf in it, or nowhere positive. tensors: voxels x (1 + unique values). */
hot_status hot_glyph_radii(hot_context *context, int order, size_t voxels, const float *tensors, float *radius);

#endif

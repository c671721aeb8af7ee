/* Geometry of glyphs: spheres of triangles at many levels of detail, and what is to know about a tensor before it is
 * drawn. Free of GL. */
#ifndef HOT_VIZ_GLYPH_H
#define HOT_VIZ_GLYPH_H

#include <stdint.h>

#include <hotfiber/symtensor.h>

/* A sphere divides every face of an icosahedron into `parts` triangles: n^2 (every edge in n), or 3 (about the face's
 * middle: 60 triangles, between 20 and 80). 20 parts triangles, 10 parts + 2 vertices. */
enum { HOT_MAX_SPHERE_PARTS = 1024, HOT_SPHERES = 13 };
/* Those that are drawn, coarsest first. */
extern const int hot_sphere_parts[HOT_SPHERES];

typedef struct hot_sphere {
    int parts;
    size_t vertices, triangles;
    float (*vertex)[3];      /* unit */
    uint16_t (*triangle)[3]; /* counter-clockwise from outside, neighbours near each other in the list */
} hot_sphere;

hot_status hot_sphere_create(hot_context *context, int parts, hot_sphere *sphere);
/* Half of it, for surfaces that are symmetric about their middle: ten faces of the icosahedron, none opposite to
 * another, and the vertices they use. Where v and -v are both among those they are exactly opposite, so that what is
 * computed of them is. */
hot_status hot_sphere_halve(hot_context *context, const hot_sphere *sphere, hot_sphere *half);
void hot_sphere_free(hot_context *context, hot_sphere *sphere);

/* How far beyond its largest radius a surface may be drawn: see `bend` in shaders/surface.glsl. */
#define HOT_GLYPH_MAX_REACH 1.52

/* The coarsest of hot_sphere_parts (its place in the list) whose picture of a surface of this order is everywhere near
 * the true one: within a pixel, of large ones within .3. radius: the surface's largest, in pixels. */
int hot_glyph_detail(int order, double radius);
/* The one whose triangles are nearest in number. */
int hot_glyph_nearest_detail(int triangles);

/* How much too low a sphere's flat triangles are, as a fraction of the radius at the tip of x^order: the shader raises
 * its vertices by it. */
double hot_glyph_bend(int order, int parts);

/* Directions that a surface's largest radius is first looked for in: A v^m of all of them is form' tensor. */
enum { HOT_GLYPH_SCAN = 84, HOT_GLYPH_TERMS = 45, HOT_GLYPH_CLIMB_STEPS = 4 };
typedef struct hot_glyph_scan {
    int order, terms;
    float form[HOT_GLYPH_TERMS * HOT_GLYPH_SCAN]; /* term by term */
    float direction[HOT_GLYPH_SCAN][3];
} hot_glyph_scan;

/* Errors: HOT_ERROR_ARGUMENT (not order 2, 4, 6 or 8), HOT_ERROR_MEMORY. */
hot_status hot_glyph_scan_make(hot_context *context, int order, hot_glyph_scan *scan);

/* The largest radius max(A v^m) of every voxel's surface, to within a hundredth; 0 for a voxel without a tensor
 * (confidence not above 0), with NaN or Inf in it, or nowhere positive. tensors: voxels x (1 + unique values). */
hot_status hot_glyph_radii(hot_context *context, int order, size_t voxels, const float *tensors, float *radius);

#endif

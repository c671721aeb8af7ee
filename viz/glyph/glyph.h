/* Glyph geometry: triangulated spheres at several levels of detail, and the largest radius of a surface. No OpenGL. */
#pragma once

#include <stdint.h>

#include <hotfiber/symtensor.h>

/* A sphere divides each face of an icosahedron into `parts` triangles: n^2 (each edge into n), or 3 (about the face's
 * centre, for 60 triangles). It has 20 parts triangles and 10 parts + 2 vertices. */
enum { HOT_MAX_SPHERE_PARTS = 1024, HOT_SPHERES = 13 };
/* The spheres that are drawn, coarsest first. */
extern const int hot_sphere_parts[HOT_SPHERES];

typedef struct hot_sphere {
    int parts;
    size_t vertices, triangles;
    float (*vertex)[3];      /* unit vectors */
    uint16_t (*triangle)[3]; /* counter-clockwise seen from outside; neighbours are close in the list */
} hot_sphere;

hot_status hot_sphere_create(hot_context *context, int parts, hot_sphere *sphere);
/* Half a sphere, for surfaces that are symmetric about their centre: ten faces of the icosahedron, no two of them
 * opposite, and their vertices. If v and -v are both vertices, they are exactly opposite, and so are values computed
 * from them. */
hot_status hot_sphere_halve(hot_context *context, const hot_sphere *sphere, hot_sphere *half);
void hot_sphere_free(hot_context *context, hot_sphere *sphere);

/* Bound of a drawn surface's radius relative to its largest radius: see `bend` in shaders/surface.glsl. */
#define HOT_GLYPH_MAX_REACH 1.52

/* Index of the coarsest sphere of hot_sphere_parts that draws a surface of this order (0: an ellipsoid) within 1 pixel
 * of its true outline, large ones within 0.3. radius: the largest, in pixels. */
int hot_glyph_detail(int order, double radius);
/* Index of the sphere with the nearest number of triangles. */
int hot_glyph_nearest_detail(int triangles);

/* Mean depth of a sphere's flat triangles under the surface, as a fraction of the radius at the tip of x^order.
 * Shaders raise the vertices by it. */
double hot_glyph_bend(int order, int parts);

/* Directions in which the largest radius is searched: A v^m of all of them is form^T tensor. */
enum { HOT_GLYPH_SCAN = 84, HOT_GLYPH_TERMS = 45, HOT_GLYPH_CLIMB_STEPS = 4 };
typedef struct hot_glyph_scan {
    int order, terms;
    float form[HOT_GLYPH_TERMS * HOT_GLYPH_SCAN]; /* one row per coefficient */
    float direction[HOT_GLYPH_SCAN][3];
} hot_glyph_scan;

/* Errors: HOT_ERROR_ARGUMENT (not order 2, 4, 6 or 8), HOT_ERROR_MEMORY. */
hot_status hot_glyph_scan_make(hot_context *context, int order, hot_glyph_scan *scan);

/* The largest radius max(A v^m) of every voxel, to 1 %; 0 without a tensor (confidence not above 0), with NaN or Inf in
 * it, or if it is positive nowhere. tensors: voxels x (1 + unique values). */
hot_status hot_glyph_radii(hot_context *context, int order, size_t voxels, const float *tensors, float *radius);

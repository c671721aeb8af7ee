/* A sphere of nearly equal triangles: an icosahedron whose triangles are cut in four `level` times. */
#pragma once

#include <hotfiber/hotfiber.h>

/* How many: 12, 42, 162, 642, 2562 vertices and 20, 80, 320, 1280, 5120 triangles at levels 0 to 4. */
size_t hot_sphere_vertices(int level);
size_t hot_sphere_triangles(int level);
/* vertices: unit; triangles (may be NULL): counter-clockwise seen from outside in a right-handed space. */
hot_status hot_sphere_make(hot_context *context, int level, double (*vertices)[3], uint32_t (*triangles)[3]);

/* Triangles of the overlay for the renderer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Pixels from the top left. */
typedef struct hot_overlay_vertex {
    float x, y;      /* pixels */
    float u, v;      /* 0 to 1 in the atlas; u < 0: untextured */
    uint8_t rgba[4]; /* not premultiplied; a textured vertex's alpha is multiplied by the atlas's coverage */
} hot_overlay_vertex;

/* Owned by the overlay that made it (overlay.h). */
typedef struct hot_overlay_mesh {
    const hot_overlay_vertex *vertices; /* 3 per triangle, in drawing order */
    size_t count;
    const uint8_t *atlas; /* coverage, one byte per texel, rows from the top; NULL = no text */
    int atlas_width, atlas_height;
    unsigned atlas_version; /* changes with the atlas, which is then uploaded again */
} hot_overlay_mesh;

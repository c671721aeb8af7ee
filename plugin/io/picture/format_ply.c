/* ply: tensor glyphs as one mesh of coloured triangles, binary PLY, LPS mm. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"

enum { VERTEX_BYTES = 3 * 4 + 3, FACE_BYTES = 1 + 3 * 4 };

static void put_header(FILE *file, const hot_glyphs *glyphs)
{
    const uint16_t one = 1;
    fprintf(file,
            "ply\nformat binary_%s_endian 1.0\ncomment hotfiber %s: tensor glyphs\ncomment SPACE=LPS\n"
            "element vertex %zu\nproperty float x\nproperty float y\nproperty float z\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\n"
            "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
            *(const uint8_t *)&one ? "little" : "big", hot_version(),
            hot_glyphs_count(glyphs) * hot_glyphs_vertices(glyphs),
            hot_glyphs_count(glyphs) * hot_glyphs_triangles(glyphs));
}

static hot_status put_vertices(hot_context *context, FILE *file, const hot_tensor_field *tensors,
                               const hot_glyphs *glyphs, float *positions, unsigned char *bytes)
{
    const size_t voxels = hot_grid_voxels(&tensors->grid), vertices = hot_glyphs_vertices(glyphs);
    const uint8_t *colors = hot_glyphs_colors(glyphs);
    hot_status status = HOT_OK;
    for (size_t voxel = 0; status == HOT_OK && voxel < voxels; voxel++) {
        if (voxel % 4096 == 0)
            status = hot_context_progress(context, "writing", (double)voxel / (double)voxels);
        if (!hot_glyphs_surface(glyphs, voxel, positions))
            continue;
        for (size_t vertex = 0; vertex < vertices; vertex++) {
            unsigned char *to = bytes + vertex * VERTEX_BYTES;
            memcpy(to, positions + 3 * vertex, 3 * sizeof *positions);
            memcpy(to + 12, colors + 3 * vertex, 3);
        }
        fwrite(bytes, VERTEX_BYTES, vertices, file);
    }
    return status;
}

static void put_faces(FILE *file, const hot_glyphs *glyphs, unsigned char *bytes)
{
    const size_t triangles = hot_glyphs_triangles(glyphs);
    const uint32_t *faces = hot_glyphs_faces(glyphs);
    for (size_t glyph = 0; glyph < hot_glyphs_count(glyphs); glyph++) {
        for (size_t t = 0; t < triangles; t++) {
            int32_t corners[3];
            for (size_t c = 0; c < 3; c++)
                corners[c] = (int32_t)(glyph * hot_glyphs_vertices(glyphs) + faces[3 * t + c]);
            bytes[t * FACE_BYTES] = 3;
            memcpy(bytes + t * FACE_BYTES + 1, corners, sizeof corners);
        }
        fwrite(bytes, FACE_BYTES, triangles, file);
    }
}

static hot_status put_mesh(hot_context *context, FILE *file, const void *tensors)
{
    hot_glyphs *glyphs = NULL;
    hot_status status = hot_glyphs_create(context, tensors, HOT_SPACE_LPS, &glyphs);
    if (status != HOT_OK)
        return status;
    const size_t count = hot_glyphs_count(glyphs), vertices = hot_glyphs_vertices(glyphs);
    float *positions = hot_context_alloc(context, vertices, 3 * sizeof *positions);
    /* of the triangles, which are more than the vertices */
    unsigned char *bytes = hot_context_alloc(context, hot_glyphs_triangles(glyphs), VERTEX_BYTES);
    if (!positions || !bytes)
        status = HOT_ERROR_MEMORY;
    else if (count > INT32_MAX / vertices)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "%zu glyphs are more than a PLY file can number; fit fewer voxels (--mask)", count);
    if (status == HOT_OK) {
        put_header(file, glyphs);
        status = put_vertices(context, file, tensors, glyphs, positions, bytes);
    }
    if (status == HOT_OK)
        put_faces(file, glyphs, bytes);
    HOT_FREE(context, positions, bytes);
    hot_glyphs_destroy(&glyphs);
    return status;
}

hot_status hot_write_ply(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    HOT_ENTRY(context);
    return hot_output_write(context, path, put_mesh, tensors);
}

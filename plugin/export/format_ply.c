/* ply: tensor glyphs as one mesh of coloured triangles, binary PLY, LPS mm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/output.h"
#include "export/formats.h"
#include "export/glyphs.h"

enum { VERTEX_BYTES = 3 * 4 + 3, FACE_BYTES = 1 + 3 * 4 };

static void put_header(FILE *file, const hot_glyphs *glyphs)
{
    const uint16_t one = 1;
    fprintf(file, "ply\nformat binary_%s_endian 1.0\ncomment hotfiber %s: tensor glyphs\ncomment SPACE=LPS\n"
                  "element vertex %zu\nproperty float x\nproperty float y\nproperty float z\n"
                  "property uchar red\nproperty uchar green\nproperty uchar blue\n"
                  "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
            *(const uint8_t *)&one ? "little" : "big", hot_version(), glyphs->count * glyphs->vertices,
            glyphs->count * glyphs->triangles);
}

static hot_status put_vertices(hot_context *context, FILE *file, const hot_glyphs *glyphs, float *positions,
                               unsigned char *bytes)
{
    const size_t voxels = hot_grid_voxels(&glyphs->tensors->grid);
    hot_status status = HOT_OK;
    for (size_t voxel = 0; status == HOT_OK && voxel < voxels; voxel++) {
        if (voxel % 4096 == 0)
            status = hot_context_progress(context, "ply", (double)voxel / (double)voxels);
        if (!hot_glyph_there(glyphs, voxel))
            continue;
        hot_glyph_surface(glyphs, voxel, positions);
        for (size_t vertex = 0; vertex < glyphs->vertices; vertex++) {
            unsigned char *to = bytes + vertex * VERTEX_BYTES;
            memcpy(to, positions + 3 * vertex, 3 * sizeof *positions);
            for (size_t d = 0; d < 3; d++) /* |x| |y| |z|: the same in every space */
                to[12 + d] = (unsigned char)lround(255 * fabs(glyphs->directions[3 * vertex + d]));
        }
        fwrite(bytes, VERTEX_BYTES, glyphs->vertices, file);
    }
    return status;
}

static void put_faces(FILE *file, const hot_glyphs *glyphs, unsigned char *bytes)
{
    for (size_t glyph = 0; glyph < glyphs->count; glyph++) {
        for (size_t t = 0; t < glyphs->triangles; t++) {
            int32_t corners[3];
            for (int c = 0; c < 3; c++)
                corners[c] = (int32_t)(glyph * glyphs->vertices + glyphs->faces[t][c]);
            bytes[t * FACE_BYTES] = 3;
            memcpy(bytes + t * FACE_BYTES + 1, corners, sizeof corners);
        }
        fwrite(bytes, FACE_BYTES, glyphs->triangles, file);
    }
}

static hot_status write_ply(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    hot_output output = {0};
    FILE *file = NULL;
    hot_glyphs glyphs;
    hot_status status = hot_glyphs_begin(context, tensors, HOT_SPACE_LPS, &glyphs);
    if (status != HOT_OK)
        return status;
    float *positions = hot_context_alloc(context, glyphs.vertices, 3 * sizeof *positions);
    unsigned char *bytes = hot_context_alloc(context, glyphs.triangles, VERTEX_BYTES); /* more triangles than vertices */
    if (!positions || !bytes)
        status = HOT_ERROR_MEMORY;
    else if (glyphs.count * glyphs.vertices > INT32_MAX)
        status = hot_context_fail(context, HOT_ERROR_DATA, "%zu glyphs are more than a PLY file can number; fit fewer "
                                  "voxels (--mask)", glyphs.count);
    if (status == HOT_OK)
        status = hot_output_begin(context, path, &output);
    if (status == HOT_OK)
        status = hot_output_file(context, &output, &file);
    if (status == HOT_OK) {
        put_header(file, &glyphs);
        status = put_vertices(context, file, &glyphs, positions, bytes);
        if (status == HOT_OK)
            put_faces(file, &glyphs, bytes);
    }
    status = hot_output_end(context, &output, status); /* a write that failed shows here */
    hot_context_free(context, positions);
    hot_context_free(context, bytes);
    hot_glyphs_end(context, &glyphs);
    return status;
}

const hot_export_format hot_format_ply = {
    .name = "ply",
    .suffix = ".ply",
    .help = "tensor glyphs as a coloured triangle mesh, LPS mm (Slicer, ParaView, MeshLab, Blender)",
    .write_tensors = write_ply,
};

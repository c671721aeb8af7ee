/* glyphs: tensor glyphs as one mesh of coloured triangles in VTK's XML PolyData, LPS mm, for ParaView and Slicer. */

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "vtk_xml.h"

enum { POINT_BYTES = 3 * sizeof(float), CORNERS_BYTES = 3 * sizeof(int64_t), LARGE_MB = 100 };

/* Programs open such a file, but few can turn it. */
static void note_size(hot_context *context, const hot_glyphs *glyphs)
{
    const double count = (double)hot_glyphs_count(glyphs);
    const double one = (double)hot_glyphs_vertices(glyphs) * (POINT_BYTES + 3) +
                       (double)hot_glyphs_triangles(glyphs) * (CORNERS_BYTES + sizeof(int64_t));
    if (count * one > LARGE_MB * 1e6)
        hot_context_log(context, HOT_LOG_NOTE, "%.0f surfaces make a file of %.0f MB: a run with a mask of a region "
                                               "(--mask) makes fewer", count, count * one / 1e6);
}

static void put_header(FILE *file, size_t points, size_t triangles)
{
    uint64_t offset = 0;
    hot_vtk_xml_begin(file, "PolyData", "tensor glyphs");
    fputs("  <PolyData>\n", file);
    hot_vtk_xml_space(file);
    fprintf(file, "    <Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
                  "NumberOfPolys=\"%zu\">\n      <Points>\n", points, triangles);
    hot_vtk_xml_array(file, "Float32", "points", 3, POINT_BYTES * (uint64_t)points, &offset);
    fputs("      </Points>\n      <Polys>\n", file);
    hot_vtk_xml_array(file, "Int64", "connectivity", 1, CORNERS_BYTES * (uint64_t)triangles, &offset);
    hot_vtk_xml_array(file, "Int64", "offsets", 1, sizeof(int64_t) * (uint64_t)triangles, &offset);
    fputs("      </Polys>\n      <PointData Scalars=\"color\">\n", file);
    hot_vtk_xml_array(file, "UInt8", "color", 3, 3 * (uint64_t)points, &offset);
    fputs("      </PointData>\n", file);
    hot_vtk_xml_appended(file, "PolyData");
}

static hot_status put_points(hot_context *context, FILE *file, const hot_tensor_field *tensors,
                             const hot_glyphs *glyphs, float *positions)
{
    const size_t voxels = hot_grid_voxels(&tensors->grid), vertices = hot_glyphs_vertices(glyphs);
    hot_status status = HOT_OK;
    hot_vtk_xml_length(file, POINT_BYTES * (uint64_t)hot_glyphs_count(glyphs) * vertices);
    for (size_t voxel = 0; status == HOT_OK && voxel < voxels; voxel++) {
        if (voxel % 4096 == 0)
            status = hot_context_progress(context, "writing", (double)voxel / (double)voxels);
        if (hot_glyphs_surface(glyphs, voxel, positions))
            fwrite(positions, POINT_BYTES, vertices, file);
    }
    return status;
}

static void put_rest(FILE *file, const hot_glyphs *glyphs, int64_t (*corners)[3])
{
    const size_t count = hot_glyphs_count(glyphs), vertices = hot_glyphs_vertices(glyphs);
    const size_t triangles = hot_glyphs_triangles(glyphs);
    const uint32_t *faces = hot_glyphs_faces(glyphs);
    hot_vtk_xml_length(file, CORNERS_BYTES * (uint64_t)count * triangles);
    for (size_t glyph = 0; glyph < count; glyph++) {
        for (size_t i = 0; i < 3 * triangles; i++)
            corners[i / 3][i % 3] = (int64_t)(glyph * vertices + faces[i]);
        fwrite(corners, sizeof *corners, triangles, file);
    }
    hot_vtk_xml_length(file, sizeof(int64_t) * (uint64_t)count * triangles);
    for (size_t t = 0; t < count * triangles; t++) {
        const int64_t end = 3 * ((int64_t)t + 1);
        fwrite(&end, sizeof end, 1, file);
    }
    hot_vtk_xml_length(file, 3 * (uint64_t)count * vertices);
    for (size_t glyph = 0; glyph < count; glyph++)
        fwrite(hot_glyphs_colors(glyphs), 3, vertices, file);
}

static hot_status put_glyphs(hot_context *context, FILE *file, const void *tensors)
{
    hot_glyphs *glyphs = NULL;
    hot_status status = hot_glyphs_create(context, tensors, HOT_SPACE_LPS, &glyphs);
    if (status != HOT_OK)
        return status;
    note_size(context, glyphs);
    float *positions = hot_context_alloc(context, hot_glyphs_vertices(glyphs), POINT_BYTES);
    int64_t(*corners)[3] = hot_context_alloc(context, hot_glyphs_triangles(glyphs), CORNERS_BYTES);
    if (positions && corners) {
        put_header(file, hot_glyphs_count(glyphs) * hot_glyphs_vertices(glyphs),
                   hot_glyphs_count(glyphs) * hot_glyphs_triangles(glyphs));
        status = put_points(context, file, tensors, glyphs, positions);
        if (status == HOT_OK)
            put_rest(file, glyphs, corners);
        hot_vtk_xml_end(file);
    } else {
        status = HOT_ERROR_MEMORY;
    }
    HOT_FREE(context, positions, corners);
    hot_glyphs_destroy(&glyphs);
    return status;
}

hot_status hot_write_glyphs(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    HOT_ENTRY(context);
    return hot_output_write(context, path, put_glyphs, tensors);
}

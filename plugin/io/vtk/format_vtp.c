/* vtp: every fibre as a line segment in VTK's XML PolyData, for ParaView and Slicer. Coordinates are LPS, in mm; the
 * field data name the space. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "geometry/segments.h"
#include "vtk_xml.h"

enum { BLOCK = 4096 }; /* segments made at a time */

/* The arrays of the file, in this order. */
enum { POINTS, CONNECTIVITY, OFFSETS, DIRECTION, AMPLITUDE, FIBER, COLOR, ARRAYS };
static const struct array {
    const char *type, *name;
    int components;
    size_t bytes; /* per segment */
} arrays[ARRAYS] = {
    [POINTS] = {"Float32", "points", 3, 2 * 3 * sizeof(float)},
    [CONNECTIVITY] = {"Int64", "connectivity", 1, 2 * sizeof(int64_t)},
    [OFFSETS] = {"Int64", "offsets", 1, sizeof(int64_t)},
    [DIRECTION] = {"Float32", "direction", 3, 3 * sizeof(float)},
    [AMPLITUDE] = {"Float32", "amplitude", 1, sizeof(float)},
    [FIBER] = {"UInt8", "fiber", 1, 1},
    [COLOR] = {"UInt8", "color", 3, 3},
};

static void put_header(FILE *file, size_t segments)
{
    uint64_t offset = 0;
    hot_vtk_xml_begin(file, "PolyData", "fibre directions, one segment each");
    fputs("  <PolyData>\n", file);
    hot_vtk_xml_space(file);
    fprintf(file, "    <Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"0\" NumberOfLines=\"%zu\" NumberOfStrips=\"0\" "
                  "NumberOfPolys=\"0\">\n      <Points>\n", 2 * segments, segments);
    for (int which = 0; which < ARRAYS; which++) {
        const struct array *array = &arrays[which];
        if (which == CONNECTIVITY)
            fputs("      </Points>\n      <Lines>\n", file);
        if (which == DIRECTION)
            fputs("      </Lines>\n      <CellData Scalars=\"amplitude\" Vectors=\"direction\">\n", file);
        hot_vtk_xml_array(file, array->type, array->name, array->components, array->bytes * segments, &offset);
    }
    fputs("      </CellData>\n", file);
    hot_vtk_xml_appended(file, "PolyData");
}

/* The values of one array for the segment at which the walk stands. */
static void make(const hot_segments *segments, int which, unsigned char *to)
{
    float points[6], vector[3], amplitude;
    const int64_t number = (int64_t)segments->number, ends[2] = {2 * number, 2 * number + 1}, offset = 2 * number + 2;
    switch (which) {
    case POINTS:
        hot_segment_ends(segments, points);
        memcpy(to, points, sizeof points);
        break;
    case CONNECTIVITY:
        memcpy(to, ends, sizeof ends);
        break;
    case OFFSETS:
        memcpy(to, &offset, sizeof offset);
        break;
    case DIRECTION:
        hot_segment_direction(segments, vector);
        memcpy(to, vector, sizeof vector);
        break;
    case AMPLITUDE:
        amplitude = hot_segment_direction(segments, vector);
        memcpy(to, &amplitude, sizeof amplitude);
        break;
    case FIBER:
        *to = (unsigned char)(segments->fiber + 1);
        break;
    case COLOR:
        hot_segment_direction(segments, vector);
        for (int d = 0; d < 3; d++)
            to[d] = (unsigned char)lroundf(255 * fabsf(vector[d]));
        break;
    }
}

static hot_status put_segments(hot_context *context, FILE *file, const void *fibers)
{
    hot_segments segments;
    hot_segments_begin(fibers, HOT_SPACE_LPS, &segments);
    unsigned char *buffer = hot_context_alloc(context, BLOCK, arrays[POINTS].bytes);
    if (!buffer)
        return HOT_ERROR_MEMORY;
    hot_status status = HOT_OK;
    put_header(file, segments.count);
    for (int which = 0; status == HOT_OK && which < ARRAYS; which++) {
        size_t held = 0;
        hot_vtk_xml_length(file, arrays[which].bytes * segments.count);
        for (int more = hot_segments_first(&segments); more; more = hot_segments_next(&segments)) {
            make(&segments, which, buffer + held++ * arrays[which].bytes);
            if (held == BLOCK) {
                fwrite(buffer, arrays[which].bytes, held, file);
                held = 0;
            }
        }
        fwrite(buffer, arrays[which].bytes, held, file);
        status = hot_context_progress(context, "writing", (which + 1.) / ARRAYS);
    }
    hot_vtk_xml_end(file);
    hot_context_free(context, buffer);
    return status;
}

hot_status hot_write_vtp(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    return hot_output_write(context, path, put_segments, fibers);
}

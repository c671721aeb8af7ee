/* vti: VTK's XML ImageData: one vector array per fibre (length = amplitude) and the number of fibres, on the grid with
 * its direction matrix, LPS mm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "vtk_xml.h"

static void put_header(FILE *file, const hot_grid *grid, int fibers, size_t voxels, const double to_lps[3])
{
    double spacing[3], unit[3][3];
    for (int axis = 0; axis < 3; axis++) {
        spacing[axis] = 0;
        for (int d = 0; d < 3; d++)
            spacing[axis] += grid->to_world[d][axis] * grid->to_world[d][axis];
        spacing[axis] = sqrt(spacing[axis]);
        for (int d = 0; d < 3; d++)
            unit[d][axis] = to_lps[d] * grid->to_world[d][axis] / spacing[axis];
    }
    char extent[128];
    snprintf(extent, sizeof extent, "0 %zu 0 %zu 0 %zu", grid->size[0] - 1, grid->size[1] - 1, grid->size[2] - 1);
    hot_vtk_xml_begin(file, "ImageData", "fibre directions, length = amplitude");
    fprintf(file,
            "  <ImageData WholeExtent=\"%s\" Origin=\"%.9g %.9g %.9g\" Spacing=\"%.9g %.9g %.9g\"\n"
            "             Direction=\"%.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g\">\n",
            extent, to_lps[0] * grid->to_world[0][3], to_lps[1] * grid->to_world[1][3],
            to_lps[2] * grid->to_world[2][3], spacing[0], spacing[1], spacing[2], unit[0][0], unit[0][1], unit[0][2],
            unit[1][0], unit[1][1], unit[1][2], unit[2][0], unit[2][1], unit[2][2]);
    hot_vtk_xml_space(file);
    fprintf(file, "    <Piece Extent=\"%s\">\n"
                  "      <PointData Scalars=\"nfibers\" Vectors=\"fiber_1\">\n", extent);
    uint64_t offset = 0;
    for (int fiber = 0; fiber < fibers; fiber++) {
        char name[24];
        snprintf(name, sizeof name, "fiber_%d", fiber + 1);
        hot_vtk_xml_array(file, "Float32", name, 3, 12 * (uint64_t)voxels, &offset);
    }
    hot_vtk_xml_array(file, "UInt8", "nfibers", 1, voxels, &offset);
    fputs("      </PointData>\n", file);
    hot_vtk_xml_appended(file, "ImageData");
}

static hot_status put_grid(hot_context *context, FILE *file, const void *what)
{
    const hot_fiber_field *fibers = what;
    const hot_grid *grid = &fibers->grid;
    const size_t slice = grid->size[0] * grid->size[1], voxels = hot_grid_voxels(grid);
    double to_lps[3];
    hot_space_ras_sign(grid->space, to_lps);
    to_lps[0] = -to_lps[0], to_lps[1] = -to_lps[1];
    float(*vectors)[3] = hot_context_alloc(context, slice, sizeof *vectors);
    if (!vectors)
        return HOT_ERROR_MEMORY;
    hot_status status = HOT_OK;
    put_header(file, grid, fibers->max_fibers, voxels, to_lps);
    for (int fiber = 0; status == HOT_OK && fiber < fibers->max_fibers; fiber++) {
        hot_vtk_xml_length(file, 12 * (uint64_t)voxels);
        for (size_t first = 0; first < voxels; first += slice) {
            for (size_t i = 0; i < slice; i++)
                for (int d = 0; d < 3; d++) {
                    float part =
                        fibers->peaks[3 * ((first + i) * (size_t)fibers->max_fibers + (size_t)fiber) + (size_t)d];
                    vectors[i][d] = part == 0 ? 0 : (float)to_lps[d] * part;
                }
            fwrite(vectors, sizeof *vectors, slice, file);
        }
        status = hot_context_progress(context, "writing", (fiber + 1.) / fibers->max_fibers);
    }
    hot_vtk_xml_length(file, voxels);
    fwrite(fibers->counts, 1, voxels, file);
    hot_vtk_xml_end(file);
    hot_context_free(context, vectors);
    return status;
}

hot_status hot_write_vti(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    return hot_output_write(context, path, put_grid, fibers);
}

/* bonndit: the 5-D NRRD that bonndit's tractography takes: amplitude and unit vector, fibre, i j k; vectors in the
 * world of the file's space, the identity as measurement frame. */
#include <math.h>

#include "io/common/formats.h"
#include "common/entry.h"
#include "nrrd_values.h"

hot_status hot_write_bonndit(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    const size_t count = (size_t)fibers->max_fibers;
    size_t vectors = hot_grid_voxels(&fibers->grid) * count;
    float(*rows)[4] = hot_context_alloc(context, vectors, sizeof *rows);
    if (!rows)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < vectors; i++) {
        const float *v = fibers->peaks + 3 * i;
        double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        rows[i][0] = (float)length;
        for (int d = 0; d < 3; d++)
            rows[i][1 + d] = length > 0 ? (float)(v[d] / length) : 0;
    }
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = rows, .per = {4, count}, .in_world = 1,
                                    .content = HOT_CONTENT_PEAKS};
    hot_status status = hot_nrrd_save_values(context, &values, path);
    hot_context_free(context, rows);
    return status;
}

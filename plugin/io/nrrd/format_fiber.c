/* fiber: one field of 3-vectors per fibre, for SCIRun's ConvertNrrdToField and Slicer. `fiber.nrrd` writes
 * fiber_1.nrrd, fiber_2.nrrd ...: all of them or none. */
#include <stdio.h>
#include <string.h>

#include "io/common/formats.h"
#include "common/entry.h"
#include "nrrd_values.h"

static hot_status write_one(hot_context *context, const hot_fiber_field *fibers, int fiber, float *vectors,
                            const char *path)
{
    const size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = vectors, .per = {3}, .kind = HOT_NRRD_VECTOR,
                                    .label = "direction", .in_world = 1,
                                    .content = HOT_CONTENT_PEAKS};
    for (size_t voxel = 0; voxel < voxels; voxel++)
        memcpy(vectors + 3 * voxel, fibers->peaks + voxel * row + 3 * (size_t)fiber, 3 * sizeof *vectors);
    return hot_nrrd_save_values(context, &values, path);
}

hot_status hot_write_fiber(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    hot_status status = HOT_ERROR_MEMORY;
    const char *dot = strrchr(path, '.');
    size_t capacity = strlen(path) + 8;
    int written = 0;
    char *name = hot_context_alloc(context, capacity, 1);
    float *vectors = hot_context_alloc(context, hot_grid_voxels(&fibers->grid), 3 * sizeof *vectors);
    if (!name || !vectors)
        goto cleanup;
    if (!dot || strchr(dot, '/') || strcmp(path, "-") == 0) {
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                  "'%s' does not do for one file per fibre; give a name such as fiber.nrrd", path);
        goto cleanup;
    }
    status = HOT_OK;
    for (; status == HOT_OK && written < fibers->max_fibers; written++) {
        snprintf(name, capacity, "%.*s_%d%s", (int)(dot - path), path, written + 1, dot);
        status = write_one(context, fibers, written, vectors, name);
    }
    if (status != HOT_OK)
        for (int fiber = 0; fiber + 1 < written; fiber++) {
            snprintf(name, capacity, "%.*s_%d%s", (int)(dot - path), path, fiber + 1, dot);
            remove(name);
        }
cleanup:
    HOT_FREE(context, name, vectors);
    return status;
}

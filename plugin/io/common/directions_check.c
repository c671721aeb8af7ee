#include "directions_check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"

hot_status hot_directions_check_tables(hot_context *context, const char *path, const char *what)
{
    if (!hot_path_has_suffix(path, ".nii") && !hot_path_has_suffix(path, ".nii.gz"))
        return HOT_OK;
    hot_status status = HOT_OK;
    char *table = hot_path_beside(context, path, ".bval");
    if (!table)
        return HOT_ERROR_MEMORY;
    if (access(table, F_OK) == 0)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds diffusion-weighted data, not %s, as '%s' says; `hotfiber run` "
                                  "goes from one to the other", path, what, table);
    hot_context_free(context, table);
    return status;
}

hot_status hot_directions_check_scheme(const hot_image *image, const char *what)
{
    size_t lines = 0;
    for (const char *at = image->scheme; at && (at = strchr(at, '\n')); at++)
        lines++;
    if (lines == 0 || lines != image->values)
        return HOT_OK;
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' holds diffusion-weighted data, not %s, as its dw_scheme says; `hotfiber run` goes "
                            "from one to the other", image->name, what);
}

hot_status hot_directions_check_values(hot_context *context, const char *path, const float *values, size_t voxels,
                                       size_t fibers)
{
    enum { FEW = 100 }; /* voxels that can all be positive by chance or on purpose */
    const size_t row = 3 * fibers;
    size_t holding = 0, positive = 0;
    int whole = 1;
    double largest = 0;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        size_t above = 0, there = 0;
        for (size_t i = 0; i < row; i++) {
            const float value = values[voxel * row + i];
            if (!isfinite(value))
                continue;
            there += value != 0;
            above += value > 0;
            whole &= value == floorf(value);
            largest = fmax(largest, fabs((double)value));
        }
        holding += there > 0;
        positive += above == row;
    }
    if (whole && largest > 1)
        return hot_context_fail(
            context, HOT_ERROR_FORMAT,
            "'%s' holds no directions: all its values are whole numbers, up to %.9g, as signals are", path, largest);
    /* Three volumes of signals look like one fibre; no direction is in one octant everywhere and as long as that. */
    if (fibers == 1 && holding >= FEW && (double)positive > 0.99 * (double)holding && largest > 10)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: all three values are positive in %zu of %zu voxels, and up "
                                "to %.9g, as signals are", path, positive, holding, largest);
    /* Of two random axes all parts are positive once in 16; of real fibres everywhere, never. */
    if (fibers >= 2 && holding >= FEW && (double)positive > 0.9 * (double)holding)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: all %zu values are positive in %zu of %zu voxels, as "
                                "signals are",
                                path, row, positive, holding);
    return HOT_OK;
}

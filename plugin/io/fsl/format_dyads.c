/* dyads: as FSL's bedpostx leaves them, for probtrackx, xfibres' readers and FSLeyes: dyads1.nii.gz, dyads2.nii.gz ...
 * (unit vectors) and mean_f1samples.nii.gz ... (fractions). FSL's vectors are in image axes, the first of them mirrored
 * when the image is stored neurologically (the determinant of its matrix is positive), as its bvecs are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi/frames.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "io/common/image_save.h"

/* One image: the unit vectors (3 volumes) or the amplitude (1) of one fibre. */
typedef struct image {
    const hot_fiber_field *fibers;
    int fiber, vectors;
    double frame[3][3]; /* columns: the image axes in the world, x mirrored by FSL's rule */
} image;

static void fill(hot_context *context, const void *from, size_t axis, size_t first, size_t count, float *samples)
{
    const image *what = from;
    const hot_fiber_field *fibers = what->fibers;
    const size_t row = 3 * (size_t)fibers->max_fibers;
    (void)context;
    for (size_t voxel = first; voxel < first + count; voxel++) {
        const float *v = fibers->peaks + voxel * row + 3 * (size_t)what->fiber;
        double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        double part = what->frame[0][axis] * v[0] + what->frame[1][axis] * v[1] + what->frame[2][axis] * v[2];
        samples[voxel - first] = (float)(!what->vectors ? length : length > 0 ? part / length : 0);
    }
}

/* Image `number` of the set at `path`: vectors, then fraction, of fibre 1, then of fibre 2 ... */
static void name_image(const char *path, int number, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    int folder = (int)(base - path), fiber = number / 2 + 1;
    size_t length = strlen(base);
    const char *suffix = length > 7 && strcmp(base + length - 7, ".nii.gz") == 0 ? ".nii.gz" : ".nii";
    int stem = (int)(length > strlen(suffix) ? length - strlen(suffix) : 0);
    if (number % 2 == 0)
        snprintf(name, size, "%.*s%d%s", folder + stem, path, fiber, suffix);
    else if (stem == 5 && strncmp(base, "dyads", 5) == 0) /* FSL's own names */
        snprintf(name, size, "%.*smean_f%dsamples%s", folder, path, fiber, suffix);
    else
        snprintf(name, size, "%.*s_mean_f%dsamples%s", folder + stem, path, fiber, suffix);
}

hot_status hot_write_dyads(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    hot_status status = HOT_OK;
    const size_t size = strlen(path) + 40;
    int number = 0;
    image what = {.fibers = fibers};
    char *name = hot_context_alloc(context, size, 1);
    if (!name)
        return HOT_ERROR_MEMORY;
    hot_grid_bvec_frame(&fibers->grid, what.frame);
    for (; status == HOT_OK && number < 2 * fibers->max_fibers; number++) {
        name_image(path, number, name, size);
        what.fiber = number / 2;
        what.vectors = number % 2 == 0;
        status = hot_image_save(context, name, &fibers->grid, what.vectors ? HOT_CONTENT_DYADS : HOT_CONTENT_MAP,
                                what.vectors ? 3 : 1, fill, &what);
    }
    for (int written = 0; status != HOT_OK && written + 1 < number; written++) { /* all or none */
        name_image(path, written, name, size);
        remove(name);
    }
    hot_context_free(context, name);
    return status;
}

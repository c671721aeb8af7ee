/* dyads: as FSL's bedpostx leaves them, for probtrackx, xfibres' readers and FSLeyes: dyads1.nii.gz, dyads2.nii.gz ...
 * (unit vectors) and mean_f1samples.nii.gz ... (fractions). FSL's vectors are in image axes, the first of them mirrored
 * when the image is stored neurologically (the determinant of its matrix is positive), as its bvecs are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi/frames.h"
#include "io/formats.h"
#include "io/nifti/nifti_volume.h"

/* One image of one fibre: its unit vectors (3 volumes) or its amplitude (1). */
static hot_status write_image(hot_context *context, const hot_fiber_field *fibers, int fiber, int vectors,
                              float *volume, const char *path)
{
    hot_nifti_writer writer;
    double frame[3][3]; /* columns: the image axes in the world, x mirrored by FSL's rule */
    size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    hot_grid_bvec_frame(&fibers->grid, frame);
    hot_status status = hot_nifti_begin(context, path, &fibers->grid, vectors ? 3 : 1, DT_FLOAT32, 0, 0, &writer);
    for (int axis = 0; status == HOT_OK && axis < (vectors ? 3 : 1); axis++) {
        for (size_t voxel = 0; voxel < voxels; voxel++) {
            const float *v = fibers->peaks + voxel * row + 3 * (size_t)fiber;
            double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
            double part = frame[0][axis] * v[0] + frame[1][axis] * v[1] + frame[2][axis] * v[2];
            volume[voxel] = (float)(!vectors ? length : length > 0 ? part / length : 0);
        }
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
    }
    return hot_nifti_end(context, &writer, status);
}

/* Image `number` (vectors, then fraction, of fibre 1, then of fibre 2 ...) of the set that `path` asks for. */
static void name_image(const char *path, int number, char *name, size_t room)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    int folder = (int)(base - path), fiber = number / 2 + 1;
    size_t length = strlen(base);
    const char *suffix = length > 7 && strcmp(base + length - 7, ".nii.gz") == 0 ? ".nii.gz" : ".nii";
    int stem = (int)(length > strlen(suffix) ? length - strlen(suffix) : 0);
    if (number % 2 == 0)
        snprintf(name, room, "%.*s%d%s", folder + stem, path, fiber, suffix);
    else if (stem == 5 && strncmp(base, "dyads", 5) == 0) /* FSL's own names */
        snprintf(name, room, "%.*smean_f%dsamples%s", folder, path, fiber, suffix);
    else
        snprintf(name, room, "%.*s_mean_f%dsamples%s", folder + stem, path, fiber, suffix);
}

static hot_status write_dyads(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    hot_status status = HOT_ERROR_MEMORY;
    size_t room = strlen(path) + 40;
    int number = 0;
    char *name = hot_context_alloc(context, room, 1);
    float *volume = hot_context_alloc(context, hot_grid_voxels(&fibers->grid), sizeof *volume);
    if (name && volume)
        status = HOT_OK;
    for (; status == HOT_OK && number < 2 * fibers->max_fibers; number++) {
        name_image(path, number, name, room);
        status = write_image(context, fibers, number / 2, number % 2 == 0, volume, name);
    }
    if (status != HOT_OK)
        for (int written = 0; written + 1 < number; written++) { /* all or none */
            name_image(path, written, name, room);
            remove(name);
        }
    hot_context_free(context, name);
    hot_context_free(context, volume);
    return status;
}

const hot_export_format hot_format_dyads = {
    .name = "dyads",
    .suffix = ".nii.gz|.nii",
    .help = "FSL's dyads1.nii.gz ... and mean_f1samples.nii.gz ..., in image axes (FSLeyes; not enough for probtrackx, "
            "which needs merged samples)",
    .write = write_dyads,
};

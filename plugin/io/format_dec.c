/* dec: direction-encoded colours, |x| red, |y| green, |z| blue in scanner axes, every fibre's times its amplitude,
 * summed. Three float volumes rather than the RGB24 type: MRtrix does not read RGB24, and mrview and FSLeyes show three
 * volumes in colour, with the window the user sets. As PNG: a picture of the three middle slices. */
#include <math.h>
#include <string.h>

#include "io/nrrd/nrrdio.h"
#include "formats.h"
#include "io/nifti/nifti_volume.h"
#include "io/picture/picture_layout.h"

/* NRRD, 3 values per voxel: what Slicer reads as a vector volume. */
static hot_status write_nrrd(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const size_t *size = fibers->grid.size, voxels = hot_grid_voxels(&fibers->grid),
                 row = 3 * (size_t)fibers->max_fibers;
    const size_t sizes[4] = {3, size[0], size[1], size[2]};
    Nrrd *nrrd = NULL;
    float *colors = hot_context_alloc(context, voxels, 3 * sizeof *colors);
    if (!colors)
        return HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        for (size_t d = 0; d < 3; d++) {
            float sum = 0;
            for (size_t at = d; at < row; at += 3)
                sum += fabsf(fibers->peaks[voxel * row + at]);
            colors[3 * voxel + d] = sum;
        }
    hot_status status = hot_nrrd_wrap(context, colors, nrrdTypeFloat, 4, sizes, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_set_grid(context, nrrd, 1, &fibers->grid);
    if (status == HOT_OK) {
        nrrd->axis[0].kind = nrrdKindRGBColor;
        status = hot_nrrd_save(context, nrrd, path, 1);
    }
    nrrdNix(nrrd);
    hot_context_free(context, colors);
    return status;
}

static hot_status write_dec(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".png") == 0)
        return hot_color_picture(context, fibers, path);
    if (!hot_path_is_nifti(path))
        return write_nrrd(context, fibers, path);
    hot_nifti_writer writer;
    size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!volume)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_nifti_begin(context, path, &fibers->grid, 3, DT_FLOAT32, 0, 0, &writer);
    for (size_t d = 0; status == HOT_OK && d < 3; d++) { /* flips of x and y do not matter to |x| and |y| */
        for (size_t voxel = 0; voxel < voxels; voxel++) {
            float sum = 0;
            for (size_t at = d; at < row; at += 3)
                sum += fabsf(fibers->peaks[voxel * row + at]);
            volume[voxel] = sum;
        }
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
    }
    status = hot_nifti_end(context, &writer, status);
    hot_context_free(context, volume);
    return status;
}

const hot_export_format hot_format_dec = {
    .name = "dec",
    .suffix = ".nii.gz|.nii|.nrrd|.nhdr|.png",
    .help = "colour map of directions: |x| |y| |z| x amplitude in scanner axes, 3 float volumes (mrview, FSLeyes; "
            "NRRD: Slicer), or a picture",
    .write = write_dec,
};

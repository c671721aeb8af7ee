/* nfibers: how many fibres each voxel has, one byte. */
#include "io/common/formats.h"
#include "io/common/paths.h"
#include "io/nifti/nifti_image.h"
#include "io/nrrd/nrrd_values.h"

static hot_status write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = fibers->counts, .bytes = 1, .compress = 1};
    return hot_path_is_nifti(path) ? hot_nifti_save_bytes(context, path, &fibers->grid, fibers->counts)
                                   : hot_nrrd_save_values(context, &values, path);
}

const hot_export_format hot_format_nfibers = {
    .name = "nfibers",
    .suffix = ".nii.gz|.nii|.nrrd|.nhdr",
    .help = "how many fibres each voxel has (NIfTI or NRRD, one byte)",
    .write = write_nfibers,
};

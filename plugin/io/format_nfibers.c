/* nfibers: how many fibres each voxel has, one byte. */
#include "io/nrrd/nrrdio.h"
#include "formats.h"
#include "io/nifti/nifti_volume.h"

static hot_status write_nifti(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    hot_nifti_writer writer;
    hot_status status = hot_nifti_begin(context, path, &fibers->grid, 1, DT_UINT8, 0, 0, &writer);
    if (status == HOT_OK)
        status = hot_nifti_write(context, &writer, fibers->counts, hot_grid_voxels(&fibers->grid));
    return hot_nifti_end(context, &writer, status);
}

static hot_status write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    if (hot_path_is_nifti(path))
        return write_nifti(context, fibers, path);
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_wrap(context, fibers->counts, nrrdTypeUChar, 3, fibers->grid.size, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_set_grid(context, nrrd, 0, &fibers->grid);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 1);
    nrrdNix(nrrd);
    return status;
}

const hot_export_format hot_format_nfibers = {
    .name = "nfibers",
    .suffix = ".nii.gz|.nii|.nrrd|.nhdr",
    .help = "how many fibres each voxel has (NIfTI or NRRD, one byte)",
    .write = write_nfibers,
};

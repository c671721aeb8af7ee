/* Fibre directions out and in, by the file's name: NRRD in the grid's own space, NIfTI in scanner RAS. */
#include "io/common/paths.h"
#include "io/nifti/nifti_directions.h"
#include "io/nrrd/nrrd_directions.h"

hot_status hot_fiber_field_save(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    return hot_path_is_nifti(path) ? hot_nifti_save_directions(context, fibers, path)
                                   : hot_nrrd_save_directions(context, fibers, path);
}

hot_status hot_fiber_field_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    *fibers = NULL;
    return hot_path_is_nifti(path) ? hot_nifti_load_directions(context, path, fibers)
                                   : hot_nrrd_load_directions(context, path, fibers);
}

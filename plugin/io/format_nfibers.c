/* nfibers: how many fibres each voxel has, one byte. */
#include "io/common/formats.h"
#include "io/common/image_save.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_values.h"

hot_status hot_write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = fibers->counts, .bytes = 1, .compress = 1};
    return hot_path_has_volumes(path) ? hot_image_save_bytes(context, path, &fibers->grid, fibers->counts)
                                   : hot_nrrd_save_values(context, &values, path);
}

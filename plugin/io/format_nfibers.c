/* nfibers: how many fibres each voxel has, one byte. */
#include "image_save.h"
#include "io/common/formats.h"

hot_status hot_write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    return hot_image_save_bytes(context, &fibers->grid, fibers->counts, path);
}

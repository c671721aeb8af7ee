/* nfibers: how many fibres each voxel has, one byte. */
#include "io/common/formats.h"
#include "common/entry.h"
#include "map_save.h"

hot_status hot_write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    return hot_map_save_bytes(context, &fibers->grid, fibers->counts, path);
}

#include "io/common/image_save.h"

#include <stdio.h>

#include "io/common/paths.h"
#include "io/mrtrix/mif_write.h"
#include "io/nifti/nifti_volume.h"

static hot_status begin(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                        size_t volumes, hot_sample sample, hot_volume_writer *writer)
{
    char line[64];
    snprintf(line, sizeof line, "hotfiber_content: %s\n", hot_content_word(content));
    return hot_path_is_mif(path) ? hot_mif_begin(context, path, grid, volumes, sample, line, writer)
                                 : hot_nifti_begin(context, path, grid, volumes,
                                                   sample == HOT_SAMPLE_U8 ? DT_UINT8 : DT_FLOAT32, 0, 0, content,
                                                   writer);
}

hot_status hot_image_save(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                          size_t volumes, hot_volume_fill *fill, const void *from)
{
    hot_volume_writer writer;
    hot_status status = begin(context, path, grid, content, volumes, HOT_SAMPLE_F32, &writer);
    return hot_volume_save(context, &writer, status, hot_grid_voxels(grid), volumes, fill, from);
}

hot_status hot_image_save_bytes(hot_context *context, const char *path, const hot_grid *grid, const uint8_t *values)
{
    hot_volume_writer writer;
    HOT_TRY(begin(context, path, grid, HOT_CONTENT_MAP, 1, HOT_SAMPLE_U8, &writer));
    return hot_volume_end(context, &writer, hot_volume_write(context, &writer, values, hot_grid_voxels(grid)));
}

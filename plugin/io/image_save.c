#include "io/common/image_save.h"

#include <stdio.h>

#include "io/common/paths.h"
#include "io/mrtrix/mif_write.h"
#include "io/nifti/nifti_volume.h"

static hot_status begin(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                        const char *tensors, size_t volumes, hot_sample sample, hot_volume_writer *writer)
{
    char lines[128];
    snprintf(lines, sizeof lines, "hotfiber_content: %s\n%s%s%s", hot_content_word(content),
             tensors ? "hotfiber_tensors: " : "", tensors ? tensors : "", tensors ? "\n" : "");
    return hot_path_is_mif(path) ? hot_mif_begin(context, path, grid, volumes, sample, lines, writer)
                                 : hot_nifti_begin(context, path, grid, volumes,
                                                   sample == HOT_SAMPLE_U8 ? DT_UINT8 : DT_FLOAT32, 0, 0, content,
                                                   tensors, writer);
}

static hot_status save(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                       const char *tensors, size_t volumes, hot_volume_fill *fill, const void *from)
{
    hot_volume_writer writer;
    hot_status status = begin(context, path, grid, content, tensors, volumes, HOT_SAMPLE_F32, &writer);
    return hot_volume_save(context, &writer, status, hot_grid_voxels(grid), volumes, fill, from);
}

hot_status hot_image_save(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                          size_t volumes, hot_volume_fill *fill, const void *from)
{
    return save(context, path, grid, content, NULL, volumes, fill, from);
}

hot_status hot_image_save_tensors(hot_context *context, const char *path, const hot_grid *grid, const char *tensors,
                                  size_t volumes, hot_volume_fill *fill, const void *from)
{
    return save(context, path, grid, HOT_CONTENT_TENSOR, tensors, volumes, fill, from);
}

hot_status hot_image_save_bytes(hot_context *context, const char *path, const hot_grid *grid, const uint8_t *values)
{
    hot_volume_writer writer;
    HOT_TRY(begin(context, path, grid, HOT_CONTENT_MAP, NULL, 1, HOT_SAMPLE_U8, &writer));
    return hot_volume_end(context, &writer, hot_volume_write(context, &writer, values, hot_grid_voxels(grid)));
}

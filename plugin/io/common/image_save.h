/* Images out as volumes one after the other: MIF by the file's name, else NIfTI. hot_path_has_volumes tells which names
 * are of this kind. */
#pragma once

#include "core/content.h"
#include "core/fields.h"
#include "volume_writer.h"

/* `volumes` volumes of floats; the header says that they are `content`. */
hot_status hot_image_save(hot_context *context, const char *path, const hot_grid *grid, hot_content content,
                          size_t volumes, hot_volume_fill *fill, const void *from);
/* The same; tensors: what the header says of them, for hot_image.tensors. */
hot_status hot_image_save_tensors(hot_context *context, const char *path, const hot_grid *grid, const char *tensors,
                                  size_t volumes, hot_volume_fill *fill, const void *from);
/* One volume of bytes, a map. */
hot_status hot_image_save_bytes(hot_context *context, const char *path, const hot_grid *grid, const uint8_t *values);

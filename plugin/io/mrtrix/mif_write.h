/* Images out in MRtrix's own format: .mif, .mif.gz, or a .mih header with its .dat file, by name. */
#pragma once

#include "core/fields.h"
#include "io/common/volume_writer.h"

/* Starts an image of `volumes` volumes (1 = a 3-D image) of the grid's sizes; the grid goes out in scanner RAS. lines:
 * further "key: value" lines, each ended by a newline; NULL = none. Errors: HOT_ERROR_FILE, HOT_ERROR_MEMORY. */
hot_status hot_mif_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes,
                         hot_sample sample, const char *lines, hot_volume_writer *writer);

/* Data with their gradients as dw_scheme. samples: of type `sample`, volume by volume. */
hot_status hot_dwi_save_mif(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples);

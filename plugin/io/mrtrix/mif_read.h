/* Images from MRtrix's own format: .mif, .mif.gz, or a .mih header with its data file. */
#pragma once

#include "core/image.h"
#include "io/common/input.h"

/* Opens an image, see hot_image_open; the input's stream is taken over. */
hot_status hot_mif_open(hot_context *context, hot_input *input, hot_image *image);

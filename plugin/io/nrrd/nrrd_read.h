/* Images from NRRD: three axes of space, and any others as values of a voxel. */
#ifndef HOT_PLUGIN_NRRD_READ_H
#define HOT_PLUGIN_NRRD_READ_H

#include "core/image.h"
#include "io/common/input.h"

/* Opens an image, see hot_image_open; the input's file is taken over. */
hot_status hot_nrrd_open_image(hot_context *context, hot_input *input, hot_image *image);

#endif

/* Images from NRRD: three axes of space, and any others as values of a voxel. */
#pragma once

#include <teem/nrrd.h>

#include "core/image.h"
#include "io/common/input.h"

/* Opens an image, see hot_image_open; the input's file is taken over. */
hot_status hot_nrrd_open_image(hot_context *context, hot_input *input, hot_image *image);
/* An array that is in memory as an image, which borrows its samples: before hot_image_close, image->data = NULL. */
hot_status hot_nrrd_image(hot_context *context, const char *path, const Nrrd *nrrd, hot_image *image);

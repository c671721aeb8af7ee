/* Images from NIfTI-1 and -2: .nii, .nii.gz, or a .hdr with its .img. */
#pragma once

#include "core/image.h"
#include "io/common/input.h"

/* Opens an image, see hot_image_open; the input's stream is taken over. */
hot_status hot_nifti_open(hot_context *context, hot_input *input, hot_image *image);

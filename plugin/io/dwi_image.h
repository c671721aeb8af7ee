/* DWI data from an image and a gradient table. */
#pragma once

#include "dwi/sample.h"
#include "io/common/input.h"

/* bval, bvec: FSL's tables; NULL = the image's own, else those next to it. sample: a part of a large image (see
 * dwi/sample.h); NULL = all of it. */
hot_status hot_dwi_load_image(hot_context *context, hot_input *input, const char *bval, const char *bvec,
                              hot_dwi_sample *sample, hot_dwi **dwi);

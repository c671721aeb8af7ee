/* DWI data from an image and a gradient table. */
#ifndef HOT_PLUGIN_DWI_IMAGE_H
#define HOT_PLUGIN_DWI_IMAGE_H

#include "core/fields.h"
#include "io/common/input.h"

/* bval, bvec: FSL's tables; NULL = the image's own, else those beside it. */
hot_status hot_dwi_load_image(hot_context *context, hot_input *input, const char *bval, const char *bvec,
                              hot_dwi **dwi);

#endif

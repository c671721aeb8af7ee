/* Tensor fields as NRRD, in the grid's own space. */
#ifndef HOT_PLUGIN_NRRD_TENSORS_H
#define HOT_PLUGIN_NRRD_TENSORS_H

#include "core/fields.h"
#include "io/common/input.h"

hot_status hot_nrrd_save_tensors(hot_context *context, const hot_tensor_field *field, const char *path);
/* The input's file is taken over. */
hot_status hot_nrrd_load_tensors(hot_context *context, hot_input *input, hot_tensor_field **field);

#endif

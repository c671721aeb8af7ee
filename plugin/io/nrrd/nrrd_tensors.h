/* Tensor fields as NRRD, in the grid's own space. */
#pragma once

#include <teem/nrrd.h>

#include "core/fields.h"

hot_status hot_nrrd_save_tensors(hot_context *context, const hot_tensor_field *field, const char *path);
/* Of an array that is known to hold them; it may be freed, and is NULL then. path: for messages. */
hot_status hot_nrrd_take_tensors(hot_context *context, const char *path, Nrrd **from, hot_tensor_field **field);

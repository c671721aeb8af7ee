/* Normalised intensities of a field of several tissues. */
#pragma once

#include "core/fields.h"

/* Divides the tensors and the amounts of an msmt field by a smooth field, the exponential of a polynomial of degree 3,
 * after which the amounts of most voxels, each times its tissue's factor, add up to about 1. Errors: HOT_ERROR_ARGUMENT
 * (another model), HOT_ERROR_DATA (too few voxels, or tissues that are nowhere), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED.
 */
hot_status hot_tensor_field_normalise(hot_context *context, hot_tensor_field *field);

/* A subset of a data set's volumes as a new data set. */
#pragma once

#include "core/fields.h"

/* A view of the volumes named (ascending), with its own gradients and shells; the samples are dwi's, which must outlive
 * it. hot_dwi_destroy it. Errors: HOT_ERROR_MEMORY. */
hot_status hot_dwi_select(hot_context *context, const hot_dwi *dwi, size_t count, const size_t *volume, hot_dwi **view);

/* Keeps the volumes named (ascending) and no others. For the owner of a data set that nobody else reads yet. */
hot_status hot_dwi_keep(hot_context *context, hot_dwi *dwi, size_t count, const size_t *volume);

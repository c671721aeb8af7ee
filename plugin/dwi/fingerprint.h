/* A checksum of a data set. */
#pragma once

#include "core/fields.h"

/* Grid, b-values, gradients and every sample as hot_dwi_read gives it, whatever file or memory they are in: the same
 * with any number of threads, and where the data are read slice by slice. One pass over the data. Errors: those of
 * reading. */
hot_status hot_dwi_fingerprint(hot_context *context, const hot_dwi *dwi, uint64_t *sum);

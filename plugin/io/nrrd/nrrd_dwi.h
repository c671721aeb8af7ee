/* DWI data as NRRD with the NA-MIC keys. */
#pragma once

#include "dwi/sample.h"
#include "io/common/input.h"

/* The input's file is taken over. sample: a part of it where it is large (dwi/sample.h); NULL = all of it. */
hot_status hot_dwi_load_nrrd(hot_context *context, hot_input *input, hot_dwi_sample *sample, hot_dwi **dwi);
/* samples: of type `sample`, volume by volume. */
hot_status hot_dwi_save_nrrd(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                             const void *samples);

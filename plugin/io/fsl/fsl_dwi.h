/* DWI data out as NIfTI with FSL's bval and bvec. */
#pragma once

#include "core/fields.h"

/* samples: of type `sample`, volume by volume. */
hot_status hot_dwi_save_fsl(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples);

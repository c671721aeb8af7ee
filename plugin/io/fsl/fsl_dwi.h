/* DWI data as NIfTI with FSL's bval and bvec. */
#ifndef HOT_PLUGIN_FSL_DWI_H
#define HOT_PLUGIN_FSL_DWI_H

#include "core/fields.h"

hot_status hot_dwi_load_fsl(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi);
/* samples: of type `sample`, volume by volume. */
hot_status hot_dwi_save_fsl(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples);

#endif

/* DWI data as NRRD with the NA-MIC keys. */
#ifndef HOT_PLUGIN_NRRD_DWI_H
#define HOT_PLUGIN_NRRD_DWI_H

#include "core/fields.h"

hot_status hot_dwi_load_nrrd(hot_context *context, const char *path, hot_dwi **dwi);
/* samples: of type `sample`, volume by volume. */
hot_status hot_dwi_save_nrrd(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                             const void *samples);

#endif

/* Diffusion data of any format, or a part of them. */
#ifndef HOT_PLUGIN_DWI_LOAD_H
#define HOT_PLUGIN_DWI_LOAD_H

#include "dwi/sample.h"

/* As hot_dwi_load, but of data that are larger than sample->small only a part is read, into sample->dwi (the caller's);
 * *dwi then has no samples, and sample->partial is set. sample: NULL = all of them. */
hot_status hot_dwi_load_sample(hot_context *context, const char *path, const char *bval, const char *bvec,
                               hot_dwi_sample *sample, hot_dwi **dwi);

#endif

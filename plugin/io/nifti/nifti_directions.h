/* Fibre directions in NIfTI: 3N volumes, scanner RAS. */
#ifndef HOT_PLUGIN_NIFTI_DIRECTIONS_H
#define HOT_PLUGIN_NIFTI_DIRECTIONS_H

#include "core/fields.h"

hot_status hot_nifti_save_directions(hot_context *context, const hot_fiber_field *fibers, const char *path);

#endif

/* A DWI's NRRD header: shared by those who write such files. */
#pragma once

#include <teem/nrrd.h>

#include "core/fields.h"

/* `samples` (volumes x voxels of Teem's type `type`, not copied) with the DWI's grid and the NA-MIC keys. frame[r][c]:
 * the measurement frame to write, a rotation whose columns are the file's vectors; NULL = identity.
 * nrrdNix it when done. */
hot_status hot_dwi_wrap_nrrd(hot_context *context, const hot_dwi *dwi, int type, const void *samples,
                             const double frame[3][3], Nrrd **nrrd);

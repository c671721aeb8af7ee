/* NIfTI out, as NIfTI-1, .nii or .nii.gz by name. niftilib gives the structs and the quaternions; its writer does not
 * report a full disk. */
#pragma once

#include <nifti2_io.h>

#include "core/content.h"
#include "io/common/volume_writer.h"

#define HOT_NIFTI_TENSORS "; tensors: " /* in descrip */

/* Starts a NIfTI-1 image: `volumes` volumes (1 = a 3-D image) of the grid's sizes and of type `datatype` (DT_FLOAT32,
 * DT_UINT8, DT_RGB24 ...). The grid goes out in scanner RAS, as sform, and as qform where it has no shear. value =
 * slope * sample + intercept when slope is not 0. content: what intent_name will say; tensors: what descrip will say
 * behind the version, NULL = nothing. Errors: HOT_ERROR_FILE; HOT_ERROR_DATA for sizes over 32767. */
hot_status hot_nifti_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes, int datatype,
                           double slope, double intercept, hot_content content, const char *tensors,
                           hot_volume_writer *writer);

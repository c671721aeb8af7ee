/* NIfTI out: volumes written one after the other as NIfTI-1, .nii or .nii.gz by name. niftilib gives the structs and
 * the quaternions; what is written goes through hot_output, because niftilib's writer does not report a full disk. */
#ifndef HOT_PLUGIN_NIFTI_VOLUME_H
#define HOT_PLUGIN_NIFTI_VOLUME_H

#include <nifti2_io.h>
#include <zlib.h>

#include <hotfiber/hotfiber.h>

#include "io/common/output.h"

/* An image that is being written. */
typedef struct hot_nifti_writer {
    hot_output output;
    gzFile zip;      /* .nii.gz */
    size_t expected; /* bytes of samples that the header promises, and that came */
    size_t written;
} hot_nifti_writer;

/* Starts a NIfTI-1 image: `volumes` volumes (1 = a 3-D image) of the grid's sizes and of type `datatype` (DT_FLOAT32,
 * DT_UINT8, DT_RGB24 ...). The grid goes out in scanner RAS, as sform, and as qform where it has no shear. value =
 * slope * sample + intercept when slope is not 0. Errors: HOT_ERROR_FILE; HOT_ERROR_DATA for sizes over 32767. */
hot_status hot_nifti_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes, int datatype,
                           double slope, double intercept, hot_nifti_writer *writer);
/* The next `bytes` bytes of samples, i fastest, volume slowest. */
hot_status hot_nifti_write(hot_context *context, hot_nifti_writer *writer, const void *samples, size_t bytes);
/* Closes it without making it appear, see hot_output_finish; returns the first failure.
 * hot_nifti_end comes after it. */
hot_status hot_nifti_finish(hot_context *context, hot_nifti_writer *writer, hot_status status);
/* Makes the file appear when status is HOT_OK and every sample came, else removes it; returns the first failure. */
hot_status hot_nifti_end(hot_context *context, hot_nifti_writer *writer, hot_status status);

#endif

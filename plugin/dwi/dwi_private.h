/* What the readers of DWI formats share: for the files of plugin/dwi only. */
#ifndef HOT_DWI_PRIVATE_H
#define HOT_DWI_PRIVATE_H

#include "core/fields.h"

/* An empty DWI with room for `volumes` b-values, gradients (zero) and positions (volume v at v * `apart`), source
 * copied from `path`. */
hot_status hot_dwi_begin(hot_context *context, const hot_grid *grid, size_t volumes, size_t apart, const char *path,
                         hot_dwi **dwi);
/* Checks b-values and gradients (any length, world axes), makes the gradients unit and sorts the shells. */
hot_status hot_dwi_complete(hot_context *context, hot_dwi *dwi);
/* Notes a file that was read. */
hot_status hot_dwi_add_input(hot_context *context, hot_dwi *dwi, const char *path);
/* Bytes of one sample of a type. */
size_t hot_sample_bytes(hot_sample sample);
/* Releases samples that came from the context's memory: a value for dwi->release_data. */
void hot_dwi_free_data(hot_context *context, void *data);

/* One reader per format. */
hot_status hot_dwi_load_nrrd(hot_context *context, const char *path, hot_dwi **dwi);
hot_status hot_dwi_load_nifti(hot_context *context, const char *path, const char *bval, const char *bvec,
                              hot_dwi **dwi);

#endif

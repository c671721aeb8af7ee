/* How a hot_dwi is made: what the readers of DWI formats share. */
#pragma once

#include "core/fields.h"

/* s/mm^2: up to here volumes count as b=0 where none is below 50, or where they have no direction. */
#define HOT_B0_ALONE 100.

/* An empty DWI with memory for `volumes` b-values, gradients (zero) and positions (volume v at v * `apart`), source
 * copied from `path`. */
hot_status hot_dwi_begin(hot_context *context, const hot_grid *grid, size_t volumes, size_t apart, const char *path,
                         hot_dwi **dwi);
/* Checks b-values and gradients (any length, world axes), makes the gradients unit and sorts the shells. */
hot_status hot_dwi_complete(hot_context *context, hot_dwi *dwi);
/* Notes a file that was read. */
hot_status hot_dwi_add_input(hot_context *context, hot_dwi *dwi, const char *path);
/* Releases samples that came from the context's memory: a value for dwi->release_data. */
void hot_dwi_free_data(hot_context *context, void *data);

/* Gives the system the memory back that the samples of voxels before `end` are in, whole pages of it, and of samples
 * that are the data set's own and lie volume after volume or voxel after voxel; else nothing. Those samples must not be
 * read again: they may be 0. For the owner of a data set that nobody else reads. */
void hot_dwi_release_pages(hot_dwi *dwi, size_t end);

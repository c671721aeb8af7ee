/* Volumes without a signal: they were lost, and to a fit they are signals of 0. */
#ifndef HOT_DWI_EMPTY_H
#define HOT_DWI_EMPTY_H

#include "core/fields.h"

/* A volume is empty if it has nothing but zeros, NaN and infinite samples wherever most volumes have more, in voxels
 * spread over the image. Where too few voxels tell, none is. A warning names the empty ones.
 *
 * Drops them from the list of volumes; for the owner of a data set that nobody else reads yet. Errors: those of
 * hot_dwi_gather. */
hot_status hot_dwi_drop_empty(hot_context *context, hot_dwi *dwi);
/* *rest: a view of the others (select.h), or NULL if none is empty. */
hot_status hot_dwi_without_empty(hot_context *context, const hot_dwi *dwi, hot_dwi **rest);

/* "3, 7, 12 and 4 more" into text. */
void hot_dwi_name_volumes(const size_t *volume, size_t count, char *text, size_t bytes);

#endif

/* Volumes that are no measurements: lost ones, which to a fit are signals of 0, and means over directions. */
#pragma once

#include "core/fields.h"

/* A volume is empty if it has nothing but zeros, NaN and infinite samples wherever most volumes have more, in voxels
 * spread over the image. Where too few voxels tell, none is. A warning names the empty ones.
 *
 * Drops them from the list of volumes; for the owner of a data set that nobody else reads yet. Errors: those of
 * hot_dwi_read_list. */
hot_status hot_dwi_drop_empty(hot_context *context, hot_dwi *dwi);
/* *rest: a view of the others (select.h), or NULL if none is empty. */
hot_status hot_dwi_without_empty(hot_context *context, const hot_dwi *dwi, hot_dwi **rest);

/* Warns about volumes with slices of zeros in the mask where most volumes have signal: lost packets, or the edge of
 * motion correction. Checks one voxel of each slice, and more if it lacks a signal. Errors: those of
 * hot_dwi_read_list. */
hot_status hot_dwi_warn_empty_slices(hot_context *context, const hot_dwi *dwi, const hot_mask *mask);

/* Before hot_dwi_complete: drops volumes with a b-value and no direction, which some scanners add (the mean over the
 * directions, a map of it), with a warning. Where no volume with a b-value has a direction all are kept. */
hot_status hot_dwi_drop_undirected(hot_context *context, hot_dwi *dwi);

/* "3, 7, 12 and 4 more" into text. */
void hot_dwi_name_volumes(const size_t *volume, size_t count, char *text, size_t bytes);

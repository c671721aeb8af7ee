/* A run in parts: each finds the fibres of a share of the mask's voxels and leaves one file; a merge takes them from
 * these files instead of finding them, and everything else is done as ever. */
#pragma once

#include "run.h"

/* Whether options of parts go together with the others; for a merge: whether every part exists. Errors:
 * HOT_ERROR_ARGUMENT (the parameter part or merge), HOT_ERROR_FILE. */
hot_status hot_run_parts_check(hot_context *context, const hot_run_options *options);

/* The voxels of this part: run->share, from the mask. Nothing to do where the run is whole. */
hot_status hot_run_part_choose(hot_run_state *run);

/* Sets the hooks of run->slabs for a part or a merge. */
void hot_run_part_hook(hot_run_state *run);

/* Finding in tensors with the hooks, slab by slab. */
hot_status hot_run_find_in_slabs(hot_run_state *run);

/* The part's file appears. */
hot_status hot_run_part_save(hot_run_state *run);

void hot_run_part_free(hot_run_state *run);

/* A run in parts: each finds the fibres of a share of the mask's voxels and leaves one file; a merge takes them from
 * these files instead of finding them, and everything else is done as ever. */
#ifndef HOT_RUN_PARTS_H
#define HOT_RUN_PARTS_H

#include "run.h"

/* Whether options of parts go together with the others; a merge: whether every part is there. Errors:
 * HOT_ERROR_ARGUMENT (the parameter part or merge), HOT_ERROR_FILE. */
hot_status hot_run_parts_check(hot_context *context, const hot_run_options *options);

/* The voxels of this part: job->share, from the mask. Nothing to do where the run is whole. */
hot_status hot_run_part_choose(hot_run_job *job);

/* Finding by a method on signals with the part's hooks in the options; by a method on tensors: what a part has found,
 * or (merge) what all have found, as job->fibers. */
void hot_run_part_hook(hot_run_job *job);
hot_status hot_run_part_keep_fibers(hot_run_job *job);
hot_status hot_run_parts_recall_fibers(hot_run_job *job);

/* Merge, once all is found: the parts were made of what this run was made of. */
hot_status hot_run_parts_compare(hot_run_job *job);

/* Writes the part's file. */
hot_status hot_run_part_save(hot_run_job *job);

void hot_run_part_free(hot_run_job *job);

#endif

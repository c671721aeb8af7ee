/* A run that goes on where an earlier one was killed: what was learned, and what was found slab by slab, is kept in the
 * folder OUT.resume until OUT is complete. */
#ifndef HOT_RUN_RESUME_H
#define HOT_RUN_RESUME_H

#include "run.h"

/* Makes or opens the folder, which no other run may use meanwhile; takes job->learned from it where it is there.
 * Nothing to do without options.resume. Errors: HOT_ERROR_ARGUMENT (options that do not go with it), HOT_ERROR_FILE,
 * HOT_ERROR_DATA (kept by a run with other options). */
hot_status hot_run_resume_begin(hot_run_job *job);

/* Once job->data_sum is known: HOT_ERROR_DATA where what was kept is of other data. */
hot_status hot_run_resume_check(hot_run_job *job);

/* The hooks of the signal method; finding in tensors, slab by slab. */
void hot_run_resume_hook(hot_run_job *job);
hot_status hot_run_resume_find(hot_run_job *job);

/* Before the folder OUT appears; after it has: OUT.resume is removed. */
hot_status hot_run_resume_complete(hot_run_job *job);
void hot_run_resume_remove(hot_run_job *job);

/* What a job holds of it is closed; the folder stays. */
void hot_run_resume_free(hot_run_job *job);

#endif

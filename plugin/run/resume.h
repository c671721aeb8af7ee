/* Resumable runs: the model and the results of finished slabs are kept in the folder OUT.resume until OUT is
 * complete. */
#pragma once

#include "run.h"

/* Makes or opens the folder and locks it; uses its model if there is one. Does nothing without options.resume. Errors:
 * HOT_ERROR_ARGUMENT (options that do not go with it), HOT_ERROR_FILE, HOT_ERROR_DATA (kept by a run with other
 * options). */
hot_status hot_run_resume_begin(hot_run_state *run);

/* Fills run->inputs.data_sum if the run needs it: to resume, or to be compared with parts or a model. Errors: those of
 * reading; HOT_ERROR_DATA (kept by a run with other data). */
hot_status hot_run_sum_data(hot_run_state *run);

/* Sets the hooks of run->slabs. */
void hot_run_resume_hook(hot_run_state *run);

/* Before the folder OUT appears; after it has: OUT.resume is removed. */
hot_status hot_run_resume_complete(hot_run_state *run);
void hot_run_resume_remove(hot_run_state *run);

/* Closes the folder, which stays. */
void hot_run_resume_free(hot_run_state *run);

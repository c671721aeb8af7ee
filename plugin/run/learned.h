/* What a run learns from the whole volume (mask, noise, gradient check, responses, priors) as a file, so that other
 * runs of the same data, and all parts, learn nothing and find the same. */
#ifndef HOT_RUN_LEARNED_H
#define HOT_RUN_LEARNED_H

#include "run.h"

/* Reads options.learned into job->learned; nothing to do without it. Errors: HOT_ERROR_ARGUMENT (with the parameter:
 * options that are in the model already), HOT_ERROR_FILE, HOT_ERROR_FORMAT. */
hot_status hot_run_learned_open(hot_run_job *job);

typedef hot_status hot_run_step(hot_run_job *job);
/* One step of learning: learn(job), or take(job) where it was learned before, which says the same lines. */
hot_status hot_run_learned_step(hot_run_job *job, const char *name, hot_run_step *learn, hot_run_step *take);
/* What take(job) is: from job->learned into the job. Errors: HOT_ERROR_FORMAT, HOT_ERROR_DATA (other sizes). */
hot_run_step hot_run_learned_mask, hot_run_learned_gradients, hot_run_learned_response;
/* For the signal method: job->signal_learned. */
hot_run_step hot_run_learned_signal;

/* Refuses a model of other data, or of options that learn something else: HOT_ERROR_DATA, one line that names it. To be
 * called when mask and order are known. */
hot_status hot_run_learned_check(hot_run_job *job);

/* The sum of what the signal method has learned, or 0 with another method. */
uint64_t hot_run_learned_sum(const hot_run_job *job);

/* Writes what the job has learned. */
hot_status hot_run_learned_save(hot_run_job *job, const char *path);

#endif

/* The model of a run (mask, noise, gradient check, responses, priors, all estimated from the whole volume) as a file,
 * so that other runs of the same data, and all parts, use it and get the same results. */
#pragma once

#include "run.h"

/* Reads options.learned into learned.file; nothing to do without it. Errors: HOT_ERROR_ARGUMENT (with the parameter:
 * options that are in the file already), HOT_ERROR_FILE, HOT_ERROR_FORMAT. */
hot_status hot_run_learned_open(hot_run_state *run);

typedef hot_status hot_run_step(hot_run_state *run);
/* One step of learning: learn(run), or load(run) where it was learned before, which logs the same lines. */
hot_status hot_run_learned_step(hot_run_state *run, const char *name, hot_run_step *learn, hot_run_step *load);
/* Loads the model into the run. Errors: HOT_ERROR_FORMAT, HOT_ERROR_DATA (other sizes). */
hot_run_step hot_run_load_mask, hot_run_load_gradients, hot_run_load_response;
/* For the signal method: learned.signal. */
hot_run_step hot_run_load_signal;

/* Refuses a file of other data, or of options that learn something else: HOT_ERROR_DATA, one line that names it. For
 * when mask and order are known. */
hot_status hot_run_learned_check(hot_run_state *run);

/* The priors by their names: lists of numbers without loss, or (plain) as report.json has them. */
void hot_run_add_population(cJSON *object, const hot_signal_priors *population, int plain);

/* A checksum of the signal method's priors; 0 with another method. */
uint64_t hot_run_learned_sum(const hot_run_state *run);

hot_status hot_run_learned_save(hot_run_state *run, const char *path);

/* The files that a run can leave: one table, from which --outputs, its help, the default and the writing follow. */
#pragma once

#include "run.h"

/* A set of outputs: bit i is the i-th of the table. */
typedef uint64_t hot_run_outputs;

/* The outputs that options->outputs names (NULL = the default ones), without those of a set (default, all, maps) that
 * the model or the method does not have. Errors: HOT_ERROR_ARGUMENT with the parameter "outputs": a name that is none,
 * or an output that was named and that model, method or options do not have. */
hot_status hot_run_outputs_choose(hot_context *context, const hot_run_options *options, const hot_peaks_method *method,
                                  hot_run_outputs *set);

/* The inputs of these outputs: tensors of the model, maps of the method signal, cones and deviations of its posterior,
 * signals that are read after the fibres were found, probabilities and cones beside each fibre. Others may be NULL. */
enum { HOT_USES_TENSORS = 1, HOT_USES_MAPS = 2, HOT_USES_CONES = 4, HOT_USES_SIGNALS = 8, HOT_USES_DOUBT = 16 };
unsigned hot_run_outputs_use(hot_run_outputs set);

/* Computes what needs the data, before these are freed: the tensors of FA and MD, amplitudes relative to the b=0
 * signal, the background of the picture. */
hot_status hot_run_outputs_prepare(hot_run_state *run);

/* Whether a run may leave a file of this name, from its folder on. */
int hot_run_output_known(const char *file);

/* Writes them into the job's folder. */
hot_status hot_run_outputs_write(hot_run_state *run);

/* The options of the methods, as peaks has them, and those of models and responses, as fit and response have
 * them. Which of them go together is the library's business (fibers/method_rules.c, run/run_rules.c). */
#pragma once

#include "cli.h"
#include "run/run.h"

/* The text values of the rows below. */
typedef struct cli_method_options {
    const char *shift, *noise_model;
    hot_peaks_options peaks; /* as typed */
} cli_method_options;

/* Every option at its default. */
void cli_method_options_init(cli_method_options *own);

/* own: a cli_method_options. */
#define CLI_METHOD_OPTIONS(own)                                                                                        \
    cli_row("method", &(own).peaks.method), cli_row("max_fibers", &(own).peaks.max_fibers),                            \
    cli_row("threshold", &(own).peaks.threshold), cli_row("min_angle", &(own).peaks.min_angle),                        \
    cli_row("min_amplitude", &(own).peaks.min_amplitude), cli_row("starts", &(own).peaks.starts),                      \
    cli_row("shift", &(own).shift), cli_row("noise_model", &(own).noise_model)

/* Fills the shift, and the signal method's options, from the texts. Returns -1, or on errors cli_refuse's exit
 * status. */
int cli_method_options_read(const cli_command *command, cli_common *common, cli_method_options *own,
                            hot_signal_find_options *signal);

/* The number for the library. */
hot_peaks_options cli_peaks_options(const cli_method_options *own);

/* Options of the model adc; known_b0 and weights are texts. */
#define CLI_ADC_OPTIONS(known_b0, weights, positive)                                                                   \
    cli_row("known_b0", &(known_b0)), cli_row("weights", &(weights)), cli_row("positive", &(positive))

/* Options of the model msmt; constraint and kernel are texts. */
#define CLI_MSMT_OPTIONS(constraint, kernel, normalise)                                                                \
    cli_row("constraint", &(constraint)), cli_row("kernel", &(kernel)), cli_row("normalise", &(normalise))

/* Fills the fit's options from the texts. */
void cli_msmt_options_read(const char *constraint, const char *kernel, hot_fit_options *fit);

/* The two numbers of the list, 0 and 0 when it was not given. Returns like cli_method_options_read. */
int cli_diffusivities(const cli_command *command, cli_common *common, const cli_list *list, double *axial,
                      double *radial);

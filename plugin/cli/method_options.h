/* The options of the methods, as run and peaks have them, and those of the response, as run, fit and response have
 * them. Which of them go together is the library's business (fibers/method_rules.c, run/run_rules.c). */
#ifndef HOT_CLI_METHOD_OPTIONS_H
#define HOT_CLI_METHOD_OPTIONS_H

#include "cli.h"
#include "run/run.h"

/* What the rows below store as text. */
typedef struct cli_method_options {
    char methods[128]; /* "signal|sshopm|..." */
    const char *shift, *noise_model;
    hot_peaks_options peaks; /* as typed */
} cli_method_options;

/* Every option at its default. */
void cli_method_options_init(cli_method_options *own);

/* own: a cli_method_options; preset: the default method, for the help. */
#define CLI_METHOD_OPTIONS(own, preset)                                                                                \
    {"method", CLI_CHOICE, &(own).peaks.method, (own).methods,                                                         \
     "how directions are found: signal fits 0 to 3 fibres to the signals; sshopm runs SS-HOPM from many starts and "   \
     "clusters the eigenvectors (the paper's pipeline); maxima scans the tensor's form and refines its maxima; "       \
     "lowrank gives the tensor's rank-1 terms. Default: " preset, 0, 0},                                               \
    {"max_fibers", CLI_INT, &(own).peaks.max_fibers, "N",                                                              \
     "maximum number of fibres per voxel; default 3, the limit of signal and lowrank", 1, 16},                   \
    {"threshold", CLI_DOUBLE, &(own).peaks.threshold, "FRACTION",                                                      \
     "all methods but signal: drop directions below this fraction of the largest; default .25, lowrank .2", 0, 1},     \
    {"min_angle", CLI_DOUBLE, &(own).peaks.min_angle, "DEGREES",                                                       \
     "all methods but signal: of two directions closer than this drop the smaller; default 15, lowrank 25", 0, 90},    \
    {"min_amplitude", CLI_DOUBLE, &(own).peaks.min_amplitude, "A",                                                     \
     "all methods but signal: drop directions shorter than this; default .1 with fod (a volume fraction), 0 with adc " \
     "and odf", 0, 1e9},                                                                                               \
    {"starts", CLI_SIZE, &(own).peaks.starts, "N", "sshopm: starting vectors per voxel; default 128", 1, 1e6},         \
    {"shift", CLI_TEXT, &(own).shift, "adaptive|none|VALUE",                                                           \
     "sshopm: the shift of SS-HOPM: just enough to climb (default), none, or a number of at least 0", 0, 0},           \
    {"noise_model", CLI_CHOICE, &(own).noise_model, "auto|rician|gaussian",                                            \
     "signal: the noise is that of magnitudes (rician), or symmetric about the signal (gaussian), as in data with "    \
     "negative samples; default: auto, by how many there are", 0, 0}

/* Fills the shift, and the signal method's options, from the texts. Returns -1 to go on, or cli_refuse's exit
 * status. */
int cli_method_options_read(const cli_command *command, cli_common *common, cli_method_options *own,
                            hot_signal_find_options *signal);

/* What the library is to be given. */
hot_peaks_options cli_peaks_options(const cli_method_options *own);

/* Options of the model adc; known_b0 and weights are texts. */
#define CLI_ADC_OPTIONS(known_b0, weights, positive)                                                                   \
    {"known_b0", CLI_CHOICE, &(known_b0), "true|false",                                                                \
     "adc: S0 is the mean b=0 signal (true, default) or estimated with the tensor (false)", 0, 0},                     \
    {"weights", CLI_CHOICE, &(weights), "signal|none",                                                                 \
     "adc: least squares weighted by the squared fitted signals (default) or plain", 0, 0},                            \
    {"positive", CLI_FLAG, &(positive), NULL,                                                                          \
     "adc: where the diffusivity comes out negative in some direction, fit again under the constraint that it does "   \
     "not", 0, 0}

/* Options of the model msmt; constraint and kernel are texts. */
#define CLI_MSMT_OPTIONS(constraint, kernel, normalise)                                                                \
    {"constraint", CLI_CHOICE, &(constraint), "nonnegative|hpsd|none",                                                 \
     "msmt: no tissue and, in 300 directions, no fibre density is below zero (default); or nowhere, as the tensor's "  \
     "matrix is positive semidefinite (hpsd); or anything goes", 0, 0},                                                \
    {"kernel", CLI_CHOICE, &(kernel), "rank1|delta",                                                                   \
     "msmt: what a fibre becomes: a rank-1 tensor (default), or the harmonics of a delta as in MRtrix's fODF", 0, 0},  \
    {"normalise", CLI_FLAG, &(normalise), NULL,                                                                        \
     "msmt: divide tensors and tissues by a smooth field, so that the tissues add up to about 1 everywhere and can "   \
     "be compared between people (as MRtrix's mtnormalise)", 0, 0}

/* Fills the fit's options from the texts. */
void cli_msmt_options_read(const char *constraint, const char *kernel, hot_fit_options *fit);

/* --diffusivities: `list` is a cli_list. */
#define CLI_DIFFUSIVITIES(list, about)                                                                                 \
    {"diffusivities", CLI_LIST, &(list), "AXIAL,RADIAL",                                                               \
     about "axial and radial diffusivity of a fibre, mm^2/s, for example 1.7e-3,0.3e-3", 1e-9, 100}

/* The two numbers of the list, 0 and 0 when it was not given. Returns like cli_method_options_read. */
int cli_diffusivities(const cli_command *command, cli_common *common, const cli_list *list, double *axial,
                      double *radial);

#endif

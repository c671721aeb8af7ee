/* The options that decide what a run finds, as run and learn have them. */
#ifndef HOT_CLI_RUN_OPTIONS_H
#define HOT_CLI_RUN_OPTIONS_H

#include "method_options.h"

typedef struct cli_run_options {
    hot_run_options run; /* it points to the next three, which lie here: the struct must not be moved */
    hot_fit_options fit;
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    double regularise;   /* as typed */
    cli_method_options method;
    cli_list diffusivities;
    const char *memory, *constraint, *kernel, *order, *known_b0, *weights;
} cli_run_options;

/* Every option at its default. */
void cli_run_options_init(cli_run_options *own);

/* own: a cli_run_options. */
#define CLI_RUN_OPTIONS(own)                                                                                           \
    CLI_GRADIENT_OPTIONS((own).run.bval, (own).run.bvec),                                                              \
    CLI_MEMORY_OPTION((own).memory),                                                                                   \
    CLI_MASK_OPTION((own).run.mask),                                                                                   \
    {"force_table", CLI_FLAG, &(own).run.force_table, NULL,                                                            \
     "use the gradient table even where its rows are in another order than the volumes (see hotfiber "                 \
     "check), with a warning", 0, 0},                                                                                  \
    {"denoise", CLI_FLAG, &(own).run.denoise, NULL,                                                                    \
     "denoise the data first (see hotfiber denoise) and write the map of the noise to noise.nii.gz; where that would " \
     "take more than noise out of the signals, their angular shape is put back", 0, 0},                                \
    {"model", CLI_CHOICE, &(own).fit.model,     "adc|odf|fod|msmt",                                                    \
     "what the tensor is: apparent diffusivity, diffusion orientations (q-ball), fibre orientations "                  \
     "(deconvolution, default; with fewer than 15 directions adc), or these beside other tissues (msmt). The "         \
     "maxima of adc are not the fibres where fibres cross", 0, 0},                                                     \
    {"order", CLI_CHOICE, &(own).order, "2|4|6|8",                                                                     \
     "order of the tensors; default 6, or the highest that the directions determine", 0, 0},                           \
    {"response", CLI_TEXT, &(own).run.response, "FILE",                                                                \
     "fod, msmt: single-fibre response in MRtrix's text format; default: estimated from the data. msmt takes a "       \
     "list, white matter first: wm.txt,gm.txt,csf.txt; with two shells or more it estimates these three", 0, 0},       \
    CLI_DIFFUSIVITIES((own).diffusivities, "fod: response from the "),                                                 \
    {"regularise", CLI_DOUBLE, &(own).regularise, "W", "Laplace-Beltrami weight; default: the model's", 0, 1e6},       \
    CLI_ADC_OPTIONS((own).known_b0, (own).weights, (own).fit.positive),                                                \
    CLI_MSMT_OPTIONS((own).constraint, (own).kernel, (own).fit.normalise),                                             \
    CLI_METHOD_OPTIONS((own).method, "signal with fod, else maxima"),                                                  \
    {"sigma", CLI_DOUBLE, &(own).signal.sigma, "S",                                                                    \
     "signal: the noise's standard deviation; default: from the b=0 images, or the residuals", 1e-30, 1e30}

/* Checks and takes the texts over into own->run; `table` is the command's. Returns -1 to go on, or the exit status. */
int cli_run_options_read(const cli_command *command, cli_common *common, const cli_option *table,
                         cli_run_options *own);

#endif

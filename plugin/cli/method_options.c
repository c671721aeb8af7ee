/* See method_options.h. */
#include "method_options.h"

#include <string.h>

void cli_method_options_init(cli_method_options *own)
{
    *own = (cli_method_options){.shift = "adaptive", .noise_model = "auto", .peaks = HOT_PEAKS_OPTIONS_INIT};
}

int cli_method_options_read(const cli_command *command, cli_common *common, cli_method_options *own,
                            hot_signal_find_options *signal)
{
    if (!hot_shift_parse(own->shift, &own->peaks.shift, &own->peaks.alpha) || own->peaks.alpha < 0)
        return cli_refuse(command, common, "--shift is adaptive, none or a number of at least 0, not '%s'", own->shift);
    signal->noise_model = strcmp(own->noise_model, "gaussian") == 0 ? HOT_NOISE_GAUSSIAN
                          : strcmp(own->noise_model, "rician") == 0 ? HOT_NOISE_RICIAN
                                                                    : HOT_NOISE_AUTO;
    return -1;
}

hot_peaks_options cli_peaks_options(const cli_method_options *own)
{
    hot_peaks_options peaks = own->peaks;
    peaks.threshold = cli_number(&own->peaks.threshold);
    peaks.min_angle = cli_number(&own->peaks.min_angle);
    peaks.min_amplitude = cli_number(&own->peaks.min_amplitude);
    return peaks;
}

void cli_msmt_options_read(const char *constraint, const char *kernel, hot_fit_options *fit)
{
    fit->constraint = strcmp(constraint, "none") == 0   ? HOT_CONSTRAINT_NONE
                      : strcmp(constraint, "hpsd") == 0 ? HOT_CONSTRAINT_HPSD
                                                        : HOT_CONSTRAINT_NONNEGATIVE;
    fit->kernel = strcmp(kernel, "delta") == 0 ? HOT_KERNEL_DELTA : HOT_KERNEL_RANK1;
}

int cli_diffusivities(const cli_command *command, cli_common *common, const cli_list *list, double *axial,
                      double *radial)
{
    if (list->count != 0 && list->count != 2)
        return cli_refuse(command, common, "--diffusivities needs two numbers (1.7e-3,0.3e-3), not %zu", list->count);
    *axial = list->count ? list->values[0] : 0;
    *radial = list->count ? list->values[1] : 0;
    return -1;
}

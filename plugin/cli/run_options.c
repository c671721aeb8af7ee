#include "run_options.h"

#include <string.h>

void cli_run_options_init(cli_run_options *own)
{
    *own = (cli_run_options){.run = {.size = sizeof own->run, .input = "-", .fit = &own->fit, .peaks = &own->peaks,
                                     .signal = &own->signal},
                             .fit = HOT_FIT_OPTIONS_INIT, .signal = HOT_SIGNAL_FIND_OPTIONS_INIT,
                             .constraint = "nonnegative", .kernel = "rank1", .known_b0 = "true", .weights = "signal"};
    cli_method_options_init(&own->method);
}

int cli_run_options_read(const cli_command *command, cli_common *common, const cli_option *table, cli_run_options *own)
{
    const hot_peaks_method *finder;
    hot_run_options *run = &own->run;
    int ended;
    if ((ended = cli_memory_read(command, common, own->memory, run->output, &run->memory)) >= 0 ||
        (ended = cli_method_options_read(command, common, &own->method, &own->signal)) >= 0 ||
        (ended = cli_diffusivities(command, common, &own->diffusivities, &run->axial_diffusivity,
                                   &run->radial_diffusivity)) >= 0)
        return ended;
    own->peaks = cli_peaks_options(&own->method);
    cli_msmt_options_read(own->constraint, own->kernel, &own->fit);
    own->fit.order = own->order ? own->order[0] - '0' : 0;
    own->fit.regularise = cli_number(&own->regularise);
    own->fit.weighted = strcmp(own->weights, "signal") == 0 ? 1 : HOT_ZERO;
    own->fit.estimate_s0 = strcmp(own->known_b0, "false") == 0;
    if (hot_run_check(common->context, run, cli_option_given, table, &finder) != HOT_OK)
        return cli_refuse_option(command, common);
    return -1;
}

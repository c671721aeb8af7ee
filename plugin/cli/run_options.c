#include "run_options.h"

#include <string.h>

void cli_run_options_init(cli_run_options *own)
{
    *own = (cli_run_options){.run = {.size = sizeof own->run, .input = "-",
                                     .fit = {.size = sizeof own->run.fit, .regularise = -1, .weighted = -1}},
                             .constraint = "nonnegative", .kernel = "rank1", .known_b0 = "true", .weights = "signal"};
    cli_method_options_init(&own->method);
}

int cli_run_options_read(const cli_command *command, cli_common *common, const cli_option *table, cli_run_options *own)
{
    const hot_peaks_method *finder;
    hot_run_options *run = &own->run;
    int ended;
    if ((ended = cli_memory_read(command, common, own->memory, run->output, &run->memory)) >= 0 ||
        (ended = cli_method_options_read(command, common, &own->method, &run->signal)) >= 0 ||
        (ended = cli_diffusivities(command, common, &own->diffusivities, &run->axial_diffusivity,
                                   &run->radial_diffusivity)) >= 0)
        return ended;
    run->peaks = own->method.peaks;
    cli_msmt_options_read(own->constraint, own->kernel, &run->fit);
    run->fit.order = own->order ? own->order[0] - '0' : 0;
    run->fit.weighted = strcmp(own->weights, "signal") == 0;
    run->fit.estimate_s0 = strcmp(own->known_b0, "false") == 0;
    if (hot_run_check(common->context, run, cli_option_given, table, &finder) != HOT_OK)
        return cli_refuse_option(command, common);
    return -1;
}

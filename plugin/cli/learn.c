/* hotfiber learn: what a run learns from the whole volume, once for all its parts. */
#include "run/option_table.h"
#include "run_options.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

const cli_command cli_learn_command = {
    "learn", "what a run learns from the whole volume, for its parts", "-i DWI -o MODEL.json [options]",
    "Estimates mask, noise and response (with msmt those of three tissues), checks the gradients, learns the priors of "
    "the signal method, and writes all this to one JSON file. A run, or a part of one, that is given the file learns "
    "nothing and finds byte by byte the same. The options are those of hotfiber run that decide what is found; the "
    "file keeps them.\n\n"
    "  hotfiber learn -i dwi.nii.gz -o model.json\n"
    "  for k in 1 2 3 4; do hotfiber run --learned model.json --part $k/4 -o parts; done\n"
    "  hotfiber merge parts -o out",
    0};

int cli_learn(int argc, char **argv)
{
    cli_run_options own;
    cli_run_options_init(&own);
    hot_run_options *const options = &own.run;
    const cli_option table[] = {
        {"i", CLI_TEXT, &options->input, "DWI", "NRRD, NIfTI or MIF (default -, standard input)", 0, 0},
        {"o", CLI_OUTPUT, &options->learn, "FILE", "the JSON file to make; - is standard output; needed", 0, 0},
        CLI_RUN_OPTIONS(own),
        CLI_END,
    };
    CLI_PARSE(learn, table);
    if ((ended = cli_run_options_read(&cli_learn_command, &common, table, &own)) >= 0)
        return ended;
    if (!options->learn)
        return cli_refuse(&cli_learn_command, &common, "-o FILE is needed");
    char *record = cli_record(table, &common, HOT_MODEL_KEEPS);
    options->record = record;
    hot_run_result result = {0};
    hot_status status = hot_run(common.context, options, &result);
    cJSON_free(record);
    if (status == HOT_OK && !common.quiet && strcmp(options->learn, "-") != 0) {
        cli_terminal_newline();
        printf("%zu voxels in the mask; learned: %s\n", result.voxels, cli_shown(options->learn));
    }
    return cli_finish(&cli_learn_command, &common, status);
}

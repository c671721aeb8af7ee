/* hotfiber learn: what a run learns from the whole volume, once for all its parts. */
#include "run/option_table.h"
#include "run_options.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

const cli_command cli_learn_command = {
    "learn", "what a run learns from the whole volume, for its parts", "[-i] DWI -o MODEL.json [options]",
    "Estimates mask, noise and response (with msmt those of three tissues), checks the gradients, learns the priors of "
    "the signal method, and writes all this to one JSON file. A run, or a part of one, with this file does not learn, "
    "and its results are byte by byte the same. The options are those of hotfiber run that decide the results; the "
    "file keeps them.\n\n"
    "  hotfiber learn dwi.nii.gz -o model.json\n"
    "  for k in 1 2 3 4; do hotfiber run --learned model.json --part $k/4 -o parts; done\n"
    "  hotfiber merge parts -o out",
    0};

int cli_learn(int argc, char **argv)
{
    cli_run_options own;
    cli_option options[CLI_RUN_ROWS + 2], *end = options;
    cli_run_options_init(&own, HOT_LEARN_TAKES);
    *end++ = cli_row("i", &own.run.input);
    *end++ = (cli_option){"o", CLI_OUTPUT, &own.run.learn, "FILE",
                          "the JSON file to make; - is standard output; needed", 0, 0};
    memcpy(end, own.options, sizeof own.options);
    CLI_PARSE(learn, options);
    if ((ended = cli_run_options_read(&cli_learn_command, &common, &own)) >= 0)
        return ended;
    if (!own.run.learn)
        return cli_refuse(&cli_learn_command, &common, "-o FILE is needed");
    char *record = cli_record_write(options, &common, HOT_MODEL_KEEPS);
    own.run.record = record;
    hot_run_result result = {0};
    hot_status status = hot_run(common.context, &own.run, &result);
    cJSON_free(record);
    if (status == HOT_OK && !common.quiet && strcmp(own.run.learn, "-") != 0) {
        cli_terminal_newline();
        printf("%zu voxels in the mask; learned: %s\n", result.voxels, cli_shown(own.run.learn));
    }
    return cli_finish(&cli_learn_command, &common, status);
}

/* hotfiber merge: the parts of a run become its folder. */
#include "cli.h"

#include <stdlib.h>

const cli_command cli_merge_command = {
    "merge", "the parts that `hotfiber run --part` has left, to the folder of the whole run", "PARTS -o DIR [options]",
    "Takes the fibres from the parts and does the rest of the run, whose options and input the parts know: the files "
    "are byte by byte those of a run that was never in parts. Every part must be there; one that is missing or "
    "damaged is named, and is made again alone.\n\n"
    "  for k in 1 2 3 4; do hotfiber run -i dwi.nii.gz --part $k/4 -o parts; done\n"
    "  hotfiber merge parts -o out",
    1};

/* The run of the parts with this command's words, but the folder's name is that of --merge. */
static int merge(const char *record, const char *parts, int argc, char **argv)
{
    static char option[] = "--merge";
    char **words = calloc((size_t)argc + 2, sizeof *words);
    int n = 0, ended = HOT_EXIT_FAILED;
    for (int i = 0; words && i < argc; i++)
        if (argv[i] != parts)
            words[n++] = argv[i];
    if (words) {
        words[n++] = option;
        words[n++] = (char *)(size_t)parts;
        ended = cli_run_again(&cli_merge_command, record, n, words);
    }
    free(words);
    return ended;
}

int cli_merge(int argc, char **argv)
{
    const char *output = NULL, *outputs = NULL;
    char *record = NULL;
    int force = 0, report = 0, again = HOT_EXIT_FAILED;
    const cli_option options[] = {
        {"o", CLI_TEXT, &output, "DIR", "the directory to make; needed", 0, 0},
        {"outputs", CLI_TEXT, &outputs, "NAME", "other files than the parts' run was asked for: names separated by "
         "commas, see hotfiber run", 0, 0},
        {"report", CLI_FLAG, &report, NULL, "make report.html as well", 0, 0},
        {"force", CLI_FLAG, &force, NULL, "replace the result of an earlier run", 0, 0},
        CLI_END};
    CLI_PARSE(merge, options);
    if (common.argument_count == 0)
        return cli_refuse(&cli_merge_command, &common,
                          "the folder of the parts is needed: hotfiber merge PARTS -o DIR");
    if (!output)
        return cli_refuse(&cli_merge_command, &common, "-o DIR is needed");
    hot_status status = hot_run_parts_record(common.context, common.arguments[0], &record);
    if (status == HOT_OK && record[0] != '[')
        status = hot_context_fail(common.context, HOT_ERROR_FORMAT, "the parts in '%s' do not say how they were made",
                                  common.arguments[0]);
    if (status == HOT_OK)
        status = cli_record_check(common.context, record, common.arguments[0]);
    if (status == HOT_OK)
        again = merge(record, common.arguments[0], argc, argv);
    hot_context_free(common.context, record);
    if (status != HOT_OK)
        return cli_finish(&cli_merge_command, &common, status);
    hot_context_destroy(&common.context);
    return again;
}

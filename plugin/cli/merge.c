/* hotfiber merge: the parts of a run become its folder. */
#include "run_options.h"

const cli_command cli_merge_command = {
    "merge", "the parts that `hotfiber run --part` has left, to the folder of the whole run", "PARTS -o DIR [options]",
    "Takes the fibres from the parts and does the rest of the run, whose options and input the parts know: the files "
    "are byte by byte those of a run that was never in parts. Every part must be there; one that is missing or "
    "damaged is named, and is made again alone.\n\n"
    "  for k in 1 2 3 4; do hotfiber run -i dwi.nii.gz --part $k/4 -o parts; done\n"
    "  hotfiber merge parts -o out",
    1};

/* The options that the parts were made with. */
static hot_status load_record(void *user, hot_context *context, const cli_common *common, cli_record *record)
{
    cli_run_options *own = user;
    char *text = NULL;
    record->options = own->options;
    if (common->argument_count == 0 || !cli_option_given(own->options, "o"))
        return HOT_OK; /* refused below */
    const char *from = own->run.merge = common->arguments[0];
    hot_status status = hot_run_parts_record(context, from, &text);
    if (status == HOT_OK)
        status = text[0] == '[' ? cli_record_read(context, text, from, record)
                                : hot_context_fail(context, HOT_ERROR_FORMAT, "the parts in '%s' do not say how they "
                                                   "were made", from);
    hot_context_free(context, text);
    return status;
}

int cli_merge(int argc, char **argv)
{
    cli_run_options own;
    cli_option options[CLI_RUN_ROWS];
    cli_common common;
    cli_run_options_init(&own, 0);
    cli_run_options_pick(&own, "o outputs report no_report force ", options); /* in the order of the table */
    options[1].value = "NAME";
    options[1].help = "other files than those of the parts' run: names separated by commas, see hotfiber run";
    const int ended = cli_parse_with(&cli_merge_command, options, argc, argv, &common, load_record, &own);
    if (ended >= 0)
        return ended;
    if (common.argument_count == 0)
        return cli_refuse(&cli_merge_command, &common,
                          "the folder of the parts is needed: hotfiber merge PARTS -o DIR");
    return cli_run_finish(&cli_merge_command, &common, &own);
}

/* hotfiber run: the whole pipeline, and a table of its results. */
#include "cli.h"
#include "run/option_table.h"
#include "run_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

const cli_command cli_run_command = {
    "run", "the whole job: diffusion data in, a directory of fibre directions out", "[-i] DWI -o DIR [options]",
    "Reads diffusion-weighted data (NRRD, NIfTI with bval and bvec, or MIF), fits a tensor field, finds the fibre "
    "directions and writes directions, maps, a picture and a page about the run to a directory. Mask, response and "
    "noise are estimated from the data unless they are given. The directory appears when everything "
    "in it is complete; a run that fails or is cancelled leaves nothing.\n\n"
    "  hotfiber run dwi.nii.gz -o out\n"
    "  hotfiber run dwi.nii.gz -o out --mask brain.nii.gz --samples 50\n"
    "  hotfiber run dwi.nii.gz --bval other.bval --bvec other.bvec -o out --force\n"
    "  hotfiber run dwi.nhdr -o out --outputs default,tensors,fa,md --no_report",
    0};

static void show_count(const char *what, size_t count, size_t of)
{
    printf("  %-26s %10zu", what, count);
    if (of > 0)
        printf("  %5.1f %%", 100.0 * (double)count / (double)of);
    putchar('\n');
}

/* What was written, in the order in which to look at it. */
static void show_files(const char *output, const char *slash)
{
    static const struct { const char *file, *about; } files[] = {
        {"fibers.png", "look at this first: the fibres on three slices"},
        {"report.html", "open in a browser: maps, numbers, warnings, text for a paper"},
        {"peaks.nii.gz", "directions, for MRtrix, TractSeg, DIPY"},
        {"bedpostx", "samples, for FSL's probtrackx2"},
        {"report.json", "settings, counts and warnings, for programs"}};
    int width = 0;
    char path[PATH_MAX];
    printf("written to %s\n", cli_shown(output));
    for (int print = 0; print <= 1; print++)
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "%s%s%s", output, slash, files[i].file);
            if (access(path, F_OK) != 0) /* not among --outputs */
                continue;
            if (print)
                printf("  %-*s  %s\n", width, cli_shown(path), files[i].about);
            else if ((int)strlen(cli_shown(path)) > width)
                width = (int)strlen(cli_shown(path));
        }
    printf("to look around: hotfiber view %s\n", cli_shown(output));
}

static void show_table(const hot_run_result *result, const char *output)
{
    const char *slash = output[strlen(output) - 1] == '/' ? "" : "/";
    show_count("voxels in the mask", result->voxels, 0);
    if (result->flagged > 0)
        show_count("of these not usable", result->flagged, result->voxels);
    show_count("without a fibre", result->fibers[0], result->voxels);
    show_count("with one fibre", result->fibers[1], result->voxels);
    show_count("with two fibres", result->fibers[2], result->voxels);
    show_count("with three fibres", result->fibers[3], result->voxels);
    if (result->fibers[4] > 0)
        show_count("with more", result->fibers[4], result->voxels);
    printf("  %-26s %10.2f s\n", "time", result->seconds);
    show_files(output, slash);
}

static void show_part(const hot_run_result *result, const hot_run_options *options)
{
    show_count("voxels in the part", result->voxels, 0);
    printf("  %-26s %10.2f s\n", "time", result->seconds);
    const char *folder = cli_shown(options->output);
    printf("part: %s/part-%d-of-%d.nrrd   when all parts are done: hotfiber merge %s -o DIR\n", folder, options->part,
           options->parts, folder);
}

int cli_run_finish(const cli_command *command, cli_common *common, cli_run_options *own)
{
    hot_run_options *options = &own->run;
    hot_run_result result = {0};
    char *record = NULL;
    const int ended = cli_run_options_read(command, common, own);
    if (ended >= 0)
        return ended;
    if (!options->output)
        return cli_refuse(command, common, "-o DIR is needed");
    if (strcmp(options->output, "-") == 0)
        return cli_refuse(command, common, "-o names a directory; it cannot be standard output");
    if (options->parts)
        options->record = record = cli_record_write(own->options, common, HOT_PART_KEEPS);
    hot_status status = hot_run(common->context, options, &result);
    cJSON_free(record);
    if (status == HOT_OK && !common->quiet) {
        cli_terminal_newline();
        if (options->parts)
            show_part(&result, options);
        else
            show_table(&result, options->output);
    }
    return cli_finish(command, common, status);
}

/* The options that a file of hotfiber learn was made with. */
static hot_status load_record(void *user, hot_context *context, const cli_common *common, cli_record *record)
{
    cli_run_options *own = user;
    cli_option learned[2];
    char *text = NULL;
    (void)common;
    cli_run_options_pick(own, "learned ", learned);
    record->options = own->options;
    const char *from = *(const char *const *)learned[0].target;
    if (!from || hot_run_learned_record(context, from, &text) != HOT_OK)
        return HOT_OK; /* the run says what is wrong with it */
    const hot_status status = text[0] == '[' ? cli_record_read(context, text, from, record) : HOT_OK;
    hot_context_free(context, text);
    return status;
}

int cli_run(int argc, char **argv)
{
    cli_run_options own;
    cli_common common;
    cli_run_options_init(&own, 0);
    const int ended = cli_parse_with(&cli_run_command, own.options, argc, argv, &common, load_record, &own);
    return ended >= 0 ? ended : cli_run_finish(&cli_run_command, &common, &own);
}

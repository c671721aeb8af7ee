/* hotfiber run: the whole job, and a table of what it found. */
#include "cli.h"
#include "run/option_table.h"
#include "run_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

const cli_command cli_run_command = {
    "run", "the whole job: diffusion data in, a directory of fibre directions out", "-i DWI -o DIR [options]",
    "Reads diffusion-weighted data (NRRD, NIfTI with bval and bvec, or MIF), fits a tensor field, finds the fibre "
    "directions and writes directions, maps, a picture and a report to a directory. Mask, response and noise "
    "are estimated from the data unless they are given. The directory appears when everything "
    "in it is complete; a run that fails or is cancelled leaves nothing.\n\n"
    "  hotfiber run -i dwi.nhdr -o out\n"
    "  hotfiber run -i dwi.nhdr -o out --outputs default,tensors,fa,md\n"
    "  hotfiber run -i dwi.nii.gz --bval dwi.bval --bvec dwi.bvec --mask brain.nii.gz -o out --force",
    0};

static void show_count(const char *what, size_t count, size_t of)
{
    printf("  %-26s %10zu", what, count);
    if (of > 0)
        printf("  %5.1f %%", 100.0 * (double)count / (double)of);
    putchar('\n');
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
    static const char *const shown[][2] = {{"directions", "peaks.nii.gz"}, {"picture", "fibers.png"},
                                           {"report", "report.json"}, {"page", "report.html"}};
    const char *gap = "";
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s%s", output, slash, shown[i][1]);
        if (access(path, F_OK) != 0) /* not among --outputs */
            continue;
        printf("%s%s: %s", gap, shown[i][0], cli_shown(path));
        gap = "   ";
    }
    putchar('\n');
}

/* The help of --outputs: what there is, a line each. */
static void describe_outputs(char *text, size_t size)
{
    const char *name, *file, *help;
    size_t at = (size_t)snprintf(
        text, size, "which files to leave, beside report.json: names or sets separated by commas. Sets: default; all "
                    "(the files of version 0.1); maps (mask, response, amplitude, b0, fa, md, afd_..., nufo). Default: "
                    "default, which is peaks, peaks_nrrd, nfibers, mask, response, dec and png");
    for (size_t i = 0; at < size && (name = hot_run_output_name(i, &file, &help)); i++)
        at += (size_t)snprintf(text + at, size - at, "\n  %-12s %s (%s)", name, help, file);
}

/* "3/16". */
static int read_part(const char *text, hot_run_options *options)
{
    int end = 0;
    return sscanf(text, "%9d/%9d%n", &options->part, &options->parts, &end) == 2 && text[end] == '\0' &&
           options->part >= 1 && options->part <= options->parts;
}

static void show_part(const hot_run_result *result, const hot_run_options *options)
{
    show_count("voxels in the part", result->voxels, 0);
    printf("  %-26s %10.2f s\n", "time", result->seconds);
    const char *folder = cli_shown(options->output);
    printf("part: %s/part-%d-of-%d.nrrd   when all are there: hotfiber merge %s -o DIR\n", folder, options->part,
           options->parts, folder);
}

/* The file after --learned, or NULL. */
static const char *find_learned(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--learned") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--learned=", 10) == 0)
            return argv[i] + 10;
    }
    return NULL;
}

int cli_run(int argc, char **argv)
{
    const char *learned = find_learned(argc, argv);
    char *record = NULL;
    hot_context *context = NULL;
    int ended = -1;
    if (learned && hot_context_create(NULL, &context) == HOT_OK && /* else the run says what is wrong with it */
        hot_run_learned_record(context, learned, &record) == HOT_OK && record[0] == '[') {
        if (cli_record_check(context, record, learned) == HOT_OK)
            ended = cli_run_again(&cli_run_command, record, argc, argv);
        else {
            ended = HOT_EXIT_FAILED;
            fprintf(stderr, "hotfiber run: %s\n", hot_context_message(context));
        }
    }
    hot_context_free(context, record);
    hot_context_destroy(&context);
    return ended >= 0 ? ended : cli_run_as(&cli_run_command, argc, argv);
}

int cli_run_as(const cli_command *command, int argc, char **argv)
{
    cli_run_options own;
    const char *part = NULL;
    char about_outputs[4096];
    describe_outputs(about_outputs, sizeof about_outputs);
    cli_run_options_init(&own);
    hot_run_options *const options = &own.run;
    const cli_option table[] = {
        {"i", CLI_TEXT, &options->input, "DWI", "NRRD, NIfTI or MIF (default -, standard input)", 0, 0},
        {"o", CLI_TEXT, &options->output, "DIR", "the directory to make; needed", 0, 0},
        {"outputs", CLI_TEXT, &options->outputs, "LIST", about_outputs, 0, 0},
        {"report", CLI_FLAG, &options->report, NULL,
         "make report.html as well, a page with pictures, numbers, settings and text for a paper (see hotfiber "
         "report), and b0.nii.gz", 0, 0},
        {"part", CLI_TEXT, &part, "K/N",
         "find the fibres in the K-th of N shares of the voxels alone, and leave one file of that in DIR, for hotfiber "
         "merge; any machine may make any part, in any order", 0, 0},
        {"merge", CLI_TEXT, &options->merge, "PARTS",
         "find nothing: take the fibres from the parts in this folder. With the options that these were made with; "
         "hotfiber merge knows them", 0, 0},
        {"learned", CLI_TEXT, &options->learned, "FILE",
         "learn nothing: mask, noise, response and priors are those of this file of hotfiber learn, whose options are "
         "taken as well; the input too, unless -i is given", 0, 0},
        {"resume", CLI_FLAG, &options->resume, NULL,
         "keep what is learned and found in the folder DIR.resume until DIR is complete: the same command goes on "
         "where a run was killed or cancelled", 0, 0},
        {"force", CLI_FLAG, &options->force, NULL, "replace the result of an earlier run", 0, 0},
        CLI_RUN_OPTIONS(own),
        {"samples", CLI_INT, &own.signal.samples, "N",
         "signal: N samples of the posterior in OUT/bedpostx, as FSL's bedpostx leaves them "
         "for probtrackx", 1, 1000},
        CLI_END,
    };
    cli_common common;
    int ended = cli_parse(command, table, argc, argv, &common);
    if (ended >= 0)
        return ended;
    if ((ended = cli_run_options_read(command, &common, table, &own)) >= 0)
        return ended;
    if (part && !read_part(part, options))
        return cli_refuse(command, &common, "--part is K/N, the K-th of N parts (3/16), not '%s'", part);
    if (!options->output)
        return cli_refuse(command, &common, "-o DIR is needed");
    if (strcmp(options->output, "-") == 0)
        return cli_refuse(command, &common, "-o names a directory; it cannot be standard output");
    hot_run_result result = {0};
    char *record = NULL;
    if (part) {
        record = cli_record(table, &common, HOT_PART_KEEPS);
        options->record = record;
    }
    hot_status status = hot_run(common.context, options, &result);
    cJSON_free(record);
    if (status == HOT_OK && !common.quiet) {
        cli_terminal_newline();
        if (part)
            show_part(&result, options);
        else
            show_table(&result, options->output);
    }
    return cli_finish(command, &common, status);
}

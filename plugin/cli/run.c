/* hotfiber run: the whole job, and a table of what it found. */
#include "cli.h"
#include "method_options.h"

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
        printf("%s%s: %s", gap, shown[i][0], path);
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
    printf("part: %s/part-%d-of-%d.nrrd   when all are there: hotfiber merge %s -o DIR\n", options->output,
           options->part, options->parts, options->output);
}

int cli_run(int argc, char **argv) { return cli_run_as(&cli_run_command, argc, argv); }

int cli_run_as(const cli_command *command, int argc, char **argv)
{
    hot_run_options options = {.size = sizeof options,
                               .input = "-",
                               .fit = {.size = sizeof options.fit, .regularise = -1, .weighted = -1}};
    cli_method_options method;
    cli_list diffusivities = {0};
    const char *constraint = "nonnegative", *kernel = "rank1", *part = NULL, *order = NULL, *known_b0 = "true";
    const char *weights = "signal";
    char about_outputs[4096];
    describe_outputs(about_outputs, sizeof about_outputs);
    cli_method_options_init(&method);
    const cli_option table[] = {
        {"i", CLI_TEXT, &options.input, "DWI", "NRRD, NIfTI or MIF (default -, standard input)", 0, 0},
        {"o", CLI_TEXT, &options.output, "DIR", "the directory to make; needed", 0, 0},
        {"outputs", CLI_TEXT, &options.outputs, "LIST", about_outputs, 0, 0},
        {"report", CLI_FLAG, &options.report, NULL,
         "make report.html as well, a page with pictures, numbers, settings and text for a paper (see hotfiber "
         "report), and b0.nii.gz", 0, 0},
        {"part", CLI_TEXT, &part, "K/N",
         "find the fibres in the K-th of N shares of the voxels alone, and leave one file of that in DIR, for hotfiber "
         "merge; any machine may make any part, in any order", 0, 0},
        {"merge", CLI_TEXT, &options.merge, "PARTS",
         "find nothing: take the fibres from the parts in this folder. With the options that these were made with; "
         "hotfiber merge knows them", 0, 0},
        {"force", CLI_FLAG, &options.force, NULL, "replace the result of an earlier run", 0, 0},
        CLI_GRADIENT_OPTIONS(options.bval, options.bvec),
        CLI_MASK_OPTION(options.mask),
        {"denoise", CLI_FLAG, &options.denoise, NULL,
         "denoise the data first (see hotfiber denoise) and write the map of the noise to noise.nii.gz", 0, 0},
        {"model", CLI_CHOICE, &options.fit.model, "adc|odf|fod|msmt",
         "what the tensor is: apparent diffusivity, diffusion orientations (q-ball), fibre orientations "
         "(deconvolution, default; with fewer than 15 directions adc), or these beside other tissues (msmt). The "
         "maxima of adc are not the fibres where fibres cross", 0, 0},
        {"order", CLI_CHOICE, &order, "2|4|6|8",
         "order of the tensors; default 6, or the highest that the directions determine", 0, 0},
        {"response", CLI_TEXT, &options.response, "FILE",
         "fod, msmt: single-fibre response in MRtrix's text format; default: estimated from the data. msmt takes a "
         "list, white matter first: wm.txt,gm.txt,csf.txt; with two shells or more it estimates these three", 0, 0},
        CLI_DIFFUSIVITIES(diffusivities, "fod: response from the "),
        {"regularise", CLI_DOUBLE, &options.fit.regularise, "W", "Laplace-Beltrami weight; default: the model's", 0,
         1e6},
        CLI_ADC_OPTIONS(known_b0, weights, options.fit.positive),
        CLI_MSMT_OPTIONS(constraint, kernel, options.fit.normalise),
        CLI_METHOD_OPTIONS(method, "signal with fod, else maxima"),
        {"sigma", CLI_DOUBLE, &options.signal.sigma, "S",
         "signal: the noise's standard deviation; default: from the b=0 images, or the residuals", 1e-30, 1e30},
        {"samples", CLI_INT, &options.signal.samples, "N",
         "signal: N samples of the posterior in OUT/bedpostx, as FSL's bedpostx leaves them "
         "for probtrackx", 1, 1000},
        CLI_END,
    };
    cli_common common;
    int ended = cli_parse(command, table, argc, argv, &common);
    if (ended >= 0)
        return ended;
    const hot_peaks_method *finder;
    if ((ended = cli_method_options_read(command, &common, &method, &options.signal)) >= 0 ||
        (ended = cli_diffusivities(command, &common, &diffusivities, &options.axial_diffusivity,
                                   &options.radial_diffusivity)) >= 0)
        return ended;
    options.peaks = method.peaks;
    cli_msmt_options_read(constraint, kernel, &options.fit);
    options.fit.order = order ? order[0] - '0' : 0;
    options.fit.weighted = strcmp(weights, "signal") == 0;
    options.fit.estimate_s0 = strcmp(known_b0, "false") == 0;
    if (hot_run_check(common.context, &options, cli_option_given, table, &finder) != HOT_OK)
        return cli_refuse_option(command, &common);
    if (part && !read_part(part, &options))
        return cli_refuse(command, &common, "--part is K/N, the K-th of N parts (3/16), not '%s'", part);
    if (!options.output)
        return cli_refuse(command, &common, "-o DIR is needed");
    if (strcmp(options.output, "-") == 0)
        return cli_refuse(command, &common, "-o names a directory; it cannot be standard output");
    hot_run_result result = {0};
    char *record = NULL;
    if (part) {
        record = cli_record(table, &common, "o part force ");
        options.record = record;
    }
    hot_status status = hot_run(common.context, &options, &result);
    cJSON_free(record);
    if (status == HOT_OK && !common.quiet) {
        cli_terminal_newline();
        if (part)
            show_part(&result, &options);
        else
            show_table(&result, options.output);
    }
    return cli_finish(command, &common, status);
}

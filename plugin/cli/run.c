/* hotfiber run: the whole job, and a table of what it found. */
#include "cli.h"
#include "peaks_signal.h"

#include <stdio.h>
#include <string.h>

const cli_command cli_run_command = {
    "run", "the whole job: diffusion data in, a directory of fibre directions out", "-i DWI -o DIR [options]",
    "Reads diffusion-weighted data (NRRD, or NIfTI with bval and bvec), fits a tensor field, finds the fibre "
    "directions and leaves tensors, directions, maps, a picture and a report in a directory. What is not said is "
    "estimated from the data: mask, response, noise, how many fibres there are. The directory appears when everything "
    "in it is whole; a run that fails or is stopped leaves nothing.\n\n"
    "  hotfiber run -i dwi.nhdr -o out\n"
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
        show_count("of them not usable", result->flagged, result->voxels);
    show_count("without a fibre", result->fibers[0], result->voxels);
    show_count("with one fibre", result->fibers[1], result->voxels);
    show_count("with two fibres", result->fibers[2], result->voxels);
    show_count("with three fibres", result->fibers[3], result->voxels);
    if (result->fibers[4] > 0)
        show_count("with more", result->fibers[4], result->voxels);
    printf("  %-26s %10.2f s\n", "time", result->seconds);
    printf("directions: %s%speaks.nrrd (and .nii.gz)   picture: %s%sfibers.png   all about it: %s%sreport.json\n",
           output, slash, output, slash, output, slash);
}

int cli_run(int argc, char **argv)
{
    hot_run_options options = {.size = sizeof options,
                               .input = "-",
                               .fit = {.size = sizeof options.fit, .regularise = -1, .weighted = -1},
                               .peaks = {.size = sizeof options.peaks, .threshold = -1, .min_angle = -1,
                                         .min_amplitude = -1}};
    cli_list diffusivities = {0};
    const char *select = "map", *contrast = "auto";
    char methods[128] = "signal";
    const char *name;
    for (size_t i = 0; (name = hot_peaks_method_name(i, NULL)) != NULL; i++) {
        strncat(methods, "|", sizeof methods - strlen(methods) - 1);
        strncat(methods, name, sizeof methods - strlen(methods) - 1);
    }
    const char *order = NULL;
    const char *known_b0 = "true", *weights = "signal";
    const cli_option table[] = {
        {"i", CLI_TEXT, &options.input, "DWI", "NRRD (default: standard input) or NIfTI", 0, 0},
        {"o", CLI_TEXT, &options.output, "DIR", "the directory to make; needed", 0, 0},
        {"force", CLI_FLAG, &options.force, NULL, "replace the result of an earlier run", 0, 0},
        {"bval", CLI_TEXT, &options.bval, "FILE", "for NIfTI; default: beside it, same base name", 0, 0},
        {"bvec", CLI_TEXT, &options.bvec, "FILE", "for NIfTI; default: beside it, same base name", 0, 0},
        {"mask", CLI_TEXT, &options.mask, "FILE",
         "compute where it is not 0; default: estimated from the b=0 images", 0, 0},
        {"denoise", CLI_FLAG, &options.denoise, NULL,
         "denoise the data first (see hotfiber denoise), and leave the noise's map in noise.nii.gz", 0, 0},
        {"model", CLI_CHOICE, &options.fit.model, "adc|odf|fod",
         "what the tensor is: apparent diffusivity, diffusion orientations (q-ball), fibre orientations "
         "(deconvolution, default). The maxima of adc are not the fibres where fibres cross", 0, 0},
        {"order", CLI_CHOICE, &order, "2|4|6|8", "of the tensors; default 6, or what the directions determine", 0, 0},
        {"response", CLI_TEXT, &options.response, "FILE",
         "single-fibre response in MRtrix's text format (fod); default: estimated from the data", 0, 0},
        {"diffusivities", CLI_LIST, &diffusivities, "ALONG,ACROSS",
         "response from these, mm^2/s (fod), e.g. 1.7e-3,0.3e-3", 1e-6, 1},
        {"regularise", CLI_DOUBLE, &options.fit.regularise, "W", "Laplace-Beltrami weight; default: the model's", 0,
         1e6},
        {"known_b0", CLI_CHOICE, &known_b0, "true|false",
         "adc: S0 is the mean b=0 signal (true, default) or estimated with the tensor (false)", 0, 0},
        {"weights", CLI_CHOICE, &weights, "signal|none",
         "adc: least squares weighted by the squared fitted signals (default) or plain", 0, 0},
        {"positive", CLI_FLAG, &options.fit.positive, NULL,
         "adc: where the diffusivity comes out negative in some direction, fit again so that it does not", 0, 0},
        {"method", CLI_CHOICE, &options.peaks.method, methods,
         "how directions are found: signal (default with fod), as many fibres as the signals ask for, fitted to them; "
         "maxima (default with adc and odf), of the tensor; lowrank: its rank-1 terms",
         0, 0},
        {"select", CLI_CHOICE, &select, "map|averaged",
         "signal: the number of fibres whose best fit costs least (default), or the most probable number", 0, 0},
        {"contrast", CLI_CHOICE, &contrast, CLI_CONTRAST_CHOICES, CLI_CONTRAST_HELP, 0, 0},
        {"sigma", CLI_DOUBLE, &options.signal.sigma, "S",
         "signal: the noise's standard deviation; default: from the b=0 images, or the residuals", 1e-30, 1e30},
        {"max_fibers", CLI_INT, &options.peaks.max_fibers, "N", "at most so many per voxel; default 3", 1, 16},
        {"threshold", CLI_DOUBLE, &options.peaks.threshold, "F",
         "maxima: drop directions below this fraction of the largest; default .25", 0, 1},
        {"min_angle", CLI_DOUBLE, &options.peaks.min_angle, "DEGREES",
         "maxima: of two directions closer than this the smaller is dropped; default 15", 0, 90},
        {"min_amplitude", CLI_DOUBLE, &options.peaks.min_amplitude, "A",
         "maxima: drop directions shorter than this; default .1 for fod (a volume fraction), else 0", 0, 1e9},
        {"starts", CLI_SIZE, &options.peaks.starts, "N",
         "maxima: SS-HOPM from so many starting vectors; default 0: scan the sphere and refine", 0, 1e6},
        {NULL, 0, NULL, NULL, NULL, 0, 0},
    };
    cli_common common;
    int leave = cli_parse(&cli_run_command, table, argc, argv, &common);
    if (leave >= 0)
        return leave;
    if (!options.output)
        return cli_refuse(&cli_run_command, &common, "-o DIR is needed");
    if (strcmp(options.output, "-") == 0)
        return cli_refuse(&cli_run_command, &common, "-o is a directory here; standard output does not do");
    if (cli_given(&diffusivities) && (diffusivities.count != 2 || diffusivities.values[0] < diffusivities.values[1]))
        return cli_refuse(&cli_run_command, &common,
                          "--diffusivities needs two numbers, along and across the fibre, the larger first");
    if (cli_given(&diffusivities) && options.response)
        return cli_refuse(&cli_run_command, &common, "--response and --diffusivities exclude each other");
    const int fod = !options.fit.model || strcmp(options.fit.model, "fod") == 0;
    const int by_signal = options.peaks.method ? strcmp(options.peaks.method, "signal") == 0 : fod;
    if (by_signal && !fod)
        return cli_refuse(&cli_run_command, &common, "--method signal goes with --model fod; for %s there is maxima",
                          options.fit.model);
    if (by_signal && options.peaks.max_fibers > 3)
        return cli_refuse(&cli_run_command, &common, "--max_fibers is at most 3 with --method signal, not %d",
                          options.peaks.max_fibers);
    const cli_option *misplaced = cli_misplaced(table, by_signal ? "maxima: " : "signal: ");
    if (misplaced)
        return cli_refuse(&cli_run_command, &common, "--%s goes with --method %s only", misplaced->name,
                          by_signal ? "maxima" : "signal");
    options.signal.contrast = cli_contrast(contrast);
    options.signal.select = strcmp(select, "averaged") == 0 ? HOT_SELECT_AVERAGED : HOT_SELECT_MAP;
    if (order)
        options.fit.order = order[0] - '0';
    options.fit.weighted = strcmp(weights, "signal") == 0;
    options.fit.estimate_s0 = strcmp(known_b0, "false") == 0;
    if (diffusivities.count == 2) {
        options.diffusivity_along = diffusivities.values[0];
        options.diffusivity_across = diffusivities.values[1];
    }
    hot_run_result result = {0};
    hot_status status = hot_run(common.context, &options, &result);
    if (status == HOT_OK && !common.quiet) {
        cli_terminal_newline();
        show_table(&result, options.output);
    }
    return cli_finish(&cli_run_command, &common, status);
}

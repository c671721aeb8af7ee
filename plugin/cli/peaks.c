/* hotfiber peaks: tensor field in, fibre directions out. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/common/output.h"
#include "peaks_signal.h"

const cli_command cli_peaks_command = {
    .name = "peaks",
    .summary = "fibre directions from a tensor field",
    .usage = "-i TENSORS -o PEAKS [options]",
    .about =
    "Per voxel up to --max_fibers vectors x1 y1 z1 x2 ..., longest first, in the input's space; the length is the "
    "fibre's volume fraction (fod) or the value of the form there (adc, odf); absent ones are 0. NRRD, or NIfTI in "
    "scanner RAS when the name ends in .nii or .nii.gz.\n\n"
    "Method signal (needs --dwi): fits 0 to 3 fibres to the signals themselves and chooses how many there are by their "
    "probability; the most accurate. Tensors are not used: with -i, the voxels that have one are computed, without it "
    "those of --mask or of the mask estimated from the b=0 images.\n\n"
    "Method lowrank (orders 4, 6, 8): the tensor as a sum of 1 to 3 rank-1 terms; with fod these are the fibres. "
    "Splits crossings that the maxima merge; order 4 or 6 is best.\n\n"
    "Method maxima: the local maxima of the tensor's form A x^m on the sphere, found by scanning a half sphere and "
    "refining what stands out; with --starts N by SS-HOPM from N evenly spread starts instead. The maxima of adc do "
    "not lie on crossing fibres: use fod.\n\n"
    "  hotfiber fit -i dwi.nhdr --model fod --order 6 | hotfiber peaks -o peaks.nii.gz\n"
    "  hotfiber peaks --method signal --dwi dwi.nhdr -o peaks.nrrd --probability p.nrrd",
};

/* "adaptive", "none" or a number. */
static int parse_shift(const char *text, hot_peaks_options *settings)
{
    char *end;
    if (strcmp(text, "adaptive") == 0)
        settings->shift = HOT_SHIFT_ADAPTIVE;
    else if (strcmp(text, "none") == 0)
        settings->shift = HOT_SHIFT_NONE;
    else {
        settings->shift = HOT_SHIFT_FIXED;
        settings->alpha = strtod(text, &end);
        return end != text && *end == '\0' && isfinite(settings->alpha) && settings->alpha >= 0;
    }
    return 1;
}

int cli_peaks(int argc, char **argv)
{
    const char *input = "-", *output = "-", *mask_path = NULL, *shift = "adaptive";
    hot_peaks_options settings = {.size = sizeof settings, .method = "maxima", .max_fibers = 3, .threshold = -1,
                                  .min_angle = -1, .min_amplitude = -1};
    cli_peaks_signal_options signal = {.select = "map", .contrast = "auto"};
    char methods[128] = "";
    const char *name;
    for (size_t i = 0; (name = hot_peaks_method_name(i, NULL)) != NULL; i++) {
        if (i > 0)
            strncat(methods, "|", sizeof methods - strlen(methods) - 1);
        strncat(methods, name, sizeof methods - strlen(methods) - 1);
    }
    strncat(methods, "|signal", sizeof methods - strlen(methods) - 1);
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "tensor field (NRRD); default: standard input", 0, 0},
        {"o", CLI_TEXT, &output, "FILE", "directions: NRRD, or .nii / .nii.gz; default: standard output", 0, 0},
        {"method", CLI_CHOICE, &settings.method, methods, "how directions are found; default maxima", 0, 0},
        {"max_fibers", CLI_INT, &settings.max_fibers, "N", "how many directions are kept per voxel; default 3", 1, 16},
        {"threshold", CLI_DOUBLE, &settings.threshold, "FRACTION",
         "directions shorter than this fraction of the longest are dropped; default .25, lowrank .2", 0, 1},
        {"min_angle", CLI_DOUBLE, &settings.min_angle, "DEGREES",
         "of two directions closer than this the shorter is dropped; default 15, lowrank 25", 0, 90},
        {"min_amplitude", CLI_DOUBLE, &settings.min_amplitude, "LENGTH",
         "directions shorter than this are dropped; default .1 for "
         "fod (a volume fraction), 0 for adc and odf", 0, INFINITY},
        {"starts", CLI_SIZE, &settings.starts, "N",
         "maxima: SS-HOPM from so many starts per voxel; default 0: scan and refine", 0, 100000},
        {"shift", CLI_TEXT, &shift, "SHIFT", "maxima with --starts: adaptive (default), none, or a number >= 0", 0, 0},
        {"mask", CLI_TEXT, &mask_path, "FILE", "look only here (NRRD or NIfTI, non-zero = inside)", 0, 0},
        {"dwi", CLI_TEXT, &signal.dwi, "FILE", "signal: the diffusion data (NRRD or NIfTI)", 0, 0},
        {"bval", CLI_TEXT, &signal.bval, "FILE", "signal, NIfTI: FSL b-values; default: beside the data", 0, 0},
        {"bvec", CLI_TEXT, &signal.bvec, "FILE",
         "signal, NIfTI: FSL gradient directions; default: beside the data", 0, 0},
        {"response", CLI_TEXT, &signal.response, "FILE",
         "signal: single-fibre response in MRtrix's text format; default: that of the tensors' "
         "file, else estimated", 0, 0},
        {"order", CLI_INT, &signal.order, "N", "signal: degrees of the response used, 4, 6 or 8; default 8", 4, 8},
        {"sigma", CLI_TEXT, &signal.sigma, "FILE",
         "signal: standard deviation of the noise, a number, or a file with a map; default: "
         "from the b=0 volumes, else the residuals", 0, 0},
        {"select", CLI_CHOICE, &signal.select, "map|averaged",
         "signal: the number of fibres whose best fit is most probable (default), or all its fits together", 0, 0},
        {"contrast", CLI_CHOICE, &signal.contrast, CLI_CONTRAST_CHOICES, CLI_CONTRAST_HELP, 0, 0},
        {"probability", CLI_TEXT, &signal.map[0], "FILE", "signal: write P(0) ... P(3) of each voxel", 0, 0},
        {"margin", CLI_TEXT, &signal.map[1], "FILE", "signal: write log10 of the odds of the number chosen", 0, 0},
        {"residual", CLI_TEXT, &signal.map[2], "FILE", "signal: write the residual in units of the noise", 0, 0},
        {"width", CLI_TEXT, &signal.map[3], "FILE",
         "signal: write how much wider than the response fibres are, rad^2", 0, 0},
        {"flags", CLI_TEXT, &signal.map[4], "FILE",
         "signal: write why voxels have no fibre: 1 NaN, 2 no b=0 signal, 4 negative, 8 clipped, 16 noise alone", 0, 0},
        {NULL, 0, NULL, NULL, NULL, 0, 0},
    };
    cli_common common;
    int left = cli_parse(&cli_peaks_command, options, argc, argv, &common);
    if (left >= 0)
        return left;
    hot_context *context = common.context;
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL;
    hot_mask *mask = NULL;
    if (!parse_shift(shift, &settings)) {
        fprintf(stderr, "hotfiber peaks: --shift is adaptive, none or a number of at least 0, not '%s'\n", shift);
        cli_finish(&cli_peaks_command, &common, HOT_OK);
        return HOT_EXIT_USAGE;
    }
    const int by_signal = strcmp(settings.method, "signal") == 0;
    const cli_option *misplaced = cli_misplaced(options, by_signal ? "maxima" : "signal");
    if (misplaced)
        return cli_refuse(&cli_peaks_command, &common, "--%s goes with --method %s only", misplaced->name,
                          by_signal ? "maxima" : "signal");
    if (by_signal) {
        signal.tensors = cli_given(&input) ? input : NULL;
        signal.output = output;
        signal.mask = mask_path;
        signal.max_fibers = settings.max_fibers;
        return cli_finish(&cli_peaks_command, &common, cli_peaks_signal(context, &signal));
    }
    hot_status status = hot_output_check_distinct(context, input, output);
    if (status == HOT_OK)
        status = hot_tensor_field_load(context, input, &tensors);
    if (status == HOT_OK && mask_path)
        status = hot_mask_load(context, mask_path, hot_tensor_field_grid(tensors), &mask);
    settings.mask = mask;
    if (status == HOT_OK)
        status = hot_fiber_field_find(context, tensors, &settings, &fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_save(context, fibers, output);
    hot_mask_destroy(&mask);
    hot_tensor_field_destroy(&tensors);
    hot_fiber_field_destroy(&fibers);
    return cli_finish(&cli_peaks_command, &common, status);
}

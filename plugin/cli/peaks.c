/* hotfiber peaks: tensor field in, fibre directions out. */
#include "peaks_signal.h"

#include <stdio.h>
#include <string.h>

#include "fibers/method.h"
#include "io/common/output.h"
#include "method_options.h"

const cli_command cli_peaks_command = {
    "peaks", "fibre directions from tensors, spherical harmonics or the signals", "[-i] FILE -o PEAKS [options]",
    "Per voxel up to --max_fibers vectors x1 y1 z1 x2 ..., longest first, in the input's space; the length is the "
    "fibre's volume fraction (fod) or the value of the form there (adc, odf, harmonics); absent ones are 0. NRRD, or "
    "by its name NIfTI or MIF, in scanner RAS.\n\n"
    "Spherical harmonics of any program are taken: one volume per coefficient, even degrees, lmax 2 to 12. sh2peaks' "
    "-num and -mask mean the same here, its -threshold is --min_amplitude; --threshold 0 --min_angle 0 leaves "
    "out no maximum (sh2peaks starts from fewer points, so that its small ones differ).\n\n",
    0};
static const char examples[] =
    "  hotfiber fit dwi.nhdr --model fod --order 6 | hotfiber peaks -o peaks.nii.gz\n"
    "  hotfiber peaks wmfod.mif --mask mask.mif -o peaks.nii.gz\n"
    "  hotfiber peaks shm_coeff.nii.gz --basis descoteaux07_legacy -o peaks.nii.gz\n"
    "  hotfiber peaks tensors.nrrd --method sshopm --starts 128 -o peaks.nrrd\n"
    "  hotfiber peaks --method signal --dwi dwi.nhdr -o peaks.nrrd --probability p.nrrd";

/* The help: the text above, the methods' descriptions, the examples. */
static const char *about_methods(char *text, size_t size)
{
    size_t count, used = (size_t)snprintf(text, size, "%s", cli_peaks_command.about);
    const hot_peaks_method *const *methods = hot_peaks_methods(&count);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "Method %s: %s\n\n", methods[i]->name, methods[i]->about);
    if (used < size)
        snprintf(text + used, size - used, "%s", examples);
    return text;
}

/* Checks the options: the library's rules, and that options about the data go with methods that use the data. */
static hot_status check(hot_context *context, const hot_peaks_options *peaks, const hot_signal_find_options *signal,
                        const cli_option *table, const hot_peaks_method **method)
{
    const hot_peaks_choice choice = {.peaks = peaks, .signal = signal, .given = cli_option_given, .user = table};
    hot_status status = hot_peaks_check(context, &choice, method);
    for (const cli_option *option = table; option->name && status == HOT_OK; option++)
        if (cli_given(option->target))
            status = hot_peaks_check_takes(context, &choice, *method, option->name);
    return status;
}

static hot_status find(hot_context *context, const char *input, const hot_sh_options *harmonics, const char *output,
                       const char *mask_path, hot_peaks_options *peaks)
{
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL;
    hot_mask *mask = NULL;
    hot_status status = hot_output_check_distinct(context, input, output);
    if (status == HOT_OK)
        status = hot_tensor_field_load_sh(context, input, harmonics, &tensors);
    if (status == HOT_OK && mask_path)
        status = hot_mask_load(context, mask_path, hot_tensor_field_grid(tensors), &mask);
    peaks->mask = mask;
    if (status == HOT_OK)
        status = hot_fiber_field_find(context, tensors, peaks, &fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_save(context, fibers, output);
    hot_mask_destroy(&mask);
    hot_tensor_field_destroy(&tensors);
    hot_fiber_field_destroy(&fibers);
    return status;
}

#define SIGNAL_MAP(which, name, what) \
    {name, CLI_OUTPUT_IMAGE, &signal.map[which], "FILE", "signal: write " what, 0, 0}

int cli_peaks(int argc, char **argv)
{
    const char *input = "-", *output = "-", *mask_path = NULL, *memory = NULL;
    cli_method_options own;
    cli_peaks_signal_options signal = {.find = {.size = sizeof signal.find}};
    cli_list diffusivities = {0};
    hot_sh_options harmonics = {.size = sizeof harmonics};
    cli_method_options_init(&own);
    own.peaks.method = "maxima";
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE",
         "tensor field (NRRD, NIfTI), or image of spherical harmonics (.mif, NIfTI); default -, standard input", 0, 0},
        CLI_AS(harmonics.content),
        {"o", CLI_OUTPUT_IMAGE, &output, "FILE",
         "directions: NRRD, NIfTI or MIF by name; default -, standard output", 0, 0},
        {"mask", CLI_TEXT, &mask_path, "FILE", "compute only voxels where this is not 0 (NRRD, NIfTI or MIF)", 0, 0},
        {"basis", CLI_CHOICE, &harmonics.basis, "tournier07|descoteaux07|descoteaux07_legacy",
         "harmonics: their basis: MRtrix's (default), DIPY's with legacy=False, DIPY's default", 0, 0},
        {"frame", CLI_CHOICE, &harmonics.frame, "scanner|bvec|image",
         "harmonics: the axes they are in: scanner RAS (default with tournier07), those of FSL's bvec files, which "
         "DIPY takes as they are (default with the other bases), or those of the image", 0, 0},
        CLI_METHOD_OPTIONS(own),
        {"num", CLI_INT, &own.peaks.max_fibers, "N", "the same as --max_fibers (sh2peaks' name)", 1, 16},
        {"dwi", CLI_TEXT, &signal.dwi, "FILE", "signal: the diffusion data (NRRD, NIfTI or MIF)", 0, 0},
        CLI_GRADIENT_OPTIONS(signal.bval, signal.bvec),
        CLI_MEMORY_OPTION(memory),
        {"response", CLI_TEXT, &signal.response, "FILE",
         "signal: single-fibre response in MRtrix's text format; default: that of the tensors' "
         "file, else estimated", 0, 0},
        cli_row("diffusivities", &diffusivities),
        {"order", CLI_INT, &signal.find.order, "N",
         "signal: the highest degree of the response used, 4, 6 or 8; default 8", 4, 8},
        {"sigma", CLI_TEXT, &signal.sigma, "FILE",
         "signal: standard deviation of the noise, a number, or a file with a map; default: "
         "from the b=0 volumes, else the residuals", 0, 0},
        SIGNAL_MAP(0, "probability", "P(0) ... P(3) of each voxel"),
        SIGNAL_MAP(1, "margin", "log10 of the odds of the number chosen"),
        SIGNAL_MAP(2, "residual", "the residual in units of the noise"),
        SIGNAL_MAP(3, "width", "how much wider than the response the fibres are, rad^2"),
        SIGNAL_MAP(4, "flags", "why voxels have no fibre: 1 NaN, 2 no b=0 signal, 8 clipped, 16 only noise"),
        SIGNAL_MAP(5, "cone",
                   "the half angle, in degrees, of the cone about each fibre that holds its direction with 95 %"),
        SIGNAL_MAP(6, "cone_axes",
                   "the two semi-axes of the ellipse that does, vectors as long as half angles in degrees"),
        SIGNAL_MAP(7, "fraction_sd", "the standard deviation of each fibre's volume fraction"),
        SIGNAL_MAP(8, "isotropic", "the volume fraction of the isotropic compartment, without free water"),
        SIGNAL_MAP(9, "free_water",
                   "the volume fraction of free water; one shell hardly tells it from the isotropic one"),
        SIGNAL_MAP(10, "noise_sd", "each voxel's own standard deviation of the noise"),
        CLI_END,
    };
    char about[4096];
    cli_command command = cli_peaks_command;
    cli_common common;
    command.about = about_methods(about, sizeof about);
    int ended = cli_parse(&command, options, argc, argv, &common);
    if (ended >= 0)
        return ended;
    const hot_peaks_method *method;
    hot_peaks_options peaks;
    if ((ended = cli_memory_read(&cli_peaks_command, &common, memory, output, &signal.memory)) >= 0 ||
        (ended = cli_method_options_read(&cli_peaks_command, &common, &own, &signal.find)) >= 0)
        return ended;
    if (strcmp(own.peaks.method, "auto") == 0)
        own.peaks.method = "maxima";
    peaks = cli_peaks_options(&own);
    if ((ended = cli_diffusivities(&cli_peaks_command, &common, &diffusivities, &signal.axial, &signal.radial)) >= 0)
        return ended;
    if (diffusivities.count && signal.response)
        return cli_refuse(&cli_peaks_command, &common, "--diffusivities and --response both say what the response is; "
                          "give one of them");
    if (check(common.context, &peaks, &signal.find, options, &method) != HOT_OK)
        return cli_refuse_option(&cli_peaks_command, &common);
    if (method->find_in_signals && !signal.dwi)
        return cli_refuse(&cli_peaks_command, &common,
                          "--dwi FILE is needed: the method %s works on the diffusion data", method->name);
    if (method->find_in_tensors)
        return cli_finish(&cli_peaks_command, &common, find(common.context, input, &harmonics, output, mask_path,
                                                                &peaks));
    signal.tensors = cli_given(&input) ? input : NULL;
    signal.output = output;
    signal.mask = mask_path;
    signal.find.max_fibers = own.peaks.max_fibers;
    return cli_finish(&cli_peaks_command, &common, cli_peaks_signal(common.context, method, &signal));
}

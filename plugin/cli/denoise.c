/* hotfiber denoise: Marchenko-Pastur principal components. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "denoise_complex.h"
#include "io/dwi_load.h"

const cli_command cli_denoise_command = {
    "denoise", "denoised diffusion data, and a map of the noise", "[-i] DWI -o DWI [options]",
    "In a window around each voxel the signals of all volumes have far fewer degrees of freedom than there are "
    "volumes; the rest is noise, whose principal components follow the Marchenko-Pastur distribution. These are "
    "removed, and their variance is an estimate of the noise (Veraart 2016; Cordero-Grande 2019). The result in a "
    "voxel is the mean over all windows that contain it.\n"
    "Denoise before any step that interpolates or smooths (correction of motion, distortion, Gibbs ringing), because "
    "such steps correlate the noise of neighbouring voxels. The output is float; its name tells its format, as for "
    "`hotfiber convert`.\n\n"
    "  hotfiber denoise dwi.nii.gz -o denoised.nii.gz --noise noise.nii.gz",
    0};

/* "5" or "5,5,3"; the whole numbers into the option's three fields. */
static int read_three(const cli_list *list, size_t values[3])
{
    if (list->count != 1 && list->count != 3)
        return 0;
    for (size_t d = 0; d < 3; d++) {
        const double value = list->values[list->count == 3 ? d : 0];
        if (value != floor(value))
            return 0;
        values[d] = (size_t)value;
    }
    return 1;
}

/* The noise map in one line. */
static void tell_noise(hot_context *context, const float *noise, size_t voxels)
{
    double sum = 0;
    size_t counted = 0, unknown = 0;
    for (size_t v = 0; v < voxels; v++) {
        unknown += isnan(noise[v]);
        if (noise[v] > 0) {
            sum += noise[v];
            counted++;
        }
    }
    if (counted)
        hot_context_log(context, HOT_LOG_NOTE, "noise: standard deviation %.4g in the mean over %zu voxels",
                        sum / (double)counted, counted);
    if (unknown)
        hot_context_log(context, HOT_LOG_WARNING,
                        "in %zu voxels no window separates signal from noise: they are not changed", unknown);
}

static hot_status denoise(hot_context *context, const char *const names[6], size_t memory,
                          const hot_denoise_options *options)
{
    hot_dwi *dwi = NULL, *denoised = NULL;
    hot_mask *mask = NULL;
    float *noise = NULL;
    hot_status status = hot_dwi_load_within(context, names[0], names[4], names[5], memory, names[1], &dwi);
    if (status == HOT_OK && names[3])
        status = hot_mask_load(context, names[3], hot_dwi_grid(dwi), &mask);
    if (status != HOT_OK)
        goto cleanup;
    const size_t *size = hot_dwi_grid(dwi)->size, voxels = size[0] * size[1] * size[2];
    noise = hot_context_alloc(context, voxels, sizeof *noise);
    status = noise ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, names[1]); /* before the work */
    if (status == HOT_OK && names[2])
        status = hot_dwi_check_distinct(context, dwi, names[2]);
    if (status == HOT_OK)
        status = hot_dwi_denoise(context, dwi, mask, options, &denoised, noise);
    if (status == HOT_OK && names[2])
        status = hot_dwi_save_noise(context, denoised, noise, names[2]);
    if (status == HOT_OK)
        status = hot_dwi_save(context, denoised, names[1]);
    if (status == HOT_OK)
        tell_noise(context, noise, voxels);
cleanup:
    hot_context_free(context, noise);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&denoised);
    hot_dwi_destroy(&dwi);
    return status;
}

int cli_denoise(int argc, char **argv)
{
    const char *input = "-", *output = "-", *noise = NULL, *mask = NULL, *bval = NULL, *bvec = NULL, *memory = NULL,
               *estimator = "exp2";
    cli_list window = {0}, step = {0};
    int is_complex = 0;
    hot_denoise_options denoising = {.size = sizeof denoising};
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        {"o", CLI_OUTPUT_IMAGE, &output, "FILE",
         "what to write: NRRD, NIfTI or MIF by name; default -, standard output", 0, 0},
        {"noise", CLI_OUTPUT_IMAGE, &noise, "FILE",
         "the noise's standard deviation per voxel (NRRD, NIfTI or MIF by name)", 0, 0},
        {"mask", CLI_TEXT, &mask, "FILE",
         "denoise only voxels where this is not 0; default: all voxels", 0, 0},
        {"window", CLI_LIST, &window, "N[,N,N]",
         "voxels along each axis; default: the smallest odd cube with at "
         "least as many voxels as there are volumes", 1, 101},
        {"step", CLI_LIST, &step, "N[,N,N]",
         "voxels from one window to the next; default 2. 1 takes 8 times as long, for a little less noise", 1, 101},
        {"estimator", CLI_CHOICE, &estimator, "exp2|exp1",
         "of the noise: Cordero-Grande 2019 (exp2, default), Veraart 2016 (exp1)", 0, 0},
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_MEMORY_OPTION(memory),
        {"complex", CLI_FLAG, &is_complex, NULL,
         "the input is an NRRD of complex numbers: one axis of kind complex, three of space, one of volumes; no "
         "gradients are needed, and all is written back as it was but denoised (float)", 0, 0},
        CLI_END,
    };
    CLI_PARSE(denoise, options);
    size_t bytes = 0;
    if ((ended = cli_memory_read(&cli_denoise_command, &common, memory, output, &bytes)) >= 0)
        return ended;
    if (cli_given(&window) && !read_three(&window, denoising.window))
        return cli_refuse(&cli_denoise_command, &common, "--window takes one whole number, or three");
    if (cli_given(&step) && !read_three(&step, denoising.step))
        return cli_refuse(&cli_denoise_command, &common, "--step takes one whole number, or three");
    if (is_complex && (bval || bvec || mask))
        return cli_refuse(&cli_denoise_command, &common, "--complex takes no --%s",
                          mask ? "mask" : bval ? "bval" : "bvec");
    denoising.estimator = strcmp(estimator, "exp1") == 0 ? HOT_DENOISE_EXP1 : HOT_DENOISE_EXP2;
    const char *const names[6] = {input, output, noise, mask, bval, bvec};
    hot_status status = is_complex ? cli_denoise_complex(common.context, input, output, noise, &denoising)
                                   : denoise(common.context, names, bytes, &denoising);
    return cli_finish(&cli_denoise_command, &common, status);
}

/* hotfiber response: the signal of a single fibre. */
#include "cli.h"

const cli_command cli_response_command = {
    "response", "the signal of a single fibre", "-i DWI -o RESPONSE.txt [options]",
    "Chooses the voxels in which one fibre stands alone, and averages their signal around the fibre: what fod "
    "deconvolves with. Written as MRtrix writes responses: a row of zonal harmonic coefficients (l = 0, 2, ...) per "
    "shell, b=0 first, in the signal's own units; `# Shells:` names the b-values. Warnings say when the result does "
    "not look like a fibre.\n\n"
    "  hotfiber response -i dwi.nhdr -o response.txt",
    0};

int cli_response(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL, *mask_path = NULL;
    cli_list diffusivities = {0};
    int lmax = 8;
    double s0 = 1;
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "the data: DWI NRRD, or NIfTI; default -, standard input (NRRD)", 0, 0},
        {"o", CLI_TEXT, &output, "FILE", "the response, text; default -, standard output", 0, 0},
        {"bval", CLI_TEXT, &bval, "FILE", "NIfTI: FSL b-values; default: beside the data", 0, 0},
        {"bvec", CLI_TEXT, &bvec, "FILE", "NIfTI: FSL gradient directions; default: beside the data", 0, 0},
        {"mask", CLI_TEXT, &mask_path, "FILE",
         "look where this is not 0 (NRRD or NIfTI); default: estimated from the b=0 image", 0, 0},
        {"lmax", CLI_INT, &lmax, "N", "highest harmonic, even; at least the order to be fitted; default 8", 2, 16},
        {"diffusivities", CLI_LIST, &diffusivities, "ALONG,ACROSS",
         "not from the signals but from diffusivities along and across a fibre, mm^2/s, "
         "such as 0.0017,0.0003", 1e-9, 100},
        {"s0", CLI_DOUBLE, &s0, "S", "signal at b=0 for --diffusivities; default 1", 1e-30, 1e30},
        {NULL, 0, NULL, NULL, NULL, 0, 0},
    };
    cli_common common;
    int ended = cli_parse(&cli_response_command, options, argc, argv, &common);
    if (ended >= 0)
        return ended;
    hot_context *context = common.context;
    hot_status status = HOT_OK;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    size_t voxels = 0;
    if (lmax % 2 != 0)
        return cli_refuse(&cli_response_command, &common, "--lmax is even, not %d", lmax);
    if (diffusivities.count && diffusivities.count != 2)
        return cli_refuse(&cli_response_command, &common, "--diffusivities needs two numbers, along,across, not %zu",
                          diffusivities.count);
    status = hot_dwi_load(context, input, bval, bvec, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, output);
    if (status != HOT_OK)
        goto cleanup;
    if (diffusivities.count) {
        status = hot_response_tensor(context, dwi, diffusivities.values[0], diffusivities.values[1], s0, lmax,
                                     &response);
    } else {
        status = mask_path ? hot_mask_load(context, mask_path, hot_dwi_grid(dwi), &mask)
                           : hot_mask_estimate(context, dwi, &mask);
        if (status == HOT_OK)
            status = hot_response_estimate(context, dwi, mask, lmax, &response, &voxels);
        if (status == HOT_OK)
            hot_context_log(context, HOT_LOG_NOTE, "response of %zu voxels of one fibre", voxels);
    }
    if (status == HOT_OK)
        status = hot_response_save(context, response, output);
cleanup:
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    return cli_finish(&cli_response_command, &common, status);
}

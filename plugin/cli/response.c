/* hotfiber response: the signal of a single fibre. */
#include "method_options.h"

const cli_command cli_response_command = {
    "response", "the signal of a single fibre", "-i DWI -o RESPONSE.txt [options]",
    "Chooses the voxels that hold a single fibre and averages their signals about its axis: the kernel that the model "
    "fod deconvolves with. The file has MRtrix's format: a row of zonal harmonic coefficients (l = 0, 2, ...) per "
    "shell, b=0 first, in the signal's own units; `# Shells:` names the b-values. Warnings tell when the result does "
    "not look like the response of a fibre.\n\n"
    "  hotfiber response -i dwi.nhdr -o response.txt",
    0};

int cli_response(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL, *mask_path = NULL;
    cli_list diffusivities = {0};
    int lmax = 8;
    double s0 = 1;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        {"o", CLI_OUTPUT, &output, "FILE", "the response, text; default -, standard output", 0, 0},
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_MASK_OPTION(mask_path),
        {"lmax", CLI_INT, &lmax, "N", "highest harmonic, even; at least the order to be fitted; default 8", 2, 16},
        CLI_DIFFUSIVITIES(diffusivities, "make the response from the "),
        {"s0", CLI_DOUBLE, &s0, "S", "signal at b=0 for --diffusivities; default 1", 1e-30, 1e30},
        CLI_END,
    };
    CLI_PARSE(response, options);
    double axial, radial;
    if (lmax % 2 != 0)
        return cli_refuse(&cli_response_command, &common, "--lmax is even, not %d", lmax);
    if ((ended = cli_diffusivities(&cli_response_command, &common, &diffusivities, &axial, &radial)) >= 0)
        return ended;
    hot_context *context = common.context;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    size_t voxels = 0;
    hot_status status = hot_dwi_load(context, input, bval, bvec, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, output);
    if (status != HOT_OK)
        goto cleanup;
    if (diffusivities.count) {
        status = hot_response_tensor(context, dwi, axial, radial, s0, lmax, &response);
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

/* hotfiber response: the signal of a single fibre, or of each of three tissues. */
#include "dwi/empty.h"
#include "io/dwi_load.h"
#include "method_options.h"

const cli_command cli_response_command = {
    "response", "the signal of a single fibre", "[-i] DWI -o RESPONSE.txt [options]",
    "Chooses the voxels that hold a single fibre and averages their signals about its axis: the kernel that the model "
    "fod deconvolves with. The file has MRtrix's format: a row of zonal harmonic coefficients (l = 0, 2, ...) per "
    "shell, b=0 first, in the signal's own units; `# Shells:` names the b-values. Warnings tell when the result does "
    "not look like the response of a fibre. --tissues 3 finds the responses of white matter, grey matter and CSF for "
    "the model msmt, from how fast signals decay with b, anisotropy, and sharp peaks (as MRtrix's dwi2response "
    "dhollander does).\n\n"
    "  hotfiber response dwi.nhdr -o response.txt\n"
    "  hotfiber response dwi.nii.gz --tissues 3 -o wm.txt --gm gm.txt --csf csf.txt",
    0};

/* The three responses into their files. */
static hot_status save_tissues(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, int lmax, int erode,
                               const char *const paths[3])
{
    hot_response *responses[3] = {NULL};
    size_t voxels[3];
    hot_status status = hot_response_estimate_tissues(context, dwi, mask, lmax, erode, responses, voxels);
    if (status == HOT_OK)
        hot_context_log(context, HOT_LOG_NOTE,
                        "responses of %zu voxels of white matter, %zu of grey matter, %zu of CSF", voxels[0], voxels[1],
                        voxels[2]);
    for (int t = 0; t < 3; t++) {
        if (status == HOT_OK)
            status = hot_response_save(context, responses[t], paths[t]);
        hot_response_destroy(&responses[t]);
    }
    return status;
}

/* Whether the options about tissues go together. Returns -1, or cli_refuse's status. */
static int check_tissues(cli_common *common, int tissues, const char *gm, const char *csf, int erode, int diffusivities)
{
    if (tissues == 2)
        return cli_refuse(&cli_response_command, common, "--tissues is 1 or 3, not 2");
    if (tissues == 3 && (!gm || !csf))
        return cli_refuse(&cli_response_command, common, "--tissues 3 needs --gm FILE and --csf FILE, too");
    if (tissues == 3 && diffusivities)
        return cli_refuse(&cli_response_command, common, "--diffusivities makes the response of a fibre; leave out "
                          "--tissues 3");
    if (tissues == 1 && (gm || csf || erode))
        return cli_refuse(&cli_response_command, common, "--%s goes with --tissues 3",
                          gm ? "gm" : csf ? "csf" : "erode");
    return -1;
}

int cli_response(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL, *mask_path = NULL;
    cli_list diffusivities = {0};
    const char *gm = NULL, *csf = NULL;
    int lmax = 8, tissues = 1, erode = 0;
    double s0 = 1;
    const char *memory = NULL;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        {"o", CLI_OUTPUT, &output, "FILE", "the response, text; default -, standard output", 0, 0},
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_MEMORY_OPTION(memory),
        CLI_MASK_OPTION(mask_path),
        {"lmax", CLI_INT, &lmax, "N", "highest harmonic, even; at least the order to be fitted; default 8", 2, 16},
        {"tissues", CLI_INT, &tissues, "N", "1: a single fibre (default); 3: white matter (-o), grey matter, CSF", 1,
         3},
        {"gm", CLI_OUTPUT, &gm, "FILE", "--tissues 3: the response of grey matter; needed", 0, 0},
        {"csf", CLI_OUTPUT, &csf, "FILE", "--tissues 3: that of CSF; needed", 0, 0},
        {"erode", CLI_INT, &erode, "N",
         "--tissues 3: erode the mask by so many voxels first; default 3, or fewer in a thin volume", 0, 100},
        cli_row("diffusivities", &diffusivities),
        {"s0", CLI_DOUBLE, &s0, "S", "signal at b=0 for --diffusivities; default 1", 1e-30, 1e30},
        CLI_END,
    };
    CLI_PARSE(response, options);
    double axial, radial;
    size_t bytes = 0;
    if ((ended = cli_memory_read(&cli_response_command, &common, memory, output, &bytes)) >= 0)
        return ended;
    if (lmax % 2 != 0)
        return cli_refuse(&cli_response_command, &common, "--lmax is even, not %d", lmax);
    if ((ended = cli_diffusivities(&cli_response_command, &common, &diffusivities, &axial, &radial)) >= 0)
        return ended;
    if ((ended = check_tissues(&common, tissues, gm, csf, cli_given(&erode), diffusivities.count > 0)) >= 0)
        return ended;
    hot_context *context = common.context;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    size_t voxels = 0;
    hot_status status = hot_dwi_load_within(context, input, bval, bvec, bytes, output, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, output);
    if (status == HOT_OK)
        status = hot_dwi_drop_empty(context, dwi);
    if (status != HOT_OK)
        goto cleanup;
    if (diffusivities.count) {
        status = hot_response_tensor(context, dwi, axial, radial, s0, lmax, &response);
    } else {
        status = mask_path ? hot_mask_load(context, mask_path, hot_dwi_grid(dwi), &mask)
                           : hot_mask_estimate(context, dwi, &mask);
        if (status == HOT_OK && tissues == 3) {
            status = save_tissues(context, dwi, mask, lmax, !cli_given(&erode) ? 0 : erode == 0 ? HOT_ZERO : erode,
                                  (const char *const[]){output, gm, csf});
            goto cleanup;
        }
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

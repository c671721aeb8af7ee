/* hotfiber fit: diffusion data to a tensor field. */
#include <string.h>

#include "dwi/empty.h"
#include "io/dwi_load.h"
#include "method_options.h"

const cli_command cli_fit_command = {
    "fit", "fit a tensor to every voxel", "[-i] DWI -o TENSORS [options]",
    "Models:\n"
    "  fod  fibre orientation density: deconvolution with the signal of a single fibre (the response), scaled such "
    "that k fibres are a sum of k rank-1 tensors weighted by volume fraction. For finding fibres.\n"
    "  odf  orientation distribution by constant-solid-angle q-ball, from one shell. Needs no response.\n"
    "  adc  apparent diffusion coefficient, -ln(S/S0)/b = A g^m, mm^2/s. Its maxima are NOT the fibres: where fibres "
    "cross, they are between them (about 45 degrees off at a right angle). Order 2 is the diffusion tensor.\n"
    "  msmt fibre orientation density and the amounts of further tissues, from all shells together, none of them "
    "negative. Takes a response of each tissue, or estimates those of white matter, grey matter and CSF; with that of "
    "white matter alone, or one shell, there is an isotropic part as of free water.\n"
    "The tensors are in world coordinates: confidence, then the unique values xxxx xxxy xxxz xxyy ... of each voxel. "
    "Voxels with NaN, clipped signals or no b=0 signal get confidence 0.\n\n"
    "  hotfiber fit dwi.nhdr -o tensors.nrrd\n"
    "  hotfiber fit dwi.nii.gz -o wm.nrrd --model msmt --response wm.txt,gm.txt,csf.txt --tissues tissues.nii.gz\n"
    "  hotfiber fit dwi.nii.gz --order 4 --mask mask.nii.gz | hotfiber peaks -o peaks.nrrd",
    0};

/* The tensors, and the requested maps of msmt; a note about voxels without a fit. */
static hot_status save_results(hot_context *context, const hot_tensor_field *field, const char *output,
                               const char *tissues_path, const char *residual_path)
{
    size_t fitted, flagged;
    hot_status status = hot_tensor_field_save(context, field, output);
    if (status == HOT_OK && tissues_path)
        status = hot_tensor_field_save_tissues(context, field, tissues_path);
    if (status == HOT_OK && residual_path)
        status = hot_tensor_field_save_residual(context, field, residual_path);
    if (status != HOT_OK)
        return status;
    hot_tensor_field_counts(field, &fitted, &flagged);
    if (flagged > 0)
        hot_context_log(context, HOT_LOG_NOTE,
                        "%zu of %zu voxels have NaN, clipped signals or no b=0 signal and are left empty", flagged,
                        flagged + fitted);
    return HOT_OK;
}

int cli_fit(int argc, char **argv)
{
    const char *input = "-", *output = "-", *bval = NULL, *bvec = NULL, *mask_path = NULL, *response_path = NULL;
    const char *model = "fod", *known_b0 = "true", *weighting = "signal";
    const char *constraint = "nonnegative", *kernel = "rank1";
    const char *memory = NULL, *tissues_path = NULL, *residual_path = NULL, *directions_path = NULL;
    cli_list diffusivities = {0};
    hot_fit_options fit = HOT_FIT_OPTIONS_INIT;
    const hot_peaks_options peaks = HOT_PEAKS_OPTIONS_INIT;
    const hot_signal_find_options signal = HOT_SIGNAL_FIND_OPTIONS_INIT;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        {"o", CLI_OUTPUT_IMAGE, &output, "FILE", "the tensors: NRRD, NIfTI or MIF; default -, standard output", 0, 0},
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_MEMORY_OPTION(memory),
        {"model", CLI_CHOICE, &model, "adc|odf|fod|msmt", "the model (above); default fod", 0, 0},
        {"order", CLI_INT, &fit.order, "N",
         "2, 4, 6 or 8; default 6, or 4 with fewer than 28 directions, or 2 with fewer than 15", 2, 8},
        CLI_MASK_OPTION(mask_path),
        cli_row("response", &response_path),
        cli_row("diffusivities", &diffusivities),
        {"regularise", CLI_DOUBLE, &fit.regularise, "W",
         "weight of the Laplace-Beltrami penalty l^2 (l+1)^2 on the harmonics; default adc 0, odf 0.006, fod by "
         "the noise of the data (none without noise)", 0, 1e12},
        CLI_ADC_OPTIONS(known_b0, weighting, fit.positive),
        CLI_MSMT_OPTIONS(constraint, kernel, fit.normalise),
        {"directions", CLI_TEXT, &directions_path, "FILE",
         "msmt: the directions of the constraint, lines of x y z or of azimuth and inclination (MRtrix's dirgen); "
         "default: 300, evenly spread", 0, 0},
        {"tissues", CLI_OUTPUT_IMAGE, &tissues_path, "FILE",
         "msmt: the amounts of white matter and the other tissues, a volume each", 0, 0},
        {"residual", CLI_OUTPUT_IMAGE, &residual_path, "FILE",
         "msmt: what the conditions of the constrained minimum leave in each voxel, relative to the signals", 0, 0},
        CLI_END,
    };
    CLI_PARSE(fit, options);
    hot_context *context = common.context;
    size_t bytes = 0;
    if ((ended = cli_memory_read(&cli_fit_command, &common, memory, output, &bytes)) >= 0)
        return ended;
    hot_status status = HOT_OK;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *responses[HOT_TISSUES_MAX] = {NULL}, *response = NULL;
    size_t response_count = 0;
    double *directions = NULL;
    hot_tensor_field *field = NULL;
    fit.model = model;
    fit.regularise = cli_number(&fit.regularise);
    fit.weighted = strcmp(weighting, "signal") == 0 ? 1 : HOT_ZERO;
    fit.estimate_s0 = strcmp(known_b0, "false") == 0;
    cli_msmt_options_read(constraint, kernel, &fit);
    hot_run_options chosen = {.size = sizeof chosen, .fit = &fit, .peaks = &peaks, .signal = &signal,
                              .response = response_path};
    if ((ended = cli_diffusivities(&cli_fit_command, &common, &diffusivities, &chosen.axial_diffusivity,
                                   &chosen.radial_diffusivity)) >= 0)
        return ended;
    if (hot_run_check_model(context, &chosen, cli_option_given, options) != HOT_OK)
        return cli_refuse_option(&cli_fit_command, &common);
    if (fit.order % 2 != 0)
        return cli_refuse(&cli_fit_command, &common, "--order is 2, 4, 6 or 8, not %d", fit.order);
    if (response_path && strcmp(model, "msmt") == 0)
        status = hot_response_load_tissues(context, response_path, responses, &response_count);
    else if (response_path)
        status = hot_response_load(context, response_path, &responses[0]);
    if (status == HOT_OK && responses[0])
        status = hot_response_check(context, responses[0], NULL);
    if (status == HOT_OK && directions_path)
        status = hot_directions_table_load(context, directions_path, &directions, &fit.direction_count);
    if (status == HOT_OK)
        status = hot_dwi_load_within(context, input, bval, bvec, bytes, output, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_check_distinct(context, dwi, output);
    if (status == HOT_OK)
        status = hot_dwi_drop_empty(context, dwi);
    if (status == HOT_OK)
        status = mask_path ? hot_mask_load(context, mask_path, hot_dwi_grid(dwi), &mask)
                           : hot_mask_estimate(context, dwi, &mask);
    if (status == HOT_OK && diffusivities.count)
        status = hot_response_tensor(context, dwi, chosen.axial_diffusivity, chosen.radial_diffusivity, 1, 0,
                                     &response);
    if (status != HOT_OK)
        goto cleanup;
    fit.response = response ? response : responses[0];
    fit.tissues = (const hot_response *const *)(responses + 1);
    fit.tissue_count = response_count > 0 ? response_count - 1 : 0;
    fit.directions = directions;
    status = hot_tensor_field_fit(context, dwi, mask, &fit, &field);
    if (status == HOT_OK)
        status = save_results(context, field, output, tissues_path, residual_path);
cleanup:
    hot_tensor_field_destroy(&field);
    hot_response_destroy(&response);
    for (size_t i = 0; i < HOT_TISSUES_MAX; i++)
        hot_response_destroy(&responses[i]);
    hot_context_free(context, directions);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    return cli_finish(&cli_fit_command, &common, status);
}

/* Learning from the whole volume: noise, mask, responses. */
#include "run.h"

#include <math.h>
#include <string.h>

#include "dwi/denoise_shape.h"
#include "dwi/empty.h"
#include "dwi/summary.h"
#include "model/model.h"

/* The mean of a noise map's known values, which also replaces the unknown ones. NaN if none is known. */
static double complete_noise(float *noise, size_t voxels)
{
    double sum = 0;
    size_t known = 0;
    for (size_t v = 0; v < voxels; v++)
        if (noise[v] > 0) {
            sum += noise[v];
            known++;
        }
    const double mean = known ? sum / (double)known : NAN;
    for (size_t v = 0; v < voxels; v++)
        if (!(noise[v] > 0))
            noise[v] = (float)mean;
    return mean;
}

/* If denoising removes shape in more than this share of the voxels, the original data are used. */
static const double mostly = 0.5;

/* Denoises the data; the noise map becomes an additional file. The remaining noise is in the subspace of the signals,
 * where fibres are distinguished, and its amount is unknown: the method on signals takes nothing but directions from
 * denoised data, all else from the samples as they came (decision 32). */
hot_status hot_run_denoise(hot_run_state *run)
{
    hot_run_learned *learned = &run->learned;
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(run->inputs.dwi));
    const int signals = run->inputs.method->find_in_signals != NULL;
    double usual = NAN;
    if (signals && run->inputs.options.learn)
        return HOT_OK; /* nothing is learned from denoised samples */
    hot_dwi *denoised = NULL;
    learned->noise = hot_context_alloc(run->context, voxels, sizeof *learned->noise);
    hot_status status = learned->noise ? hot_dwi_denoise(run->context, run->inputs.dwi, NULL, NULL, &denoised,
                                                         learned->noise)
                                       : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_dwi_restore_shape(run->context, run->inputs.dwi, denoised, &learned->restored);
    if (status == HOT_OK)
        usual = complete_noise(learned->noise, voxels);
    if (status != HOT_OK || learned->restored > mostly) {
        hot_dwi_destroy(&denoised);
        if (status == HOT_OK)
            hot_context_log(run->context, HOT_LOG_WARNING,
                            "not denoised: neighbours have too little in common; in %.0f %% of the voxels more than "
                            "noise would be taken out of the signals", 100 * learned->restored);
        return status;
    }
    if (signals) {
        run->inputs.denoised = denoised;
        return HOT_OK;
    }
    if (!run->inputs.borrowed)
        hot_dwi_destroy(&run->inputs.dwi);
    run->inputs.borrowed = 0;
    run->inputs.dwi = denoised;
    learned->sigma = usual;
    return HOT_OK;
}

/* Mask, noise and picture come from one pass over the data. A borrowed data set is not written to: the summary goes
 * to a view of it, which shares its arrays. */
hot_status hot_run_summarize(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    if (in->borrowed && !in->dwi->summary) {
        in->view = *in->dwi;
        in->dwi = &in->view;
    }
    return hot_dwi_keep_summary(run->context, in->dwi);
}

/* The caller's mask, or else the estimated one, in place of one that was loaded with a model. */
static hot_status take_mask(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    const hot_mask *given = in->options.mask_in_memory;
    hot_status status = HOT_OK;
    learned->mask_from = in->options.mask ? in->options.mask : learned->mask || given ? "given" : "estimated";
    if (learned->file)
        hot_mask_destroy(&learned->mask);
    if (learned->mask)
        status = HOT_OK; /* read before */
    else if (given)
        status = hot_mask_copy(run->context, given, hot_dwi_grid(in->dwi), &learned->mask);
    else if (in->options.mask)
        status = hot_mask_load(run->context, in->options.mask, hot_dwi_grid(in->dwi), &learned->mask);
    else
        status = hot_mask_estimate(run->context, in->dwi, &learned->mask);
    if (status == HOT_OK && (given || in->options.mask))
        status = hot_run_check_mask(run);
    if (status != HOT_OK)
        return status;
    run->results.counts.voxels = hot_mask_count(learned->mask);
    if (run->results.counts.voxels == 0)
        return hot_context_fail(run->context, HOT_ERROR_DATA, "the mask (%s) is empty: there is nothing to compute",
                                learned->mask_from);
    return HOT_OK;
}

hot_status hot_run_restrict(hot_run_state *run)
{
    const hot_run_options *o = &run->inputs.options;
    return run->learned.file && (o->mask || o->mask_in_memory) ? take_mask(run) : HOT_OK;
}

hot_status hot_run_make_mask(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    hot_status status = take_mask(run);
    if (status != HOT_OK)
        return status;
    if (!in->borrowed || in->dwi == &in->view) /* else it is not ours */
        hot_dwi_summary_masked(in->dwi->summary);
    if ((status = hot_dwi_warn_empty_slices(run->context, in->dwi, learned->mask)) != HOT_OK)
        return status;
    const double before = learned->sigma;
    size_t repeats;
    status = hot_dwi_noise(run->context, in->dwi, learned->mask, &learned->sigma, &learned->snr, &repeats);
    if (before > 0) { /* known from denoising: that of the data as they came */
        learned->snr *= learned->sigma / before;
        learned->sigma = before;
    }
    return status;
}

/* Responses of several tissues become the run's: white matter's is the response. */
static hot_status take_tissues(hot_run_state *run, hot_response **all, size_t count)
{
    hot_run_learned *learned = &run->learned;
    learned->response = all[0];
    learned->tissue_count = count - 1;
    memcpy(learned->tissues, all + 1, learned->tissue_count * sizeof *all);
    run->inputs.fit.tissues = (const hot_response *const *)learned->tissues;
    run->inputs.fit.tissue_count = learned->tissue_count;
    return HOT_OK;
}

static hot_status load_tissues(hot_run_state *run)
{
    hot_response *all[HOT_TISSUES_MAX];
    size_t count;
    HOT_TRY(hot_response_load_tissues(run->context, run->inputs.options.response, all, &count));
    take_tissues(run, all, count);
    run->learned.response_from = run->inputs.options.response;
    return hot_response_check(run->context, run->learned.response, NULL);
}

hot_status hot_run_make_response(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    const hot_run_options *options = &in->options;
    const hot_model *model = hot_model_find(options->fit->model);
    if (!model || !model->needs_response) /* a name that is none's is refused by the fit */
        return HOT_OK;
    if (options->response && !learned->response && strcmp(options->fit->model, "msmt") == 0)
        return load_tissues(run);
    const int lmax = 0; /* what the data and the order need is known to the response's makers */
    if (options->response || options->fit->response || learned->response) {
        learned->response_from = options->response ? options->response : "given";
        hot_status status = HOT_OK;
        if (!learned->response) /* else it was read before */
            status = options->fit->response
                ? hot_response_copy(run->context, options->fit->response, &learned->response)
                : hot_response_load(run->context, options->response, &learned->response);
        return status == HOT_OK ? hot_response_check(run->context, learned->response, NULL) : status;
    }
    if (options->axial_diffusivity > 0) {
        learned->response_from = "diffusivities";
        return hot_response_tensor(run->context, in->dwi, options->axial_diffusivity, options->radial_diffusivity, 1,
                                   lmax, &learned->response);
    }
    learned->response_from = "estimated";
    if (hot_response_wants_tissues(model, in->dwi)) {
        hot_response *all[3];
        size_t voxels[3];
        hot_status status = hot_response_estimate_tissues(run->context, in->dwi, learned->mask, lmax, 0, all, voxels);
        if (status == HOT_OK)
            hot_context_log(run->context, HOT_LOG_NOTE,
                            "responses from %zu, %zu and %zu voxels of white matter, grey matter and CSF", voxels[0],
                            voxels[1], voxels[2]);
        return status == HOT_OK ? take_tissues(run, all, 3) : status;
    }
    hot_status status = hot_response_estimate(run->context, in->dwi, learned->mask, lmax, &learned->response,
                                              &learned->response_voxels);
    if (status == HOT_OK)
        hot_context_log(run->context, HOT_LOG_NOTE, "response from %zu voxel%s of one fibre", learned->response_voxels,
                        learned->response_voxels == 1 ? "" : "s");
    return status;
}

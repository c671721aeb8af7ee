/* The fit of a whole data set, slab by slab. */
#include <math.h>
#include <stdlib.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/entry.h"
#include "dwi/gather.h"
#include "dwi/summary.h"
#include "model.h"
#include "normalise.h"

/* The standard deviation of the fitted signals: the median over up to 1000 voxels of the plain fit's residual; with
 * hardly more volumes than coefficients, from the spread of the b=0 volumes; with one of these, from what diffusion
 * tensors leave: fits without regularisation would be mostly noise. 0 = unknown. */
static hot_status estimate_noise(const hot_plan *plan, const hot_mask *mask, double *noise)
{
    enum { SAMPLES = 1000 };
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t used = plan->used_count, width = hot_plan_width(plan);
    *noise = 0;
    if (used < plan->terms + 6) {
        double sigma, snr;
        size_t repeats;
        status = hot_dwi_noise(context, plan->dwi, mask, &sigma, &snr, &repeats);
        if (status == HOT_OK && sigma > 0 && snr > 0)
            *noise = plan->relative ? 1 / snr : sigma;
        else if (status == HOT_OK && repeats < 2 && plan->relative && plan->order > 2)
            status = hot_plan_tensor_residual(plan, mask, noise);
        return status;
    }
    float *signals = hot_context_alloc(context, SAMPLES, plan->volumes * sizeof *signals);
    float *work = hot_context_alloc(context, SAMPLES, (used + 1) * sizeof *work);
    float *fits = hot_context_alloc(context, SAMPLES, width * sizeof *fits);
    double *variance = hot_context_alloc(context, SAMPLES, sizeof *variance);
    size_t voxel[SAMPLES], count = 0;
    if (!signals || !work || !fits || !variance) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    const size_t taken = hot_mask_sample(mask, SAMPLES, voxel);
    status = hot_dwi_read_list(context, plan->dwi, voxel, taken, signals);
    if (status == HOT_OK)
        status = hot_plan_fit(plan, taken, signals, work, fits);
    for (size_t v = 0; v < taken && status == HOT_OK; v++) {
        const float *y = work + taken + v * used; /* where hot_plan_fit leaves what it fitted */
        double sum = 0;
        if (!(fits[v * width] > 0))
            continue;
        for (size_t i = 0; i < used; i++) {
            double rest = (double)y[i];
            for (size_t t = 0; t < plan->terms; t++)
                rest -= plan->forward[i * plan->terms + t] * (double)fits[v * width + 1 + t];
            sum += rest * rest;
        }
        variance[count++] = sum / (double)(used - plan->terms);
    }
    if (count > 0) {
        qsort(variance, count, sizeof *variance, hot_ascending_f64);
        *noise = sqrt(variance[count / 2]);
    }
cleanup:
    HOT_FREE(context, variance, fits, work, signals);
    return status;
}

/* Where a model finds more than a tensor. */
static hot_status make_room_for_extra(const hot_plan *plan, hot_tensor_field *field)
{
    if (plan->extra == 0)
        return HOT_OK;
    field->extra_count = plan->extra;
    field->extra = hot_context_alloc(plan->context, hot_grid_voxels(&field->grid), plan->extra * sizeof *field->extra);
    return field->extra ? HOT_OK : HOT_ERROR_MEMORY;
}

/* Estimates the responses that the model needs and the caller did not give: *response of white matter, and in
 * multi-tissue fits others[0], others[1], which the settings then refer to. */
static hot_status estimate_responses(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                     const hot_model *model, hot_fit_options *settings, hot_response **response,
                                     hot_response *others[2])
{
    /* Too few directions are an error before the response is estimated: adc uses the same volumes. */
    hot_fit_options probe = *settings;
    hot_plan *plan = NULL;
    size_t voxels = 0;
    probe.model = "adc";
    probe.estimate_s0 = 0;
    hot_status status = hot_plan_make(context, dwi, &probe, NULL, 0, &plan);
    hot_plan_free(&plan);
    if (status != HOT_OK)
        return status;
    if (!hot_response_wants_tissues(model, dwi)) {
        status = hot_response_estimate(context, dwi, mask, 8, response, &voxels);
        if (status == HOT_OK)
            hot_context_log(context, HOT_LOG_NOTE, "response estimated from %zu voxels of one fibre", voxels);
        return status;
    }
    hot_response *tissues[3] = {NULL};
    status = hot_response_estimate_tissues(context, dwi, mask, 8, 0, tissues, NULL);
    *response = tissues[0];
    others[0] = tissues[1];
    others[1] = tissues[2];
    settings->tissues = (const hot_response *const *)others;
    settings->tissue_count = 2;
    if (status == HOT_OK)
        hot_context_log(context, HOT_LOG_NOTE, "responses of white matter, grey matter and CSF estimated");
    return status;
}

/* Regularises a plan for the noise, if its model does so and the options do not set how much. */
static hot_status regularise_for_noise(hot_plan *plan, const hot_mask *mask, const hot_fit_options *settings)
{
    if (!plan->model->weighs_noise || settings->regularise != 0)
        return HOT_OK;
    double noise;
    hot_status status = estimate_noise(plan, mask, &noise);
    if (status == HOT_OK && noise > 0)
        status = hot_plan_set_noise(plan, noise);
    if (status == HOT_OK && noise > 0 && plan->relative)
        hot_context_log(plan->context, HOT_LOG_NOTE,
                        "%s: regularised for the residual of a plain fit, %.2g of the b=0 signal", plan->model->name,
                        noise);
    return status;
}

hot_status hot_tensor_field_fit(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                const hot_fit_options *options, hot_tensor_field **field)
{
    HOT_ENTRY(context);
    HOT_CLEAR(field);
    HOT_NEED(context, dwi, field);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_tensor_field_fit(context, dwi, all, options, field));
    hot_fit_options settings = HOT_FIT_OPTIONS_INIT;
    hot_status status = HOT_OK;
    hot_plan *plan = NULL;
    hot_response *response = NULL, *others[2] = {NULL};
    hot_tensor_field *made = NULL;
    HOT_TRY(hot_options_read(context, "hot_fit_options", options, &settings));
    const hot_grid *grid = hot_dwi_grid(dwi);
    status = hot_mask_check(context, mask, grid);
    if (status != HOT_OK)
        return status;
    const hot_model *model = hot_model_find(settings.model ? settings.model : "fod");
    const hot_response *used = settings.response;
    if (model && model->needs_response && !used) {
        status = estimate_responses(context, dwi, mask, model, &settings, &response, others);
        used = response;
    }
    if (status == HOT_OK)
        status = hot_plan_make(context, dwi, &settings, used, 1, &plan);
    if (status == HOT_OK)
        status = hot_dwi_ceiling(context, dwi, &plan->ceiling);
    if (status == HOT_OK)
        status = regularise_for_noise(plan, mask, &settings);
    if (status == HOT_OK)
        status = hot_tensor_field_make(context, grid, plan->order, plan->model->name, &made);
    if (status != HOT_OK)
        goto cleanup;
    if (plan->response && response)
        made->response = response, response = NULL;
    else if (plan->response)
        status = hot_response_copy(context, plan->response, &made->response);
    if (status == HOT_OK)
        status = make_room_for_extra(plan, made);
    if (status == HOT_OK)
        status = hot_plan_fit_voxels(plan, mask->bytes, "fitting tensors", made->values, made->extra, &made->fitted,
                                     &made->flagged);
    if (status == HOT_OK && settings.normalise)
        status = hot_tensor_field_normalise(context, made);
    if (status == HOT_OK)
        status = hot_plan_recover(plan, mask, made);
    if (status == HOT_OK)
        hot_tensor_field_warn(context, made);
cleanup:
    hot_plan_free(&plan);
    hot_response_destroy(&response);
    hot_response_destroy(&others[0]);
    hot_response_destroy(&others[1]);
    if (status != HOT_OK)
        hot_tensor_field_destroy(&made);
    *field = made;
    return status;
}

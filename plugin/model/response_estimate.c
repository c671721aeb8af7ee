/* The single-fibre response, estimated from the data: select single-fibre voxels with the current response, make a new
 * response from them, and repeat until the selection stays the same (Tournier, Calamante, Connelly 2013).
 *
 * A voxel's merit is p1 (1 - p2 / p1)^2, where p1 and p2 are the highest and second highest peaks of its fod: it is
 * high for single fibres. The residual of the best function of the angle to the fibre is noise that does not enter the
 * response, so that selecting by it does not bias the result. (The residual of the current response does: it favours
 * ever duller fibres.) The first response comes from the most anisotropic diffusion tensors, the last from the sharper
 * of the selected voxels: the fibres of the others are dispersed or crossed. */
#include "response_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "dwi/gather.h"

/* USUAL: voxels in which typical single fibres are selected; a tenth of them are as many as the best may be. */
enum { ROUNDS = 8, USUAL = 3000 };

/* Fits the voxels of the sample: values of sampled x (1 + terms). merits: an element per voxel, to be filled. Both are
 * freed by the caller, also after a failure. */
static hot_status fit_sample(const hot_response_search *search, const hot_fit_options *options,
                             const hot_response *response, float **values, hot_merit **merits)
{
    hot_context *context = search->context;
    hot_plan *plan = NULL;
    *values = NULL;
    *merits = NULL;
    hot_status status = hot_plan_make(context, search->dwi, options, response, 0, &plan);
    if (status != HOT_OK)
        return status;
    *values = hot_context_alloc(context, search->sampled, (plan->terms + 1) * sizeof **values);
    *merits = hot_context_alloc(context, search->sampled, sizeof **merits);
    status = *values && *merits ? hot_plan_fit_listed(plan, search->sample, search->sampled, "estimating the response",
                                                      *values) : HOT_ERROR_MEMORY;
    hot_plan_free(&plan);
    return status;
}

/* Sorts the candidates by diffusion anisotropy. Dark voxels are anisotropic by noise: only those as bright as half of
 * the candidates count. */
static void sort_by_anisotropy(hot_response_search *search, const float *values)
{
    hot_merit *merits = search->merits;
    for (size_t i = 0; i < search->count; i++)
        merits[i] = (hot_merit){hot_response_mean_b0(search, i), i};
    qsort(merits, search->count, sizeof *merits, hot_merit_compare);
    const double bright = search->count ? .7 * merits[search->count / 2].value : 0;
    for (size_t i = 0; i < search->count; i++) {
        hot_candidate *candidate = &search->candidates[i];
        const double anisotropy = hot_tensor_principal_axis(values + 7 * candidate->place + 1, candidate->axis);
        merits[i] = (hot_merit){hot_response_mean_b0(search, i) >= bright ? anisotropy : 0, i};
    }
    qsort(merits, search->count, sizeof *merits, hot_merit_compare);
}

/* Round 0: tensors of order 2 in the sample; the most anisotropic voxels make the first response. */
static hot_status first_choice(hot_response_search *search, hot_response **response)
{
    hot_context *context = search->context;
    const hot_fit_options options = {.size = sizeof options, .model = "adc", .order = 2, .weighted = HOT_ZERO};
    float *values;
    hot_merit *merits;
    size_t usable = 0;
    hot_status status = fit_sample(search, &options, NULL, &values, &merits);
    if (status == HOT_OK) {
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(static) reduction(+ : usable)
        for (size_t v = 0; v < search->sampled; v++) {
            double axis[3];
            const int fitted = values[7 * v] > 0 && !hot_context_cancelled(context);
            merits[v].place = v;
            merits[v].value = fitted ? hot_tensor_principal_axis(values + 7 * v + 1, axis) : 0;
            usable += (size_t)fitted;
        }
        status = hot_context_check(context, "estimating the response");
    }
    if (status == HOT_OK && usable == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "no response can be estimated: in all %zu voxels of the mask signals are NaN, zero "
                                  "or negative", hot_mask_count(search->mask));
    if (status == HOT_OK)
        status = hot_response_take_candidates(search, merits);
    if (status == HOT_OK) {
        sort_by_anisotropy(search, values);
        search->chosen = hot_response_count_best(search);
        for (size_t i = 0; i < search->count; i++)
            search->candidates[i].halves = HOT_BOTH_HALVES;
        status = search->chosen ? hot_response_from_chosen(search, response)
                                : hot_context_fail(context, HOT_ERROR_DATA,
                                                   "no response can be estimated: none of the %zu voxels of the mask "
                                                   "has a diffusion tensor with direction",
                                                   hot_mask_count(search->mask));
    }
    HOT_FREE(context, merits, values);
    return status;
}

static hot_fit_options fod_options(const hot_response_search *search)
{
    return (hot_fit_options){.size = sizeof(hot_fit_options), .model = "fod", .order = search->order};
}

/* Round 1: fods in the sample, from which the candidates of the further rounds come. */
static hot_status search_sample(hot_response_search *search, const hot_response *response)
{
    hot_context *context = search->context;
    const hot_fit_options options = fod_options(search);
    const size_t width = hot_model_terms(search->order) + 1;
    float *values;
    hot_merit *merits;
    hot_status status = fit_sample(search, &options, response, &values, &merits);
    if (status == HOT_OK) {
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(dynamic, 256)
        for (size_t v = 0; v < search->sampled; v++) {
            size_t highest;
            if (hot_context_cancelled(context))
                continue;
            merits[v].place = v;
            merits[v].value = values[v * width] > 0 ? hot_peak_merit(&search->grid, values + v * width + 1, &highest)
                                                    : 0;
        }
        status = hot_context_check(context, "estimating the response");
    }
    if (status == HOT_OK)
        status = hot_response_take_candidates(search, merits);
    HOT_FREE(context, merits, values);
    return status;
}

/* The merit, axis and misfit of one candidate with the current response. */
static void judge(hot_response_search *search, const hot_response *response, const float *tensor, size_t i)
{
    hot_candidate *candidate = &search->candidates[i];
    size_t highest = 0;
    double weight, contrast;
    search->merits[i].place = i;
    search->merits[i].value = tensor[0] > 0 ? hot_peak_merit(&search->grid, tensor + 1, &highest) : 0;
    memcpy(candidate->axis, search->grid.directions[highest], sizeof candidate->axis);
    candidate->misfit = candidate->off_axis = INFINITY;
    candidate->halves = HOT_BOTH_HALVES;
    if (!(tensor[0] > 0))
        return;
    hot_peak_climb(search->order, tensor + 1, candidate->axis);
    candidate->misfit = hot_response_fit_axis(response, search->dwi, search->row, search->signals + i * search->volumes,
                                              hot_response_mean_b0(search, i), candidate->axis, &weight);
    candidate->off_axis = hot_response_off_axis(search, search->signals + i * search->volumes, candidate->axis,
                                                HOT_BOTH_HALVES, &contrast);
    /* at low signal the highest merits are noise: off_axis is about the variance of the contrast, over its square */
    search->merits[i].value *= fmax(0, 1 - 2 * sqrt(candidate->off_axis));
}

/* One round: the candidates' fods with the current response, their merits and axes, the choice. work, tensors:
 * HOT_CANDIDATES x (volumes + 1) and x (1 + terms). *same: whether it is the choice of the round before. */
static hot_status choose(hot_response_search *search, const hot_response *response, float *work, float *tensors,
                         int *same)
{
    hot_context *context = search->context;
    hot_plan *plan = NULL;
    const hot_fit_options options = fod_options(search);
    const size_t width = hot_model_terms(search->order) + 1;
    hot_status status = hot_plan_make(context, search->dwi, &options, response, 0, &plan);
    if (status == HOT_OK)
        status = hot_plan_fit(plan, search->count, search->signals, work, tensors);
    hot_plan_free(&plan);
    if (status == HOT_OK)
        status = hot_response_match(context, response, search->dwi, search->row);
    if (status != HOT_OK)
        return status;
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(dynamic, 32)
    for (size_t i = 0; i < search->count; i++)
        if (!hot_context_cancelled(context))
            judge(search, response, tensors + i * width, i);
    status = hot_context_check(context, "estimating the response");
    if (status != HOT_OK)
        return status;
    qsort(search->merits, search->count, sizeof *search->merits, hot_merit_compare);
    search->chosen = hot_response_count_best(search);
    if (search->chosen > 0)
        hot_response_keep_explained(search);
    size_t changed = 0;
    for (size_t i = 0; i < search->count; i++) {
        unsigned char *before = &search->candidates[search->merits[i].place].chosen;
        const unsigned char now = i < search->chosen;
        changed += *before != now;
        *before = now;
    }
    /* one voxel in fifty does not move the mean; a choice often ends by alternating between two */
    *same = 50 * changed <= search->chosen;
    return HOT_OK;
}

/* Chooses until the choice stays the same, from *response on; check: whether one fibre must explain the chosen. */
static hot_status choose_all(hot_response_search *search, int check, float *work, float *tensors,
                             hot_response **response)
{
    hot_status status = HOT_OK;
    int same = 0;
    for (int round = 0; round < ROUNDS && status == HOT_OK && !same; round++) {
        status = choose(search, *response, work, tensors, &same);
        if (status == HOT_OK && check)
            status = hot_response_check_chosen(search, same || round == ROUNDS - 1);
        if (status == HOT_OK && search->chosen == 0)
            break;
        hot_response_destroy(response);
        if (status == HOT_OK)
            status = hot_response_from_chosen(search, response);
    }
    return status;
}

/* The best 300 voxels of a mask are stronger than its typical single fibre, more so in a larger mask. The mean over
 * voxels selected from a fixed number of voxels does not depend on the size. *mean: on entry that of the best of all,
 * replaced by the typical one. */
static hot_status find_typical(hot_response_search *search, float *work, float *tensors, hot_response **mean)
{
    hot_response *usual = NULL;
    if (search->sampled <= USUAL)
        return HOT_OK;
    search->sampled = hot_mask_sample(search->mask, USUAL, search->sample);
    hot_status status = search_sample(search, *mean);
    if (status == HOT_OK)
        status = hot_response_copy(search->context, *mean, &usual);
    if (status == HOT_OK && search->count > 0)
        status = choose_all(search, 0, work, tensors, &usual);
    if (status == HOT_OK && search->chosen > 0) {
        hot_response_destroy(mean);
        *mean = usual;
        return HOT_OK;
    }
    hot_response_destroy(&usual);
    return status;
}

/* The order of the fods: 4 tells crossings apart well enough and is not led by noise; less where the directions or lmax
 * carry less. */
static hot_status choose_order(hot_response_search *search)
{
    const hot_fit_options probe = {.size = sizeof probe, .model = "adc", .weighted = HOT_ZERO};
    hot_plan *plan = NULL;
    HOT_TRY(hot_plan_make(search->context, search->dwi, &probe, NULL, 0, &plan));
    search->order = plan->order < 4 ? plan->order : 4;
    search->order = search->order > search->lmax ? search->lmax : search->order;
    hot_plan_free(&plan);
    return HOT_OK;
}

/* Selects the voxels of one fibre and makes the response from the sharpest of them; *chosen: their number. */
static hot_status find_response(hot_response_search *search, float *work, float *tensors, hot_response **current,
                                size_t *chosen)
{
    hot_response *mean = NULL;
    search->sampled = hot_mask_sample(search->mask, HOT_RESPONSE_SAMPLE, search->sample);
    HOT_TRY(first_choice(search, current));
    HOT_TRY(search_sample(search, *current));
    HOT_TRY(choose_all(search, 1, work, tensors, current));
    *chosen = search->chosen;
    mean = *current;
    *current = NULL;
    hot_response_keep_sharpest(search);
    hot_status status = hot_response_from_chosen(search, current);
    if (status == HOT_OK)
        (*current)->noise = hot_response_find_noise(search);
    if (status == HOT_OK)
        status = find_typical(search, work, tensors, &mean);
    if (status == HOT_OK)
        (*current)->typical = hot_response_find_typical(search, mean, *current);
    hot_response_destroy(&mean);
    return status == HOT_OK ? hot_response_check(search->context, *current, NULL) : status;
}

hot_status hot_response_estimate(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, int lmax,
                                 hot_response **response, size_t *voxels)
{
    HOT_ENTRY(context);
    HOT_CLEAR(response);
    HOT_NEED(context, dwi, response);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_response_estimate(context, dwi, all, lmax, response, voxels));
    hot_status status = HOT_OK;
    hot_response *current = NULL;
    hot_response_search *search = NULL;
    float *work = NULL, *tensors = NULL;
    size_t chosen = 0;
    if (lmax < 0 || lmax > 16 || lmax % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a response needs an even lmax from 2 to 16, not %d", lmax);
    if (!hot_dwi_has_b0(dwi))
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has no b=0 volume (b of at most 50 s/mm^2); a response "
                                "needs the signal without diffusion weighting", hot_dwi_name(dwi));
    HOT_TRY(hot_mask_check(context, mask, hot_dwi_grid(dwi)));
    search = hot_context_calloc(context, 1, sizeof *search);
    if (!search)
        return HOT_ERROR_MEMORY;
    search->context = context;
    search->dwi = dwi;
    search->mask = mask;
    search->lmax = lmax == 0 ? 8 : lmax;
    search->volumes = hot_dwi_volumes(dwi);
    search->shells = hot_dwi_shells(dwi, &search->shell_b, &search->shell_of);
    status = choose_order(search);
    if (status != HOT_OK)
        goto cleanup;
    search->signals = hot_context_alloc(context, HOT_CANDIDATES, search->volumes * sizeof *search->signals);
    search->row = hot_context_alloc(context, search->shells, sizeof *search->row);
    const size_t inside = hot_mask_count(mask);
    search->sample = hot_context_alloc(context, inside < HOT_RESPONSE_SAMPLE ? inside + 1 : HOT_RESPONSE_SAMPLE,
                                       sizeof *search->sample);
    work = hot_context_alloc(context, HOT_CANDIDATES, (search->volumes + 1) * sizeof *work);
    tensors = hot_context_alloc(context, HOT_CANDIDATES, (hot_model_terms(search->order) + 1) * sizeof *tensors);
    status = search->signals && search->row && search->sample && work && tensors
                 ? hot_peak_grid_make(search->order, &search->grid) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = find_response(search, work, tensors, &current, &chosen);
    if (status != HOT_OK)
        goto cleanup;
    *response = current;
    current = NULL;
    if (voxels)
        *voxels = chosen;
cleanup:
    hot_response_destroy(&current);
    HOT_FREE(context, tensors, work, search->sample, search->row, search->signals, search);
    return status;
}

/* msmt: fibre orientation density by deconvolution of all shells into white matter and isotropic tissues (Jeurissen et
 * al. 2014): S(g) = sum over fibres w R(g . v) + sum over tissues a S_t. Signals are not divided by the b=0 signal: the
 * tissues' brightness tells them apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

enum { SHELLS_MAX = 256 };

/* mm^2/s; of the isotropic part where white matter's response is the only one */
static const double free_water = 3e-3;

/* Tissue t's signal in a shell, NAN where its response has no row. */
static double tissue_signal(const hot_plan *plan, size_t t, int shell, const int *row, double b)
{
    if (plan->tissue_count > 0)
        return row[shell] < 0 ? (double)NAN : hot_response_row(plan->tissues[t], (size_t)row[shell], NULL)[0] /
                                              sqrt(4 * M_PI);
    return hot_response_value(plan->response, (size_t)row[0], 0) * exp(-b * free_water);
}

static size_t isotropic(const hot_plan *plan) { return plan->tissue_count > 0 ? plan->tissue_count : 1; }

/* Which row belongs to each shell in the response of white matter (t = 0) or of tissue t; errors say whose it is. */
static hot_status match(const hot_plan *plan, size_t t, int *row)
{
    hot_context *context = plan->context;
    char why[512];
    const hot_response *response = t == 0 ? plan->response : plan->tissues[t - 1];
    const hot_status status = hot_response_match(context, response, plan->dwi, row);
    if (status == HOT_OK && row[0] < 0)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "the response of tissue %zu has no row for b=0; msmt needs one in every response",
                                t + 1);
    if (status == HOT_OK || plan->tissue_count == 0)
        return status;
    snprintf(why, sizeof why, "%s", hot_context_message(context));
    return hot_context_fail(context, status, "tissue %zu of %zu: %s", t + 1, plan->tissue_count + 1, why);
}

/* Fails for responses that do not determine the tissues' amounts, or whose tissue is not isotropic. */
static void warn(const hot_plan *plan, size_t shells)
{
    if (1 + isotropic(plan) > shells)
        hot_context_log(plan->context, HOT_LOG_WARNING,
                        "msmt: %zu tissues are more than the %zu shells tell apart (b=0 is one); their amounts can be "
                        "wrong", 1 + isotropic(plan), shells);
    for (size_t t = 0; t < plan->tissue_count; t++) {
        int contrast = 0;
        for (size_t s = 0; s < plan->tissues[t]->shells; s++)
            for (int l = 2; l <= plan->tissues[t]->lmax; l += 2)
                contrast |= hot_response_row(plan->tissues[t], s, NULL)[l / 2] != 0;
        if (contrast)
            hot_context_log(plan->context, HOT_LOG_WARNING,
                            "msmt: the response of tissue %zu has coefficients above l=0, which are not used; white "
                            "matter's comes first", t + 2);
    }
}

static hot_status msmt_select(hot_plan *plan, int say)
{
    hot_context *context = plan->context;
    const double *shell_b;
    const int *shell_of;
    int row[SHELLS_MAX], other[SHELLS_MAX], left_out = -1;
    size_t kept = 0;
    const size_t shells = hot_dwi_shells(plan->dwi, &shell_b, &shell_of);
    if (shells > SHELLS_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA, "%zu shells; msmt takes up to %d (are these b-values one "
                                "shell's?)", shells, SHELLS_MAX);
    hot_status status = hot_response_check_order(plan->context, plan->response, plan->order);
    if (status == HOT_OK)
        status = match(plan, 0, row);
    for (size_t t = 0; t < plan->tissue_count && status == HOT_OK; t++) {
        status = match(plan, t + 1, other);
        for (size_t s = 0; s < shells && status == HOT_OK; s++)
            row[s] = other[s] < 0 ? -1 : row[s];
    }
    if (status != HOT_OK)
        return status;
    for (size_t s = 0; s < shells; s++)
        kept += row[s] >= 0;
    if (say)
        warn(plan, kept);
    plan->used_count = 0;
    for (size_t v = 0; v < plan->volumes; v++)
        if (row[shell_of[v]] >= 0)
            plan->used[plan->used_count++] = v;
        else
            left_out = shell_of[v];
    if (say && left_out >= 0)
        hot_context_log(context, HOT_LOG_NOTE,
                        "msmt: the shell b=%.0f has no row in one of the responses and is left out", shell_b[left_out]);
    plan->relative = 0;
    plan->extra = 1 + isotropic(plan) + 1; /* white matter and the other tissues, then the residual */
    if (say && plan->tissue_count == 0)
        hot_context_log(context, HOT_LOG_NOTE,
                        "msmt: only a white-matter response is given; the isotropic compartment is free water");
    return HOT_OK;
}

static hot_status msmt_prepare(hot_plan *plan)
{
    hot_context *context = plan->context;
    const size_t used = plan->used_count, terms = plan->terms, unknowns = terms + isotropic(plan);
    int row[SHELLS_MAX], other[SHELLS_MAX];
    const double *shell_b;
    const int *shell_of;
    double power[HOT_MODEL_ORDER_MAX / 2 + 1], *harmonics = hot_context_alloc(context, used, terms * sizeof(double));
    plan->design = hot_context_calloc(context, used, unknowns * sizeof(double));
    hot_status status = harmonics && plan->design ? HOT_OK : HOT_ERROR_MEMORY;
    hot_dwi_shells(plan->dwi, &shell_b, &shell_of);
    if (status == HOT_OK)
        status = hot_response_match(context, plan->response, plan->dwi, row);
    if (status == HOT_OK)
        status = hot_sh_values_f64(plan->order, used, plan->gradients, harmonics);
    hot_model_power(plan->order, power);
    for (int l = 0; l <= plan->order && plan->kernel == HOT_KERNEL_DELTA; l += 2)
        power[l / 2] = 1;
    for (size_t i = 0; i < used && status == HOT_OK; i++) {
        const int shell = shell_of[plan->used[i]];
        const double *r = hot_response_row(plan->response, (size_t)row[shell], NULL);
        for (size_t s = 0; s < (shell == 0 ? 1 : terms); s++) { /* without weighting there is no direction */
            const int l = hot_model_degree(s);
            const double y = shell == 0 ? 1 / sqrt(4 * M_PI) : harmonics[i * terms + s];
            for (size_t t = 0; t < terms; t++)
                plan->design[i * unknowns + t] += r[l / 2] * sqrt(4 * M_PI / (2 * l + 1)) / power[l / 2] * y *
                                                  plan->to_sh[s * terms + t];
        }
        memcpy(plan->forward + i * terms, plan->design + i * unknowns, terms * sizeof(double));
    }
    for (size_t t = 0; t < isotropic(plan) && status == HOT_OK; t++) {
        memcpy(other, row, sizeof other);
        if (plan->tissue_count > 0)
            status = hot_response_match(context, plan->tissues[t], plan->dwi, other);
        for (size_t i = 0; i < used && status == HOT_OK; i++) {
            const int shell = shell_of[plan->used[i]];
            plan->design[i * unknowns + terms + t] = tissue_signal(plan, t, shell, other, shell_b[shell]);
        }
    }
    /* the amount of white matter is the sum of the fibres' weights: the tensor's part of degree 0 over that of a fibre
     * of weight 1 */
    for (size_t t = 0; t < terms; t++)
        plan->offset[t] = 0;
    plan->density = sqrt(4 * M_PI) / power[0];
    hot_context_free(context, harmonics);
    return status;
}

static hot_status msmt_fit(const hot_plan *plan, size_t count, const float *signals, float *s0, float *work,
                           float *values)
{
    hot_context *context = plan->context;
    const size_t terms = plan->terms, tissues = isotropic(plan), width = hot_plan_width(plan);
    float *amounts = hot_context_alloc(context, count, tissues * sizeof *amounts);
    float *residual = hot_context_alloc(context, count, sizeof *residual);
    const hot_msmt_problem problem = {
        .size = sizeof problem, .order = plan->order, .tissues = tissues, .rows = plan->used_count,
        .design = plan->design, .directions = plan->constraint_count, .direction = plan->constraint_directions,
        .constraint = plan->constraint};
    hot_plan_ratios(plan, count, signals, s0, work, NULL);
    hot_status status = amounts && residual
                            ? hot_msmt_f32(context, &problem, count, work, plan->used_count, NULL, values + 1, width,
                                           amounts, residual, NULL)
                            : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < count && status == HOT_OK; v++) {
        float *tensor = values + v * width + 1, *more = tensor + terms;
        double white = 0;
        for (size_t t = 0; t < terms; t++)
            white += plan->to_sh[t] * (double)tensor[t];
        more[0] = (float)(white * plan->density);
        memcpy(more + 1, amounts + v * tissues, tissues * sizeof *more);
        more[1 + tissues] = residual[v];
    }
    HOT_FREE(context, residual, amounts);
    return status;
}

const hot_model hot_model_msmt = {
    .name = "msmt",
    .help = "fibre orientation density and amounts of further tissues, from all shells, under the constraint that none "
            "is negative",
    .needs_response = 1,
    .select = msmt_select,
    .prepare = msmt_prepare,
    .fit = msmt_fit,
};

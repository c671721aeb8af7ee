/* fod: fibre orientation density by spherical deconvolution, S(g) / S0 = sum over fibres w R(g . v) / R0, with the
 * kernel chosen such that one fibre v of weight 1 is the rank-1 tensor v^(x m). (Schultz and Seidel
 * 2008, section 3.) */
#include <math.h>

#include "model.h"

enum { SHELLS_MAX = 256 };

/* The sum of squared weights that is expected in a voxel, and how much more than by Wiener's a degree of noise is held
 * down (steepness times its noise over its signal, up to held_down);
 * chosen on phantoms and a scan of a physical phantom, between false peaks in noise and blunt peaks without. */
static const double weights_squared = 2, steepness = 4, held_down = 10;

static hot_status fod_select(hot_plan *plan, int say)
{
    hot_context *context = plan->context;
    const double *shell_b;
    const int *shell_of;
    int row[SHELLS_MAX], left_out = -1;
    const size_t shells = hot_dwi_shells(plan->dwi, &shell_b, &shell_of);
    if (shells > SHELLS_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "%zu shells; fod takes up to %d (are these b-values one shell's?)", shells, SHELLS_MAX);
    HOT_TRY(hot_response_check_order(context, plan->response, plan->order));
    HOT_TRY(hot_response_match(context, plan->response, plan->dwi, row));
    plan->used_count = 0;
    for (size_t v = 0; v < plan->volumes; v++) {
        const int shell = shell_of[v];
        if (shell > 0 && row[shell] >= 0)
            plan->used[plan->used_count++] = v;
        else if (shell > 0)
            left_out = shell;
    }
    if (say && left_out > 0)
        hot_context_log(context, HOT_LOG_NOTE, "fod: the shell b=%.0f has no row in the response and is left out",
                        shell_b[left_out]);
    plan->relative = row[0] >= 0;
    if (say && !plan->relative)
        hot_context_log(context, HOT_LOG_NOTE,
                        "fod: the response has no row for b=0, so amplitudes are in units of its signal, not volume "
                        "fractions");
    return HOT_OK;
}

static hot_status fod_prepare(hot_plan *plan)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const hot_response *response = plan->response;
    const size_t used = plan->used_count, terms = plan->terms;
    int row[SHELLS_MAX];
    const int *shell_of;
    double delta[HOT_MODEL_ORDER_MAX / 2 + 1], penalty[HOT_MODEL_TERMS_MAX], unit = 1, condition = 0;
    double *design = hot_context_alloc(context, used, terms * sizeof *design);
    double *inverse = hot_context_alloc(context, used, terms * sizeof *inverse);
    if (!design || !inverse) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    hot_dwi_shells(plan->dwi, NULL, &shell_of);
    status = hot_response_match(context, response, plan->dwi, row);
    if (status == HOT_OK)
        status = hot_sh_values_f64(plan->order, used, plan->gradients, design);
    if (status != HOT_OK)
        goto cleanup;
    if (plan->relative) {
        unit = hot_response_value(response, (size_t)row[0], 0);
        if (!(unit > 0)) {
            status = hot_context_fail(context, HOT_ERROR_DATA, "the response's b=0 signal is %g; it must be positive",
                                      unit);
            goto cleanup;
        }
    }
    hot_model_power(plan->order, delta);
    for (size_t i = 0; i < used; i++) {
        const double *r = hot_response_row(response, (size_t)row[shell_of[plan->used[i]]], NULL);
        for (size_t t = 0; t < terms; t++) {
            const int l = hot_model_degree(t);
            /* zonal coefficient of Y_l0 -> factor on every Y_lm of the fibre, over that of (g.v)^m */
            design[i * terms + t] *= r[l / 2] * sqrt(4 * M_PI / (2 * l + 1)) / delta[l / 2] / unit;
        }
    }
    for (size_t t = 0; t < terms; t++) {
        const double l = hot_model_degree(t);
        penalty[t] = plan->regularise * l * l * (l + 1) * (l + 1);
        /* Wiener's filter: fibres of weights w in directions that may be any give a harmonic of degree l the variance
         * sum w^2 delta_l^2 / (4 pi); noise is weighed against that, and without noise nothing changes. A degree that
         * is mostly noise makes false peaks rather than small errors: it is held down further. */
        if (t > 0 && plan->noise > 0) {
            const size_t first = hot_model_terms((int)l - 2), last = hot_model_terms((int)l);
            double signal = 0; /* mean of the degree: rotating the data does not change it */
            for (size_t i = 0; i < used; i++)
                for (size_t k = first; k < last; k++)
                    signal += design[i * terms + k] * design[i * terms + k] / (double)(last - first);
            const double wiener = 4 * M_PI * plan->noise * plan->noise /
                                  (weights_squared * delta[(int)l / 2] * delta[(int)l / 2]);
            penalty[t] += wiener * fmin(held_down, 1 + steepness * wiener / signal);
        }
    }
    status = hot_fit_pseudo_inverse(context, used, terms, design, penalty, inverse, &condition);
    if (status == HOT_OK && !(condition < 1e7))
        status = hot_context_fail(context, HOT_ERROR_DATA, "condition number %.3g", condition);
    if (status != HOT_OK) {
        if (status == HOT_ERROR_DATA)
            hot_context_add(context, status,
                            "the response has too little contrast for a deconvolution at order %d: a lower order, or "
                            "another response", plan->order);
        goto cleanup;
    }
    for (size_t i = 0; i < used; i++)
        for (size_t t = 0; t < terms; t++)
            for (size_t s = 0; s < terms; s++) {
                plan->inverse[t * used + i] += plan->from_sh[t * terms + s] * inverse[s * used + i];
                plan->forward[i * terms + t] += design[i * terms + s] * plan->to_sh[s * terms + t];
            }
cleanup:
    HOT_FREE(context, inverse, design);
    return status;
}

static hot_status fod_fit(const hot_plan *plan, size_t count, const float *signals, float *s0, float *work,
                          float *values)
{
    hot_plan_ratios(plan, count, signals, s0, work, NULL);
    return hot_plan_fit_linear(plan, count, work, values);
}

const hot_model hot_model_fod = {
    .name = "fod",
    .help = "fibre orientation density by deconvolution with the single-fibre response: k fibres are a sum of k rank-1 "
            "tensors, weights are volume fractions; several shells are used together",
    .needs_response = 1,
    .weighs_noise = 1,
    .select = fod_select,
    .prepare = fod_prepare,
    .fit = fod_fit,
};

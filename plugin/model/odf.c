/* odf: the orientation distribution of constant-solid-angle q-ball imaging, from one shell.
 * (Aganj et al. 2010: ODF = 1/(4 pi) + 1/(16 pi^2) FRT of the Laplace-Beltrami of ln(-ln E).) */
#include <math.h>

#include "dwi/scheme.h"
#include "model.h"

/* Signals are clamped to at least this distance from 0 and 1, where ln(-ln E) is undefined (Aganj et al. 2010, equation
 * 14). */
static const float margin = .001f;

static hot_status odf_select(hot_plan *plan, int say)
{
    const double *shell_b, *gradients = hot_dwi_gradients(plan->dwi);
    const int shells = (int)hot_dwi_shells(plan->dwi, &shell_b, NULL);
    for (int shell = shells - 1; shell >= 1; shell--) {
        hot_plan_use_shell(plan, shell);
        for (size_t i = 0; i < plan->used_count; i++)
            for (int d = 0; d < 3; d++)
                plan->gradients[3 * i + d] = gradients[3 * plan->used[i] + d];
        int supports;
        HOT_TRY(hot_scheme_supports(plan->context, plan->used_count, plan->gradients, plan->order, &supports));
        if (!supports)
            continue;
        if (say && shells > 2)
            hot_context_log(plan->context, HOT_LOG_NOTE,
                            "odf: uses the shell b=%.0f (%zu volumes) of %d, the highest that supports order %d",
                            shell_b[shell], plan->used_count, shells - 1, plan->order);
        return HOT_OK;
    }
    /* none does: the highest b stays chosen, and the caller says what it lacks */
    hot_plan_use_shell(plan, shells - 1);
    return HOT_OK;
}

/* From a harmonic of ln(-ln E) to the ODF's: -l (l+1) of the Laplace-Beltrami, 2 pi P_l(0) of the Funk-Radon
 * transform, 1 / (16 pi^2). */
static double gain(int l) { return -l * (l + 1) * hot_model_legendre(l, 0) / (8 * M_PI); }

static hot_status odf_prepare(hot_plan *plan)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t used = plan->used_count, terms = plan->terms;
    double penalty[HOT_MODEL_TERMS_MAX];
    double *sh = hot_context_alloc(context, used, terms * sizeof *sh);
    double *inverse = hot_context_alloc(context, used, terms * sizeof *inverse);
    if (!sh || !inverse) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t t = 0; t < terms; t++) {
        const double l = hot_model_degree(t);
        penalty[t] = plan->regularise * l * l * (l + 1) * (l + 1);
    }
    status = hot_sh_values_f64(plan->order, used, plan->gradients, sh);
    if (status == HOT_OK)
        status = hot_fit_pseudo_inverse(context, used, terms, sh, penalty, inverse, NULL);
    if (status != HOT_OK)
        goto cleanup;
    for (size_t t = 0; t < terms; t++)
        plan->offset[t] = plan->from_sh[t * terms] / (2 * sqrt(M_PI)); /* 1/(4 pi) = Y_00 / (2 sqrt(pi)) */
    for (size_t i = 0; i < used; i++)
        for (size_t t = 0; t < terms; t++)
            for (size_t s = 1; s < terms; s++) {
                const double k = gain(hot_model_degree(s));
                plan->inverse[t * used + i] += plan->from_sh[t * terms + s] * k * inverse[s * used + i];
            }
cleanup:
    HOT_FREE(context, inverse, sh);
    return status;
}

static float log_minus_log(float e)
{
    if (e < margin)
        e = e < 0 ? margin / 2 : margin / 2 + e * e / (2 * margin);
    else if (e > 1 - margin)
        e = e < 1 ? 1 - margin / 2 - (1 - e) * (1 - e) / (2 * margin) : 1 - margin / 2;
    return logf(-logf(e));
}

static hot_status odf_fit(const hot_plan *plan, size_t count, const float *signals, float *s0, float *work,
                          float *values)
{
    hot_plan_ratios(plan, count, signals, s0, work, log_minus_log);
    return hot_plan_fit_linear(plan, count, work, values);
}

const hot_model hot_model_odf = {
    .name = "odf",
    .help = "orientation distribution by constant-solid-angle q-ball (Aganj 2010), from one shell: the highest with "
            "enough directions",
    .regularise = .006, /* Descoteaux et al. 2007 */
    .select = odf_select,
    .prepare = odf_prepare,
    .fit = odf_fit,
};

/* adc: the apparent diffusion coefficient as an order-m form, -ln(S(g) / S0) = b A g^m.
 * (Ozarslan and Mareci 2003; weights: Salvador et al. 2005, Veraart et al. 2013.) */
#include <math.h>
#include <string.h>

#include "adc_signals.h"
#include "common/entry.h"
#include "positive.h"

static hot_status adc_select(hot_plan *plan, int say)
{
    const double *shell_b;
    const size_t shells = hot_dwi_shells(plan->dwi, &shell_b, NULL);
    hot_plan_use_shell(plan, -1);
    if (plan->estimate_s0)
        /* the b=0 volumes are measurements of ln S0 like the others */
        for (size_t i = 0; i < plan->b0_count; i++)
            plan->used[plan->used_count++] = plan->b0[i];
    if (say && shells > 2)
        hot_context_log(plan->context, HOT_LOG_NOTE,
                        "adc: one diffusivity for all %zu shells (b=%.0f to %.0f); it falls with b in tissue",
                        shells - 1, shell_b[1], shell_b[shells - 1]);
    return HOT_OK;
}

/* Unknowns: the harmonics of D times b_max, and with estimate_s0 the correction of ln S0. Rows: the volumes, and one
 * per harmonic for the penalty. */
static hot_status adc_prepare(hot_plan *plan)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t used = plan->used_count, terms = plan->terms;
    const size_t columns = terms + (plan->estimate_s0 ? 1 : 0);
    const size_t rows = used + (plan->regularise > 0 ? terms : 0);
    double penalty[HOT_MODEL_TERMS_MAX + 1] = {0};
    double *sh = hot_context_alloc(context, used, terms * sizeof *sh);
    double *inverse = hot_context_alloc(context, used, columns * sizeof *inverse);
    plan->columns = columns;
    plan->rows = rows;
    plan->design = hot_context_calloc(context, rows, columns * sizeof *plan->design);
    plan->predict = hot_context_calloc(context, used, used * sizeof *plan->predict);
    if (!sh || !inverse || !plan->design || !plan->predict) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = hot_sh_values_f64(plan->order, used, plan->gradients, sh);
    if (status != HOT_OK)
        goto cleanup;
    plan->b_max = 0;
    for (size_t i = 0; i < used; i++)
        plan->b_max = fmax(plan->b_max, plan->b[i]);
    for (size_t i = 0; i < used; i++) {
        for (size_t t = 0; t < terms; t++)
            plan->design[i * columns + t] = plan->b[i] / plan->b_max * sh[i * terms + t];
        if (plan->estimate_s0)
            plan->design[i * columns + terms] = 1;
    }
    for (size_t t = 0; t < terms; t++) {
        const double l = hot_model_degree(t), root = sqrt(plan->regularise) * l * (l + 1);
        penalty[t] = root * root;
        if (rows > used)
            plan->design[(used + t) * columns + t] = root;
    }
    status = hot_fit_pseudo_inverse(context, used, columns, plan->design, penalty, inverse, NULL);
    if (status != HOT_OK) {
        hot_context_add(context, status, "while solving for the diffusivity%s", plan->estimate_s0 ? " and S0" : "");
        goto cleanup;
    }
    for (size_t i = 0; i < used; i++) {
        for (size_t t = 0; t < terms; t++)
            for (size_t s = 0; s < terms; s++)
                plan->inverse[t * used + i] += plan->from_sh[t * terms + s] * inverse[s * used + i] / plan->b_max;
        for (size_t j = 0; j < used; j++)
            for (size_t c = 0; c < columns; c++)
                plan->predict[j * used + i] += plan->design[j * columns + c] * inverse[c * used + i];
    }
cleanup:
    HOT_FREE(context, inverse, sh);
    return status;
}

static float minus_log(float ratio) { return -logf(ratio); }

/* Voxels per call of the weighted fit: its memory stays small whatever the slab. */
enum { BATCH = 4096 };

/* An error of sigma in S is one of sigma / S in ln S, so squared signals are the weights: those of the plain fit, since
 * the measured ones are noisy and bias the result (Veraart et al. 2013). */
static hot_status fit_weighted(const hot_plan *plan, size_t count, const float *y, float *s0, float *values)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t used = plan->used_count, terms = plan->terms, rows = plan->rows, columns = plan->columns;
    const size_t batch = count < BATCH ? count : BATCH;
    const int penalised = rows > used;
    float *weight = hot_context_alloc(context, batch, rows * sizeof *weight);
    float *padded = penalised ? hot_context_alloc(context, batch, rows * sizeof *padded) : NULL;
    float *sh = hot_context_alloc(context, batch, columns * sizeof *sh);
    uint8_t *flags = hot_context_alloc(context, batch, 1);
    double *to_tensor = hot_context_alloc(context, terms, terms * sizeof *to_tensor);
    if (!weight || (penalised && !padded) || !sh || !flags || !to_tensor) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t i = 0; i < terms * terms; i++)
        to_tensor[i] = plan->from_sh[i] / plan->b_max;
    for (size_t first = 0; first < count; first += batch) {
        const size_t n = count - first < batch ? count - first : batch;
        const float *input = y + first * used;
        status = hot_fit_linear_f32(context, used, used, plan->predict, n, input, used, weight, rows);
        if (status != HOT_OK)
            goto cleanup;
#pragma omp parallel for num_threads(hot_team(n > 256 ? hot_context_threads(context) : 1)) schedule(static)
        for (size_t v = 0; v < n; v++) {
            float *w = weight + v * rows;
            /* within what a float holds; a ratio above e or below e^-20 is noise or nonsense */
            for (size_t i = 0; i < used; i++)
                w[i] = expf(-2 * fminf(fmaxf(w[i], -1), 20));
            for (size_t i = used; i < rows; i++)
                w[i] = 1;
            if (penalised) {
                memcpy(padded + v * rows, input + v * used, used * sizeof(float));
                memset(padded + v * rows + used, 0, terms * sizeof(float));
            }
        }
        status = hot_fit_weighted_f32(context, rows, columns, plan->design, n, penalised ? padded : input, weight, sh,
                                      columns, flags);
        if (status == HOT_OK)
            status = hot_fit_linear_f32(context, terms, terms, to_tensor, n, sh, columns,
                                        values + first * (terms + 1) + 1, terms + 1);
        if (status != HOT_OK)
            goto cleanup;
        for (size_t v = 0; v < n; v++)
            if (flags[v])
                s0[first + v] = 0;
    }
cleanup:
    HOT_FREE(context, to_tensor, flags, sh, padded, weight);
    return status;
}

static hot_status adc_fit(const hot_plan *plan, size_t count, const float *signals, float *s0, float *work,
                          float *values)
{
    hot_plan_ratios(plan, count, signals, s0, work, minus_log);
    hot_status status = plan->weighted ? fit_weighted(plan, count, work, s0, values)
                                       : hot_plan_fit_linear(plan, count, work, values);
    if (status == HOT_OK)
        status = hot_adc_fit_signals(plan, count, signals, s0, values);
    if (status == HOT_OK && plan->positive)
        status = hot_model_make_positive(plan, count, s0, values);
    return status;
}

const hot_model hot_model_adc = {
    .name = "adc",
    .help =
        "apparent diffusion coefficient D(g) = -ln(S/S0)/b as an order-m form. Its maxima are NOT the fibres: where "
        "two fibres cross they fall between them (order 2 is the diffusion tensor, whose first eigenvector is the "
        "fibre where there is one)",
    .select = adc_select,
    .prepare = adc_prepare,
    .fit = adc_fit,
};

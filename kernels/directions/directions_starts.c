/* Directions by many starts (Ballard, Kolda, Plantenga 2011, section IV): SS-HOPM from every start, saddles and
 * unconverged pairs left out, the rest clustered. */
#include <math.h>

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>

#include "directions/plan.h"
#include "directions/tangent.h"

enum { STARTS_TERMS = 45 };

/* Whether max - min over the starts is at least min_relief of |max|: the same test as on the scan's grid. */
static int has_relief(const hot_directions_plan *plan, const double *tensor, const double *starts)
{
    double high = -INFINITY, low = INFINITY;
    for (size_t s = 0; s < plan->starts; s++) {
        const double value = hot_symtensor_value_f64(plan->order, 3, tensor, starts + 3 * s);
        high = fmax(high, value);
        low = fmin(low, value);
    }
    /* one start alone sees no relief: such a job says nothing about isotropy */
    return plan->starts < 6 || high - low >= (double)plan->min_relief * fabs(high);
}

static int one(const hot_directions_plan *plan, const double *starts, const float *row, const float *x,
               const int32_t *iterations, hot_maximum *maxima, float *out)
{
    const size_t terms = hot_symtensor_count(plan->order, 3);
    double tensor[STARTS_TERMS], scale = 0;
    for (size_t k = 0; k < terms; k++) {
        if (!isfinite(row[k]))
            return HOT_DIRECTIONS_INVALID;
        tensor[k] = (double)row[k];
        scale = fmax(scale, fabs(tensor[k]));
    }
    if (!has_relief(plan, tensor, starts))
        return 0;
    int count = 0;
    for (size_t s = 0; s < plan->starts; s++) {
        if (iterations[s] < 0)
            continue;
        const double point[3] = {(double)x[3 * s], (double)x[3 * s + 1], (double)x[3 * s + 2]};
        hot_tangent t;
        hot_tangent_at(plan->order, tensor, point, &t);
        if (t.value > (double)HOT_DIRECTIONS_ZERO * scale && t.high < 0)
            maxima[count++] = (hot_maximum){(float)t.value, x[3 * s], x[3 * s + 1], x[3 * s + 2]};
    }
    return hot_directions_cluster(plan, maxima, count, out);
}

hot_status hot_directions_starts(hot_context *context, const hot_directions_plan *plan)
{
    enum { PAIRS = 1 << 19 }; /* per call of SS-HOPM */
    hot_status status = HOT_ERROR_MEMORY;
    const size_t row = 3 * (size_t)plan->keep;
    const size_t fit = PAIRS / plan->starts ? PAIRS / plan->starts : 1, chunk = plan->count < fit ? plan->count : fit;
    const hot_sshopm_options settings = {.size = sizeof settings, .shift = plan->shift, .alpha = plan->alpha};
    double *starts = hot_context_alloc(context, plan->starts, 3 * sizeof *starts);
    float *first = hot_context_alloc(context, plan->starts, 3 * sizeof *first);
    float *x = starts && first ? hot_context_alloc(context, chunk, 3 * plan->starts * sizeof *x) : NULL;
    int32_t *iterations = x ? hot_context_alloc(context, chunk, plan->starts * sizeof *iterations) : NULL;
    hot_maximum *maxima = iterations ? hot_context_alloc(context, chunk, plan->starts * sizeof *maxima) : NULL;
    if (!maxima)
        goto cleanup;
    hot_starts_even(plan->starts, starts);
    for (size_t k = 0; k < 3 * plan->starts; k++)
        first[k] = (float)starts[k];
    status = HOT_OK;
    for (size_t start = 0; start < plan->count && status == HOT_OK; start += chunk) {
        const size_t size = plan->count - start < chunk ? plan->count - start : chunk;
        status = hot_sshopm_f32(context, &settings, plan->order, 3, size, plan->tensors + start * plan->stride,
                                plan->stride, plan->starts, first, NULL, x, NULL, iterations);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hot_context_threads(context))
        for (long i = 0; i < (long)size; i++) {
            const size_t item = start + (size_t)i, at = (size_t)i * plan->starts;
            float *out = plan->directions + item * row;
            int found = 0;
            if (hot_context_cancelled(context))
                continue;
            for (size_t k = 0; k < row; k++)
                out[k] = 0;
            if (!plan->skip || plan->skip[item])
                found = one(plan, starts, plan->tensors + item * plan->stride, x + 3 * at, iterations + at, maxima + at,
                            out);
            if (plan->found)
                plan->found[item] = (uint8_t)found;
        }
        if (hot_context_cancelled(context)) /* SS-HOPM says how far it is */
            status = hot_context_progress(context, "finding directions", (double)(start + size) / (double)plan->count);
    }
cleanup:
    hot_context_free(context, starts);
    hot_context_free(context, first);
    hot_context_free(context, x);
    hot_context_free(context, iterations);
    hot_context_free(context, maxima);
    return status;
}

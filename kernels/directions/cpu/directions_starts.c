/* Directions by many starts (Ballard, Kolda, Plantenga 2011, section IV): SS-HOPM from every start, ends that are the
 * same counted once, saddles and unconverged pairs left out, the maxima refined and clustered. */
#include <math.h>
#include <string.h>

#include "directions/cluster.h"
#include "common/entry.h"
#include "directions/directions_starts.h"
#include "symtensor/forms.h"

#define HOT_STARTS(name) HOT_JOIN(name##_, HOT_ORDER)
#define HOT_FORM(name) HOT_JOIN(HOT_JOIN(hot_form_##name##_, HOT_ORDER), _f64)
#define HOT_ORDER_TEMPLATE "directions/starts_step.h"
#include "common/orders.h"

static int settle(int order, const double *tensor, double scale, double x[3], double *value)
{
    return order == 4   ? settle_4(tensor, scale, x, value)
           : order == 6 ? settle_6(tensor, scale, x, value)
                        : settle_8(tensor, scale, x, value);
}

static double value_at(int order, const double *tensor, const double *x)
{
    return order == 4   ? hot_form_value_4_f64(tensor, x[0], x[1], x[2])
           : order == 6 ? hot_form_value_6_f64(tensor, x[0], x[1], x[2])
                        : hot_form_value_8_f64(tensor, x[0], x[1], x[2]);
}

/* Whether max - min over the starts is at least min_relative_range times |max|. `bound` is at least |max|, so that a
 * few starts are mostly enough. */
static int has_range(const hot_starts_job *job, const double *tensor, double bound)
{
    const hot_directions_args *args = job->args;
    const double part = (double)args->min_relative_range;
    double high = -INFINITY, low = INFINITY;
    if (args->starts < HOT_STARTS_RANGE)
        return 1;
    for (size_t s = 0; s < args->starts; s++) {
        const double value = value_at(args->order, tensor, job->wide + 3 * s);
        high = fmax(high, value);
        low = fmin(low, value);
        if (high - low >= part * bound)
            return 1;
    }
    return high - low >= part * fabs(high);
}

static int one(const hot_starts_job *job, const float *row, const float *x, const int32_t *iterations,
               hot_maximum *maxima, float *out)
{
    const hot_directions_args *args = job->args;
    const size_t terms = job->sshopm.unique;
    double tensor[HOT_STARTS_TERMS], scale = 0, bound = 0;
    for (size_t k = 0; k < terms; k++) {
        if (!isfinite(row[k]))
            return HOT_DIRECTIONS_INVALID;
        tensor[k] = (double)row[k];
        scale = fmax(scale, fabs(tensor[k]));
        bound += fabs(tensor[k]) * job->multiplicity[k];
    }
    if (!has_range(job, tensor, bound))
        return 0;
    int ends = 0, count = 0;
    for (size_t s = 0; s < args->starts; s++) {
        const float *end = x + 3 * s;
        int known = iterations[s] < 0;
        for (int i = 0; i < ends && !known; i++) {
            const float cosine = end[0] * maxima[i].x + end[1] * maxima[i].y + end[2] * maxima[i].z;
            known = cosine * cosine > HOT_STARTS_SAME;
        }
        if (!known)
            maxima[ends++] = (hot_maximum){0, end[0], end[1], end[2]};
    }
    for (int i = 0; i < ends; i++) {
        double point[3] = {(double)maxima[i].x, (double)maxima[i].y, (double)maxima[i].z}, value;
        if (settle(args->order, tensor, scale, point, &value) && value > (double)HOT_DIRECTIONS_ZERO * scale)
            maxima[count++] = (hot_maximum){(float)value, (float)point[0], (float)point[1], (float)point[2]};
    }
    return hot_cluster(args->keep, args->threshold, args->apart, maxima, count, out);
}

hot_status hot_starts_job_create(hot_context *context, const hot_directions_args *args, hot_starts_job *job)
{
    const hot_sshopm_options settings = {.size = sizeof settings, .shift = args->shift, .alpha = args->alpha};
    memset(job, 0, sizeof *job);
    job->args = args;
    job->sshopm.order = args->order;
    job->sshopm.dim = 3;
    job->sshopm.count = 1;
    job->sshopm.stride = args->stride;
    job->sshopm.starts = args->starts;
    job->wide = hot_context_alloc(context, args->starts, 3 * sizeof *job->wide);
    job->unit = job->wide ? hot_context_alloc(context, args->starts, 3 * sizeof *job->unit) : NULL;
    if (!job->unit)
        return HOT_ERROR_MEMORY;
    hot_starts_even(args->starts, job->wide);
    for (size_t k = 0; k < 3 * args->starts; k++)
        job->unit[k] = (float)job->wide[k];
    job->sshopm.start = job->unit;
    hot_status status = hot_sshopm_resolve(context, &settings, &job->sshopm);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(args->order, 3, job->multiplicity);
    return status == HOT_OK ? hot_sshopm_unit_starts(context, &job->sshopm, job->unit) : status;
}

void hot_starts_job_destroy(hot_context *context, hot_starts_job *job)
{
    hot_context_free(context, job->wide);
    hot_context_free(context, job->unit);
}

hot_status hot_directions_starts(hot_context *context, void *user)
{
    enum { PAIRS = 1 << 19 }; /* per call of SS-HOPM */
    const hot_directions_args *args = user;
    const size_t row = 3 * (size_t)args->keep;
    const size_t fit = PAIRS / args->starts ? PAIRS / args->starts : 1, chunk = args->count < fit ? args->count : fit;
    float *x = NULL;
    int32_t *iterations = NULL;
    hot_maximum *maxima = NULL;
    hot_starts_job job;
    hot_status status = hot_starts_job_create(context, args, &job);
    if (status != HOT_OK)
        goto cleanup;
    x = hot_context_alloc(context, chunk, 3 * args->starts * sizeof *x);
    iterations = x ? hot_context_alloc(context, chunk, args->starts * sizeof *iterations) : NULL;
    maxima = iterations ? hot_context_alloc(context, chunk, args->starts * sizeof *maxima) : NULL;
    if (!maxima)
        status = HOT_ERROR_MEMORY;
    for (size_t start = 0; start < args->count && status == HOT_OK; start += chunk) {
        const size_t size = args->count - start < chunk ? args->count - start : chunk;
        hot_sshopm_args part = job.sshopm;
        part.count = size;
        part.tensors = args->tensors + start * args->stride;
        part.x = x;
        part.iterations = iterations;
        status = hot_context_device(context) == HOT_DEVICE_REFERENCE ? hot_sshopm_ref(context, &part)
                                                                     : hot_sshopm_cpu(context, &part);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hot_team(hot_context_threads(context)))
        for (long i = 0; i < (long)size; i++) {
            const size_t item = start + (size_t)i, at = (size_t)i * args->starts;
            float *out = args->directions + item * row;
            int found = 0;
            if (hot_context_cancelled(context))
                continue;
            for (size_t k = 0; k < row; k++)
                out[k] = 0;
            if (!args->mask || args->mask[item])
                found = one(&job, args->tensors + item * args->stride, x + 3 * at, iterations + at, maxima + at, out);
            if (args->found)
                args->found[item] = (uint8_t)found;
        }
        if (hot_context_cancelled(context)) /* SS-HOPM says how far it is */
            status = hot_context_progress(context, "finding directions", (double)(start + size) / (double)args->count);
    }
cleanup:
    hot_starts_job_destroy(context, &job);
    hot_context_free(context, x);
    hot_context_free(context, iterations);
    hot_context_free(context, maxima);
    return status;
}

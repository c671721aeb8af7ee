/* Decompositions of the family cpd, and whether they have the documented form. */
#pragma once

#include "cpd_reference.h"

#include "common/context_internal.h"
#include <hotfiber/cpd.h>

typedef struct result {
    int f64;
    size_t n[3], rank;
    const void *x;
    void *lambda, *f[3];
    hot_cpd_report report;
} result;

static inline result make_result(check_run *run, int f64, const size_t n[3], size_t rank, const double *x)
{
    const size_t size = f64 ? sizeof(double) : sizeof(float), total = n[0] * n[1] * n[2];
    result r = {.f64 = f64, .n = {n[0], n[1], n[2]}, .rank = rank};
    void *values = narrow(x, total, f64);
    r.x = check_input(run, values, total * size);
    free(values);
    r.lambda = check_output(run, rank * size);
    for (int m = 0; m < 3; m++)
        r.f[m] = check_output(run, n[m] * rank * size);
    return r;
}

static inline hot_status decompose(hot_context *context, const hot_cpd_options *options, result *r)
{
    return r->f64 ? hot_cpd_f64(context, options, r->n[0], r->n[1], r->n[2], r->x, r->lambda, r->f[0], r->f[1], r->f[2],
                                &r->report)
                  : hot_cpd_f32(context, options, r->n[0], r->n[1], r->n[2], r->x, r->lambda, r->f[0], r->f[1], r->f[2],
                                &r->report);
}

/* The residual computed here, and that the result has the documented form: finite, unit columns, lambda falling. */
static inline double judge(check_run *run, const result *r)
{
    const size_t total = r->n[0] * r->n[1] * r->n[2];
    const double near = r->f64 ? 1e-12 : 1e-5;
    double *wide[3], *lambda = malloc(r->rank * sizeof *lambda), *approximation = malloc(total * sizeof *approximation);
    double norm = 0, rest = 0, lengths = 0;
    int nulls = 0;
    for (size_t q = 0; q < r->rank; q++) {
        lambda[q] = get(r->f64, r->lambda, q);
        nulls += lambda[q] == 0;
        lengths += lambda[q];
        CHECK_ITEM(run, q, isfinite(lambda[q]) && lambda[q] >= 0 && (q == 0 || lambda[q] <= lambda[q - 1]), "lambda %g",
                   lambda[q]);
    }
    CHECK_ITEM(run, 0, r->report.nulls == nulls, "%d terms of weight 0 reported, %d found", r->report.nulls, nulls);
    for (int m = 0; m < 3; m++) {
        wide[m] = malloc(r->n[m] * r->rank * sizeof **wide);
        for (size_t q = 0; q < r->rank; q++) {
            double sum = 0;
            for (size_t i = 0; i < r->n[m]; i++) {
                const double v = wide[m][i + r->n[m] * q] = get(r->f64, r->f[m], i + r->n[m] * q);
                sum += v * v;
            }
            CHECK_ITEM(run, q, fabs(sqrt(sum) - 1) <= near, "column %zu of factor %d has length %g", q, m, sqrt(sum));
        }
    }
    const double *const factors[3] = {wide[0], wide[1], wide[2]};
    compose(r->n, r->rank, lambda, factors, approximation);
    for (size_t i = 0; i < total; i++) {
        const double x = get(r->f64, r->x, i);
        norm += x * x;
        rest += (x - approximation[i]) * (x - approximation[i]);
    }
    for (int m = 0; m < 3; m++)
        free(wide[m]);
    free(lambda);
    free(approximation);
    const double residual = norm > 0 ? sqrt(rest / norm) : sqrt(rest);
    /* Each term is rounded, and their sum: of terms that cancel by their lengths, not the tensor's. */
    const double rounding = (r->f64 ? 0x1p-51 : 0x1p-22) * (norm > 0 ? lengths / sqrt(norm) : 0);
    CHECK_ITEM(run, 0, fabs(1 - residual - r->report.fit) <= (r->f64 ? 1e-9 : 1e-5) + rounding,
               "fit %.12g reported, %.12g found", r->report.fit, 1 - residual);
    CHECK_ITEM(run, 0, fabs(r->report.norm - sqrt(norm)) <= 1e-6 * sqrt(norm), "norm %g, not %g", r->report.norm,
               sqrt(norm));
    return residual;
}

static inline hot_context *seeded(const check_run *run, uint64_t seed, int threads)
{
    hot_context_options options = {.size = sizeof options,
                                   .device = run->cuda ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU,
                                   .seed = seed,
                                   .threads = threads};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(2);
    hot_context_set_cpu_limit(context, hot_context_cpu_limit(run->context));
    if (run->device && check_use_device(context) != HOT_OK)
        exit(2);
    return context;
}

static inline void random_tensor(check_run *run, const size_t n[3], size_t rank, double noise, double *x)
{
    double *f[3];
    double norm = 0, noise_norm = 0;
    const size_t total = n[0] * n[1] * n[2];
    for (int m = 0; m < 3; m++)
        f[m] = normals(run, n[m] * rank);
    const double *const factors[3] = {f[0], f[1], f[2]};
    compose(n, rank, NULL, factors, x);
    double *other = normals(run, total);
    for (size_t i = 0; i < total; i++)
        norm += x[i] * x[i], noise_norm += other[i] * other[i];
    for (size_t i = 0; i < total; i++)
        x[i] += noise * sqrt(norm / noise_norm) * other[i];
    free(other);
    for (int m = 0; m < 3; m++)
        free(f[m]);
}

/* cpd_awkward.c */
void check_cpd_awkward(check_run *run, int f64, hot_cpd_arithmetic arithmetic);
void check_cpd_arithmetic(check_run *run, int brief);
void check_cpd_scales(check_run *run, int f64);

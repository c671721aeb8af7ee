/* Problems for the checks of SS-HOPM (family_sshopm.c ...). */
#pragma once

#include "checker.h"

#include "bench/kernels/sshopm_measure.h"

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>

enum { DIM = 16, UNIQUE = 1000 }; /* at most: dimensions, values of a tensor */

/* One problem and its results; arrays of float or double by f64. */
typedef struct problem {
    int order, dim, f64;
    size_t count, starts, unique, stride;
    const void *tensors, *start;
    void *lambda, *x, *residual;
    int32_t *iterations;
} problem;

static inline double at(const problem *p, const void *array, size_t i)
{
    return p->f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static inline void *narrow(const double *values, size_t count, int f64)
{
    void *made = malloc((count + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        if (f64)
            ((double *)made)[i] = values[i];
        else
            ((float *)made)[i] = (float)values[i];
    }
    return made;
}

/* Sums of few rank-1 terms with noise, or noise alone: what fibres and what other uses look like. */
static inline void random_tensors(check_run *run, const problem *p, double *tensors)
{
    int *exponents = malloc(p->unique * (size_t)p->dim * sizeof *exponents);
    double *times = malloc(p->unique * sizeof *times);
    hot_symtensor_exponents(p->order, p->dim, exponents);
    hot_symtensor_multiplicity(p->order, p->dim, times);
    for (size_t t = 0; t < p->count; t++) {
        double *a = tensors + t * p->stride;
        for (size_t i = 0; i < p->stride; i++)
            a[i] = i < p->unique ? (t % 4 == 3 ? 1 : 0.02) * check_random_normal(&run->seed) / sqrt(times[i]) : NAN;
        for (int f = 0; t % 4 != 3 && f <= (int)(t % 3); f++) {
            double v[DIM], norm = 0, weight = 0.3 + check_random(&run->seed);
            for (int d = 0; d < p->dim; d++)
                v[d] = check_random_normal(&run->seed), norm += v[d] * v[d];
            for (size_t i = 0; i < p->unique; i++) {
                double term = weight;
                for (int d = 0; d < p->dim; d++)
                    term *= pow(v[d] / sqrt(norm), exponents[i * (size_t)p->dim + (size_t)d]);
                a[i] += term;
            }
        }
    }
    free(exponents);
    free(times);
}

static inline problem make_problem(check_run *run, int order, int dim, int f64, size_t count, size_t starts)
{
    problem p = {.order = order, .dim = dim, .f64 = f64, .count = count, .starts = starts};
    p.unique = hot_symtensor_count(order, dim);
    p.stride = p.unique + (count % 2); /* with a gap (of NaN) between tensors, and without */
    double *tensors = malloc((count * p.stride + 1) * sizeof *tensors);
    double *start = malloc((starts * (size_t)dim + 1) * sizeof *start);
    random_tensors(run, &p, tensors);
    hot_starts_random(check_random_bits(&run->seed), dim, starts, start);
    size_t size = f64 ? sizeof(double) : sizeof(float), results = count * starts;
    void *narrowed = narrow(tensors, count * p.stride, f64);
    p.tensors = check_input(run, narrowed, count * p.stride * size);
    free(narrowed);
    narrowed = narrow(start, starts * (size_t)dim, f64);
    p.start = check_input(run, narrowed, starts * (size_t)dim * size);
    free(narrowed);
    p.lambda = check_output(run, results * size);
    p.x = check_output(run, results * (size_t)dim * size);
    p.residual = check_output(run, results * size);
    p.iterations = check_output(run, results * sizeof(int32_t));
    free(tensors);
    free(start);
    return p;
}

static inline hot_status call(hot_context *context, const hot_sshopm_options *options, const problem *p)
{
    if (p->f64)
        return hot_sshopm_f64(context, options, p->order, p->dim, p->count, p->tensors, p->stride, p->starts, p->start,
                              p->lambda, p->x, p->residual, p->iterations);
    return hot_sshopm_f32(context, options, p->order, p->dim, p->count, p->tensors, p->stride, p->starts, p->start,
                          p->lambda, p->x, p->residual, p->iterations);
}

static inline void tensor_of(const problem *p, size_t t, double *tensor)
{
    for (size_t i = 0; i < p->unique; i++)
        tensor[i] = at(p, p->tensors, t * p->stride + i);
}

static inline double scale_of(const problem *p, const double *tensor)
{
    double times[UNIQUE], scale = 0;
    hot_symtensor_multiplicity(p->order, p->dim, times);
    for (size_t i = 0; i < p->unique; i++)
        scale = fmax(scale, times[i] * fabs(tensor[i]));
    return scale;
}

static inline void check_written(check_run *run, const problem *p)
{
    size_t size = p->f64 ? sizeof(double) : sizeof(float), results = p->count * p->starts;
    size_t missing = check_unwritten(p->lambda, results, size) + check_unwritten(p->x, results * (size_t)p->dim, size) +
                     check_unwritten(p->residual, results, size) + check_unwritten(p->iterations, results, 4);
    CHECK_ITEM(run, 0, missing == 0, "%zu values were not written", missing);
}

/* Every order from 2 to 8 and dimension: sshopm_closed.c. */
void check_sshopm_closed(check_run *run);

/* On the GPU: sshopm_device.c. */
void check_sshopm_large(check_run *run, int order);
void check_sshopm_neighbours(check_run *run, int order, size_t count, size_t starts, hot_sshopm_algorithm algorithm,
                             hot_shift shift);
void check_sshopm_wide(check_run *run);
void check_sshopm_default(check_run *run, int order, size_t count, size_t starts);

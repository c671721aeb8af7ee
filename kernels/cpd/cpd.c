/* CP decomposition: arguments, defaults, the choice of a backend, and the order of the terms. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <hotfiber/device.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "common/options.h"
#include "cpd_args.h"

static const hot_backends mttkrp_backends = {"mttkrp", hot_mttkrp_ref, hot_mttkrp_cpu,
                                             HOT_CUDA_BACKEND(hot_mttkrp_cuda), 1};
static const hot_backends cpd_backends = {"cpd", NULL, hot_cpd_cpu, HOT_CUDA_BACKEND(hot_cpd_cuda), 1};

hot_status hot_cpd_check_sizes(hot_context *context, const size_t n[3], size_t rank)
{
    const size_t most = SIZE_MAX / 64;
    if (rank == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a rank of 0: at least one term is needed");
    if (n[0] == 0 || n[1] == 0 || n[2] == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a tensor of %zu x %zu x %zu is empty", n[0], n[1], n[2]);
    if (n[1] > most / n[0] || n[2] > most / n[0] / n[1] || rank > most / n[0] / n[1] || rank > most / n[1] / n[2] ||
        rank > most / n[0] / n[2] || rank > most / rank)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%zu x %zu x %zu at rank %zu is more than memory can hold",
                                n[0], n[1], n[2], rank);
    return HOT_OK;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

hot_status hot_mttkrp_check(hot_context *context, int mode, hot_mttkrp_args *args)
{
    if (mode < 1 || mode > 3)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "mode %d: a third-order tensor has the modes 1, 2 and 3",
                                mode);
    HOT_TRY(hot_cpd_check_sizes(context, args->n, args->rank));
    args->mode = mode - 1;
    for (int m = 0; m < 3; m++)
        if (!args->factor[m] && m != args->mode)
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, (const char *[]){"a", "b", "c"}[m],
                                              "the factor of mode %d is NULL", m + 1);
    return args->out ? HOT_OK : hot_context_fail(context, HOT_ERROR_ARGUMENT, "the result is NULL");
}

static hot_status run_mttkrp(hot_context *context, int mode, hot_mttkrp_args *args)
{
    const hot_status status = hot_mttkrp_check(context, mode, args);
    if (status == HOT_OK && !args->x)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the tensor is NULL");
    return status == HOT_OK ? hot_backend_run(context, &mttkrp_backends, args) : status;
}

hot_status hot_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank, const double *x,
                          const double *a, const double *b, const double *c, double *out)
{
    HOT_ENTRY(context);
    HOT_NEED(context, x, out);
    hot_mttkrp_args args = {.f64 = 1, .n = {i, j, k}, .rank = rank, .x = x, .factor = {a, b, c}, .out = out};
    return run_mttkrp(context, mode, &args);
}

hot_status hot_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j, size_t k,
                          size_t rank, const float *x, const float *a, const float *b, const float *c, float *out)
{
    HOT_ENTRY(context);
    HOT_NEED(context, x, out);
    hot_mttkrp_args args =
        {.f64 = 0, .arithmetic = arithmetic, .n = {i, j, k}, .rank = rank, .x = x, .factor = {a, b, c}, .out = out};
    if (arithmetic < HOT_CPD_FULL || arithmetic > HOT_CPD_SPLIT)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "arithmetic", "there is no arithmetic %d",
                                          (int)arithmetic);
    return run_mttkrp(context, mode, &args);
}

/* ---- The decomposition ------------------------------------------------------------------------------------------- */

static hot_status read_options(hot_context *context, const hot_cpd_options *given, hot_cpd_args *args)
{
    hot_cpd_options *options = &args->options;
    *options = (hot_cpd_options){.size = sizeof *options};
    HOT_TRY(hot_options_read(context, "hot_cpd_options", given, options));
    double tolerance = options->tolerance;
    HOT_TRY(hot_option_number(context, "tolerance", args->f64 ? 1e-10 : 1e-6, DBL_MAX, &tolerance));
    HOT_TRY(hot_option_choice(context, "start", (int)options->start, HOT_CPD_GIVEN + 1));
    HOT_TRY(hot_option_choice(context, "arithmetic", (int)options->arithmetic, HOT_CPD_SPLIT + 1));
    HOT_TRY(hot_option_choice(context, "non_negative", options->non_negative, 2));
    if (options->iterations < 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "iterations", "at least 1 is needed (0: 500), "
                                          "not %d", options->iterations);
    if (options->arithmetic != HOT_CPD_FULL && args->f64)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "arithmetic", "doubles are multiplied as "
                                          "doubles (HOT_CPD_FULL)");
    options->iterations = options->iterations ? options->iterations : 500;
    options->tolerance = tolerance > 0 ? tolerance : -1; /* from here on: no test */
    args->rank = options->rank;
    return hot_cpd_check_sizes(context, args->n, args->rank);
}

/* Terms by falling lambda, in place, by exchanging columns. */
static void sort_terms(hot_cpd_args *args)
{
    const size_t size = args->f64 ? sizeof(double) : sizeof(float);
    for (size_t r = 0; r + 1 < args->rank; r++) {
        size_t best = r;
        for (size_t q = r + 1; q < args->rank; q++)
            if (args->lambda[q] > args->lambda[best])
                best = q;
        if (best == r)
            continue;
        const double lambda = args->lambda[r];
        args->lambda[r] = args->lambda[best];
        args->lambda[best] = lambda;
        for (int m = 0; m < 3; m++) {
            unsigned char *x = (unsigned char *)args->factor[m] + args->n[m] * r * size;
            unsigned char *y = (unsigned char *)args->factor[m] + args->n[m] * best * size;
            for (size_t i = 0; i < args->n[m] * size; i++) {
                const unsigned char kept = x[i];
                x[i] = y[i];
                y[i] = kept;
            }
        }
    }
}

/* The exponent of the largest value, 0 where products and fourth powers (the start HOSVD) of such values are well
 * inside the range of its precision, or where it is 0, NaN or Inf. */
static int far_exponent(const hot_context *context, const hot_cpd_args *args)
{
    const size_t total = args->n[0] * args->n[1] * args->n[2];
    const int threads = hot_context_threads(context);
    double largest = 0;
    int exponent = 0;
    if (args->f64) {
        const double *x = args->x;
#pragma omp parallel for simd reduction(max : largest) num_threads(hot_team(total > 100000 ? threads : 1))
        for (size_t i = 0; i < total; i++)
            largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    } else {
        const float *x = args->x;
        float most = 0;
#pragma omp parallel for simd reduction(max : most) num_threads(hot_team(total > 100000 ? threads : 1))
        for (size_t i = 0; i < total; i++)
            most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
        largest = (double)most;
    }
    if (!(largest > 0) || isinf(largest))
        return 0;
    frexp(largest, &exponent);
    return abs(exponent) > HOT_CPD_USUAL_EXPONENT ? exponent : 0;
}

/* The tensor times 2^-exponent; values that become denormal are negligible compared with the largest. */
static void *scaled_tensor(hot_context *context, const hot_cpd_args *args, int exponent)
{
    const size_t total = args->n[0] * args->n[1] * args->n[2];
    const int threads = hot_context_threads(context);
    void *copy = hot_context_alloc(context, total, args->f64 ? sizeof(double) : sizeof(float));
    if (!copy)
        return NULL;
#pragma omp parallel for num_threads(hot_team(total > 100000 ? threads : 1))
    for (size_t i = 0; i < total; i++) {
        if (args->f64)
            ((double *)copy)[i] = ldexp(((const double *)args->x)[i], -exponent);
        else
            ((float *)copy)[i] = ldexpf(((const float *)args->x)[i], -exponent);
    }
    return copy;
}

/* lambda: the caller's. */
static hot_status run_cpd(hot_context *context, hot_cpd_args *args, void *lambda, hot_cpd_report *report)
{
    if (!args->x || !lambda || !args->factor[0] || !args->factor[1] || !args->factor[2])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s is NULL", args->x ? "an output" : "the tensor");
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE) {
        args->lambda = NULL, args->device_lambda = lambda, args->device_report = report;
        return hot_backend_run(context, &cpd_backends, args);
    }
    const int exponent = far_exponent(context, args);
    void *scaled = exponent ? scaled_tensor(context, args, exponent) : NULL;
    if (exponent && !scaled)
        return HOT_ERROR_MEMORY;
    args->x = scaled ? scaled : args->x;
    hot_status status = hot_backend_run(context, &cpd_backends, args);
    hot_context_free(context, scaled);
    if (status == HOT_OK || status == HOT_ERROR_CANCELLED) {
        for (size_t r = 0; r < args->rank && exponent; r++)
            args->lambda[r] = ldexp(args->lambda[r], exponent);
        args->report.norm = ldexp(args->report.norm, exponent);
        sort_terms(args);
    }
    if (report)
        *report = args->report;
    return status;
}

hot_status hot_cpd_f64(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                       const double *x, double *lambda, double *a, double *b, double *c, hot_cpd_report *report)
{
    HOT_ENTRY(context);
    HOT_NEED(context, options, x, lambda, a, b, c);
    hot_cpd_args args = {.f64 = 1, .n = {i, j, k}, .x = x, .lambda = lambda, .factor = {a, b, c}};
    hot_status status = read_options(context, options, &args);
    return status == HOT_OK ? run_cpd(context, &args, lambda, report) : status;
}

hot_status hot_cpd_f32(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                       const float *x, float *lambda, float *a, float *b, float *c, hot_cpd_report *report)
{
    HOT_ENTRY(context);
    HOT_NEED(context, options, x, lambda, a, b, c);
    hot_cpd_args args = {.f64 = 0, .n = {i, j, k}, .x = x, .factor = {a, b, c}};
    HOT_TRY(read_options(context, options, &args));
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return run_cpd(context, &args, lambda, report);
    if (!lambda)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "an output is NULL");
    args.lambda = hot_context_calloc(context, args.rank, sizeof *args.lambda);
    if (!args.lambda)
        return HOT_ERROR_MEMORY;
    hot_status status = run_cpd(context, &args, args.lambda, report);
    for (size_t r = 0; r < args.rank; r++)
        lambda[r] = (float)args.lambda[r];
    hot_context_free(context, args.lambda);
    return status;
}

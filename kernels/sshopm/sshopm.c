/* SS-HOPM: arguments, defaults and the choice of a backend. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "common/options.h"
#include "sshopm_args.h"

static const hot_backends backends = {"sshopm", hot_sshopm_ref, hot_sshopm_cpu, HOT_CUDA_BACKEND(hot_sshopm_cuda), 1};

size_t hot_eigenpairs_bound(int order, int dim)
{
    if (order < 1 || dim < 1)
        return 0;
    if (order == 1)
        return 1;
    /* sum of (m-1)^k for k = 0 ... n-1 is the fraction, and covers m = 2 */
    size_t sum = 0, power = 1;
    for (int k = 0; k < dim; k++) {
        if (sum > SIZE_MAX - power)
            return SIZE_MAX;
        sum += power;
        if (k + 1 < dim && power > SIZE_MAX / (size_t)(order - 1))
            return SIZE_MAX;
        power *= (size_t)(order - 1);
    }
    return sum;
}

hot_status hot_sshopm_check_options(hot_context *context, const hot_sshopm_options *options)
{
    double tolerance = options->tolerance, change = options->change, angle = options->same_angle;
    hot_status status = hot_option_choice(context, "shift", (int)options->shift, HOT_SHIFT_NONE + 1);
    if (status == HOT_OK)
        status = hot_option_choice(context, "seek", (int)options->seek, HOT_ALL_PAIRS + 1);
    if (status == HOT_OK && !isfinite(options->alpha))
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "alpha", "a shift is finite, not %g",
                                            options->alpha);
    if (status == HOT_OK)
        status = hot_option_number(context, "tolerance", 1, DBL_MAX, &tolerance);
    if (status == HOT_OK)
        status = hot_option_number(context, "change", 0, DBL_MAX, &change);
    if (status == HOT_OK)
        status = hot_option_number(context, "same_angle", 1, 90, &angle);
    if (status == HOT_OK && options->max_iterations < 0)
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_iterations", "at least 1 is needed (0: "
                                            "1000), not %d", options->max_iterations);
    return status;
}

static hot_status read_options(hot_context *context, const hot_sshopm_options *given, int f64, hot_sshopm_args *args)
{
    hot_sshopm_options options = {.size = sizeof options};
    hot_status status = hot_options_read(context, "hot_sshopm_options", given, &options);
    if (status != HOT_OK)
        return status;
    status = hot_sshopm_check_options(context, &options);
    if (status != HOT_OK)
        return status;
    args->shift = options.shift == HOT_SHIFT_FIXED && options.alpha == 0 ? HOT_SHIFT_NONE : options.shift;
    args->sign = options.shift == HOT_SHIFT_FIXED && options.alpha != 0 ? (options.alpha < 0 ? -1 : 1)
                                                                        : options.seek == HOT_MINIMA ? -1 : 1;
    args->alpha = args->shift == HOT_SHIFT_FIXED ? fabs(options.alpha) : 0;
    args->tolerance = options.tolerance > 0 ? options.tolerance : f64 ? 1e-13 : 1e-6;
    args->exact = options.tolerance == HOT_ZERO;
    args->change = args->exact || options.change == HOT_ZERO ? 0 : options.change;
    args->max_iterations = options.max_iterations ? options.max_iterations : 1000;
    return HOT_OK;
}

static double start_value(const hot_sshopm_args *args, size_t at)
{
    return args->f64 ? ((const double *)args->start)[at] : (double)((const float *)args->start)[at];
}

hot_status hot_sshopm_unit_starts(hot_context *context, const hot_sshopm_args *args, void *unit)
{
    size_t dim = (size_t)args->dim;
    for (size_t s = 0; s < args->starts; s++) {
        double largest = 0, sum = 0;
        for (size_t d = 0; d < dim; d++) {
            const double value = fabs(start_value(args, s * dim + d));
            largest = isfinite(value) ? fmax(largest, value) : INFINITY;
        }
        if (!(largest > 0) || isinf(largest))
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "starts", "starting vector %zu %s", s,
                                              largest == 0 ? "is zero" : "holds NaN or Inf");
        for (size_t d = 0; d < dim; d++) {
            double value = start_value(args, s * dim + d) / largest;
            sum += value * value;
        }
        double norm = sqrt(sum);
        for (size_t d = 0; d < dim; d++) {
            double value = start_value(args, s * dim + d) / largest / norm;
            if (args->f64)
                ((double *)unit)[s * dim + d] = value;
            else
                ((float *)unit)[s * dim + d] = (float)value;
        }
    }
    return HOT_OK;
}

hot_status hot_sshopm_resolve(hot_context *context, const hot_sshopm_options *options, hot_sshopm_args *args)
{
    hot_status status = read_options(context, options, args->f64, args);
    if (status != HOT_OK)
        return status;
    args->unique = hot_symtensor_count(args->order, args->dim);
    if (args->order < 2 || args->unique == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "order %d and dimension %d: orders go from 2 to %d, "
                                "dimensions from 1 to %d", args->order, args->dim, HOT_ORDER_MAX, HOT_DIM_MAX);
    if (args->stride < args->unique)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors %zu values apart: order %d and dimension %d need "
                                "%zu", args->stride, args->order, args->dim, args->unique);
    if (args->count == 0 || args->starts == 0)
        return HOT_OK;
    if (args->starts > SIZE_MAX / 2 / sizeof(double) / (size_t)args->dim / args->count ||
        args->stride > SIZE_MAX / 2 / sizeof(double) / args->count)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%zu tensors from %zu starts are more than memory can hold",
                                args->count, args->starts);
    return HOT_OK;
}

static hot_status run(hot_context *context, const hot_sshopm_options *options, hot_sshopm_args *args)
{
    void *unit = NULL;
    hot_status status = hot_sshopm_resolve(context, options, args);
    if (status != HOT_OK || args->count == 0 || args->starts == 0)
        return status;
    unit = hot_context_alloc(context, args->starts * (size_t)args->dim, args->f64 ? sizeof(double) : sizeof(float));
    if (!unit)
        return HOT_ERROR_MEMORY;
    status = hot_sshopm_unit_starts(context, args, unit);
    if (status == HOT_OK) {
        args->start = unit;
        status = hot_backend_run(context, &backends, args);
    }
    hot_context_free(context, unit);
    return status;
}

hot_status hot_sshopm_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                          const double *tensors, size_t stride, size_t start_count, const double *starts,
                          double *lambda, double *x, double *residual, int32_t *iterations)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0 && start_count > 0)
        HOT_NEED(context, tensors, starts);
    hot_sshopm_args args = {.order = order, .dim = dim, .count = count, .stride = stride, .starts = start_count,
                            .f64 = 1, .tensors = tensors, .start = starts, .lambda = lambda, .x = x,
                            .residual = residual, .iterations = iterations};
    return run(context, options, &args);
}

hot_status hot_sshopm_f32(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                          const float *tensors, size_t stride, size_t start_count, const float *starts, float *lambda,
                          float *x, float *residual, int32_t *iterations)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0 && start_count > 0)
        HOT_NEED(context, tensors, starts);
    hot_sshopm_args args = {.order = order, .dim = dim, .count = count, .stride = stride, .starts = start_count,
                            .f64 = 0, .tensors = tensors, .start = starts, .lambda = lambda, .x = x,
                            .residual = residual, .iterations = iterations};
    return run(context, options, &args);
}

#define HOT_SCALE(NAME, TYPE)                                                                               \
    hot_sshopm_scale NAME(const TYPE *tensor, size_t unique, const double *multiplicity)                   \
    {                                                                                                       \
        hot_sshopm_scale result = {0, 0, 0};                                                                \
        double largest = 0;                                                                                 \
        int finite = 1;                                                                                     \
        for (size_t i = 0; i < unique; i++) {                                                               \
            /* the multiplicity first halved often enough that 1e308 times it stays finite */               \
            double value = fabs((double)tensor[i]) * (multiplicity[i] * 0x1p-64);                           \
            finite &= isfinite(tensor[i]) != 0;                                                             \
            largest = value > largest ? value : largest;                                                    \
        }                                                                                                   \
        if (!finite) {                                                                                      \
            result.special = 2;                                                                             \
        } else if (largest == 0) {                                                                          \
            /* zero, or so small that the halving lost it */                                                \
            for (size_t i = 0; i < unique; i++) {                                                           \
                double value = fabs((double)tensor[i]) * multiplicity[i];                                   \
                largest = value > largest ? value : largest;                                                \
            }                                                                                               \
            result.special = largest == 0;                                                                  \
            result.scale = 2 * frexp(largest, &result.exponent);                                            \
            result.exponent -= 1;                                                                           \
        } else {                                                                                            \
            result.scale = 2 * frexp(largest, &result.exponent);                                            \
            result.exponent += 63;                                                                          \
        }                                                                                                   \
        return result;                                                                                      \
    }
HOT_SCALE(hot_sshopm_scale_f32, float)
HOT_SCALE(hot_sshopm_scale_f64, double)

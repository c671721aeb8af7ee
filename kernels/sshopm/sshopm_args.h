/* One call of SS-HOPM, as the backends see it: options with their defaults filled in, and plain arrays. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>

HOT_C_BEGIN

typedef struct hot_sshopm_args {
    hot_shift shift;
    int sign;            /* 1 climbs, -1 descends (the same iteration on -A) */
    double alpha;        /* fixed shift, >= 0 (its sign is in `sign`) */
    double tolerance;    /* residual over scale at which an iteration has converged */
    double change;       /* > 0: stop on the change of lambda instead */
    int exact;           /* 1: run max_iterations whatever the residual */
    int max_iterations;
    int order, dim;
    size_t unique;       /* values of a packed tensor */
    size_t count, stride, starts;
    int f64;             /* type of all arrays below: double, else float */
    const void *tensors; /* count x stride */
    const void *start;   /* starts x dim, unit */
    void *lambda, *x, *residual;
    int32_t *iterations; /* outputs, each may be NULL */
    void *scratch;       /* on a GPU: hot_sshopm_scratch bytes of its memory */
    size_t scratch_bytes;
    size_t batch;        /* tensors of the whole batch, if these are a chunk of it; else 0. The GPU's algorithm is
                            chosen by it, so that results do not depend on the chunks */
} hot_sshopm_args;

static inline size_t hot_sshopm_batch_count(const hot_sshopm_args *args)
{
    return args->batch ? args->batch : args->count;
}

/* One tensor's scaling: values times 2^-exponent have their largest |value| * multiplicity in [1, 2), so that nothing
 * overflows or vanishes on the way, whatever the units. */
typedef struct hot_sshopm_scale {
    int special;  /* 0 ordinary, 1 all zero, 2 with NaN or Inf */
    int exponent;
    double scale; /* largest |value| * multiplicity after scaling: what tolerances refer to */
} hot_sshopm_scale;

hot_sshopm_scale hot_sshopm_scale_f32(const float *tensor, size_t unique, const double *multiplicity);
hot_sshopm_scale hot_sshopm_scale_f64(const double *tensor, size_t unique, const double *multiplicity);

/* Completes a plan of which shape, sizes and arrays are filled in (for other families that call a backend themselves):
 * what the options say (NULL: the defaults) and `unique`. HOT_ERROR_ARGUMENT or HOT_ERROR_MEMORY, as hot_sshopm_f64. */
/* The options' bounds. */
hot_status hot_sshopm_check_options(hot_context *context, const hot_sshopm_options *options);
hot_status hot_sshopm_resolve(hot_context *context, const hot_sshopm_options *options, hot_sshopm_args *args);
/* Unit copies of plan->start, in the plan's type; HOT_ERROR_ARGUMENT when one is zero, NaN or Inf. */
hot_status hot_sshopm_unit_starts(hot_context *context, const hot_sshopm_args *args, void *unit);

hot_status hot_sshopm_ref(hot_context *context, void *args);
hot_status hot_sshopm_cpu(hot_context *context, void *args);
hot_status hot_sshopm_cuda(hot_context *context, void *args);

HOT_C_END

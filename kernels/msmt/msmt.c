/* hot_msmt_f32: checks, plan, and the CPU backend. */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "common/lane_blocks.h"
#include "common/options.h"
#include "msmt_plan.h"

typedef struct cpu_args {
    const msmt_args *args;
    hot_msmt_fn *block;
    size_t lanes;
} cpu_args;

/* Zeros; flag 1 where a signal is no number. */
static void write_nothing(const msmt_args *args, size_t item, uint8_t flag)
{
    memset(args->tensors + item * args->tensor_stride, 0, args->plan->terms * sizeof *args->tensors);
    if (args->amounts)
        memset(args->amounts + item * args->plan->tissues, 0, args->plan->tissues * sizeof *args->amounts);
    if (args->residual)
        args->residual[item] = 0;
    if (args->flags)
        args->flags[item] = flag;
}

static int take_voxel(const void *cpu_pointer, size_t item, double *number)
{
    const msmt_args *args = ((const cpu_args *)cpu_pointer)->args;
    const float *signal = args->signals + item * args->signal_stride;
    int finite = 1, any = 0;
    *number = 0;
    if (args->mask && !args->mask[item]) {
        write_nothing(args, item, 0);
        return 0;
    }
    for (size_t r = 0; r < args->plan->rows; r++) {
        finite &= isfinite(signal[r]) != 0;
        any |= signal[r] != 0;
    }
    if (finite && any)
        return 1;
    write_nothing(args, item, !finite);
    return 0;
}

/* Idle lanes repeat the first voxel. */
static void compute_block(const void *cpu_pointer, const size_t *items, const double *numbers, int used,
                          float *workspace)
{
    const cpu_args *cpu = cpu_pointer;
    const msmt_args *args = cpu->args;
    const msmt_plan *plan = args->plan;
    const size_t lanes = cpu->lanes, n = plan->padded;
    double *right = (double *)workspace, *x = right + n * lanes, *scratch = x + n * lanes;
    double residual[MSMT_LANES];
    (void)numbers;
    memset(right, 0, n * lanes * sizeof *right);
    for (size_t lane = 0; lane < lanes; lane++) {
        const float *signal = args->signals + items[lane < (size_t)used ? lane : 0] * args->signal_stride;
        double sum[MSMT_PADDED] = {0};
        for (size_t r = 0; r < plan->rows; r++)
            for (size_t i = 0; i < n; i++)
                sum[i] += plan->project[r * n + i] * (double)signal[r];
        for (size_t i = 0; i < n; i++)
            right[i * lanes + lane] = sum[i];
    }
    cpu->block(plan, right, scratch, x, residual);
    for (size_t lane = 0; lane < (size_t)used; lane++) {
        const size_t item = items[lane];
        for (size_t i = 0; i < plan->unknowns; i++) {
            const float value = (float)(x[i * lanes + lane] * plan->scale[i]);
            if (i < plan->terms)
                args->tensors[item * args->tensor_stride + i] = value;
            else
                args->amounts[item * plan->tissues + i - plan->terms] = value;
        }
        if (args->residual)
            args->residual[item] = (float)residual[lane];
        if (args->flags)
            args->flags[item] = 0;
    }
}

static hot_status report(hot_context *context, const void *cpu_pointer, double fraction)
{
    (void)cpu_pointer;
    return hot_context_progress(context, "deconvolving", fraction);
}

static hot_status msmt_cpu(hot_context *context, void *argument)
{
    const msmt_args *args = argument;
    const size_t lanes = (size_t)2 << (int)hot_context_cpu_level(context);
    const cpu_args cpu = {args, HOT_CPU_VARIANT(context, hot_msmt), lanes};
    const size_t doubles = 2 * args->plan->padded * lanes + hot_msmt_scratch(args->plan, lanes);
    const hot_lane_blocks blocks = {.args = &cpu,
                                    .count = args->count,
                                    .lanes = (int)lanes,
                                    .workspace = doubles * (sizeof(double) / sizeof(float)),
                                    .take = take_voxel,
                                    .compute = compute_block,
                                    .progress = report};
    return hot_lane_blocks_run(context, &blocks);
}

static const hot_backends backends = {
    .family = "msmt", .reference = hot_msmt_ref, .cpu = msmt_cpu, .cuda = HOT_CUDA_BACKEND(hot_msmt_cuda), 1};

hot_status hot_msmt_f32(hot_context *context, const hot_msmt_problem *problem, size_t count, const float *signals,
                        size_t signal_stride, const uint8_t *mask, float *tensors, size_t tensor_stride, float *amounts,
                        float *residual, uint8_t *flags)
{
    HOT_ENTRY(context);
    HOT_NEED(context, problem);
    if (count > 0)
        HOT_NEED(context, signals, tensors);
    hot_msmt_problem own = {.size = sizeof own};
    msmt_plan plan;
    if (!problem)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a deconvolution needs a problem");
    HOT_TRY(hot_options_read(context, "hot_msmt_problem", problem, &own));
    hot_status status = hot_msmt_plan_make(context, &own, &plan);
    if (status == HOT_OK && count > 0 &&
        (!signals || !tensors || signal_stride < plan.rows || tensor_stride < plan.terms ||
         (plan.tissues > 0 && !amounts)))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                  "a deconvolution needs %zu signals and room for %zu tensor values and %zu amounts "
                                  "per voxel; the strides are %zu and %zu", plan.rows, plan.terms, plan.tissues,
                                  signal_stride, tensor_stride);
    msmt_args args = {&own, &plan, count, signal_stride, tensor_stride, signals, mask, tensors, amounts, residual,
                      flags};
    if (status == HOT_OK && count > 0)
        status = hot_backend_run(context, &backends, &args);
    hot_context_free(context, plan.block);
    return status;
}

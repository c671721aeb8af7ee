/* Fibres in signal space on the CPU: usable voxels go in batches of SIGNAL_LANEFULS for each lane of the vectors. */
#include <string.h>

#include "common/cpu.h"
#include "common/entry.h"
#include "common/lane_blocks.h"
#include "signal/signal_voxel.h"

typedef struct cpu_args {
    const hot_signal_args *args;
    hot_signal_batch_fn *block;
    int lanes;
} cpu_args;

static int take_voxel(const void *cpu_pointer, size_t voxel, double *s0)
{
    const hot_signal_args *args = ((const cpu_args *)cpu_pointer)->args;
    const signal_plan *plan = args->plan;
    unsigned flags = 0;
    if (!args->mask || args->mask[voxel]) {
        const float sigma = args->sigma ? args->sigma[voxel] : (float)args->options->sigma;
        float mean;
        flags = sigma > 0 ? signal_check_voxel(plan, plan->order, args->signals + voxel * plan->all_volumes, sigma,
                                               args->s0 ? args->s0[voxel] : NAN, &mean)
                          : (unsigned)HOT_VOXEL_NOT_FINITE;
        if (!flags) {
            *s0 = (double)mean;
            return 1;
        }
    }
    signal_write_nothing(args->result, plan->max_fibers, voxel, flags);
    if (args->result->fits)
        memset(args->result->fits + 4 * voxel, 0, 4 * sizeof *args->result->fits);
    return 0;
}

/* The memory of a batch, in the workspace; returns how many floats that takes (workspace NULL: only counted). */
static size_t divide(const signal_plan *plan, int voxels, int lanes, int told, float *workspace, signal_batch *batch,
                     signal_result **answers, hot_signal_fit **fits)
{
    const size_t n = (size_t)voxels, volumes = (size_t)plan->scheme.volumes, width = (size_t)lanes;
    const size_t answer_floats = (n + SIGNAL_MAX_LANES - 1) / SIGNAL_MAX_LANES * sizeof **answers / sizeof(float);
    const struct { float **array; size_t floats; } parts[] = {
        {&batch->columns, (SIGNAL_GRID + volumes) * width}, {&batch->raw, n * volumes}, {&batch->scaled, n * volumes},
        {&batch->snr, n}, {&batch->noise, n}, {&batch->fits, n * SIGNAL_SLOTS * SIGNAL_FIT_FLOATS},
        {&batch->matrices, n * SIGNAL_MATRICES}, {&batch->cost, 4 * n}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].array = workspace ? workspace + used : NULL;
        used += (parts[i].floats + 15) / 16 * 16;
    }
    *answers = workspace ? (signal_result *)(workspace + used) : NULL;
    used += answer_floats;
    *fits = workspace && told ? (hot_signal_fit *)(workspace + used) : NULL;
    return used + (told ? 4 * n * sizeof **fits / sizeof(float) : 0);
}

static void compute_block(const void *cpu_pointer, const size_t *voxels, const double *s0, int used, float *workspace)
{
    const cpu_args *cpu = cpu_pointer;
    const hot_signal_args *args = cpu->args;
    const signal_plan *plan = args->plan;
    const size_t volumes = (size_t)plan->scheme.volumes;
    signal_batch batch = {.voxels = used};
    signal_result *answers;
    hot_signal_fit *told;
    divide(plan, cpu->lanes * SIGNAL_LANEFULS, cpu->lanes, args->result->fits != NULL, workspace, &batch, &answers,
           &told);
    for (int i = 0; i < used; i++) {
        const double sigma = args->sigma ? (double)args->sigma[voxels[i]] : args->options->sigma;
        const float *signal = args->signals + voxels[i] * plan->all_volumes;
        for (size_t j = 0; j < volumes; j++)
            batch.raw[(size_t)i * volumes + j] = (float)((double)signal[plan->order[j]] / sigma);
        batch.snr[i] = (float)(s0[i] / sigma);
    }
    cpu->block(plan, &batch, answers, told);
    for (int i = 0; i < used; i++) {
        signal_write(args->result, plan->max_fibers, plan->scheme.volumes, &answers[i / SIGNAL_MAX_LANES],
                     i % SIGNAL_MAX_LANES, voxels[i]);
        if (told)
            memcpy(args->result->fits + 4 * voxels[i], told + 4 * i, 4 * sizeof *told);
    }
}

static hot_status report(hot_context *context, const void *cpu_pointer, double fraction)
{
    return hot_signal_progress(context, ((const cpu_args *)cpu_pointer)->args, fraction);
}

static hot_status compute(hot_context *context, const hot_signal_args *args)
{
    const int lanes = 4 << (int)hot_context_cpu_level(context);
    const cpu_args cpu = {args, HOT_CPU_VARIANT(context, hot_signal_batch), lanes};
    signal_batch batch;
    signal_result *answers;
    hot_signal_fit *told;
    const hot_lane_blocks blocks = {
        .args = &cpu,
        .count = args->count,
        .lanes = lanes * SIGNAL_LANEFULS,
        .workspace = divide(args->plan, lanes * SIGNAL_LANEFULS, lanes, args->result->fits != NULL, NULL, &batch,
                            &answers, &told),
        .take = take_voxel,
        .compute = compute_block,
        .progress = report,
    };
    return hot_lane_blocks_run(context, &blocks);
}

/* The arrays of voxels first ... of a call, whose signals were read. */
static hot_signal_result result_from(const hot_signal_result *all, int max_fibers, size_t first)
{
    hot_signal_result r = *all;
    r.directions += 3 * (size_t)max_fibers * first;
    r.found = r.found ? r.found + first : NULL;
    r.probability = r.probability ? r.probability + 4 * first : NULL;
    r.margin = r.margin ? r.margin + first : NULL;
    r.residual = r.residual ? r.residual + first : NULL;
    r.width = r.width ? r.width + first : NULL;
    r.flags = r.flags ? r.flags + first : NULL;
    r.fits = r.fits ? r.fits + 4 * first : NULL;
    return r;
}

/* Signals from a source: those of some voxels at a time, from where a GPU that failed had come to. */
static hot_status compute_read(hot_context *context, hot_signal_args *args)
{
    enum { READ_FLOATS = 1 << 22, TOGETHER = 256 };
    const size_t volumes = args->plan->all_volumes, fitting = READ_FLOATS / volumes + 1;
    const size_t most = fitting < args->count ? fitting : args->count;
    const double from = args->options->progress[0], range = args->options->progress[1] - from;
    float *signals = hot_context_alloc(context, most * volumes, sizeof *signals);
    hot_status status = signals ? HOT_OK : HOT_ERROR_MEMORY;
    while (args->done < args->count && status == HOT_OK) {
        hot_signal_args part = *args;
        const size_t first = args->done;
        hot_signal_options options = *args->options;
        const hot_signal_result result = result_from(args->result, args->plan->max_fibers, first);
        part.count = args->count - first < most ? args->count - first : most;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
        for (size_t at = 0; at < part.count; at += TOGETHER)
            if (!hot_context_cancelled(context))
                args->source->read(args->source->user, first + at,
                                   part.count - at < TOGETHER ? part.count - at : TOGETHER, signals + at * volumes);
        options.progress[0] = from + range * (double)first / (double)args->count;
        options.progress[1] = from + range * (double)(first + part.count) / (double)args->count;
        part.options = &options;
        part.signals = signals;
        part.source = NULL;
        part.sigma = args->sigma ? args->sigma + first : NULL;
        part.s0 = args->s0 ? args->s0 + first : NULL;
        part.mask = args->mask ? args->mask + first : NULL;
        part.result = &result;
        status = compute(context, &part);
        args->done = first + part.count;
        if (status == HOT_OK && args->source->used)
            args->source->used(args->source->user, args->done);
    }
    hot_context_free(context, signals);
    return status;
}

hot_status hot_signal_fibers_cpu(hot_context *context, void *argument)
{
    hot_signal_args *args = argument;
    return args->source ? compute_read(context, args) : compute(context, args);
}

/* Fibres in signal space on the CPU: usable voxels go in batches of SIGNAL_LANEFULS for each lane of the vectors. */
#include <string.h>

#include "common/cpu.h"
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
                     signal_answer **answers, hot_signal_fit **fits)
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
    *answers = workspace ? (signal_answer *)(workspace + used) : NULL;
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
    signal_answer *answers;
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

hot_status hot_signal_fibers_cpu(hot_context *context, void *argument)
{
    const hot_signal_args *args = argument;
    const int lanes = 4 << (int)hot_context_cpu_level(context);
    const cpu_args cpu = {args, HOT_CPU_VARIANT(context, hot_signal_batch), lanes};
    signal_batch batch;
    signal_answer *answers;
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

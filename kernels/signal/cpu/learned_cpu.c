/* HOT_CONTRAST_LEARNED on the CPU: usable voxels are packed side by side, as many as the vectors have lanes. */
#include <string.h>

#include "common/cpu.h"
#include "common/lane_blocks.h"
#include "signal/learned_detail.h"
#include "signal/signal_voxel.h"

typedef struct cpu_args {
    const hot_signal_args *args;
    hot_signal_learned_fn *block;
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

/* The fits of a block; idle lanes repeat the first voxel. */
static void compute_block(const void *cpu_pointer, const size_t *voxels, const double *s0, int used, float *workspace)
{
    const cpu_args *cpu = cpu_pointer;
    const hot_signal_args *args = cpu->args;
    const signal_plan *plan = args->plan;
    const int volumes = plan->scheme.volumes, lanes = cpu->lanes;
    float *y = workspace, *snr = y + (size_t)volumes * (size_t)lanes, *scratch = snr + SIGNAL_MAX_LANES;
    signal_answer answer;
    learned_detail detail;
    for (int lane = 0; lane < lanes; lane++) {
        const int from = lane < used ? lane : 0;
        const size_t voxel = voxels[from];
        const double sigma = args->sigma ? (double)args->sigma[voxel] : args->options->sigma;
        const float *signal = args->signals + voxel * plan->all_volumes;
        for (int j = 0; j < volumes; j++)
            y[j * lanes + lane] = (float)((double)signal[plan->order[j]] / sigma);
        snr[lane] = (float)(s0[from] / sigma);
    }
    cpu->block(plan, y, snr, scratch, &answer, args->result->fits ? &detail : NULL);
    for (int lane = 0; lane < used; lane++) {
        signal_write(args->result, plan->max_fibers, volumes, &answer, lane, voxels[lane]);
        for (int k = 0; k < 4 && args->result->fits; k++) {
            hot_signal_fit *to = &args->result->fits[4 * voxels[lane] + (size_t)k];
            *to = detail.fit[lane][k];
            if (k <= plan->max_fibers)
                learned_variances(k, to);
        }
    }
}

static hot_status report(hot_context *context, const void *cpu_pointer, double fraction)
{
    return hot_signal_progress(context, ((const cpu_args *)cpu_pointer)->args, fraction);
}

hot_status hot_signal_learned_cpu(hot_context *context, void *argument)
{
    const hot_signal_args *args = argument;
    const int lanes = 4 << (int)hot_context_cpu_level(context);
    const cpu_args cpu = {args, HOT_CPU_VARIANT(context, hot_signal_learned), lanes};
    const hot_lane_blocks blocks = {
        .args = &cpu,
        .count = args->count,
        .lanes = lanes,
        .workspace = (2 * (size_t)args->plan->scheme.volumes + SIGNAL_GRID) * (size_t)lanes + SIGNAL_MAX_LANES,
        .take = take_voxel,
        .compute = compute_block,
        .progress = report,
    };
    return hot_lane_blocks_run(context, &blocks);
}

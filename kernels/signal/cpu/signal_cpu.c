/* Fibres in signal space on the CPU: usable voxels are packed side by side, as many as the vectors have lanes. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdint.h>

#include "common/context_internal.h"
#include "common/cpu.h"
#include "signal/signal_voxel.h"

enum { CHUNK = 4096, ALIGN = 64 };

typedef struct variant {
    int lanes;
    hot_signal_block_fn *block;
} variant;

static variant choose_variant(hot_context *context)
{
    return (variant){4 << (int)hot_context_cpu_level(context), HOT_CPU_VARIANT(context, hot_signal_block)};
}

/* Voxels list[0 ... lanes - 1] (fewer at the end: the rest repeats the first) through the fits and out. */
static void do_block(const hot_signal_args *args, variant how, const size_t *list, const float *list_s0, int used,
                     float *room)
{
    const signal_plan *plan = args->plan;
    const int volumes = plan->scheme.volumes;
    float *y = room, *snr = y + (size_t)volumes * (size_t)how.lanes, *scratch = snr + SIGNAL_MAX_LANES;
    signal_answer answer;
    for (int lane = 0; lane < how.lanes; lane++) {
        int from = lane < used ? lane : 0;
        size_t voxel = list[from];
        double sigma = args->sigma ? (double)args->sigma[voxel] : args->options->sigma;
        const float *signal = args->signals + voxel * plan->all_volumes;
        for (int j = 0; j < volumes; j++)
            y[j * how.lanes + lane] = (float)((double)signal[plan->order[j]] / sigma);
        snr[lane] = (float)((double)list_s0[from] / sigma);
    }
    how.block(plan, y, snr, scratch, &answer);
    for (int lane = 0; lane < used; lane++)
        signal_write(args->result, plan->max_fibers, volumes, &answer, lane, list[lane]);
}

hot_status hot_signal_fibers_cpu(hot_context *context, void *argument)
{
    const hot_signal_args *args = argument;
    const signal_plan *plan = args->plan;
    const variant how = choose_variant(context);
    const int threads = hot_context_threads(context);
    hot_status status = HOT_OK;
    /* per thread: signals and matched filter of a block, whole cache lines */
    size_t room_size = (size_t)(plan->scheme.volumes + SIGNAL_GRID) * (size_t)how.lanes + SIGNAL_MAX_LANES;
    room_size = (room_size + ALIGN - 1) / ALIGN * ALIGN;
    float *rooms = hot_context_alloc(context, room_size * (size_t)threads + ALIGN, sizeof *rooms);
    size_t *list = hot_context_alloc(context, CHUNK, sizeof *list);
    float *list_s0 = hot_context_alloc(context, CHUNK, sizeof *list_s0);
    if (!rooms || !list || !list_s0) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    float *first_room = (float *)(((uintptr_t)rooms + ALIGN - 1) / ALIGN * ALIGN);
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += CHUNK) {
        size_t end = args->count - begin < CHUNK ? args->count : begin + CHUNK, usable = 0;
        for (size_t voxel = begin; voxel < end; voxel++) {
            if (args->mask && !args->mask[voxel]) {
                signal_write_nothing(args->result, plan->max_fibers, voxel, 0);
                continue;
            }
            float sigma = args->sigma ? args->sigma[voxel] : (float)args->options->sigma;
            unsigned flags = sigma > 0 ? signal_check_voxel(plan, plan->order, args->signals + voxel * plan->all_volumes,
                                                        sigma, args->s0 ? args->s0[voxel] : NAN, &list_s0[usable])
                                       : (unsigned)HOT_VOXEL_NOT_FINITE;
            if (flags)
                signal_write_nothing(args->result, plan->max_fibers, voxel, flags);
            else
                list[usable++] = voxel;
        }
        const int blocks = (int)((usable + (size_t)how.lanes - 1) / (size_t)how.lanes);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
        for (int block = 0; block < blocks; block++) {
            if (hot_context_cancelled(context))
                continue;
#ifdef _OPENMP
            float *room = first_room + room_size * (size_t)omp_get_thread_num();
#else
            float *room = first_room;
#endif
            size_t at = (size_t)block * (size_t)how.lanes;
            int used = usable - at < (size_t)how.lanes ? (int)(usable - at) : how.lanes;
            do_block(args, how, list + at, list_s0 + at, used, room);
        }
        status = hot_lowrank_progress(context, args, (double)end / (double)args->count);
    }
cleanup:
    hot_context_free(context, list_s0);
    hot_context_free(context, list);
    hot_context_free(context, rooms);
    return status;
}

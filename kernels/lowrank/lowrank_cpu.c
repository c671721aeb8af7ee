/* Fibres in signal space on the CPU: usable voxels are packed side by side, as many as the vectors have lanes. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdint.h>

#include "common/context_internal.h"
#include "common/cpu.h"
#include "lowrank_voxel.h"

enum { CHUNK = 4096, ALIGN = 64 };

typedef struct variant {
    int lanes;
    hot_lowrank_block_fn *block;
} variant;

static variant choose_variant(hot_context *context)
{
    int level = (int)hot_cpu_best(), limit = hot_context_cpu_limit(context);
    level = level < limit ? level : limit;
#if defined(__x86_64__)
    if (level >= (int)HOT_CPU_AVX512)
        return (variant){16, hot_lowrank_block_avx512};
    if (level >= (int)HOT_CPU_AVX2)
        return (variant){8, hot_lowrank_block_avx2};
#endif
    return (variant){4, hot_lowrank_block_base};
}

/* Voxels list[0 ... lanes - 1] (fewer at the end: the rest repeats the first) through the fits and out. */
static void do_block(const hot_signal_job *job, variant how, const size_t *list, const float *list_s0, int used,
                     float *room)
{
    const lr_plan *plan = job->plan;
    const int volumes = plan->scheme.volumes;
    float *y = room, *snr = y + (size_t)volumes * (size_t)how.lanes, *scratch = snr + LR_MAX_LANES;
    lr_answer answer;
    for (int lane = 0; lane < how.lanes; lane++) {
        int from = lane < used ? lane : 0;
        size_t voxel = list[from];
        double sigma = job->sigma ? (double)job->sigma[voxel] : job->options->sigma;
        const float *signal = job->signals + voxel * plan->all_volumes;
        for (int j = 0; j < volumes; j++)
            y[j * how.lanes + lane] = (float)((double)signal[plan->order[j]] / sigma);
        snr[lane] = (float)((double)list_s0[from] / sigma);
    }
    how.block(plan, y, snr, scratch, &answer);
    for (int lane = 0; lane < used; lane++)
        lr_write(job->result, plan->max_fibers, volumes, &answer, lane, list[lane]);
}

hot_status hot_signal_fibers_cpu(hot_context *context, void *argument)
{
    const hot_signal_job *job = argument;
    const lr_plan *plan = job->plan;
    const variant how = choose_variant(context);
    const int threads = hot_context_threads(context);
    hot_status status = HOT_OK;
    /* per thread: signals and matched filter of a block, whole cache lines */
    size_t room_size = (size_t)(plan->scheme.volumes + LR_GRID) * (size_t)how.lanes + LR_MAX_LANES;
    room_size = (room_size + ALIGN - 1) / ALIGN * ALIGN;
    float *rooms = hot_context_alloc(context, room_size * (size_t)threads + ALIGN, sizeof *rooms);
    size_t *list = hot_context_alloc(context, CHUNK, sizeof *list);
    float *list_s0 = hot_context_alloc(context, CHUNK, sizeof *list_s0);
    if (!rooms || !list || !list_s0) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    float *first_room = (float *)(((uintptr_t)rooms + ALIGN - 1) / ALIGN * ALIGN);
    for (size_t begin = 0; begin < job->count && status == HOT_OK; begin += CHUNK) {
        size_t end = job->count - begin < CHUNK ? job->count : begin + CHUNK, usable = 0;
        for (size_t voxel = begin; voxel < end; voxel++) {
            if (job->skip && !job->skip[voxel]) {
                lr_write_nothing(job->result, plan->max_fibers, voxel, 0);
                continue;
            }
            float sigma = job->sigma ? job->sigma[voxel] : (float)job->options->sigma;
            unsigned flags = sigma > 0 ? lr_check_voxel(plan, plan->order, job->signals + voxel * plan->all_volumes,
                                                        sigma, job->s0 ? job->s0[voxel] : NAN, &list_s0[usable])
                                       : (unsigned)HOT_VOXEL_NOT_FINITE;
            if (flags)
                lr_write_nothing(job->result, plan->max_fibers, voxel, flags);
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
            do_block(job, how, list + at, list_s0 + at, used, room);
        }
        status = hot_lowrank_progress(context, job, (double)end / (double)job->count);
    }
cleanup:
    hot_context_free(context, list_s0);
    hot_context_free(context, list);
    hot_context_free(context, rooms);
    return status;
}

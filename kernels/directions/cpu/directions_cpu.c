/* Directions on the CPU: blocks of tensors dealt out to threads. */
#include <omp.h>

#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "scratch.h"

static hot_directions_block choose(hot_context *context, int order)
{
    const hot_cpu_level level = hot_context_cpu_level(context);
    hot_directions_block block = NULL;
    if (level >= HOT_CPU_AVX512)
        block = hot_directions_block_avx512(order);
    if (!block && level >= HOT_CPU_AVX2)
        block = hot_directions_block_avx2(order);
    return block ? block : hot_directions_block_baseline(order);
}

static void lines(const hot_directions_args *args, size_t first, int count)
{
    for (size_t item = first; item < first + (size_t)count; item++) {
        float *out = args->directions + item * 3 * (size_t)args->keep;
        int found = 0;
        if (!args->mask || args->mask[item])
            found = hot_directions_line(args, args->tensors + item * args->stride, out);
        else
            for (int i = 0; i < 3 * args->keep; i++)
                out[i] = 0;
        if (args->found)
            args->found[item] = (uint8_t)found;
    }
}

hot_status hot_directions_cpu(hot_context *context, void *job)
{
    const hot_directions_args *args = job;
    /* Between chunks the caller hears how far it is and can stop. */
    enum { CHUNK = 512 * HOT_DIRECTIONS_BLOCK };
    const int threads = hot_context_threads(context);
    const hot_directions_block block = choose(context, args->order);
    hot_status status = HOT_OK;
    hot_directions_work *work = NULL;
    if (args->order != 2) {
        work = hot_context_alloc(context, (size_t)threads, sizeof *work);
        if (!work)
            return HOT_ERROR_MEMORY;
    }
    for (size_t start = 0; start < args->count && status == HOT_OK; start += CHUNK) {
        const size_t left = args->count - start, size = left < CHUNK ? left : CHUNK;
        const long blocks = (long)((size + HOT_DIRECTIONS_BLOCK - 1) / HOT_DIRECTIONS_BLOCK);
#pragma omp parallel for schedule(dynamic, 4) num_threads(hot_team(threads))
        for (long b = 0; b < blocks; b++) {
            const size_t at = (size_t)b * HOT_DIRECTIONS_BLOCK;
            if (hot_context_cancelled(context))
                continue;
            const int count = size - at < HOT_DIRECTIONS_BLOCK ? (int)(size - at) : HOT_DIRECTIONS_BLOCK;
            if (args->order == 2)
                lines(args, start + at, count);
            else
                block(args, start + at, count, work + omp_get_thread_num());
        }
        status = hot_context_progress(context, "finding directions", (double)(start + size) / (double)args->count);
    }
    hot_context_free(context, work);
    return status;
}

#include "lane_blocks.h"
#include "entry.h"

#include <omp.h>

/* Items between reports of progress, at least; blocks of a thread in that time where blocks are large. */
enum { MIN_CHUNK = 4096, BLOCKS_EACH = 8, ALIGN = 64 };

hot_status hot_lane_blocks_run(hot_context *context, const hot_lane_blocks *blocks)
{
    const int threads = hot_context_threads(context);
    const size_t lanes = (size_t)blocks->lanes, stride = (blocks->workspace + ALIGN - 1) / ALIGN * ALIGN;
    const size_t wanted = BLOCKS_EACH * lanes * (size_t)threads, most = wanted < blocks->count ? wanted : blocks->count;
    const size_t chunk = lanes <= 16 || most < MIN_CHUNK ? MIN_CHUNK : most;
    const int at_once = lanes <= 16 ? 4 : 1; /* blocks that a thread takes */
    hot_status status = HOT_OK;
    float *memory = hot_context_alloc(context, stride * (size_t)threads + ALIGN, sizeof *memory);
    size_t *items = hot_context_alloc(context, chunk, sizeof *items);
    double *numbers = hot_context_alloc(context, chunk, sizeof *numbers);
    if (!memory || !items || !numbers) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    float *workspaces = (float *)(((uintptr_t)memory + ALIGN - 1) / ALIGN * ALIGN);
    for (size_t begin = 0; begin < blocks->count && status == HOT_OK; begin += chunk) {
        const size_t end = blocks->count - begin < chunk ? blocks->count : begin + chunk;
        size_t taken = 0;
        for (size_t item = begin; item < end; item++) {
            items[taken] = item;
            taken += blocks->take(blocks->args, item, &numbers[taken]) != 0;
        }
        const int n = (int)((taken + lanes - 1) / lanes);
#pragma omp parallel for schedule(dynamic, at_once) num_threads(hot_team(threads))
        for (int b = 0; b < n; b++) {
            if (hot_context_cancelled(context))
                continue;
            const size_t at = (size_t)b * lanes;
            blocks->compute(blocks->args, items + at, numbers + at, (int)(taken - at < lanes ? taken - at : lanes),
                            workspaces + stride * (size_t)omp_get_thread_num());
        }
        status = blocks->progress(context, blocks->args, (double)end / (double)blocks->count);
    }
cleanup:
    hot_context_free(context, numbers);
    hot_context_free(context, items);
    hot_context_free(context, memory);
    return status;
}

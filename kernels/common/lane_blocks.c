#include "lane_blocks.h"

#include <omp.h>

enum { CHUNK = 4096, ALIGN = 64 };

hot_status hot_lane_blocks_run(hot_context *context, const hot_lane_blocks *blocks)
{
    const int threads = hot_context_threads(context);
    const size_t lanes = (size_t)blocks->lanes, stride = (blocks->workspace + ALIGN - 1) / ALIGN * ALIGN;
    hot_status status = HOT_OK;
    float *memory = hot_context_alloc(context, stride * (size_t)threads + ALIGN, sizeof *memory);
    size_t *items = hot_context_alloc(context, CHUNK, sizeof *items);
    double *numbers = hot_context_alloc(context, CHUNK, sizeof *numbers);
    if (!memory || !items || !numbers) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    float *workspaces = (float *)(((uintptr_t)memory + ALIGN - 1) / ALIGN * ALIGN);
    for (size_t begin = 0; begin < blocks->count && status == HOT_OK; begin += CHUNK) {
        const size_t end = blocks->count - begin < CHUNK ? blocks->count : begin + CHUNK;
        size_t taken = 0;
        for (size_t item = begin; item < end; item++) {
            items[taken] = item;
            taken += blocks->take(blocks->args, item, &numbers[taken]) != 0;
        }
        const int n = (int)((taken + lanes - 1) / lanes);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
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

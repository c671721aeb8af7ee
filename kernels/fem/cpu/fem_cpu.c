/* Mass operators on the CPU: elements dealt out to threads in fixed portions. */
#include <omp.h>

#include "contract/cpu/contract_variant.h"
#include "common/entry.h"

hot_status hot_fem_cpu(hot_context *context, void *args_pointer)
{
    enum { ROUND = 256 }; /* portions between two calls of the progress callback */
    const hot_fem_args *args = args_pointer;
    const hot_contract_variant *variant = hot_contract_variant_choose(context);
    const size_t lanes = (size_t)(args->f64 ? variant->lanes_f64 : variant->lanes_f32);
    hot_fem_fn *work = args->assemble ? (args->f64 ? variant->assemble_f64 : variant->assemble_f32)
                                      : (args->f64 ? variant->action_f64 : variant->action_f32);
    const int threads = hot_context_threads(context);
    /* Whole vectors of elements, and enough of them to pay for being dealt out. */
    const size_t dofs = hot_fem_power(args->dofs, args->dim),
                 portion = lanes * (args->assemble || dofs > 500 ? 1 : 1 + 500 / dofs);
    const size_t portions = (args->elements + portion - 1) / portion;
    /* From thread to thread whole cache lines, and vectors aligned. */
    const size_t bytes = (hot_fem_scratch(args, lanes) * (args->f64 ? sizeof(double) : sizeof(float)) + 127) / 64 * 64;
    hot_status status = HOT_OK;
    char *memory = hot_context_alloc(context, (size_t)threads + 1, bytes);
    if (!memory)
        return HOT_ERROR_MEMORY;
    char *scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
    for (size_t begin = 0; begin < portions && status == HOT_OK; begin += ROUND) {
        const size_t end = begin + ROUND < portions ? begin + ROUND : portions;
        status = hot_context_progress(context, "applying the operator", (double)begin / (double)portions);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(end - begin > 1 ? threads : 1))
        for (size_t at = begin; at < end; at++) {
            const size_t first = at * portion;
            work(args, first, args->elements - first < portion ? args->elements - first : portion,
                 scratch + (size_t)omp_get_thread_num() * bytes);
        }
    }
    if (status == HOT_OK)
        status = hot_context_progress(context, "applying the operator", 1);
    hot_context_free(context, memory);
    return status;
}

/* See tridiag_measure.h. */
#include <cuda_runtime.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "tridiag/tridiag_device.h"
#include "tridiag_measure.h"

hot_status hot_tridiag_measure_cuda(hot_context *context, int f64, size_t n, const double *a, const double *b,
                                    double absolute, int repeats, double *seconds)
{
    hot_tridiag_args args = {};
    tridiag_plan plan;
    hot_arena arena = {NULL, 0};
    void *memory = NULL, *diagonal = NULL, *off = NULL, *values = NULL;
    hot_cuda_timing timing;
    int timed = 0;
    const size_t value = f64 ? sizeof(double) : sizeof(float);
    char *rows = (char *)hot_context_alloc(context, 2 * n, value);
    if (!rows)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (f64)
            ((double *)rows)[i] = a[i], ((double *)rows)[n + i] = b[i];
        else
            ((float *)rows)[i] = (float)a[i], ((float *)rows)[n + i] = (float)b[i];
    }
    args.f64 = f64, args.n = args.stride = args.width = n, args.count = 1;
    args.diagonal = rows, args.off = rows + n * value;
    args.options.absolute = absolute;
    plan = tridiag_plan{};
    hot_status status = hot_cuda_select(context, -1);
    if (status == HOT_OK)
        status = hot_tridiag_device_plan(context, &args, &plan);
    plan.count = 1;
    for (int pass = 0; pass < 2 && status == HOT_OK; pass++) { /* the size, then the arrays */
        diagonal = hot_arena_alloc(&arena, n * value);
        off = hot_arena_alloc(&arena, n * value);
        values = hot_arena_alloc(&arena, n * value);
        plan.info = hot_arena_array<tridiag_info>(&arena, 1);
        hot_tridiag_device_divide(&args, 1, &arena, &plan);
        if (pass == 0)
            status = hot_cuda_status(context, cudaMalloc(&memory, arena.used), "memory");
        arena = hot_arena{(char *)memory, 0};
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(diagonal, rows, n * value, cudaMemcpyHostToDevice), "copying");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(off, rows + n * value, n * value, cudaMemcpyHostToDevice),
                                 "copying");
    timing.least = timing.most = repeats;
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            return hot_tridiag_device_launch(context, &args, &plan, diagonal, off, values, NULL);
        }, seconds, &timed);
    hot_context_free(context, rows);
    cudaFree(memory);
    return status;
}

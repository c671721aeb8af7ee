/* See directions_measure.h. */
#include <cuda_runtime.h>

#include <algorithm>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "directions_measure.h"
#include "directions/gpu/starts_cuda.h"

namespace {

/* A plan on the GPU, and what many starts need besides. */
struct resident {
    hot_directions_args args;
    hot_starts_job job;
    hot_starts_tables tables;
    float *x;
    int32_t *iterations;
    size_t piece; /* tensors whose starts' ends there is room for */
    void *memory[5];
};

/* SS-HOPM from many starts in pieces of so many: enough for the wait for each piece's slowest starts not to show. */
enum { PIECE_PAIRS = 1 << 26 };

hot_status get(hot_context *context, resident *there, int which, size_t bytes, void **to)
{
    const hot_status status = hot_cuda_status(context, cudaMalloc(to, bytes), "memory for directions");
    there->memory[which] = *to;
    return status;
}

/* The last row of the user's tensors may end with its tensor. */
size_t input_bytes(const hot_directions_args *args)
{
    return ((args->count - 1) * args->stride + (size_t)(args->order + 1) * (args->order + 2) / 2) * sizeof(float);
}

hot_status upload(hot_context *context, const hot_directions_args *args, resident *there)
{
    void *tensors = NULL, *directions = NULL, *found = NULL;
    *there = {};
    there->args = *args;
    hot_status status = get(context, there, 0, input_bytes(args), &tensors);
    if (status == HOT_OK)
        status = get(context, there, 1, args->count * 3 * (size_t)args->keep * sizeof(float), &directions);
    if (status == HOT_OK)
        status = get(context, there, 2, args->count, &found);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(tensors, args->tensors, input_bytes(args), cudaMemcpyHostToDevice),
                                 "copying tensors");
    there->args.tensors = (const float *)tensors;
    there->args.mask = NULL;
    there->args.directions = (float *)directions;
    there->args.found = (uint8_t *)found;
    if (status != HOT_OK || args->starts == 0)
        return status;
    there->piece = std::max((size_t)1, std::min(args->count, PIECE_PAIRS / args->starts));
    status = hot_starts_job_create(context, args, &there->job);
    if (status == HOT_OK)
        status = hot_starts_tables_create(context, &there->job, &there->tables);
    if (status == HOT_OK)
        status = get(context, there, 3, there->piece * args->starts * 3 * sizeof(float), (void **)&there->x);
    if (status == HOT_OK)
        status = get(context, there, 4, there->piece * args->starts * sizeof(int32_t), (void **)&there->iterations);
    return status;
}

void drop(hot_context *context, resident *there)
{
    for (void *memory : there->memory)
        cudaFree(memory);
    hot_starts_tables_destroy(context, &there->tables);
    hot_starts_job_destroy(context, &there->job);
}

hot_status compute(hot_context *context, const resident *there)
{
    const hot_directions_args *args = &there->args;
    hot_status status = HOT_OK;
    if (args->starts == 0)
        return hot_directions_cuda_launch(context, args, NULL);
    for (size_t first = 0; first < args->count && status == HOT_OK; first += there->piece) {
        hot_directions_args part = *args;
        part.count = std::min(there->piece, args->count - first);
        part.tensors += first * args->stride;
        part.directions += first * 3 * (size_t)args->keep;
        part.found += first;
        status = hot_starts_launch(context, &there->job, &part, &there->tables, there->x, there->iterations, NULL);
    }
    return status;
}

} // namespace

hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_args *args, int repeats,
                                    double *milliseconds)
{
    const size_t bytes = args->count * 3 * (size_t)args->keep * sizeof(float);
    resident there;
    double times[101];
    hot_cuda_timing timing;
    int timed = 0;
    timing.least = timing.most = repeats < 1 ? 1 : repeats > 101 ? 101 : repeats;
    hot_status status = upload(context, args, &there);
    timing.prepare = [&] {
        return hot_cuda_status(context, cudaMemsetAsync(there.args.directions, 0xfb, bytes, 0), "poison");
    };
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] { return compute(context, &there); }, times, &timed);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(args->directions, there.args.directions, bytes,
                                                     cudaMemcpyDeviceToHost), "copying directions");
    if (status == HOT_OK && args->found)
        status = hot_cuda_status(context, cudaMemcpy(args->found, there.args.found, args->count,
                                                     cudaMemcpyDeviceToHost), "copying directions");
    if (status == HOT_OK) {
        std::sort(times, times + timed);
        *milliseconds = 1e3 * times[timed / 2];
    }
    drop(context, &there);
    return status;
}

/* How long directions take with everything on the GPU: see plan.h. */
#include <cuda_runtime.h>

#include <algorithm>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "directions/plan.h"
#include "directions/starts_cuda.h"

namespace {

/* A plan on the GPU, and what many starts need besides. */
struct resident {
    hot_directions_plan plan;
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
size_t input_bytes(const hot_directions_plan *plan)
{
    return ((plan->count - 1) * plan->stride + (size_t)(plan->order + 1) * (plan->order + 2) / 2) * sizeof(float);
}

hot_status upload(hot_context *context, const hot_directions_plan *plan, resident *there)
{
    void *tensors = NULL, *directions = NULL, *found = NULL;
    *there = {};
    there->plan = *plan;
    hot_status status = get(context, there, 0, input_bytes(plan), &tensors);
    if (status == HOT_OK)
        status = get(context, there, 1, plan->count * 3 * (size_t)plan->keep * sizeof(float), &directions);
    if (status == HOT_OK)
        status = get(context, there, 2, plan->count, &found);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(tensors, plan->tensors, input_bytes(plan), cudaMemcpyHostToDevice),
                                 "copying tensors");
    there->plan.tensors = (const float *)tensors;
    there->plan.skip = NULL;
    there->plan.directions = (float *)directions;
    there->plan.found = (uint8_t *)found;
    if (status != HOT_OK || plan->starts == 0)
        return status;
    there->piece = std::max((size_t)1, std::min(plan->count, PIECE_PAIRS / plan->starts));
    status = hot_starts_job_create(context, plan, &there->job);
    if (status == HOT_OK)
        status = hot_starts_tables_create(context, &there->job, &there->tables);
    if (status == HOT_OK)
        status = get(context, there, 3, there->piece * plan->starts * 3 * sizeof(float), (void **)&there->x);
    if (status == HOT_OK)
        status = get(context, there, 4, there->piece * plan->starts * sizeof(int32_t), (void **)&there->iterations);
    return status;
}

void drop(hot_context *context, resident *there)
{
    for (void *memory : there->memory)
        cudaFree(memory);
    hot_starts_tables_destroy(&there->tables);
    hot_starts_job_destroy(context, &there->job);
}

hot_status compute(hot_context *context, const resident *there)
{
    const hot_directions_plan *plan = &there->plan;
    hot_status status = HOT_OK;
    if (plan->starts == 0)
        return hot_directions_cuda_launch(context, plan, NULL);
    for (size_t first = 0; first < plan->count && status == HOT_OK; first += there->piece) {
        hot_directions_plan part = *plan;
        part.count = std::min(there->piece, plan->count - first);
        part.tensors += first * plan->stride;
        part.directions += first * 3 * (size_t)plan->keep;
        part.found += first;
        status = hot_starts_launch(context, &there->job, &part, &there->tables, there->x, there->iterations, NULL);
    }
    return status;
}

} // namespace

hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_plan *plan, int repeats,
                                    double *milliseconds)
{
    const size_t bytes = plan->count * 3 * (size_t)plan->keep * sizeof(float);
    resident there;
    cudaEvent_t start = NULL, stop = NULL;
    float times[101];
    repeats = repeats < 1 ? 1 : repeats > 101 ? 101 : repeats;
    hot_status status = upload(context, plan, &there);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&start), "event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&stop), "event");
    for (int i = -2; i < repeats && status == HOT_OK; i++) { /* two to warm up */
        status = hot_cuda_status(context, cudaMemsetAsync(there.plan.directions, 0xfb, bytes, 0), "poison");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventRecord(start, 0), "event");
        if (status == HOT_OK)
            status = compute(context, &there);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventRecord(stop, 0), "event");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventSynchronize(stop), "finding directions");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventElapsedTime(&times[std::max(i, 0)], start, stop), "event");
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(plan->directions, there.plan.directions, bytes,
                                                     cudaMemcpyDeviceToHost), "copying directions");
    if (status == HOT_OK && plan->found)
        status = hot_cuda_status(context, cudaMemcpy(plan->found, there.plan.found, plan->count,
                                                     cudaMemcpyDeviceToHost), "copying directions");
    if (status == HOT_OK) {
        std::sort(times, times + repeats);
        *milliseconds = (double)times[repeats / 2];
    }
    if (start)
        cudaEventDestroy(start);
    if (stop)
        cudaEventDestroy(stop);
    drop(context, &there);
    return status;
}

/* Directions by many starts on the GPU: SS-HOPM leaves the limits of its starts in device memory, a second kernel
 * deduplicates them (deduplicate.cuh), and only directions come back. */
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "deduplicate.cuh"
#include "directions/directions_starts.h"
#include "starts_cuda.h"
#include "sshopm/gpu/sshopm_cuda.h"

namespace {

/* A chunk: so many starts, or so many tensors if that is less. */
enum { CHUNK_PAIRS = 1 << 22, CHUNK_TENSORS = 1 << 15 };

/* The launch of an order's kernel. */
template <int ORDER> void deduplicate_launch(const deduplicate_call &call, cudaStream_t stream)
{
    const size_t blocks = (call.count + TENSORS - 1) / TENSORS;
    deduplicate_kernel<ORDER><<<(unsigned)blocks, 32 * WARPS, sizeof(deduplicate_memory<ORDER>), stream>>>(call);
}

hot_status deduplicate(hot_context *context, const hot_directions_args *args, const hot_starts_tables *tables,
                       const float *x, const int32_t *iterations, cudaStream_t stream)
{
    const deduplicate_call call = {args->tensors, args->mask, x, iterations, tables->wide, tables->sshopm.multiplicity,
                                   args->directions, args->found, args->count, args->stride, (unsigned)args->starts,
                                   args->keep, args->threshold, args->apart, (double)args->min_relative_range};
    if (args->order == 4)
        deduplicate_launch<4>(call, stream);
    else if (args->order == 6)
        deduplicate_launch<6>(call, stream);
    else
        deduplicate_launch<8>(call, stream);
    return hot_cuda_status(context, cudaGetLastError(), "starting to deduplicate directions");
}

} // namespace

/* ---- From the host ------------------------------------------------------------------------------------------ */

hot_status hot_starts_tables_create(hot_context *context, const hot_starts_job *job, hot_starts_tables *tables)
{
    const size_t values = 3 * job->args->starts;
    memset(tables, 0, sizeof *tables);
    hot_status status = hot_sshopm_tables_create(context, job->args->order, 3, &tables->sshopm);
    if (status == HOT_OK)
        status = hot_device_upload(context, job->wide, values * sizeof(double), (void **)&tables->wide, "starts");
    if (status == HOT_OK)
        status = hot_device_upload(context, job->unit, values * sizeof(float), (void **)&tables->unit, "starts");
    if (status != HOT_OK)
        hot_starts_tables_destroy(context, tables);
    return status;
}

void hot_starts_tables_destroy(hot_context *context, hot_starts_tables *tables)
{
    hot_sshopm_tables_destroy(context, &tables->sshopm);
    hot_device_release(context, tables->wide);
    hot_device_release(context, tables->unit);
    tables->wide = NULL;
    tables->unit = NULL;
}

hot_status hot_starts_launch(hot_context *context, const hot_starts_job *job, const hot_directions_args *there,
                             const hot_starts_tables *tables, float *x, int32_t *iterations, void *stream)
{
    hot_sshopm_args part = job->sshopm;
    part.count = there->count;
    part.batch = job->args->count;
    part.stride = there->stride;
    part.tensors = there->tensors;
    part.start = tables->unit;
    part.x = x;
    part.iterations = iterations;
    hot_status status = hot_sshopm_launch(context, &part, &tables->sshopm, HOT_ALGORITHM_AUTO, stream);
    return status == HOT_OK ? deduplicate(context, there, tables, x, iterations, (cudaStream_t)stream) : status;
}

namespace {

hot_status begin_device(hot_context *context, void *user, void **tables)
{
    hot_starts_tables *self = (hot_starts_tables *)hot_context_calloc(context, 1, sizeof *self);
    if (!self)
        return HOT_ERROR_MEMORY;
    *tables = self;
    return hot_starts_tables_create(context, (const hot_starts_job *)user, self);
}

void end_device(hot_context *context, void *user, void *tables)
{
    (void)user;
    hot_starts_tables_destroy(context, (hot_starts_tables *)tables);
    hot_context_free(context, tables);
}

/* SS-HOPM's results for a chunk, which stay on the GPU: its limits and how many iterations each took. */
void divide_scratch(size_t pairs, hot_arena *arena, float **x, int32_t **iterations)
{
    *x = hot_arena_array<float>(arena, 3 * pairs);
    *iterations = hot_arena_array<int32_t>(arena, pairs);
}

hot_status launch_chunk(hot_context *context, void *user, void *tables, const hot_batch_chunk *chunk)
{
    const hot_starts_job *job = (const hot_starts_job *)user;
    hot_directions_args there = *job->args;
    hot_arena arena = {(char *)chunk->scratch, 0};
    float *x;
    int32_t *iterations;
    there.count = chunk->count;
    there.stride = job->sshopm.unique;
    there.tensors = (const float *)chunk->in[0];
    there.mask = (const uint8_t *)chunk->in[1];
    there.directions = (float *)chunk->out[0];
    there.found = (uint8_t *)chunk->out[1];
    divide_scratch(chunk->count * there.starts, &arena, &x, &iterations);
    return hot_starts_launch(context, job, &there, (const hot_starts_tables *)tables, x, iterations, chunk->stream);
}

} // namespace

hot_status hot_directions_starts_cuda(hot_context *context, void *user)
{
    const hot_directions_args *args = (const hot_directions_args *)user;
    const size_t most = (size_t)CHUNK_PAIRS / args->starts;
    hot_starts_job job;
    if (args->starts >= 1u << 28) /* the kernels count them in 32 bits; memory would not hold the limits either */
        return hot_context_fail(context, HOT_ERROR_MEMORY, "GPU: %zu starts are too many", args->starts);
    hot_status status = hot_starts_job_create(context, args, &job);
    if (status == HOT_OK) {
        hot_batch batch = {};
        hot_arena scratch = {NULL, 0};
        float *x;
        int32_t *iterations;
        batch.stage = "finding directions";
        batch.count = args->count;
        batch.chunk = most < 1 ? 1 : most < (size_t)CHUNK_TENSORS ? most : (size_t)CHUNK_TENSORS;
        batch.in[0] = hot_batch_strided("tensors", args->tensors, job.sshopm.unique * sizeof(float),
                                        args->stride * sizeof(float));
        batch.in[1] = hot_batch_rows("mask", args->mask, 1);
        batch.out[0] = hot_batch_rows("directions", args->directions, 3 * (size_t)args->keep * sizeof(float));
        batch.out[1] = hot_batch_rows("found", args->found, 1);
        batch.chunk = hot_batch_chunk_size(context, &batch, batch.chunk, args->starts * 4 * sizeof(float));
        divide_scratch((args->count < batch.chunk ? args->count : batch.chunk) * args->starts, &scratch, &x,
                       &iterations);
        batch.scratch = scratch.used;
        batch.user = &job;
        batch.begin = begin_device;
        batch.launch = launch_chunk;
        batch.end = end_device;
        status = hot_batch_run(context, &batch);
    }
    hot_starts_job_destroy(context, &job);
    return status;
}

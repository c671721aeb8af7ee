/* Directions on the GPU by scanning (scan_block.cuh): the launch, and batches of any size from host memory. */
#include <cuda_runtime.h>

#include <string.h>

#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/context_internal.h"
#include "directions/directions_args.h"
#include "scan_block.cuh"

namespace {

hot_status fail(hot_context *context, cudaError_t error, const char *doing)
{
    cudaGetLastError(); /* so that the next call does not meet it again */
    return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                            "CUDA failed to %s: %s", doing, cudaGetErrorString(error));
}

cudaError_t launch(const hot_directions_args *args, cudaStream_t stream)
{
    if (args->count == 0)
        return cudaSuccess;
    const directions_call call = {args->tensors, args->mask, args->directions, args->found,              args->count,
                                  args->stride,  args->keep, args->threshold,  args->min_relative_range, args->apart};
    return args->order == 4   ? directions_launch<4>(call, stream)
           : args->order == 6 ? directions_launch<6>(call, stream)
                              : directions_launch<8>(call, stream);
}

size_t row_values(const hot_directions_args *args) { return (size_t)(args->order + 1) * (args->order + 2) / 2; }

hot_status launch_chunk(hot_context *context, void *user, void *workspace, const hot_batch_chunk *chunk)
{
    hot_directions_args part = *(const hot_directions_args *)user;
    (void)workspace;
    part.count = chunk->count;
    part.stride = row_values(&part);
    part.tensors = (const float *)chunk->in[0];
    part.mask = (const uint8_t *)chunk->in[1];
    part.directions = (float *)chunk->out[0];
    part.found = (uint8_t *)chunk->out[1];
    return hot_directions_cuda_launch(context, &part, chunk->stream);
}

} // namespace

hot_status hot_directions_cuda_launch(hot_context *context, const hot_directions_args *args, void *stream)
{
    const cudaError_t error = launch(args, (cudaStream_t)stream);
    return error == cudaSuccess ? HOT_OK : fail(context, error, "start the directions kernel");
}

hot_status hot_directions_cuda(hot_context *context, void *job)
{
    const hot_directions_args *args = (const hot_directions_args *)job;
    if (args->order == 2 || args->order > 8 || args->count == 0) { /* order 2: less work than the copy */
        if (args->count > 0 && hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "directions of tensors of order %d are found on the CPU, from the host's memory; "
                                    "orders 4, 6 and 8 on the GPU", args->order);
        return hot_directions_cpu(context, job);
    }
    hot_batch batch = {};
    batch.stage = "finding directions";
    batch.count = args->count;
    batch.chunk = args->count < 1 << 22 ? 1 << 15 : 1 << 16; /* pinned memory is slow to get: little of it */
    batch.in[0] = hot_batch_strided("tensors", args->tensors, row_values(args) * sizeof(float),
                                    args->stride * sizeof(float));
    batch.in[1] = hot_batch_rows("mask", args->mask, 1);
    batch.out[0] = hot_batch_rows("directions", args->directions, 3 * (size_t)args->keep * sizeof(float));
    batch.out[1] = hot_batch_rows("found", args->found, 1);
    batch.chunk = hot_batch_chunk_size(context, &batch, batch.chunk, 0);
    batch.user = job;
    batch.launch = launch_chunk;
    return hot_batch_run(context, &batch);
}

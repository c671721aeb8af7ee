/* Directions on the GPU: the kernels of every order, and batches of any size from host memory. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <string.h>

#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/portable.h"
#include "directions/grid.h"
#include "directions/directions_args.h"
#include "step_cuda.h"

/* ---- The kernels -------------------------------------------------------------------------------------------- */

namespace {

enum { BLOCK = 128 };
enum { LISTED_4 = 12, LISTED_6 = 16, LISTED_8 = 18, REFINED_4 = 10, REFINED_6 = 12, REFINED_8 = 14 };
/* Unrolling the rows of the scan saves moves, and costs more in fetching instructions (measured: 10 to 20 %). */
constexpr int ROWS_AT_ONCE = 1;
/* Blocks per multiprocessor that registers must allow. */
enum { RESIDENT_4 = 6, RESIDENT_6 = 5, RESIDENT_8 = 4 };
/* A form whose coefficients stray this much further than min_relative_range from an isotropic one's may have too little relief:
 * the sum of coefficients exceeds the form's largest value by no more than this. */
#define RELIEF_BOUND 2000.0f

enum hot_item_state { HOT_ITEM_LIVE, HOT_ITEM_DOUBTFUL, HOT_ITEM_NONE, HOT_ITEM_INVALID };

/* What the kernels need of a plan; pointers on the device. */
struct job {
    const float *tensors;
    const uint8_t *mask;
    float *directions;
    uint8_t *found;
    size_t count, stride;
    int keep;
    float threshold, min_relative_range, apart;
};

#define HOT_STEP(name) HOT_JOIN(name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "directions/gpu/block_cuda.h"
#include "common/orders.h"

/* ---- From the host ------------------------------------------------------------------------------------------ */

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
    const job job = {args->tensors, args->mask,   args->directions, args->found,      args->count,
                     args->stride,  args->keep,   args->threshold,  args->min_relative_range, args->apart};
    return args->order == 4 ? launch_4(job, stream) : args->order == 6 ? launch_6(job, stream) : launch_8(job, stream);
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
    if (args->order == 2 || args->count == 0)
        return hot_directions_cpu(context, job); /* less work than the copy */
    hot_batch batch = {};
    batch.stage = "finding directions";
    batch.count = args->count;
    batch.chunk = args->count < 1 << 22 ? 1 << 15 : 1 << 16; /* pinned memory is slow to get: little of it */
    batch.in[0] = hot_batch_strided(args->tensors, row_values(args) * sizeof(float), args->stride * sizeof(float));
    batch.in[1] = hot_batch_rows(args->mask, 1);
    batch.out[0] = hot_batch_rows(args->directions, 3 * (size_t)args->keep * sizeof(float));
    batch.out[1] = hot_batch_rows(args->found, 1);
    batch.user = job;
    batch.launch = launch_chunk;
    return hot_batch_run(context, &batch);
}

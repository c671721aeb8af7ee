/* Directions on the GPU: the kernels of every order, and batches of any size from host memory. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <string.h>

#include "common/backend.h"
#include "common/cuda_feed.h"
#include "common/portable.h"
#include "directions/grid.h"
#include "directions/plan.h"
#include "directions/step_cuda.h"

/* ---- The kernels -------------------------------------------------------------------------------------------- */

namespace {

enum { BLOCK = 128 };
enum { LISTED_4 = 12, LISTED_6 = 16, LISTED_8 = 18, REFINED_4 = 10, REFINED_6 = 12, REFINED_8 = 14 };
/* Unrolling the rows of the scan saves moves, and costs more in fetching instructions (measured: 10 to 20 %). */
constexpr int ROWS_AT_ONCE = 1;
/* Blocks per multiprocessor that registers must allow. */
enum { RESIDENT_4 = 6, RESIDENT_6 = 5, RESIDENT_8 = 4 };
/* A form whose coefficients stray this much further than min_relief from an isotropic one's may have too little relief:
 * the sum of coefficients exceeds the form's largest value by no more than this. */
#define RELIEF_BOUND 2000.0f

enum hot_item_state { HOT_ITEM_LIVE, HOT_ITEM_DOUBTFUL, HOT_ITEM_NONE, HOT_ITEM_INVALID };

/* What the kernels need of a plan; pointers on the device. */
struct job {
    const float *tensors;
    const uint8_t *skip;
    float *directions;
    uint8_t *found;
    size_t count, stride;
    int keep;
    float threshold, min_relief, apart;
};

#define HOT_STEP(name) HOT_JOIN(name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "directions/block_cuda.h"
#include "common/orders.h"

/* ---- From the host ------------------------------------------------------------------------------------------ */

hot_status fail(hot_context *context, cudaError_t error, const char *doing)
{
    cudaGetLastError(); /* so that the next call does not meet it again */
    return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                            "CUDA failed to %s: %s", doing, cudaGetErrorString(error));
}

cudaError_t launch(const hot_directions_plan *plan, cudaStream_t stream)
{
    if (plan->count == 0)
        return cudaSuccess;
    const job job = {plan->tensors, plan->skip,   plan->directions, plan->found,      plan->count,
                     plan->stride,  plan->keep,   plan->threshold,  plan->min_relief, plan->apart};
    return plan->order == 4 ? launch_4(job, stream) : plan->order == 6 ? launch_6(job, stream) : launch_8(job, stream);
}

size_t row_values(const hot_directions_plan *plan) { return (size_t)(plan->order + 1) * (plan->order + 2) / 2; }

hot_status launch_chunk(hot_context *context, void *user, void *own, size_t count, void *const *in, void *const *out,
                        void *stream)
{
    hot_directions_plan part = *(const hot_directions_plan *)user;
    (void)own;
    part.count = count;
    part.tensors = (const float *)in[0];
    part.skip = (const uint8_t *)in[1];
    part.directions = (float *)out[0];
    part.found = (uint8_t *)out[1];
    return hot_directions_cuda_launch(context, &part, stream);
}

} // namespace

hot_status hot_directions_cuda_launch(hot_context *context, const hot_directions_plan *plan, void *stream)
{
    const cudaError_t error = launch(plan, (cudaStream_t)stream);
    return error == cudaSuccess ? HOT_OK : fail(context, error, "start the directions kernel");
}

hot_status hot_directions_cuda(hot_context *context, void *job)
{
    const hot_directions_plan *plan = (const hot_directions_plan *)job;
    if (plan->order == 2 || plan->count == 0)
        return hot_directions_cpu(context, job); /* less work than the copy */
    const size_t row = 3 * (size_t)plan->keep * sizeof(float);
    hot_feed feed = {};
    feed.stage = "finding directions";
    feed.count = plan->count;
    feed.chunk = plan->count < 1 << 22 ? 1 << 15 : 1 << 16; /* pinned memory is slow to get: little of it */
    feed.in[0] = hot_feed_array{(void *)plan->tensors, plan->stride * sizeof(float), row_values(plan) * sizeof(float)};
    if (plan->skip)
        feed.in[1] = hot_feed_array{(void *)plan->skip, 1, 1};
    feed.out[0] = hot_feed_array{plan->directions, row, row};
    feed.out[1] = hot_feed_array{plan->found, 1, 1};
    feed.user = job;
    feed.launch = launch_chunk;
    return hot_feed_run(context, &feed);
}

/* Best non-negative rank-k of packed tensors on the GPU: a thread is a tensor, the arithmetic is that of the CPU
 * (lowrank_step.h with vf = float). */
#include <cuda_runtime.h>

#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "lowrank_exact.h"

enum { CHUNK = 1 << 16, THREADS = 128 };

/* The data of a chunk's kernel, all on the device. */
typedef struct lowrank_chunk {
    size_t count, stride;
    const float *tensors; /* count x stride */
    const uint8_t *mask;  /* or NULL */
    float *directions, *residual; /* residual: or NULL */
    uint8_t *found;               /* or NULL */
} lowrank_chunk;

template <int ORDER>
static __global__ void __launch_bounds__(THREADS)
    lowrank_kernel(const __grid_constant__ lowrank_plan plan, const __grid_constant__ lowrank_chunk data)
{
    const int unique = (ORDER + 1) * (ORDER + 2) / 2;
    const size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= data.count)
        return;
    float *out = data.directions + item * 3 * (size_t)plan.max_rank;
    for (int i = 0; i < 3 * plan.max_rank; i++)
        out[i] = 0;
    if (data.found)
        data.found[item] = 0;
    if (data.residual)
        data.residual[item] = 0;
    if (data.mask && !data.mask[item])
        return;
    float a[LOWRANK_UNIQUE_MAX], b[SIGNAL_GRID];
    double sum = 0;
    for (int i = 0; i < unique; i++) {
        a[i] = data.tensors[item * data.stride + (size_t)i];
        sum += (double)plan.multiplicity[i] * (double)a[i] * (double)a[i];
    }
    const double norm = sqrt(sum);
    if (!(norm > 0) || isinf(norm)) {
        if (data.found)
            data.found[item] = norm == 0 ? 0 : 255;
        return;
    }
    for (int i = 0; i < unique; i++)
        a[i] = (float)((double)a[i] / norm);
    lowrank_terms best;
    int chosen;
    lowrank_find_best(&plan, ORDER, a, b, &best, &chosen);
    const int found = lowrank_place(chosen, best.v, best.w, norm, out);
    if (data.found)
        data.found[item] = (uint8_t)found;
    if (data.residual)
        data.residual[item] = sqrtf(best.e);
}

/* ---- From the host ------------------------------------------------------------------------------------------ */

/* The plan's tables on a GPU. */
static hot_status begin_device(hot_context *context, void *user, void **tables)
{
    const lowrank_plan *plan = ((const hot_lowrank_args *)user)->plan;
    const size_t bytes = plan->block_size * sizeof(float);
    return hot_device_upload(context, plan->block, bytes, tables, "rank-k: its tables");
}

static void end_device(hot_context *context, void *, void *tables) { hot_device_release(context, tables); }

static hot_status launch_chunk(hot_context *context, void *user, void *tables, const hot_batch_chunk *chunk)
{
    const hot_lowrank_args *args = (const hot_lowrank_args *)user;
    lowrank_plan plan = *args->plan;
    const float *block = (const float *)tables, *from = plan.block;
    const unsigned blocks = (unsigned)((chunk->count + THREADS - 1) / THREADS);
    plan.grid.v = block + (plan.grid.v - from);
    plan.grid.gram = block + (plan.grid.gram - from);
    plan.grid.filter = block + (plan.grid.filter - from);
    for (int c = 0; c < SEPARATION_BINS; c++) {
        plan.grid.pair_at[c] = (const int *)(block + ((const float *)plan.grid.pair_at[c] - from));
        plan.grid.pair_inverse[c] = block + (plan.grid.pair_inverse[c] - from);
    }
    const lowrank_chunk data = {chunk->count, (size_t)plan.unique, (const float *)chunk->in[0],
                                (const uint8_t *)chunk->in[1], (float *)chunk->out[0], (float *)chunk->out[2],
                                (uint8_t *)chunk->out[1]};
    cudaStream_t stream = (cudaStream_t)chunk->stream;
    if (plan.order == 4)
        lowrank_kernel<4><<<blocks, THREADS, 0, stream>>>(plan, data);
    else if (plan.order == 6)
        lowrank_kernel<6><<<blocks, THREADS, 0, stream>>>(plan, data);
    else
        lowrank_kernel<8><<<blocks, THREADS, 0, stream>>>(plan, data);
    return hot_cuda_status(context, cudaGetLastError(), "rank-k");
}

extern "C" hot_status hot_lowrank_cuda(hot_context *context, void *argument)
{
    hot_lowrank_args *args = (hot_lowrank_args *)argument;
    hot_batch batch = {};
    batch.stage = "finding fibres";
    batch.progress[0] = args->plan->progress[0];
    batch.progress[1] = args->plan->progress[1];
    batch.count = args->count;
    batch.in[0] = hot_batch_strided("tensors", args->tensors, (size_t)args->plan->unique * sizeof(float),
                                    args->stride * sizeof(float));
    batch.in[1] = hot_batch_rows("mask", args->mask, 1);
    batch.out[0] = hot_batch_rows("directions", args->directions, 3 * (size_t)args->plan->max_rank * sizeof(float));
    batch.out[1] = hot_batch_rows("found", args->found, 1);
    batch.out[2] = hot_batch_rows("residual", args->residual, sizeof(float));
    batch.chunk = hot_batch_chunk_size(context, &batch, CHUNK, 0);
    return hot_batch_run_with(context, &batch, args, begin_device, launch_chunk, end_device);
}

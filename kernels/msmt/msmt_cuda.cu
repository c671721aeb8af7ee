/* Deconvolution on the GPU: a first kernel makes the right-hand sides and a list of the voxels with a signal; a second
 * kernel takes them from the list (msmt_voxels.cuh). In double precision throughout, as on the CPU. */
#include <string.h>

#include "common/arena.h"
#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/flow.h"
#include "common/shared_memory.cuh"
#include "msmt_voxels.cuh"

enum { CHUNK = 1 << 14 };

/* ---- The plan's tables --------------------------------------------------------------------------------------- */

/* Entries of the Hessian, those with the most products first. */
static void sort_entries(const msmt_plan *plan, msmt_tables *tables)
{
    const int *first = plan->first_pair;
    int filled = 0, most = 0;
    for (size_t t = 0; t < plan->terms; t++)
        most = first[t + 1] - first[t] > most ? first[t + 1] - first[t] : most;
    for (int products = most * most; products > 0; products--)
        for (size_t i = 0; i < plan->terms; i++)
            for (size_t j = 0; j <= i; j++)
                if ((first[i + 1] - first[i]) * (first[j + 1] - first[j]) == products) {
                    tables->sorted[filled][0] = (uint8_t)i;
                    tables->sorted[filled++][1] = (uint8_t)j;
                }
}

static void fill_tables(const msmt_plan *plan, msmt_tables *tables)
{
    const size_t n = plan->padded, side = plan->side;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t at = i * (i + 1) / 2 + j;
            tables->whiten[j * n + i] = plan->whiten[i * n + j];
            if (j > i)
                continue;
            tables->normal[at] = plan->normal[i * n + j];
            if (i < plan->terms) {
                tables->weight[at] = plan->weight[i * plan->terms + j];
                tables->moment[at] = (uint16_t)plan->moment[i * plan->terms + j];
            }
        }
    for (size_t i = 0; i < plan->unknowns; i++) {
        tables->inside[i] = plan->inside[i];
        tables->scale[i] = plan->scale[i];
    }
    for (size_t j = 0; j < plan->directions + plan->tissues; j++) {
        double row = 0;
        for (size_t t = 0; t < plan->terms && j < plan->directions; t++)
            row += plan->form[j * plan->terms + t] * plan->inside[t];
        tables->inside_rows[j] = j < plan->directions ? row : plan->inside[plan->terms + j - plan->directions];
        tables->inside_sum += tables->inside_rows[j];
    }
    for (size_t i = 0; i < side * side; i++) {
        tables->entry[i] = (uint8_t)plan->entry[i];
        tables->entry_scale[i] = plan->entry_scale[i];
        tables->inside_sum += i % (side + 1) == 0 ? plan->entry_scale[i] * plan->inside[plan->entry[i]] : 0;
    }
    for (size_t p = 0; p < side; p++)
        tables->root[p] = plan->root[p];
    for (size_t t = 0; t <= plan->terms; t++)
        tables->first_pair[t] = (uint8_t)plan->first_pair[t];
    for (size_t f = 0; f < side * (side + 1) / 2; f++)
        for (int k = 0; k < 2; k++)
            tables->pair[f][k] = (uint8_t)plan->pair[f][k];
    sort_entries(plan, tables);
}

/* The tables, then the plan's matrices. */
static hot_status begin_device(hot_context *context, void *user, void **device)
{
    const msmt_plan *plan = ((const msmt_args *)user)->plan;
    const size_t tables = hot_arena_aligned(sizeof(msmt_tables));
    char *both = (char *)hot_context_calloc(context, 1, tables + plan->block_size);
    if (!both)
        return HOT_ERROR_MEMORY;
    fill_tables(plan, (msmt_tables *)both);
    memcpy(both + tables, plan->block, plan->block_size);
    const hot_status status = hot_device_upload(context, both, tables + plan->block_size, device,
                                                "a deconvolution: its tables");
    hot_context_free(context, both);
    return status;
}

static void end_device(hot_context *context, void *, void *device) { hot_device_release(context, device); }

static msmt_device device_plan(const msmt_plan *plan, const void *device)
{
    const char *matrices = (const char *)device + hot_arena_aligned(sizeof(msmt_tables));
    const auto at = [&](const double *host) {
        return (const double *)(matrices + ((const char *)host - (const char *)plan->block));
    };
    msmt_device d = {(int)plan->terms, (int)plan->tissues, (int)plan->unknowns, (int)plan->padded, (int)plan->moments,
                     (int)plan->directions, (int)plan->rows, plan->rounding, at(plan->normal), at(plan->project),
                     at(plan->whiten), at(plan->form), at(plan->across), at(plan->power), (const msmt_tables *)device,
                     0};
    return d;
}

/* ---- A chunk ------------------------------------------------------------------------------------------------- */

/* The chunk's scratch, into `chunk` unless that is NULL; returns its bytes. */
static size_t place_scratch(void *memory, size_t count, size_t padded, msmt_chunk *chunk)
{
    hot_arena arena = {(char *)memory, 0};
    unsigned *counters = hot_arena_array<unsigned>(&arena, 2), *list = hot_arena_array<unsigned>(&arena, count);
    double *size = hot_arena_array<double>(&arena, count), *right = hot_arena_array<double>(&arena, count * padded);
    if (chunk) {
        chunk->used = counters;
        chunk->taken = counters + 1;
        chunk->list = list;
        chunk->size = size;
        chunk->right = right;
    }
    return arena.used;
}

template <int V, int SIDE>
static hot_status solve(hot_context *context, const msmt_device &d, const msmt_chunk &chunk, cudaStream_t stream)
{
    const size_t bytes = (size_t)d.stride * V * sizeof(double);
    int number = 0, processors = 0, each = 0;
    hot_status status = allow_shared_memory(context, msmt_solve_kernel<V, SIDE>, bytes);
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, number);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, msmt_solve_kernel<V, SIDE>, 32 * V, bytes);
    if (status == HOT_OK)
        status = hot_cuda_status(context, error, "a deconvolution");
    if (status != HOT_OK)
        return status;
    const unsigned most = (unsigned)(processors * (each > 0 ? each : 1)), wanted = (chunk.count + V - 1) / V;
    msmt_solve_kernel<V, SIDE><<<wanted < most ? wanted : most, 32 * V, bytes, stream>>>(d, chunk);
    return hot_cuda_status(context, cudaGetLastError(), "a deconvolution");
}

/* As many voxels to a block as its shared memory can hold. */
static hot_status solve_rows(hot_context *context, const msmt_device &d, const msmt_chunk &chunk, cudaStream_t stream)
{
    int number = 0, most = 0;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, number);
    if (error != cudaSuccess)
        return hot_cuda_status(context, error, "a deconvolution");
    const size_t fit = (size_t)most / ((size_t)d.stride * sizeof(double));
    if (fit >= 8)
        return solve<8, 0>(context, d, chunk, stream);
    if (fit >= 4)
        return solve<4, 0>(context, d, chunk, stream);
    if (fit >= 1)
        return solve<1, 0>(context, d, chunk, stream);
    return hot_context_fail(context, HOT_ERROR_DEVICE,
                            "%d directions of a constraint take %zu bytes of shared memory; this GPU has %d",
                            d.directions, (size_t)d.stride * sizeof(double), most);
}

template <int SIDE>
static hot_status solve_matrix(hot_context *context, msmt_device d, const msmt_chunk &chunk, cudaStream_t stream)
{
    warp_voxel v;
    d.stride = place<SIDE>(d, NULL, &v);
    return solve<2, SIDE>(context, d, chunk, stream);
}

static hot_status launch_chunk(hot_context *context, void *user, void *device, const hot_batch_chunk *in)
{
    const msmt_args *args = (const msmt_args *)user;
    msmt_device d = device_plan(args->plan, device);
    cudaStream_t stream = (cudaStream_t)in->stream;
    msmt_chunk chunk = {};
    chunk.count = (unsigned)in->count;
    chunk.signals = (const float *)in->in[0];
    chunk.mask = (const uint8_t *)in->in[1];
    chunk.tensors = (float *)in->out[0];
    chunk.amounts = (float *)in->out[1];
    chunk.residual = (float *)in->out[2];
    chunk.flags = (uint8_t *)in->out[3];
    place_scratch(in->scratch, in->count, args->plan->padded, &chunk);
    HOT_TRY(hot_cuda_status(context, cudaMemsetAsync(chunk.used, 0, 2 * sizeof *chunk.used, stream),
                            "a deconvolution"));
    const unsigned blocks = (chunk.count + PREPARE_WARPS - 1) / PREPARE_WARPS;
    if (d.directions == 0 && args->plan->side == 0) {
        msmt_prepare_kernel<true><<<blocks, 32 * PREPARE_WARPS, 0, stream>>>(d, chunk);
        return hot_cuda_status(context, cudaGetLastError(), "a deconvolution");
    }
    msmt_prepare_kernel<false><<<blocks, 32 * PREPARE_WARPS, 0, stream>>>(d, chunk);
    HOT_TRY(hot_cuda_status(context, cudaGetLastError(), "a deconvolution"));
    warp_voxel v;
    d.stride = place<0>(d, NULL, &v);
    switch (args->plan->side) {
    case 0: return solve_rows(context, d, chunk, stream);
    case 3: return solve_matrix<3>(context, d, chunk, stream);
    case 6: return solve_matrix<6>(context, d, chunk, stream);
    case 10: return solve_matrix<10>(context, d, chunk, stream);
    default: return solve_matrix<15>(context, d, chunk, stream);
    }
}

extern "C" hot_status hot_msmt_cuda(hot_context *context, void *argument)
{
    msmt_args *args = (msmt_args *)argument;
    const msmt_plan *plan = args->plan;
    hot_batch batch = {};
    batch.stage = "deconvolving";
    batch.count = args->count;
    batch.in[0] = hot_batch_strided("signals", args->signals, plan->rows * sizeof(float),
                                    args->signal_stride * sizeof(float));
    batch.in[1] = hot_batch_rows("mask", args->mask, 1);
    batch.out[0] = hot_batch_strided("tensors", args->tensors, plan->terms * sizeof(float),
                                     args->tensor_stride * sizeof(float));
    batch.out[1] = hot_batch_rows("amounts", args->amounts, plan->tissues * sizeof(float));
    batch.out[2] = hot_batch_rows("residual", args->residual, sizeof(float));
    batch.out[3] = hot_batch_rows("flags", args->flags, 1);
    batch.chunk = hot_batch_chunk_size(context, &batch, CHUNK, (plan->padded + 1) * sizeof(double) + sizeof(unsigned));
    batch.scratch = place_scratch(NULL, batch.chunk, plan->padded, NULL);
    return hot_batch_run_with(context, &batch, args, begin_device, launch_chunk, end_device);
}

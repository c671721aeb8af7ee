/* Fibres in signal space on the GPU, chunk by chunk: a first kernel checks every voxel and lists the usable ones with
 * their signals, those of signal_fits.cu fit them. */
#include <atomic>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/flow.h"
#include "signal/gpu/signal_chunk.cuh"

enum { THREADS = 128 };

static __global__ void signal_prepare_kernel(const __grid_constant__ signal_plan plan,
                                             const __grid_constant__ signal_chunk data)
{
    size_t voxel = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= data.count)
        return;
    signal_write_nothing(&data.result, plan.max_fibers, voxel, 0);
    if (data.result.fits)
        memset(data.result.fits + 4 * voxel, 0, 4 * sizeof *data.result.fits);
    if (data.mask && !data.mask[voxel])
        return;
    const float sigma = data.sigma ? data.sigma[voxel] : data.one_sigma;
    const float *signal = data.signals + voxel * plan.all_volumes;
    float s0 = 0;
    const float given = data.s0 ? data.s0[voxel] : NAN;
    unsigned flags = sigma > 0 ? signal_check_voxel(&plan, data.order, signal, sigma, given, &s0)
                               : (unsigned)HOT_VOXEL_NOT_FINITE;
    if (flags) {
        signal_write_nothing(&data.result, plan.max_fibers, voxel, flags);
        return;
    }
    /* The list's order differs from run to run; a voxel's answer does not depend on its place. */
    unsigned at = atomicAdd(data.used, 1u);
    data.list[at] = (unsigned)voxel;
    data.snr[at] = s0 / sigma;
    for (int j = 0; j < plan.scheme.volumes; j++)
        data.y[(size_t)at * plan.scheme.volumes + j] = signal[data.order[j]] / sigma;
}

/* Signals of 16 bits as floats. */
template <typename T> static __global__ void signal_widen_kernel(const T *from, size_t count, float *to)
{
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += (size_t)gridDim.x * blockDim.x)
        to[at] = from[at];
}

/* ---- From the host ------------------------------------------------------------------------------------------ */

namespace {

/* Voxels of a chunk (several chunks are in progress); the fewer the more volumes they have. */
enum { MAX_CHUNK = 1 << 16, MIN_CHUNK = 1 << 14, MANY_CHUNKS = 4 };
enum { NARROW_NUMBERS = 1 << 13 }; /* signals that are read together to be narrowed */

/* The call, and the kernels' time on all GPUs. */
struct batch_args {
    hot_signal_args *args;
    std::atomic<unsigned long long> nanoseconds;
};

/* The time during which at least one chunk's kernels are running on a GPU: chunks of different slots overlap, hence it
 * is measured as the union of the intervals between two events around the kernels of each chunk. */
struct kernel_clock {
    cudaEvent_t origin, begin[HOT_BATCH_SLOTS], end[HOT_BATCH_SLOTS];
    size_t pending[HOT_BATCH_SLOTS]; /* number of the launch whose interval has not been added; 0: none */
    size_t launches;
    double until, milliseconds; /* the latest end that was added; the sum */
};

/* Shared data of the launches on a GPU: the plan with its tables. */
struct workspace {
    signal_plan plan;
    char *memory;
    size_t *order;
    signal_search search;
    int processors; /* of the GPU */
    signal_branches branches;
    kernel_clock clock;
};

hot_status open_clock(hot_context *context, kernel_clock *clock)
{
    cudaError_t error = cudaEventCreate(&clock->origin);
    for (int i = 0; i < HOT_BATCH_SLOTS && error == cudaSuccess; i++) {
        error = cudaEventCreate(&clock->begin[i]);
        if (error == cudaSuccess)
            error = cudaEventCreate(&clock->end[i]);
    }
    if (error == cudaSuccess)
        error = cudaEventRecord(clock->origin, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(clock->origin);
    return hot_cuda_status(context, error, "events");
}

void close_clock(kernel_clock *clock)
{
    for (int i = 0; i < HOT_BATCH_SLOTS; i++) {
        if (clock->begin[i])
            cudaEventDestroy(clock->begin[i]);
        if (clock->end[i])
            cudaEventDestroy(clock->end[i]);
    }
    if (clock->origin)
        cudaEventDestroy(clock->origin);
}

/* Adds the interval of a slot's chunk, which is complete. Chunks come here nearly in the order of their launches; the
 * part of an interval before the latest end so far has been counted. */
void add_interval(kernel_clock *clock, int slot)
{
    float begin = 0, end = 0;
    if (!clock->pending[slot] || cudaEventElapsedTime(&begin, clock->origin, clock->begin[slot]) != cudaSuccess ||
        cudaEventElapsedTime(&end, clock->origin, clock->end[slot]) != cudaSuccess)
        return;
    clock->pending[slot] = 0;
    if (end > clock->until) {
        clock->milliseconds += end - fmax(begin, clock->until);
        clock->until = end;
    }
}

/* The intervals of the last chunks, in the order of their launches. */
double read_clock(kernel_clock *clock)
{
    for (size_t launch = clock->launches < HOT_BATCH_SLOTS ? 1 : clock->launches - HOT_BATCH_SLOTS + 1;
         launch <= clock->launches; launch++)
        for (int slot = 0; slot < HOT_BATCH_SLOTS; slot++)
            if (clock->pending[slot] == launch)
                add_interval(clock, slot);
    return clock->milliseconds;
}

/* The device address of the host's `table` in the plan's block. */
template <typename T> const T *moved(const signal_plan *plan, const float *block, const T *table)
{
    return (const T *)(block + ((const float *)table - plan->block));
}

/* Constants of all chunks, on the GPU and, before that, on the host. */
struct signal_tables {
    size_t *order;
    float *block, *filter;
    signal_place_pair *pairs[SEPARATION_BINS];
};

/* Of the plan's block the part before the pairs, which have their own form here. */
size_t block_without_pairs(const signal_plan *plan) { return (const float *)plan->grid.pair_at[0] - plan->block; }

void divide_tables(const signal_plan *plan, hot_arena *arena, signal_tables *tables)
{
    tables->order = hot_arena_array<size_t>(arena, plan->all_volumes);
    tables->block = hot_arena_array<float>(arena, block_without_pairs(plan));
    tables->filter = hot_arena_array<float>(arena, (size_t)SIGNAL_GRID * plan->scheme.volumes);
    for (int c = 0; c < SEPARATION_BINS; c++)
        tables->pairs[c] = hot_arena_array<signal_place_pair>(arena, (size_t)plan->grid.pairs[c]);
}

void fill_tables(const signal_plan *plan, const signal_tables *tables)
{
    const signal_grid *grid = &plan->grid;
    const int volumes = plan->scheme.volumes;
    memcpy(tables->order, plan->order, plan->all_volumes * sizeof *plan->order);
    memcpy(tables->block, plan->block, block_without_pairs(plan) * sizeof *plan->block);
    for (int d = 0; d < SIGNAL_GRID; d++)
        for (int j = 0; j < volumes; j++)
            tables->filter[j * SIGNAL_GRID + d] = grid->filter[d * volumes + j];
    for (int c = 0; c < SEPARATION_BINS; c++)
        for (int p = 0; p < grid->pairs[c]; p++) {
            const int *at = grid->pair_at[c] + 2 * p;
            signal_place_pair *to = &tables->pairs[c][p];
            memcpy(to->inverse, grid->pair_inverse[c] + 3 * p, sizeof to->inverse);
            to->at = SIGNAL_SEARCH_VOXELS * (at[0] + 65536u * at[1]);
        }
}

/* The branches of a chunk that is alone, or NULL. */
hot_status make_branches(hot_context *context, workspace *self, const hot_batch_chunk *chunk,
                         const signal_branches **branches)
{
    signal_branches *made = &self->branches;
    static_assert((int)SIGNAL_BRANCHES <= (int)HOT_BATCH_BESIDE, "a stream for each");
    *branches = NULL;
    if (!chunk->beside[0])
        return HOT_OK;
    cudaError_t error = cudaEventCreateWithFlags(&made->apart, cudaEventDisableTiming);
    for (int i = 0; i < SIGNAL_BRANCHES && error == cudaSuccess; i++) {
        made->stream[i] = (cudaStream_t)chunk->beside[i];
        error = cudaEventCreateWithFlags(&made->together[i], cudaEventDisableTiming);
    }
    *branches = made;
    return hot_cuda_status(context, error, "events");
}

void free_branches(signal_branches *branches)
{
    for (int i = 0; i < SIGNAL_BRANCHES; i++)
        if (branches->together[i])
            cudaEventDestroy(branches->together[i]);
    if (branches->apart)
        cudaEventDestroy(branches->apart);
}

void end_device(hot_context *context, void *user, void *shared)
{
    batch_args *call = (batch_args *)user;
    workspace *self = (workspace *)shared;
    if (call->args->result->device_seconds)
        call->nanoseconds += (unsigned long long)(1e6 * read_clock(&self->clock));
    close_clock(&self->clock);
    free_branches(&self->branches);
    hot_device_release(context, self->memory);
    hot_context_free(context, self);
}

hot_status begin_device(hot_context *context, void *user, void **shared)
{
    const hot_signal_args *args = ((const batch_args *)user)->args;
    const signal_plan *plan = args->plan;
    workspace *self = (workspace *)hot_context_calloc(context, 1, sizeof *self);
    if (!self)
        return HOT_ERROR_MEMORY;
    *shared = self;
    hot_arena arena = {NULL, 0};
    signal_tables on;
    divide_tables(plan, &arena, &on);
    const size_t bytes = arena.used;
    char *tables = (char *)hot_context_calloc(context, bytes, 1);
    if (!tables)
        return HOT_ERROR_MEMORY;
    arena = hot_arena{tables, 0};
    divide_tables(plan, &arena, &on);
    fill_tables(plan, &on);
    hot_status status = hot_device_upload(context, tables, bytes, (void **)&self->memory, "tables");
    hot_context_free(context, tables);
    if (status != HOT_OK)
        return status;
    arena = hot_arena{self->memory, 0};
    divide_tables(plan, &arena, &on);
    const float *block = on.block;
    self->order = on.order;
    self->search.filter = on.filter;
    for (int c = 0; c < SEPARATION_BINS; c++)
        self->search.pairs[c] = on.pairs[c];
    self->plan = *plan;
    self->plan.scheme.g = moved(plan, block, plan->scheme.g);
    self->plan.grid.v = moved(plan, block, plan->grid.v);
    self->plan.grid.gram = moved(plan, block, plan->grid.gram);
    self->plan.grid.filter = NULL; /* kernels read search's */
    for (int c = 0; c < SEPARATION_BINS; c++) {
        self->plan.grid.pair_at[c] = NULL;
        self->plan.grid.pair_inverse[c] = NULL;
    }
    self->plan.learned.misfit = moved(plan, block, plan->learned.misfit);
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&self->processors, cudaDevAttrMultiProcessorCount, device);
    status = hot_cuda_status(context, error, "the GPU's size");
    if (status != HOT_OK)
        return status;
    return args->result->device_seconds ? open_clock(context, &self->clock) : status;
}

/* Whether signals come in 16 bits. */
bool is_narrow(const hot_signal_args *args)
{
    return args->source && args->source->numbers != HOT_SIGNAL_ANY && args->plan->all_volumes <= NARROW_NUMBERS;
}

/* The arrays of a chunk of up to `count` voxels that stay on the GPU. */
void divide_scratch(const hot_signal_args *args, size_t count, hot_arena *arena, signal_chunk *data)
{
    const size_t volumes = (size_t)args->plan->scheme.volumes;
    data->wide = hot_arena_array<float>(arena, is_narrow(args) ? count * args->plan->all_volumes : 0);
    data->y = hot_arena_array<float>(arena, count * volumes);
    data->snr = hot_arena_array<float>(arena, count);
    data->list = hot_arena_array<unsigned>(arena, count);
    data->used = hot_arena_array<unsigned>(arena, 1);
    signal_divide(count, volumes, arena, &data->memory);
}

hot_status launch_chunk(hot_context *context, void *user, void *shared, const hot_batch_chunk *chunk)
{
    const hot_signal_args *args = ((const batch_args *)user)->args;
    workspace *self = (workspace *)shared;
    const unsigned blocks = (unsigned)((chunk->count + THREADS - 1) / THREADS);
    cudaStream_t stream = (cudaStream_t)chunk->stream;
    hot_arena arena = {(char *)chunk->scratch, 0};
    signal_chunk data = {};
    data.count = chunk->count;
    data.many = args->count > MANY_CHUNKS * (size_t)MAX_CHUNK;
    data.one_sigma = (float)args->options->sigma;
    data.order = self->order;
    data.search = self->search;
    data.signals = (const float *)chunk->in[0];
    data.sigma = (const float *)chunk->in[1];
    data.s0 = (const float *)chunk->in[2];
    data.mask = (const uint8_t *)chunk->in[3];
    divide_scratch(args, chunk->count, &arena, &data);
    if (is_narrow(args))
        data.signals = data.wide;
    data.result.size = sizeof data.result;
    data.result.directions = (float *)chunk->out[0];
    data.result.found = (uint8_t *)chunk->out[1];
    data.result.probability = (float *)chunk->out[2];
    data.result.margin = (float *)chunk->out[3];
    data.result.residual = (float *)chunk->out[4];
    data.result.width = (float *)chunk->out[5];
    data.result.flags = (uint8_t *)chunk->out[6];
    data.result.fits = (hot_signal_fit *)chunk->out[7];
    const bool timed = args->result->device_seconds != NULL;
    const signal_branches *branches;
    HOT_TRY(make_branches(context, self, chunk, &branches));
    cudaError_t error = cudaMemsetAsync(data.used, 0, sizeof *data.used, stream);
    if (timed) {
        add_interval(&self->clock, chunk->slot);
        self->clock.pending[chunk->slot] = ++self->clock.launches;
    }
    if (error == cudaSuccess && timed)
        error = cudaEventRecord(self->clock.begin[chunk->slot], stream);
    if (error == cudaSuccess && is_narrow(args)) {
        const size_t numbers = chunk->count * args->plan->all_volumes;
        if (args->source->numbers == HOT_SIGNAL_U16)
            signal_widen_kernel<<<blocks, THREADS, 0, stream>>>((const uint16_t *)chunk->in[0], numbers, data.wide);
        else
            signal_widen_kernel<<<blocks, THREADS, 0, stream>>>((const int16_t *)chunk->in[0], numbers, data.wide);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        signal_prepare_kernel<<<blocks, THREADS, 0, stream>>>(self->plan, data);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = signal_launch(&self->plan, &data, self->processors, stream, branches);
    if (error == cudaSuccess && timed)
        error = cudaEventRecord(self->clock.end[chunk->slot], stream);
    return hot_cuda_status(context, error, "starting the signal method");
}

} // namespace

static void read_source(void *user, size_t first, size_t count, void *rows)
{
    const hot_signal_source *source = ((const hot_signal_args *)user)->source;
    source->read(source->user, first, count, (float *)rows);
}

static void note_done(void *user, size_t items)
{
    hot_signal_args *args = ((batch_args *)user)->args;
    args->done = items;
    args->source->used(args->source->user, items);
}

/* The same in 16 bits: some voxels at a time, which stay in the cache. */
template <typename T> static void read_narrow(void *user, size_t first, size_t count, void *rows)
{
    const hot_signal_args *args = (const hot_signal_args *)user;
    const size_t volumes = args->plan->all_volumes, together = NARROW_NUMBERS / volumes;
    float some[NARROW_NUMBERS] = {0}; /* voxels that are left out have the numbers of others */
    T *to = (T *)rows;
    for (size_t done = 0, here; done < count; done += here) {
        here = count - done < together ? count - done : together;
        args->source->read(args->source->user, first + done, here, some);
        for (size_t i = 0; i < here * volumes; i++)
            to[done * volumes + i] = (T)some[i];
    }
}

extern "C" hot_status hot_signal_fibers_cuda(hot_context *context, void *argument)
{
    hot_signal_args *args = (hot_signal_args *)argument;
    const hot_signal_result *to = args->result;
    const size_t volumes = (size_t)args->plan->scheme.volumes;
    const size_t wide = is_narrow(args) ? args->plan->all_volumes : 0;
    const size_t scratch = (wide + volumes + 2) * sizeof(float) + signal_bytes(volumes); /* of a voxel */
    batch_args call = {args, {0}};
    hot_batch batch = {};
    hot_arena arena = {NULL, 0};
    signal_chunk unused = {};
    if (to->device_seconds && hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "device_seconds would have to wait for the GPU: not with arrays in its memory");
    batch.stage = "finding fibres";
    memcpy(batch.progress, args->options->progress, sizeof batch.progress);
    batch.count = args->count;
    batch.in[0] = hot_batch_rows("signals", args->signals, args->plan->all_volumes * sizeof(float));
    if (args->source) {
        const bool is_unsigned = args->source->numbers == HOT_SIGNAL_U16;
        batch.in[0].row = is_narrow(args) ? args->plan->all_volumes * sizeof(uint16_t) : batch.in[0].stride;
        batch.in[0].name = NULL;
        batch.in[0].make = !is_narrow(args) ? read_source : is_unsigned ? read_narrow<uint16_t> : read_narrow<int16_t>;
        batch.in[0].user = args;
        batch.done = args->source->used ? note_done : NULL;
    }
    batch.in[1] = hot_batch_rows("sigma", args->sigma, sizeof(float));
    batch.in[2] = hot_batch_rows("s0", args->s0, sizeof(float));
    batch.in[3] = hot_batch_rows("mask", args->mask, 1);
    batch.out[0] = hot_batch_rows("directions", to->directions, 3 * (size_t)args->plan->max_fibers * sizeof(float));
    batch.out[1] = hot_batch_rows("found", to->found, 1);
    batch.out[2] = hot_batch_rows("probability", to->probability, 4 * sizeof(float));
    batch.out[3] = hot_batch_rows("margin", to->margin, sizeof(float));
    batch.out[4] = hot_batch_rows("residual", to->residual, sizeof(float));
    batch.out[5] = hot_batch_rows("width", to->width, sizeof(float));
    batch.out[6] = hot_batch_rows("flags", to->flags, 1);
    batch.out[7] = hot_batch_rows("fits", to->fits, 4 * sizeof *to->fits);
    batch.chunk = hot_batch_fit(context, &batch, 4 * HOT_BATCH_BYTES, scratch);
    batch.chunk = batch.chunk < MIN_CHUNK ? (size_t)MIN_CHUNK : batch.chunk;
    batch.chunk = batch.chunk > MAX_CHUNK ? (size_t)MAX_CHUNK : batch.chunk;
    batch.chunk = batch.chunk > args->count ? args->count : batch.chunk;
    batch.chunk = hot_batch_chunk_size(context, &batch, batch.chunk, scratch);
    divide_scratch(args, batch.chunk, &arena, &unused);
    batch.scratch = arena.used;
    batch.user = &call;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    const hot_status status = hot_batch_run(context, &batch);
    if (to->device_seconds)
        *to->device_seconds += 1e-9 * (double)call.nanoseconds;
    return status;
}

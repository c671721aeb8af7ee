/* Denoising on the GPU. A slab of the volume is on the device; its windows are processed in batches, in their order in
 * the volume: Gram matrices, reduction to tridiagonal form, eigenvalues until the rest is noise, the signal's
 * eigenvectors, products with the samples, sums over the windows of a voxel. Matrices too large for a block's
 * registers, and those whose eigenvalues are too close for twisted factorisations, go to the complete eigensolver of
 * the heev family.
 *
 * This is not a batch of independent items, and common/batch_pipeline.h does not serve it: neighbouring windows share
 * nearly all their voxels, which would be copied once for each window (125 times for 5 x 5 x 5), and a voxel's result
 * is a sum over windows of several batches, in a fixed order. So slices are copied once, ahead of the batch that needs
 * them, and back when no later window touches them, through a ring of pinned pieces on a separate stream while batches
 * are computed. One GPU does it.
 *
 * Arrays in device memory (hotfiber/device.h) are read and written where they are, on the caller's stream. How many
 * windows want the complete eigensolver is then known to the GPU alone: it gets as many matrices as there may be, and
 * those beyond the list are of NaN, which its kernels leave at once. */
#include "common/arena.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/flow.h"
#include "common/shared_memory.cuh"
#include "denoise/denoise.h"
#include "denoise_copies.cuh"
#include "denoise_select_rank.cuh"
#include "denoise_gram.cuh"
#include "denoise_project.cuh"
#include "denoise_reduce.cuh"
#include "denoise_vectors.cuh"
#include "heev/gpu/heev_device.h"

namespace {

const size_t SLAB_BYTES = (size_t)8 << 30, BATCH_BYTES = (size_t)2 << 30, SOLVER_BYTES = (size_t)1 << 30;
/* Windows that fill the GPU well; and of large matrices no more than are done within some hundredths of a second. */
const size_t BATCH_WINDOWS = 8192;

/* Copies slices up to `until` (in memory) to the device, and their masks. */
hot_status bring(gpu *g, size_t until)
{
    if (until <= g->uploaded)
        return HOT_OK;
    const size_t from = g->uploaded * g->plane, voxels = (until - g->uploaded) * g->plane;
    const size_t here = from + (g->first - g->args->options.first) * g->plane; /* in the caller's memory */
    float *signals = (float *)g->plan.signals + from * g->width;
    hot_status status = upload(g, signals, g->args->signals + here * g->width, voxels * g->width * sizeof(float));
    if (status == HOT_OK && g->plan.mask)
        status = upload(g, (uint8_t *)g->plan.mask + from, g->args->mask + here, voxels);
    if (status != HOT_OK)
        return status;
    hot_denoise_find_usable<<<(unsigned)((voxels + 3) / 4), 128, 0, g->up.stream>>>(signals, voxels, (int)g->width,
                                                                                    (uint8_t *)g->plan.usable + from);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaEventRecord(g->arrived, g->up.stream);
    g->uploaded = until;
    return check(g, error, "looking at signals");
}

/* ---- A batch ------------------------------------------------------------------------------------------------ */

template <typename... A> hot_status allow(gpu *g, void (*kernel)(A...), size_t bytes)
{
    return bytes <= 48 * 1024 ? HOT_OK : check(g, raise_shared_memory((const void *)kernel, bytes), "shared memory");
}

/* The largest matrices that the short way takes. */
int short_way(bool is_complex) { return is_complex ? 96 : 128; }

unsigned gram_threads(const denoise_plan *plan)
{
    const int across = (plan->n * plan->parts + 31) / 32, tiles = across * (across + 1) / 2;
    return 32u * (unsigned)(tiles < 8 ? tiles : 8);
}

template <bool C, int S, int T> void reduce_with(gpu *g)
{
    denoise_reduce<C, S, T><<<(unsigned)g->plan.count, S * S, 0, g->stream>>>(g->plan);
}

template <bool C, int G> hot_status vectors_with(gpu *g)
{
    const size_t shared = denoise_vectors_bytes(g->plan.n);
    hot_status status = allow(g, denoise_vectors<C, G>, shared);
    if (status == HOT_OK)
        denoise_vectors<C, G><<<(unsigned)g->plan.count, DENOISE_VECTORS * G, shared, g->stream>>>(g->plan);
    return status;
}

/* Queues everything up to the bases of a batch. */
template <bool C> hot_status solve(gpu *g)
{
    const denoise_plan *plan = &g->plan;
    const int n = plan->n;
    const unsigned count = (unsigned)plan->count;
    hot_status status = check(g, cudaMemsetAsync(plan->list, 0, sizeof(int), g->stream), "a batch");
    if (status != HOT_OK)
        return status;
    if (n > short_way(C)) {
        hot_denoise_list_wanted<<<count, 128, 0, g->stream>>>(*plan);
    } else {
        const size_t rank_bytes = (size_t)(n + 15) / 16 * 16 * DENOISE_RANK_WINDOWS * sizeof(double2);
        denoise_gram<C><<<count, gram_threads(plan), 0, g->stream>>>(*plan, NULL, 0, NULL);
        if (n <= 16)
            reduce_with<C, 8, 2>(g);
        else if (n <= 32)
            reduce_with<C, 8, 4>(g);
        else if (!C && n <= 48)
            reduce_with<C, 8, C ? 4 : 6>(g);
        else if (!C && n <= 64)
            reduce_with<C, 8, C ? 4 : 8>(g);
        else if (C && n <= 64)
            reduce_with<C, 16, 4>(g);
        else if (n <= 96)
            reduce_with<C, 16, 6>(g);
        else
            reduce_with<C, 16, C ? 6 : 8>(g);
        hot_denoise_select_rank<<<(count + DENOISE_RANK_WINDOWS - 1) / DENOISE_RANK_WINDOWS, DENOISE_RANK_THREADS,
                                  rank_bytes, g->stream>>>(*plan);
        status = n <= 2 * DENOISE_HELD   ? vectors_with<C, 2>(g)
                 : n <= 4 * DENOISE_HELD ? vectors_with<C, 4>(g)
                                    : vectors_with<C, 8>(g);
    }
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess && !g->here)
        error = cudaMemcpyAsync(g->listed, plan->list, sizeof(int), cudaMemcpyDeviceToHost, g->stream);
    if (error == cudaSuccess && !g->here)
        error = cudaEventRecord(g->solved, g->stream);
    return status == HOT_OK ? check(g, error, "the eigenvectors of windows") : status;
}

/* The complete eigensolver and its memory, when it is wanted. */
hot_status open_solver(gpu *g)
{
    if (g->solver)
        return HOT_OK;
    const bool is_complex = g->plan.parts == 2;
    const size_t n = (size_t)g->plan.n, matrix = n * n * (size_t)g->plan.parts;
    const hot_heev_problem problem = {1, is_complex, 0, 1, n, n};
    const size_t each = 2 * matrix * sizeof(double) + n * sizeof(double) + 1 +
                        hot_heev_device_bytes(&problem, 16) / 16 + 1;
    const size_t windows = (size_t)g->rows * (size_t)g->plan.places[0];
    g->most = SOLVER_BYTES / each < 1 ? 1 : SOLVER_BYTES / each;
    g->most = g->most < windows ? g->most : windows;
    hot_status status = HOT_OK;
    hot_arena arena = {NULL, 0};
    for (int pass = 0; pass < 2 && status == HOT_OK; pass++) { /* the size, then the arrays */
        g->matrices = hot_arena_array<double>(&arena, g->most * matrix);
        g->vectors = hot_arena_array<double>(&arena, g->most * matrix);
        g->values = hot_arena_array<double>(&arena, g->most * n);
        g->flags = hot_arena_array<uint8_t>(&arena, g->most);
        g->working = hot_arena_alloc(&arena, hot_heev_device_bytes(&problem, g->most));
        if (pass == 0)
            status = hot_device_alloc(g->context, arena.used, (void **)&g->solver_memory, "memory for matrices");
        arena = hot_arena{g->solver_memory, 0};
    }
    return status == HOT_OK ? hot_heev_device_create(g->context, &problem, g->most, &g->solver) : status;
}

/* Windows for which the short way was not enough; all of the batch where their number is not known here. */
template <bool C> hot_status solve_listed(gpu *g)
{
    hot_status status = g->here ? HOT_OK : check(g, cudaEventSynchronize(g->solved), "the eigenvectors of windows");
    const size_t count = g->here ? (size_t)g->plan.count : status == HOT_OK ? (size_t)*g->listed : 0;
    if (count > 0 && status == HOT_OK)
        status = open_solver(g);
    for (size_t at = 0; at < count && status == HOT_OK; at += g->most) {
        const size_t some = count - at < g->most ? count - at : g->most;
        const int *list = g->plan.list + 1 + at, listed = (int)at;
        denoise_gram<C>
            <<<(unsigned)some, gram_threads(&g->plan), 0, g->stream>>>(g->plan, list, listed, g->matrices);
        status = check(g, cudaGetLastError(), "Gram matrices");
        if (status == HOT_OK)
            status = hot_heev_device_run(g->context, g->solver, some, g->matrices, g->values, g->vectors, g->flags,
                                         g->working, g->stream);
        if (status != HOT_OK)
            break;
        denoise_select_rank_solved<C>
            <<<(unsigned)some, DENOISE_RANK_THREADS, 0, g->stream>>>(g->plan, list, listed, g->values, g->vectors,
                                                                     g->flags);
        status = check(g, cudaGetLastError(), "eigenvectors of windows");
        if (status == HOT_OK && at + some < count && !g->here) { /* a long way: in steps that can be stopped */
            status = check(g, cudaStreamSynchronize(g->stream), "the eigenvectors of windows");
            if (status == HOT_OK)
                status = hot_context_check(g->context, "denoising");
        }
    }
    return status;
}

/* Where windows of place k begin; the slab's last slice when there is no such place. */
size_t corner_of(const gpu *g, size_t place)
{
    const denoise_args *args = g->args;
    return denoise_place(place, args->options.slices, args->window[2], args->step[2]);
}

/* Queues the sums of a batch, and the means of slices `finished` ... `until` - 1 (in memory), which no later window
 * touches. */
template <bool C> hot_status sum_up(gpu *g, size_t finished, size_t until)
{
    const denoise_plan *plan = &g->plan;
    const size_t last_row = (size_t)(plan->row + plan->count / plan->places[0] - 1), across = (size_t)plan->places[1];
    const size_t low = corner_of(g, (size_t)plan->row / across),
                 high = corner_of(g, last_row / across) + (size_t)plan->window[2];
    const size_t k0 = (low > g->begin ? low : g->begin) - g->first, k1 = (high < g->end ? high : g->end) - g->first;
    const size_t groups =
        (size_t)(plan->size[0] + DENOISE_SUM_VOXELS - 1) / DENOISE_SUM_VOXELS * (size_t)plan->size[1] * (k1 - k0);
    denoise_coefficients<C><<<(unsigned)plan->count, DENOISE_ITEMS, 0, g->stream>>>(*plan);
    denoise_sum<C><<<dim3((unsigned)((groups + DENOISE_SUM_THREADS / 32 - 1) / (DENOISE_SUM_THREADS / 32)),
                          (unsigned)(plan->volumes + 63) / 64),
                     DENOISE_SUM_THREADS, 0, g->stream>>>(*plan, (int)k0, (int)k1);
    if (until > finished)
        hot_denoise_finish<<<(unsigned)(((until - finished) * g->plane * g->width + 255) / 256), 256, 0, g->stream>>>(
            *plan, (int)finished, (int)until, g->noise);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess && !g->here)
        error = cudaEventRecord(g->done, g->stream);
    return check(g, error, "sums over windows");
}

/* Finished slices to the caller, once the event `done` has passed. */
hot_status give(gpu *g, size_t from, size_t until)
{
    if (until <= from)
        return HOT_OK;
    const size_t here = (from - (size_t)g->plan.begin) * g->plane, voxels = (until - from) * g->plane;
    const size_t there = (from + g->first - g->args->options.begin) * g->plane;
    hot_status status = check(g, cudaStreamWaitEvent(g->down.stream, g->done, 0), "waiting for results");
    if (status == HOT_OK)
        status = download(g, g->args->denoised + there * g->width, g->plan.sums + here * g->width,
                          voxels * g->width * sizeof(float));
    if (status == HOT_OK && g->args->noise)
        status = download(g, g->args->noise + there, g->noise + here, voxels * sizeof(float));
    return status;
}

/* ---- A slab ------------------------------------------------------------------------------------------------- */

void divide_slab(gpu *g, hot_arena *arena)
{
    denoise_plan *plan = &g->plan;
    const size_t in = (g->last - g->first) * g->plane, out = (g->end - g->begin) * g->plane;
    plan->signals = hot_arena_array<float>(arena, g->here ? 0 : in * g->width);
    plan->usable = hot_arena_array<uint8_t>(arena, in);
    plan->mask = g->args->mask ? hot_arena_array<uint8_t>(arena, g->here ? 0 : in) : NULL;
    plan->sums = hot_arena_array<float>(arena, g->here ? 0 : out * g->width);
    plan->variance = hot_arena_array<float>(arena, out);
    plan->windows = hot_arena_array<int>(arena, out);
    plan->variances = hot_arena_array<int>(arena, out);
    g->noise = hot_arena_array<float>(arena, out);
}

void divide_batch(gpu *g, size_t windows, hot_arena *arena)
{
    denoise_plan *plan = &g->plan;
    const size_t n = (size_t)plan->n, parts = (size_t)plan->parts, brief = plan->n <= short_way(parts == 2);
    plan->gram = hot_arena_array<double>(arena, brief * windows * (n * (n + 1) / 2) * parts);
    plan->tau = hot_arena_array<double>(arena, brief * windows * n * parts);
    plan->d = hot_arena_array<double>(arena, brief * windows * n);
    plan->e = hot_arena_array<double>(arena, brief * windows * n);
    plan->lambda = hot_arena_array<double>(arena, brief * windows * n);
    plan->signal = hot_arena_array<int>(arena, windows);
    plan->level = hot_arena_array<float>(arena, windows);
    plan->patterns = hot_arena_array<float>(arena, windows * n * (size_t)plan->stride * parts);
    plan->weights =
        hot_arena_array<float>(arena, windows * (size_t)plan->voxels * (size_t)denoise_pitch(plan->n) * parts);
    plan->list = hot_arena_array<int>(arena, windows + 1);
}

/* The slab's part of the caller's arrays, which are in device memory: signals are added up in the result. */
hot_status use_arrays(gpu *g)
{
    const denoise_args *args = g->args;
    const size_t in = (g->first - args->options.first) * g->plane, voxels = (g->last - g->first) * g->plane;
    const size_t out = (g->begin - args->options.begin) * g->plane, written = (g->end - g->begin) * g->plane;
    g->plan.signals = args->signals + in * g->width;
    g->plan.mask = args->mask ? args->mask + in : NULL;
    g->plan.sums = args->denoised + out * g->width;
    g->noise = args->noise ? args->noise + out : g->noise;
    hot_denoise_find_usable<<<(unsigned)((voxels + 3) / 4), 128, 0, g->stream>>>(
        g->plan.signals, voxels, (int)g->width, (uint8_t *)g->plan.usable);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemsetAsync(g->plan.sums, 0, written * g->width * sizeof(float), g->stream);
    return check(g, error, "looking at signals");
}

/* The slab that begins at slice `begin`: as many slices as fit, and their neighbours. */
hot_status place_slab(gpu *g, size_t begin, size_t available)
{
    const denoise_args *args = g->args;
    const size_t margin = args->window[2] - 1, slices = args->options.slices;
    hot_arena arena;
    g->slab = NULL;
    g->begin = begin;
    g->first = begin < margin ? 0 : begin - margin;
    for (g->end = args->options.end;; g->end -= (g->end - begin + 1) / 2) {
        g->last = g->end + margin < slices ? g->end + margin : slices;
        arena = hot_arena{NULL, 0};
        divide_slab(g, &arena);
        if (arena.used <= available && (g->last - g->first) * g->plane <= (size_t)1 << 30)
            break;
        if (g->end == begin + 1)
            return hot_context_fail(g->context, HOT_ERROR_MEMORY,
                                    "denoise: %zu slices of %zu voxels with %zu volumes do not fit this GPU",
                                    g->last - g->first, g->plane, args->volumes);
    }
    HOT_TRY(hot_device_alloc(g->context, arena.used, (void **)&g->slab, "memory for a slab"));
    arena = hot_arena{g->slab, 0};
    divide_slab(g, &arena);
    g->plan.size[2] = (int)(g->last - g->first);
    g->plan.first = (int)g->first;
    g->plan.begin = (int)(g->begin - g->first);
    g->plan.end = (int)(g->end - g->first);
    g->uploaded = 0;
    const char *sums = (const char *)g->plan.sums; /* these and all that follow */
    const size_t bytes = arena.used - (size_t)(sums - g->slab);
    hot_status status = check(g, cudaMemsetAsync((void *)sums, 0, bytes, g->stream), "clearing sums");
    return status == HOT_OK && g->here ? use_arrays(g) : status;
}

/* Copies the last slices, given ... finished - 1, back and frees the slab. */
hot_status end_slab(gpu *g, size_t given, size_t finished, hot_status status)
{
    if (g->here) {
        hot_device_release(g->context, g->slab);
        g->slab = NULL;
        return status;
    }
    if (status == HOT_OK)
        status = give(g, given, finished);
    for (int k = 0; k < PIECES && status == HOT_OK; k++)
        status = deliver(g, (g->down.next + k) % PIECES);
    cudaStreamSynchronize(g->up.stream);
    cudaStreamSynchronize(g->down.stream);
    cudaStreamSynchronize(g->stream);
    for (int k = 0; k < PIECES; k++)
        g->down.bytes[k] = 0;
    cudaFree(g->slab);
    g->slab = NULL;
    return status;
}

template <bool C> hot_status do_slab(gpu *g, double from, double to)
{
    const denoise_args *args = g->args;
    const size_t across = args->places[0], all = denoise_places(args->options.slices, args->window[2], args->step[2]);
    size_t first = 0, last = all;
    while (corner_of(g, first) + args->window[2] <= g->begin)
        first++;
    while (corner_of(g, last - 1) >= g->end)
        last--;
    const size_t rows = last * across;
    size_t finished = g->begin - g->first, given = finished;
    hot_status status = HOT_OK;
    for (size_t row = first * across; row < rows && status == HOT_OK; row += (size_t)g->rows) {
        const size_t next = row + (size_t)g->rows < rows ? row + (size_t)g->rows : rows;
        const size_t later = next + (size_t)g->rows < rows ? next + (size_t)g->rows : rows;
        g->plan.row = (int)row;
        g->plan.count = (int)(next - row) * g->plan.places[0];
        if (!g->here)
            status = bring(g, corner_of(g, (next - 1) / across) + args->window[2] - g->first);
        if (status == HOT_OK && !g->here)
            status = check(g, cudaStreamWaitEvent(g->stream, g->arrived, 0), "waiting for signals");
        if (status == HOT_OK)
            status = solve<C>(g);
        if (status == HOT_OK && !g->here) /* meanwhile, finished slices back and the next slices in */
            status = give(g, given, finished);
        given = finished;
        if (status == HOT_OK && !g->here)
            status = bring(g, corner_of(g, (later - 1) / across) + args->window[2] - g->first);
        if (status == HOT_OK)
            status = solve_listed<C>(g);
        const size_t until = next == rows ? g->end : corner_of(g, next / across);
        finished = until - g->first > finished ? (until < g->end ? until : g->end) - g->first : finished;
        if (status == HOT_OK)
            status = sum_up<C>(g, given, finished);
        const double done = (double)(next - first * across) / (double)(rows - first * across);
        if (status == HOT_OK && !g->here)
            status = hot_context_progress(g->context, "denoising", from + (to - from) * done);
    }
    return end_slab(g, given, finished, status);
}

hot_status open(gpu *g)
{
    const denoise_args *args = g->args;
    denoise_plan *plan = &g->plan;
    for (int d = 0; d < 3; d++) {
        plan->size[d] = (int)args->size[d];
        plan->window[d] = (int)args->window[d];
        plan->step[d] = (int)args->step[d];
    }
    plan->places[0] = (int)denoise_places(args->size[0], args->window[0], args->step[0]);
    plan->places[1] = (int)args->places[0];
    plan->slices = (int)args->options.slices;
    plan->volumes = (int)args->volumes;
    plan->parts = args->options.is_complex ? 2 : 1;
    plan->voxels = (int)args->voxels;
    plan->n = (int)args->columns;
    plan->rows = (int)args->rows;
    plan->veraart = args->options.estimator == HOT_DENOISE_EXP1;
    plan->over_volumes = args->volumes <= args->voxels;
    plan->stride = (plan->volumes + 3) / 4 * 4;
    g->plane = args->size[0] * args->size[1];
    g->width = args->width;
    if (g->here) {
        void *stream;
        hot_context_memory(g->context, &stream);
        g->stream = (cudaStream_t)stream;
        return HOT_OK;
    }
    cudaError_t error = cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking);
    cudaEvent_t *const events[3] = {&g->arrived, &g->solved, &g->done};
    for (int k = 0; k < 3 && error == cudaSuccess; k++)
        error = cudaEventCreateWithFlags(events[k], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&g->listed, sizeof *g->listed, cudaHostAllocDefault);
    hot_status status = check(g, error, "streams");
    if (status == HOT_OK)
        status = open_ring(g, &g->up);
    return status == HOT_OK ? open_ring(g, &g->down) : status;
}

/* Memory for a batch, of at most `available` bytes. */
hot_status open_batch(gpu *g, size_t available)
{
    const size_t across = (size_t)g->plan.places[0], n = (size_t)g->plan.n * (size_t)g->plan.parts;
    size_t rows = BATCH_WINDOWS / across, most = (size_t)2e11 / (n * n * n) / across;
    hot_arena arena = {NULL, 0};
    available = available < BATCH_BYTES ? available : BATCH_BYTES;
    divide_batch(g, across, &arena);
    rows = rows < available / arena.used ? rows : available / arena.used;
    rows = rows < most ? rows : most;
    g->rows = rows < 1 ? 1 : (int)rows;
    arena.used = 0;
    divide_batch(g, (size_t)g->rows * across, &arena);
    hot_status status = hot_device_alloc(g->context, arena.used, (void **)&g->batch, "memory for windows");
    arena = hot_arena{g->batch, 0};
    divide_batch(g, (size_t)g->rows * across, &arena);
    return status;
}

void close(gpu *g)
{
    void *const memory[] = {g->slab, g->batch, g->solver_memory};
    if (g->here) {
        hot_heev_device_destroy(g->context, &g->solver);
        for (void *one : memory)
            hot_device_release(g->context, one);
        return;
    }
    close_ring(&g->up);
    close_ring(&g->down);
    if (g->stream) {
        cudaStreamSynchronize(g->stream);
        cudaStreamDestroy(g->stream);
    }
    cudaEvent_t const events[3] = {g->arrived, g->solved, g->done};
    for (int k = 0; k < 3; k++)
        if (events[k])
            cudaEventDestroy(events[k]);
    hot_heev_device_destroy(g->context, &g->solver);
    for (void *one : memory)
        hot_device_release(g->context, one);
    cudaFreeHost(g->listed);
    cudaGetLastError();
}

/* Where the caller's arrays lie. Complex numbers are read two floats at a time. */
hot_status check_arrays(hot_context *context, const denoise_args *args)
{
    const struct { const char *name; const void *array; } arrays[] = {
        {"signals", args->signals}, {"mask", args->mask}, {"denoised", args->denoised}, {"noise", args->noise}};
    hot_status status = HOT_OK;
    for (const auto &one : arrays)
        if (status == HOT_OK)
            status = hot_device_check(context, one.name, one.array);
    if (status == HOT_OK && hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE && args->options.is_complex &&
        ((size_t)args->signals % sizeof(float2) || (size_t)args->denoised % sizeof(float2)))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "complex signals on the GPU begin at a multiple of %zu "
                                  "bytes, not at %p and %p", sizeof(float2), (const void *)args->signals,
                                  (const void *)args->denoised);
    return status;
}

} // namespace

hot_status hot_denoise_cuda(hot_context *context, void *argument)
{
    const denoise_args *args = (const denoise_args *)argument;
    const double *progress = args->options.progress;
    const double from = progress[1] > progress[0] ? progress[0] : 0, to = progress[1] > progress[0] ? progress[1] : 1;
    const size_t begin = args->options.begin, end = args->options.end;
    size_t available = 0, total = 0;
    gpu g = {};
    g.context = context;
    g.args = args;
    g.here = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    hot_status status = check_arrays(context, args);
    if (status == HOT_OK)
        status = open(&g);
    if (status == HOT_OK && !g.here)
        status = check(&g, cudaMemGetInfo(&available, &total), "free memory");
    else if (g.here) /* the same in every call */
        available = 4 * hot_device_budget(context);
    if (status == HOT_OK)
        status = open_batch(&g, available / 4);
    for (size_t at = begin; at < end && status == HOT_OK; at = g.end) {
        status = place_slab(&g, at, available / 2 < SLAB_BYTES ? available / 2 : SLAB_BYTES);
        if (status != HOT_OK)
            break;
        const double low = from + (to - from) * (double)(at - begin) / (double)(end - begin);
        const double high = from + (to - from) * (double)(g.end - begin) / (double)(end - begin);
        status = args->options.is_complex ? do_slab<true>(&g, low, high) : do_slab<false>(&g, low, high);
    }
    close(&g);
    return status;
}

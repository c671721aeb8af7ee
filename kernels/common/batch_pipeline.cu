/* See batch_pipeline.h.
 *
 * Each GPU is served by a pool of CPU threads. One of them dispatches: it submits chunks to the GPU and sees when they
 * are complete. The others work: they copy between the caller's memory and pinned memory, which takes longest of all,
 * as one thread alone copies more slowly than the bus. (The GPU could read the caller's pageable memory itself, but
 * that is slower still.) Copies are divided into small pieces, which any free worker takes; thus a worker that the
 * system suspends holds up its own piece only, and there are no barriers.
 *
 * The turns of a GPU's slots are numbered: turn n belongs to slot n % SLOTS and to a task of the same index, which is
 * what the workers have to do: take the results of the slot's last chunk out of it, and put the next chunk in. */
#include <algorithm>
#include <atomic>
#include <cuda_runtime.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/flow.h"
#include "arena.h"
#include "backend.h"
#include "batch_device.h"
#include "batch_pipeline.h"
#include "context_internal.h"
#include "cuda_status.h"
#include "entry.h"
#include "pinned_memory.cuh"
#include "stream_copy.h"

namespace {

enum { SLOTS = HOT_BATCH_SLOTS, ARRAYS = HOT_BATCH_ARRAYS, DEVICES = 16, POOL_THREADS = 24 };
constexpr size_t PIECE_BYTES = 64 << 10;                 /* what a worker copies at a time */
constexpr size_t SLOT_BYTES = ((size_t)8 << 30) / SLOTS; /* of device memory: what hot_batch_fit allows */
constexpr size_t KEPT_BYTES = 256 << 20;                 /* larger device buffers are not kept for the next call */
constexpr double REPORT_SECONDS = 0.01;                  /* between two reports of progress while waiting */

/* A chunk in progress: a stream, and buffers on both sides with the arrays at the same offsets. */
struct slot {
    cudaStream_t stream;
    unsigned char *host, *device;
    size_t host_bytes, device_bytes;
    size_t first, count; /* count 0: there is no chunk in it */
};

/* Buffers that a context keeps between calls: allocating pinned memory for several GPUs can take longer than a call. */
struct slot_cache {
    slot slots[DEVICES][SLOTS];
};

/* Copies for a slot, in pieces: first those out of it, then those into it. */
struct task {
    size_t out_first, out_count, in_first, in_count;
    unsigned pieces;
    std::atomic<unsigned> left, done; /* pieces that no worker has taken; pieces that have been copied */
};

/* A GPU and the threads that serve it. */
struct pool {
    int device, size;
    hot_context *context;          /* of its dispatcher */
    hot_context *caller;           /* the caller's context: in the first pool, whose dispatcher is the calling thread */
    void *workspace;               /* the family's */
    slot *slots;
    hot_status status;
    double reported;               /* when progress was last reported */
    task tasks[SLOTS];             /* that of turn n is at n % SLOTS */
    std::atomic<size_t> published; /* turns whose tasks the workers may begin */
    std::atomic<int> finished, workers_gone;
};

/* Shared by all pools, derived from the call. */
struct plan {
    const hot_batch *batch;
    size_t in[ARRAYS], out[ARRAYS], scratch; /* offsets in a slot's buffers */
    size_t host_bytes, device_bytes;
    size_t chunks;
    int devices;
    std::atomic<size_t> next, done; /* the next chunk; items that are complete */
    std::atomic<int> stop, running; /* whether all pools are to stop; pools that have not ended */
};

void divide_buffers(plan *plan)
{
    const hot_batch *batch = plan->batch;
    const size_t rows = std::min(batch->count, batch->chunk);
    hot_arena arena = {NULL, 0};
    for (int k = 0; k < ARRAYS; k++) {
        plan->in[k] = arena.used;
        hot_arena_alloc(&arena, rows * batch->in[k].row);
        plan->out[k] = arena.used;
        hot_arena_alloc(&arena, rows * batch->out[k].row);
    }
    plan->host_bytes = plan->scratch = arena.used;
    hot_arena_alloc(&arena, batch->scratch);
    plan->device_bytes = arena.used;
}

/* A pause in a loop that waits: longer the longer it has been waiting. */
void back_off(int turns)
{
    const timespec pause = {0, 20000};
    if (turns < 500) {
#if defined(__x86_64__)
        for (int i = 0; i < (turns < 50 ? 1 : 10); i++)
            __builtin_ia32_pause();
#endif
    } else if (turns < 600) {
        sched_yield();
    } else {
        nanosleep(&pause, NULL);
    }
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

hot_status report(const plan *plan, pool *self)
{
    if (plan->batch->quiet)
        return hot_context_check(self->caller, plan->batch->stage);
    const double *range = plan->batch->progress, done = (double)plan->done.load() / (double)plan->batch->count;
    const double begin = range[1] > range[0] ? range[0] : 0, end = range[1] > range[0] ? range[1] : 1;
    return hot_context_progress(self->caller, plan->batch->stage, begin + (end - begin) * done);
}

/* While waiting: the same now and then, if this is the calling thread. */
hot_status poll(const plan *plan, pool *self)
{
    timespec now;
    if (!self->caller)
        return HOT_OK;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (seconds - self->reported < REPORT_SECONDS)
        return HOT_OK;
    self->reported = seconds;
    return report(plan, self);
}

/* ---- Copies between the caller's memory and pinned memory -------------------------------------------------------- */

/* The bytes that a task copies of one array. */
size_t task_bytes(const task *task, const hot_batch_array *array, bool out)
{
    return (out ? task->out_count : task->in_count) * array->row;
}

/* Bytes at ... at + bytes - 1 of the rows that begin at `host` and, one behind the other, at `pinned`. */
void copy_rows(const hot_batch_array *array, char *host, unsigned char *pinned, size_t at, size_t bytes, bool out)
{
    const size_t row = array->row;
    if (array->stride == row) {
        if (out)
            stream_copy(host + at, pinned + at, bytes);
        else
            memcpy(pinned + at, host + at, bytes);
        return;
    }
    size_t within = at % row;
    host += at / row * array->stride;
    pinned += at;
    while (bytes) {
        const size_t here = std::min(row - within, bytes);
        if (out)
            stream_copy(host + within, pinned, here);
        else
            memcpy(pinned, host + within, here);
        host += array->stride;
        pinned += here;
        bytes -= here;
        within = 0;
    }
}

/* Makes the rows of an input that begin in bytes at ... at + bytes - 1 of a task's: each in the piece of its first
 * byte. */
void make_rows(const hot_batch_array *array, const task *task, unsigned char *pinned, size_t at, size_t bytes)
{
    const size_t row = array->row, from = (at + row - 1) / row, to = (at + bytes + row - 1) / row;
    if (to > from)
        array->make(array->user, task->in_first + from, to - from, pinned + from * row);
}

/* Copies piece `number` of a task: bytes number * PIECE_BYTES ... of its arrays, one behind the other. */
void copy_piece(const plan *plan, const slot *slot, const task *task, size_t number)
{
    size_t skip = number * PIECE_BYTES, left = PIECE_BYTES;
    for (int k = 0; k < 2 * ARRAYS && left; k++) {
        const bool out = k < ARRAYS; /* the outputs first: their place may be that of inputs */
        const int which = k % ARRAYS;
        const hot_batch_array *array = out ? &plan->batch->out[which] : &plan->batch->in[which];
        const size_t bytes = task_bytes(task, array, out), here = skip < bytes ? std::min(bytes - skip, left) : 0;
        if (here && array->make)
            make_rows(array, task, slot->host + plan->in[which], skip, here);
        else if (here)
            copy_rows(array, (char *)array->host + (out ? task->out_first : task->in_first) * array->stride,
                      slot->host + (out ? plan->out : plan->in)[which], skip, here, out);
        skip -= std::min(skip, bytes);
        left -= here;
    }
}

/* Takes a piece of the task of turn n and copies it; 0 when there is none left. When a later task has meanwhile taken
 * its place, a piece of that one is copied, which must be done too. */
int work_piece(const plan *plan, pool *self, size_t n)
{
    task *task = &self->tasks[n % SLOTS];
    unsigned left = task->left.load(std::memory_order_acquire);
    while (left && !task->left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel))
        ;
    if (!left)
        return 0;
    copy_piece(plan, &self->slots[n % SLOTS], task, left - 1);
    task->done.fetch_add(1, std::memory_order_release);
    return 1;
}

/* A worker: all pieces of all tasks, until the dispatcher has finished. */
void work(const plan *plan, pool *self)
{
    size_t n = 0;
    for (int idle = 0; !self->finished; idle++) {
        if (n == self->published.load(std::memory_order_acquire)) {
            back_off(idle);
            continue;
        }
        while (work_piece(plan, self, n))
            ;
        n++;
        idle = 0;
    }
    self->workers_gone.fetch_add(1, std::memory_order_release);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* Waits for what a slot has in progress, and frees what it has. */
void close_slot(slot *slot)
{
    if (slot->stream) {
        cudaStreamSynchronize(slot->stream);
        cudaStreamDestroy(slot->stream);
    }
    cudaFree(slot->device);
    free_pinned(slot->host, slot->host_bytes);
    *slot = {};
}

/* When the context is destroyed. */
void free_cache(hot_context *context, void *kept)
{
    slot_cache *cache = (slot_cache *)kept;
    int current = 0;
    cudaGetDevice(&current);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < SLOTS; i++)
            if (cache->slots[device][i].stream) {
                cudaSetDevice(device);
                close_slot(&cache->slots[device][i]);
            }
    cudaSetDevice(current);
    cudaGetLastError();
    hot_context_free(context, cache);
}

/* Makes sure that a slot has a stream and buffers that are large enough. */
cudaError_t open_slot(slot *slot, size_t host_bytes, size_t device_bytes)
{
    cudaError_t error = cudaSuccess;
    slot->count = 0;
    if (!slot->stream)
        error = cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess && slot->device_bytes < device_bytes) {
        cudaFree(slot->device);
        slot->device = NULL;
        slot->device_bytes = 0;
        error = cudaMalloc((void **)&slot->device, device_bytes);
        if (error == cudaSuccess)
            slot->device_bytes = device_bytes;
    }
    if (error == cudaSuccess && slot->host_bytes < host_bytes) {
        free_pinned(slot->host, slot->host_bytes);
        slot->host = NULL;
        slot->host_bytes = 0;
        error = allocate_pinned((void **)&slot->host, host_bytes);
        if (error == cudaSuccess)
            slot->host_bytes = host_bytes;
    }
    return error;
}

hot_status open_slots(const plan *plan, pool *self)
{
    const size_t slots = std::min((size_t)SLOTS, plan->chunks); /* the rest will have no chunk */
    hot_status status = hot_cuda_status(self->context, cudaSetDevice(self->device), "using it");
    for (size_t i = 0; i < SLOTS; i++)
        self->slots[i].count = 0;
    for (size_t i = 0; i < slots && status == HOT_OK && !plan->stop; i++) {
        status = hot_cuda_status(self->context, open_slot(&self->slots[i], plan->host_bytes, plan->device_bytes),
                                 "memory for a batch");
        if (status == HOT_OK)
            status = poll(plan, self);
    }
    for (size_t i = 1; i <= HOT_BATCH_BESIDE && plan->chunks == 1 && status == HOT_OK; i++)
        status = hot_cuda_status(self->context, open_slot(&self->slots[i], 0, 0), "streams for a batch");
    if (status == HOT_OK && !plan->stop && plan->batch->begin)
        status = plan->batch->begin(self->context, plan->batch->user, &self->workspace);
    return status;
}

/* After a call: slots stay for the next one, unless something has failed. */
void leave_slots(const plan *plan, pool *self)
{
    const bool failed = self->status != HOT_OK && self->status != HOT_ERROR_CANCELLED;
    for (int i = 0; i < SLOTS; i++) {
        slot *slot = &self->slots[i];
        if (failed) {
            close_slot(slot);
            continue;
        }
        if (plan->stop && slot->stream) /* chunks may be in progress */
            cudaStreamSynchronize(slot->stream);
        if (slot->device_bytes > KEPT_BYTES) {
            cudaFree(slot->device);
            slot->device = NULL;
            slot->device_bytes = 0;
        }
    }
    if (self->workspace && plan->batch->end)
        plan->batch->end(self->context, plan->batch->user, self->workspace);
    cudaGetLastError();
}

/* ---- Dispatching ------------------------------------------------------------------------------------------------- */

/* Queues a slot's chunk: copies there, kernels, copies back. */
hot_status submit(const plan *plan, pool *self, int index)
{
    const hot_batch *batch = plan->batch;
    const slot *slot = &self->slots[index];
    cudaError_t error = cudaSuccess;
    hot_batch_chunk chunk = {slot->first, slot->count, {}, {}, batch->scratch ? slot->device + plan->scratch : NULL,
                             slot->stream, {}, index};
    for (int i = 0; i < HOT_BATCH_BESIDE && plan->chunks == 1; i++)
        chunk.beside[i] = self->slots[1 + i].stream;
    for (int k = 0; k < ARRAYS; k++) {
        chunk.in[k] = batch->in[k].row ? slot->device + plan->in[k] : NULL;
        chunk.out[k] = batch->out[k].row ? slot->device + plan->out[k] : NULL;
        if (error == cudaSuccess && chunk.in[k])
            error = cudaMemcpyAsync(chunk.in[k], slot->host + plan->in[k], slot->count * batch->in[k].row,
                                    cudaMemcpyHostToDevice, slot->stream);
    }
    HOT_TRY(hot_cuda_status(self->context, error, "copying a batch there"));
    HOT_TRY(batch->launch(self->context, batch->user, self->workspace, &chunk));
    for (int k = 0; k < ARRAYS; k++)
        if (error == cudaSuccess && chunk.out[k])
            error = cudaMemcpyAsync(slot->host + plan->out[k], chunk.out[k], slot->count * batch->out[k].row,
                                    cudaMemcpyDeviceToHost, slot->stream);
    return hot_cuda_status(self->context, error, "copying results back");
}

/* The task of the next turn, whose slot the GPU has completed: its chunk out, another in. */
void publish(plan *plan, pool *self)
{
    const hot_batch *batch = plan->batch;
    const size_t n = self->published.load(std::memory_order_relaxed), chunk = plan->next.fetch_add(1);
    const slot *slot = &self->slots[n % SLOTS];
    task *task = &self->tasks[n % SLOTS];
    task->out_first = slot->first;
    task->out_count = slot->count;
    task->in_first = chunk * batch->chunk;
    task->in_count = chunk < plan->chunks ? std::min(batch->chunk, batch->count - task->in_first) : 0;
    size_t bytes = 0;
    for (int k = 0; k < ARRAYS; k++)
        bytes += task_bytes(task, &batch->out[k], true) + task_bytes(task, &batch->in[k], false);
    task->pieces = (unsigned)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    task->done.store(0, std::memory_order_relaxed);
    task->left.store(task->pieces, std::memory_order_release);
    self->published.store(n + 1, std::memory_order_release);
}

/* After the last piece of the task of turn n. */
hot_status complete(plan *plan, pool *self, size_t n)
{
    const task *task = &self->tasks[n % SLOTS];
    slot *slot = &self->slots[n % SLOTS];
    plan->done += task->out_count;
    if (plan->batch->done && plan->devices == 1 && task->out_count)
        plan->batch->done(plan->batch->user, task->out_first + task->out_count);
    slot->first = task->in_first;
    slot->count = task->in_count;
    return slot->count ? submit(plan, self, (int)(n % SLOTS)) : HOT_OK;
}

/* Whether the GPU has completed a slot's chunk; an error goes to the pool's status. */
bool is_free(const plan *plan, pool *self, const slot *slot)
{
    if (slot->count == 0)
        return true;
    const cudaError_t error = cudaStreamQuery(slot->stream);
    if (error == cudaErrorNotReady)
        return false;
    self->status = hot_cuda_status(self->context, error, plan->batch->stage);
    return self->status == HOT_OK;
}

/* Whether a pool has anything in progress, or can take another chunk. */
bool is_busy(const plan *plan, const pool *self, size_t completed)
{
    bool busy = completed < self->published.load() || plan->next.load() < plan->chunks;
    for (int i = 0; i < SLOTS; i++)
        busy |= self->slots[i].count > 0;
    return busy;
}

void dispatch(plan *plan, pool *self)
{
    size_t completed = 0; /* turns */
    self->status = open_slots(plan, self);
    for (int idle = 0; self->status == HOT_OK && !plan->stop;) {
        const size_t n = self->published.load(std::memory_order_relaxed);
        const task *oldest = &self->tasks[completed % SLOTS];
        if (completed < n && oldest->done.load(std::memory_order_acquire) == oldest->pieces) {
            self->status = complete(plan, self, completed++);
            idle = 0;
        } else if (n < completed + SLOTS && is_free(plan, self, &self->slots[n % SLOTS])) {
            if (!is_busy(plan, self, completed))
                break;
            if (self->caller)
                self->status = report(plan, self);
            if (self->status == HOT_OK)
                publish(plan, self);
            idle = 0;
        } else if (self->status == HOT_OK &&
                   (self->size > 1 || completed == n || !work_piece(plan, self, completed))) {
            back_off(std::min(idle, 400)); /* without sleeping: the GPU may be waiting for us */
            if (++idle % 64 == 0)
                self->status = poll(plan, self);
        }
    }
    if (self->status != HOT_OK)
        plan->stop = 1;
    self->finished = 1;
    while (self->workers_gone.load(std::memory_order_acquire) < self->size - 1)
        back_off(0);
    leave_slots(plan, self);
    plan->running--;
    for (int idle = 0; self->caller && plan->running > 0; idle++) { /* the other GPUs */
        back_off(idle);
        const hot_status status = plan->stop ? HOT_OK : poll(plan, self);
        if (status != HOT_OK) {
            self->status = status;
            plan->stop = 1;
        }
    }
}

/* ---- A call ------------------------------------------------------------------------------------------------------ */

/* The slots that the context keeps; NULL when memory is short. */
slot_cache *cache_of(hot_context *context)
{
    slot_cache *cache = (slot_cache *)hot_context_kept(context, HOT_KEPT_BATCH);
    if (!cache) {
        cache = (slot_cache *)hot_context_calloc(context, 1, sizeof *cache);
        if (cache)
            hot_context_keep(context, HOT_KEPT_BATCH, cache, free_cache);
    }
    return cache;
}

/* How many GPUs share a batch: no more than have something to do. */
hot_status count_devices(hot_context *context, size_t chunks, int *devices)
{
    const int number = hot_context_device_number(context), pretended = hot_context_overridden_gpu_count(context);
    int all = number < 0 ? hot_cuda_count() : 1;
    if (pretended >= 0 && pretended < all)
        all = pretended;
    if (all <= 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found; use the CPU");
    if (number >= DEVICES)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "GPU %d: the first %d can be used", number, (int)DEVICES);
    *devices = (int)std::min((size_t)std::min(all, (int)DEVICES), (chunks + SLOTS - 1) / SLOTS);
    return HOT_OK;
}

/* Runs all pools, of which there are `devices`, or fewer if there are fewer threads; how many took part. */
int run_pools(plan *plan, pool *pools, int devices, int threads)
{
    int count = 0;
    /* Not every CPU: a thread that is displaced by others delays the rest (measured: 48 of 64 threads serve four GPUs
     * 15 % faster than 64 do). */
    threads = std::max(devices, std::min(threads > 4 ? threads / 4 * 3 : threads, devices * POOL_THREADS));
#ifdef _OPENMP
#pragma omp parallel num_threads(hot_team(threads))
#endif
    {
        int thread = 0, given = 1;
#ifdef _OPENMP
        thread = omp_get_thread_num();
        given = omp_get_num_threads(); /* may be fewer than requested */
#pragma omp single
#endif
        {
            count = given < devices ? given : devices;
            plan->running = count;
            for (int i = 0; i < count; i++)
                pools[i].size = given / count + (i < given % count);
        }
        if (thread < count)
            dispatch(plan, &pools[thread]);
        else
            work(plan, &pools[thread % count]);
    }
    return count;
}

} // namespace

size_t hot_batch_fit(const hot_context *context, const hot_batch *batch, size_t bytes, size_t scratch)
{
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return hot_batch_chunk_size(context, batch, 0, scratch);
    size_t row = 0, available = 0, total = 0;
    for (int k = 0; k < ARRAYS; k++)
        row += batch->in[k].row + batch->out[k].row;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        cudaGetLastError();
    const size_t copied = bytes / std::max(row, (size_t)1);
    const size_t resident = std::min(SLOT_BYTES, available / 2 / SLOTS) / std::max(row + scratch, (size_t)1);
    return std::max(std::min({copied, resident, batch->count}), (size_t)1);
}

hot_status hot_batch_run(hot_context *context, const hot_batch *batch)
{
    plan plan = {};
    pool pools[DEVICES] = {};
    int current = 0, devices = 0, count = 0;
    if (batch->count == 0)
        return HOT_OK;
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return hot_batch_queue(context, batch);
    plan.batch = batch;
    plan.chunks = (batch->count + batch->chunk - 1) / batch->chunk;
    divide_buffers(&plan);
    hot_status status = hot_batch_check_arrays(context, batch);
    if (status == HOT_OK)
        status = count_devices(context, plan.chunks, &devices);
    slot_cache *cache = status == HOT_OK ? cache_of(context) : NULL;
    if (!cache)
        return status == HOT_OK ? HOT_ERROR_MEMORY : status;
    cudaGetDevice(&current);
    const int number = batch->here ? current : hot_context_device_number(context);
    devices = plan.devices = batch->here ? 1 : devices;
    for (int i = 0; i < devices && status == HOT_OK; i++) {
        pools[i].device = number < 0 ? i : number;
        pools[i].slots = cache->slots[pools[i].device];
        pools[i].caller = i == 0 ? context : NULL;
        if (hot_context_create(NULL, &pools[i].context) != HOT_OK)
            status = hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    }
    if (status == HOT_OK)
        count = run_pools(&plan, pools, devices, hot_context_threads(context));
    for (int i = 0; i < count && status == HOT_OK; i++)
        if (pools[i].status != HOT_OK)
            status = pools[i].status == HOT_ERROR_CANCELLED
                         ? HOT_ERROR_CANCELLED /* the caller's context has the message */
                         : hot_context_fail(context, pools[i].status, "%s", hot_context_message(pools[i].context));
    for (int i = 0; i < devices; i++)
        hot_context_destroy(&pools[i].context);
    cudaSetDevice(current);
    cudaGetLastError();
    return status == HOT_OK ? report(&plan, &pools[0]) : status;
}

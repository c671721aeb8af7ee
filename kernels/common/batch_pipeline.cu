/* See batch_pipeline.h. A crew of CPU threads serves each GPU: copies between the caller's memory, which the GPU's copy
 * engine reads slowly and only with the CPU's help, and pinned memory are what takes longest, and one thread alone is
 * slower than the bus. The crew's leader gives work to the GPU and sees when it is done; the others copy, piece by
 * piece, and nobody waits for one who is held up but who needs his piece. */
#include <algorithm>
#include <atomic>
#include <cuda_runtime.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend.h"
#include "context_internal.h"
#include "batch_pipeline.h"
#include "cuda_status.h"

namespace {

/* lanes: chunks under way on a GPU: coming, computing, going, being filled, and some in reserve (measured: four leave
 * gaps) */
enum { LANES = 6, DEVICES = 16, CREW = 24 };
constexpr size_t PIECE = 1 << 16; /* bytes that a thread copies at a time */

/* One chunk under way: a stream, and memory on both sides. */
struct lane {
    cudaStream_t stream;
    unsigned char *host, *device;
    size_t host_bytes, device_bytes;
    size_t first, count; /* count 0: idle */
};

/* What a context keeps from one call to the next: getting pinned memory for four GPUs can take as long as a call. */
struct kept_lanes {
    lane lanes[DEVICES][LANES];
};

/* What is to be copied for a lane: results of a chunk out of it, then another chunk into it; in pieces, which whoever
 * is free takes. */
struct task {
    size_t out_first, out_count, in_first, in_count;
    unsigned pieces;
    std::atomic<unsigned> left, done; /* pieces that nobody has taken; pieces that have been copied */
};

struct crew {
    int device, size;
    hot_context *context;
    void *own;
    lane *lanes;
    hot_status status;
    task tasks[LANES];             /* task n is at n % LANES */
    std::atomic<size_t> published; /* how many tasks there have been */
    std::atomic<int> finished, gone;
};

struct job {
    const hot_batch *feed;
    size_t in[HOT_BATCH_ARRAYS], out[HOT_BATCH_ARRAYS]; /* where the arrays lie in a lane, those of the host first */
    size_t host_bytes, device_bytes;                  /* of a lane */
    size_t chunks;
    std::atomic<size_t> next, done;
    std::atomic<int> stop;
};

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* Where the arrays lie in a lane: first those that the host has too, in the same places there. */
void lay_out(job *job)
{
    const hot_batch *feed = job->feed;
    const size_t rows = feed->count < feed->chunk ? feed->count : feed->chunk;
    for (int on_host = 1; on_host >= 0; on_host--) {
        for (int k = 0; k < 2 * HOT_BATCH_ARRAYS; k++) {
            const int out = k >= HOT_BATCH_ARRAYS, which = k % HOT_BATCH_ARRAYS;
            const hot_batch_array *array = out ? &feed->out[which] : &feed->in[which];
            if ((array->host != NULL) != on_host)
                continue;
            (out ? job->out : job->in)[which] = job->device_bytes;
            job->device_bytes += rounded(rows * array->row);
        }
        if (on_host)
            job->host_bytes = job->device_bytes;
    }
}

/* A moment's rest for who has looked so often and found nothing to do: the longer, the longer there was nothing. */
void rest(int looks)
{
    const timespec moment = {0, 20000};
    if (looks < 500) {
#if defined(__x86_64__)
        for (int i = 0; i < (looks < 50 ? 1 : 10); i++)
            __builtin_ia32_pause();
#endif
    } else if (looks < 600) {
        sched_yield();
    } else {
        nanosleep(&moment, NULL);
    }
}

size_t bytes_of(const hot_batch *feed, const hot_batch_array *array, size_t first, size_t count)
{
    return first + count == feed->count ? (count - 1) * array->row + array->last : count * array->row;
}

/* The bytes of a task that an array has a part in. */
size_t bytes_of_task(const job *job, const task *task, int out, int which)
{
    const hot_batch_array *array = out ? &job->feed->out[which] : &job->feed->in[which];
    const size_t count = out ? task->out_count : task->in_count;
    return count && array->host && array->row
               ? bytes_of(job->feed, array, out ? task->out_first : task->in_first, count)
               : 0;
}

/* Copies one piece: bytes number * PIECE ... of all arrays, one after the other, the outputs first. */
void copy(const job *job, const lane *lane, const task *task, size_t number)
{
    size_t skip = number * PIECE, left = PIECE;
    for (int k = 0; k < 2 * HOT_BATCH_ARRAYS && left; k++) {
        const int out = k < HOT_BATCH_ARRAYS, which = k % HOT_BATCH_ARRAYS;
        const size_t bytes = bytes_of_task(job, task, out, which);
        if (skip >= bytes) {
            skip -= bytes;
            continue;
        }
        const size_t here = std::min(bytes - skip, left);
        const hot_batch_array *array = out ? &job->feed->out[which] : &job->feed->in[which];
        char *host = (char *)array->host + (out ? task->out_first : task->in_first) * array->row + skip;
        unsigned char *pinned = lane->host + (out ? job->out : job->in)[which] + skip;
        if (out)
            memcpy(host, pinned, here);
        else
            memcpy(pinned, host, here);
        left -= here;
        skip = 0;
    }
}

/* Takes a piece of task n and copies it; 0 when nothing is left of it. A task that has taken its place meanwhile is as
 * good. */
int copy_some(const job *job, crew *self, size_t n)
{
    task *task = &self->tasks[n % LANES];
    unsigned left = task->left.load(std::memory_order_acquire);
    while (left && !task->left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel))
        ;
    if (!left)
        return 0;
    copy(job, &self->lanes[n % LANES], task, left - 1);
    task->done.fetch_add(1, std::memory_order_release);
    return 1;
}

/* Waits for what a lane has under way, and gives back what it has. */
void close_lane(lane *lane)
{
    if (lane->stream) {
        cudaStreamSynchronize(lane->stream);
        cudaStreamDestroy(lane->stream);
    }
    cudaFree(lane->device);
    cudaFreeHost(lane->host);
    *lane = {};
}

/* What the context gives back when it ends. */
void release_lanes(hot_context *context, void *kept)
{
    kept_lanes *all = (kept_lanes *)kept;
    int current = 0;
    cudaGetDevice(&current);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < LANES; i++)
            if (all->lanes[device][i].stream) {
                cudaSetDevice(device);
                close_lane(&all->lanes[device][i]);
            }
    cudaSetDevice(current);
    cudaGetLastError();
    hot_context_free(context, all);
}

hot_status open_lanes(const job *job, crew *self)
{
    cudaError_t error = cudaSetDevice(self->device);
    for (int i = 0; i < LANES && error == cudaSuccess; i++) {
        lane *lane = &self->lanes[i];
        const size_t host_bytes = std::max(lane->host_bytes, job->host_bytes);
        const size_t device_bytes = std::max(lane->device_bytes, job->device_bytes);
        lane->count = 0;
        if (lane->host_bytes == host_bytes && lane->device_bytes == device_bytes)
            continue;
        close_lane(lane);
        error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (error == cudaSuccess)
            error = cudaMalloc((void **)&lane->device, device_bytes);
        if (error == cudaSuccess)
            error = cudaHostAlloc((void **)&lane->host, host_bytes, cudaHostAllocPortable);
        lane->host_bytes = host_bytes;
        lane->device_bytes = device_bytes;
    }
    hot_status status = hot_cuda_status(self->context, error, "memory for a batch");
    if (status == HOT_OK && job->feed->begin)
        status = job->feed->begin(self->context, job->feed->user, &self->own);
    return status;
}

/* After a call: the lanes stay, unless something has failed. */
void leave_lanes(const job *job, crew *self)
{
    if (job->stop || self->status != HOT_OK)
        for (int i = 0; i < LANES; i++) /* also what a failure has left running */
            close_lane(&self->lanes[i]);
    if (self->own && job->feed->end)
        job->feed->end(self->context, job->feed->user, self->own);
    cudaGetLastError();
}

/* Gives a filled lane to the GPU. */
hot_status submit(const job *job, crew *self, lane *lane)
{
    const hot_batch *feed = job->feed;
    void *in[HOT_BATCH_ARRAYS], *out[HOT_BATCH_ARRAYS];
    cudaError_t error = cudaSuccess;
    for (int k = 0; k < HOT_BATCH_ARRAYS; k++) {
        in[k] = feed->in[k].row ? lane->device + job->in[k] : NULL;
        out[k] = feed->out[k].row ? lane->device + job->out[k] : NULL;
        if (error == cudaSuccess && in[k] && feed->in[k].host)
            error = cudaMemcpyAsync(in[k], lane->host + job->in[k],
                                    bytes_of(feed, &feed->in[k], lane->first, lane->count), cudaMemcpyHostToDevice,
                                    lane->stream);
    }
    hot_status status = hot_cuda_status(self->context, error, "copying a batch there");
    if (status == HOT_OK)
        status = feed->launch(self->context, feed->user, self->own, lane->count, in, out, lane->stream);
    if (status != HOT_OK)
        return status;
    for (int k = 0; k < HOT_BATCH_ARRAYS; k++)
        if (error == cudaSuccess && out[k] && feed->out[k].host)
            error = cudaMemcpyAsync(lane->host + job->out[k], out[k],
                                    bytes_of(feed, &feed->out[k], lane->first, lane->count), cudaMemcpyDeviceToHost,
                                    lane->stream);
    return hot_cuda_status(self->context, error, "copying results back");
}

/* The next task of a crew, for a lane that the GPU has done with: out with its chunk, in with another. */
void publish(job *job, crew *self)
{
    const hot_batch *feed = job->feed;
    const size_t n = self->published.load(std::memory_order_relaxed), chunk = job->next.fetch_add(1);
    lane *lane = &self->lanes[n % LANES];
    task *task = &self->tasks[n % LANES];
    task->out_first = lane->first;
    task->out_count = lane->count;
    task->in_first = chunk * feed->chunk;
    task->in_count = chunk < job->chunks ? std::min(feed->chunk, feed->count - task->in_first) : 0;
    size_t bytes = 0;
    for (int k = 0; k < 2 * HOT_BATCH_ARRAYS; k++)
        bytes += bytes_of_task(job, task, k < HOT_BATCH_ARRAYS, k % HOT_BATCH_ARRAYS);
    task->pieces = (unsigned)((bytes + PIECE - 1) / PIECE);
    task->done.store(0, std::memory_order_relaxed);
    task->left.store(task->pieces, std::memory_order_release);
    self->published.store(n + 1, std::memory_order_release);
}

/* After a task's last piece. */
void complete(job *job, crew *self, size_t n)
{
    const task *task = &self->tasks[n % LANES];
    lane *lane = &self->lanes[n % LANES];
    if (task->out_count)
        job->done++;
    lane->first = task->in_first;
    lane->count = task->in_count;
    if (lane->count)
        self->status = submit(job, self, lane);
}

/* Whether the GPU has done what it was given for a lane; trouble goes to the crew's status. */
int is_free(crew *self, const lane *lane, const char *stage)
{
    if (lane->count == 0)
        return 1;
    const cudaError_t error = cudaStreamQuery(lane->stream);
    if (error == cudaErrorNotReady)
        return 0;
    self->status = hot_cuda_status(self->context, error, stage);
    return self->status == HOT_OK;
}

/* The leader of a crew. The first crew's is the caller's thread, which alone may report progress. */
void lead(hot_context *caller, job *job, crew *self)
{
    const hot_batch *feed = job->feed;
    size_t completed = 0;
    self->status = open_lanes(job, self);
    for (int looks = 0; self->status == HOT_OK && !job->stop;) {
        const size_t n = self->published.load(std::memory_order_relaxed);
        const task *oldest = &self->tasks[completed % LANES];
        looks++;
        if (completed < n && oldest->done.load(std::memory_order_acquire) == oldest->pieces) {
            complete(job, self, completed++);
            looks = 0;
        } else if (n < completed + LANES && is_free(self, &self->lanes[n % LANES], feed->stage)) {
            int busy = completed < n || job->next.load() < job->chunks;
            for (int i = 0; i < LANES; i++)
                busy |= self->lanes[i].count > 0;
            if (!busy)
                break;
            if (caller)
                self->status = hot_context_progress(
                    caller, feed->stage, (double)job->done.load() * (double)feed->chunk / (double)feed->count);
            if (self->status == HOT_OK)
                publish(job, self);
            looks = 0;
        } else if (self->size > 1 || completed == n || !copy_some(job, self, completed)) {
            rest(std::min(looks, 400)); /* awake: the GPU is waiting */
        }
    }
    if (self->status != HOT_OK)
        job->stop = 1;
    self->finished = 1;
    while (self->gone.load(std::memory_order_acquire) < self->size - 1)
        rest(0);
    leave_lanes(job, self);
}

void follow(const job *job, crew *self)
{
    size_t n = 0;
    for (int looks = 0; !self->finished; looks++) {
        if (n == self->published.load(std::memory_order_acquire)) {
            rest(looks);
            continue;
        }
        while (copy_some(job, self, n))
            ;
        n++;
        looks = 0;
    }
    self->gone.fetch_add(1, std::memory_order_release);
}

} // namespace

hot_status hot_batch_run(hot_context *context, const hot_batch *feed)
{
    job job = {};
    crew crews[DEVICES] = {};
    int current = 0, count = 0;
    hot_status status = HOT_OK;
    if (feed->count == 0)
        return HOT_OK;
    job.feed = feed;
    job.chunks = (feed->count + feed->chunk - 1) / feed->chunk;
    lay_out(&job);
    cudaGetDevice(&current);
    const int number = hot_context_device_number(context), pretended = hot_context_pretended_gpus(context);
    int all = number < 0 ? hot_cuda_count() : 1;
    if (pretended >= 0 && pretended < all)
        all = pretended;
    if (all <= 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found; use the CPU");
    if (number >= DEVICES)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "GPU %d: the first %d can be used", number, (int)DEVICES);
    kept_lanes *kept = (kept_lanes *)hot_context_kept(context);
    if (!kept) {
        kept = (kept_lanes *)hot_context_calloc(context, 1, sizeof *kept);
        if (!kept)
            return HOT_ERROR_MEMORY;
        hot_context_keep(context, kept, release_lanes);
    }
    /* No more GPUs than have something to do. */
    int devices = all < DEVICES ? all : DEVICES;
    if ((job.chunks + LANES - 1) / LANES < (size_t)devices)
        devices = (int)((job.chunks + LANES - 1) / LANES);
    for (int i = 0; i < devices && status == HOT_OK; i++) {
        crews[i].device = number < 0 ? i : number;
        crews[i].lanes = kept->lanes[crews[i].device];
        if (hot_context_create(NULL, &crews[i].context) != HOT_OK)
            status = hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    }
    if (status == HOT_OK) {
        /* Not every CPU: who is pushed aside by others holds up the rest (measured: 48 of 64 feed four GPUs 15 % faster
         * than 64 do). */
        int threads = hot_context_threads(context);
        threads = std::max(devices, std::min(threads > 4 ? threads / 4 * 3 : threads, devices * CREW));
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
        {
            int me = 0, here = 1;
#ifdef _OPENMP
            me = omp_get_thread_num();
            here = omp_get_num_threads(); /* fewer than were asked for, perhaps */
#pragma omp single
#endif
            {
                count = here < devices ? here : devices;
                for (int i = 0; i < count; i++)
                    crews[i].size = here / count + (i < here % count);
            }
            crew *mine = &crews[me % count];
            if (me < count)
                lead(me == 0 ? context : NULL, &job, mine);
            else
                follow(&job, mine);
        }
    }
    for (int i = 0; i < count && status == HOT_OK; i++)
        if (crews[i].status != HOT_OK)
            status = crews[i].status == HOT_ERROR_CANCELLED
                         ? HOT_ERROR_CANCELLED /* the caller's context says it already */
                         : hot_context_fail(context, crews[i].status, "%s", hot_context_message(crews[i].context));
    for (int i = 0; i < devices; i++)
        hot_context_destroy(&crews[i].context);
    cudaSetDevice(current);
    cudaGetLastError();
    return status == HOT_OK ? hot_context_progress(context, feed->stage, 1) : status;
}

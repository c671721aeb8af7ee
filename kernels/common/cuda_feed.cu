/* See cuda_feed.h. A crew of CPU threads serves each GPU: copies between the caller's memory, which the GPU's copy
 * engine reads slowly and only with the CPU's help, and pinned memory are what takes longest, and one thread alone is
 * slower than the bus. The crew's leader waits for the GPU and gives it work while the others copy. */
#include <algorithm>
#include <atomic>
#include <cuda_runtime.h>
#include <sched.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend.h"
#include "context_internal.h"
#include "cuda_feed.h"
#include "cuda_status.h"

namespace {

/* lanes: chunks under way on a GPU: coming, computing, going, being filled, and some in reserve (measured: four leave
 * gaps) */
enum { LANES = 6, DEVICES = 16, CREW = 24 };

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

struct crew {
    int device, size;
    hot_context *context;
    void *own;
    lane *lanes;
    hot_status status;
    /* what is copied between two meetings: out of a lane, and a chunk into it */
    lane *at;
    size_t out_first, out_count, in_first, in_count;
    int finished;
    std::atomic<int> arrived;
    std::atomic<unsigned> round;
};

struct job {
    const hot_feed *feed;
    size_t in[HOT_FEED_ARRAYS], out[HOT_FEED_ARRAYS]; /* where the arrays lie in a lane, those of the host first */
    size_t host_bytes, device_bytes;                  /* of a lane */
    size_t chunks;
    std::atomic<size_t> next, done;
    std::atomic<int> stop;
};

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* Where the arrays lie in a lane: first those that the host has too, in the same places there. */
void lay_out(job *job)
{
    const hot_feed *feed = job->feed;
    const size_t rows = feed->count < feed->chunk ? feed->count : feed->chunk;
    for (int on_host = 1; on_host >= 0; on_host--) {
        for (int k = 0; k < 2 * HOT_FEED_ARRAYS; k++) {
            const int out = k >= HOT_FEED_ARRAYS, which = k % HOT_FEED_ARRAYS;
            const hot_feed_array *array = out ? &feed->out[which] : &feed->in[which];
            if ((array->host != NULL) != on_host)
                continue;
            (out ? job->out : job->in)[which] = job->device_bytes;
            job->device_bytes += rounded(rows * array->row);
        }
        if (on_host)
            job->host_bytes = job->device_bytes;
    }
}

/* All threads of a crew meet here. */
void meet(crew *self)
{
    const unsigned round = self->round.load(std::memory_order_acquire);
    if (self->arrived.fetch_add(1, std::memory_order_acq_rel) == self->size - 1) {
        self->arrived.store(0, std::memory_order_relaxed);
        self->round.fetch_add(1, std::memory_order_release);
        return;
    }
    for (int spins = 0; self->round.load(std::memory_order_acquire) == round; spins++)
        if (spins > 2000)
            sched_yield();
}

size_t bytes_of(const hot_feed *feed, const hot_feed_array *array, size_t first, size_t count)
{
    return first + count == feed->count ? (count - 1) * array->row + array->last : count * array->row;
}

/* Share `number` of `shares` of what is to be copied now. */
void copy(const job *job, const crew *self, size_t number, size_t shares)
{
    const hot_feed *feed = job->feed;
    for (int k = 0; k < HOT_FEED_ARRAYS; k++) {
        if (self->out_count && feed->out[k].host && feed->out[k].row) {
            const size_t bytes = bytes_of(feed, &feed->out[k], self->out_first, self->out_count);
            const size_t begin = bytes * number / shares, end = bytes * (number + 1) / shares;
            memcpy((char *)feed->out[k].host + self->out_first * feed->out[k].row + begin,
                   self->at->host + job->out[k] + begin, end - begin);
        }
    }
    for (int k = 0; k < HOT_FEED_ARRAYS; k++) {
        if (self->in_count && feed->in[k].host && feed->in[k].row) {
            const size_t bytes = bytes_of(feed, &feed->in[k], self->in_first, self->in_count);
            const size_t begin = bytes * number / shares, end = bytes * (number + 1) / shares;
            memcpy(self->at->host + job->in[k] + begin,
                   (const char *)feed->in[k].host + self->in_first * feed->in[k].row + begin, end - begin);
        }
    }
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
    const hot_feed *feed = job->feed;
    void *in[HOT_FEED_ARRAYS], *out[HOT_FEED_ARRAYS];
    cudaError_t error = cudaSuccess;
    for (int k = 0; k < HOT_FEED_ARRAYS; k++) {
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
    for (int k = 0; k < HOT_FEED_ARRAYS; k++)
        if (error == cudaSuccess && out[k] && feed->out[k].host)
            error = cudaMemcpyAsync(lane->host + job->out[k], out[k],
                                    bytes_of(feed, &feed->out[k], lane->first, lane->count), cudaMemcpyDeviceToHost,
                                    lane->stream);
    return hot_cuda_status(self->context, error, "copying results back");
}

/* The leader of a crew. The first crew's is the caller's thread, which alone may report progress. */
void lead(hot_context *caller, job *job, crew *self)
{
    const hot_feed *feed = job->feed;
    self->status = open_lanes(job, self);
    lane *filled = NULL;
    for (size_t step = 0;; step++) {
        lane *lane = &self->lanes[step % LANES];
        if (self->status == HOT_OK && lane->count)
            self->status = hot_cuda_status(self->context, cudaStreamSynchronize(lane->stream), feed->stage);
        if (self->status == HOT_OK && caller)
            self->status = hot_context_progress(caller, feed->stage,
                                                (double)job->done.load() * (double)feed->chunk / (double)feed->count);
        if (self->status != HOT_OK)
            job->stop = 1;
        const size_t chunk = job->stop ? job->chunks : job->next.fetch_add(1);
        self->at = lane;
        self->out_first = lane->first;
        self->out_count = lane->count;
        self->in_first = chunk * feed->chunk;
        self->in_count = chunk >= job->chunks            ? 0
            : feed->count - self->in_first < feed->chunk ? feed->count - self->in_first
                                                         : feed->chunk;
        int busy = self->in_count > 0;
        for (int i = 0; i < LANES; i++)
            busy |= self->lanes[i].count > 0;
        self->finished = !busy || job->stop;
        meet(self);
        if (self->finished) {
            leave_lanes(job, self);
            return;
        }
        if (filled)
            self->status = submit(job, self, filled);
        if (self->size == 1)
            copy(job, self, 0, 1);
        meet(self);
        if (lane->count)
            job->done++;
        lane->first = self->in_first;
        lane->count = self->in_count;
        filled = lane->count ? lane : NULL;
    }
}

void follow(const job *job, crew *self, int member)
{
    for (;;) {
        meet(self);
        if (self->finished)
            return;
        copy(job, self, (size_t)member - 1, (size_t)self->size - 1);
        meet(self);
    }
}

} // namespace

hot_status hot_feed_run(hot_context *context, const hot_feed *feed)
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
        int threads = hot_context_threads(context);
        threads = threads < devices ? devices : threads < devices * CREW ? threads : devices * CREW;
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
                follow(&job, mine, me / count);
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

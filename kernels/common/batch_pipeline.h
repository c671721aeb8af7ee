/* The batch pipeline: many independent items go from host memory to one GPU or to all of them, through a kernel, and
 * back. A family says what its arrays are and how a chunk of items is launched; the pipeline does the rest:
 *
 *   - items are processed in chunks, which are dealt to the GPUs as each becomes free;
 *   - on a GPU a chunk occupies a slot: a stream, a buffer in pinned memory and one in device memory. There are several
 *     slots, so that copies in, kernels and copies out of different chunks overlap;
 *   - CPU threads copy between the caller's memory, which may be pageable, and the pinned buffers;
 *   - progress is reported and cancellation is noticed while it waits.
 *
 * A family must keep to two rules. Results must not depend on how items are divided into chunks, or they would depend
 * on the number of GPUs. And a chunk should take no more than some 20 ms: kernels cannot be interrupted, a cancelled
 * call waits for those of all slots.
 *
 * Arrays in device memory take the same way without the copies: see batch_device.h.
 *
 * hot_signal_fibers_cuda and hot_lowrank_cuda are examples. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

enum {
    HOT_BATCH_ARRAYS = 8, /* inputs, and outputs, at most */
    HOT_BATCH_SLOTS = 6,  /* chunks in progress on a GPU: filling, copying in, computing, copying out, emptying, and one
                             in reserve (measured: with 4 the GPU is idle at times) */
    HOT_BATCH_BESIDE = 3  /* further streams of a chunk that is the only one */
};

/* One array of the caller's: `row` bytes per item, `stride` bytes from one item to the next (>= row). On the GPU the
 * rows are contiguous. row = 0: no such array. Bytes between rows are neither read nor written. */
typedef struct hot_batch_array {
    void *host; /* inputs are only read. In device memory if the context's arrays are */
    size_t row, stride;
    const char *name; /* for messages; NULL: an array of the library, which is where it should be */
    /* Of an input that is made on the way, with arrays of the host: rows first ... first + count - 1 into `rows`, which
     * follow each other there. Called by several threads at once. NULL: the array is at `host`. */
    void (*make)(void *user, size_t first, size_t count, void *rows);
    void *user;
} hot_batch_array;

/* Arrays with contiguous rows, and with rows `stride` bytes apart; row = 0 if the pointer is NULL. */
static inline hot_batch_array hot_batch_strided(const char *name, const void *host, size_t row, size_t stride)
{
    hot_batch_array array = {(void *)(uintptr_t)host, host ? row : 0, stride, name, NULL, NULL};
    return array;
}
static inline hot_batch_array hot_batch_rows(const char *name, const void *host, size_t row)
{
    return hot_batch_strided(name, host, row, row);
}

/* A chunk on a GPU, as `launch` gets it. Every pointer is of device memory and 256-byte aligned. */
typedef struct hot_batch_chunk {
    size_t first, count; /* items first ... first + count - 1 of the batch */
    void *in[HOT_BATCH_ARRAYS], *out[HOT_BATCH_ARRAYS]; /* rows of these items; NULL: no such array */
    void *scratch;       /* hot_batch.scratch bytes, uninitialised */
    void *stream;        /* a cudaStream_t */
    void *beside[HOT_BATCH_BESIDE]; /* further streams, idle, if this is the only chunk and it comes from the host; else
                                       NULL. Their work must end before that of `stream` */
    int slot;            /* below HOT_BATCH_SLOTS; a slot's chunk is complete when its next one is launched */
} hot_batch_chunk;

typedef struct hot_batch {
    const char *stage;  /* name for progress */
    double progress[2]; /* where this call begins and ends in the caller's whole work; 0 0 = 0 1 */
    int quiet;          /* 1: reports no progress; it can be cancelled all the same */
    int here;           /* 1: on the current GPU alone */
    size_t count;       /* items */
    size_t chunk;       /* items per chunk, >= 1; hot_batch_fit finds a number */
    hot_batch_array in[HOT_BATCH_ARRAYS], out[HOT_BATCH_ARRAYS];
    size_t scratch;     /* bytes of device memory that a chunk needs besides its arrays: see common/arena.h */
    void *user;         /* passed to the functions below */
    /* The functions run in a thread of their GPU, which is the current device there, with a context of that thread's
     * own (for messages and memory). begin and end may be NULL; begin sets *workspace to what all launches on this GPU
     * share (tables, for example), end frees it after the last kernel, also after a failure. launch queues a chunk's
     * kernels on chunk->stream and returns at once. */
    hot_status (*begin)(hot_context *context, void *user, void **workspace);
    hot_status (*launch)(hot_context *context, void *user, void *workspace, const hot_batch_chunk *chunk);
    void (*end)(hot_context *context, void *user, void *workspace);
    /* The results of items 0 ... items - 1 are in the caller's memory. Called with growing numbers by one thread, where
     * one GPU has all items; between launches, so not for long. NULL: not wanted. */
    void (*done)(void *user, size_t items);
} hot_batch;

/* Runs the batch on the GPU that the context selects, or on all. With arrays in device memory (hotfiber/device.h) the
 * batch is queued on the context's stream, one chunk after the other, and the call returns; what follows is about
 * arrays of the host. Returns when all results are in host memory; after a failure or cancellation, when no copy or
 * kernel is running any more. Outputs are then incomplete. The context keeps streams and buffers for its next call.
 * Errors: those of begin and launch, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Threads: as any call with
 * this context. */
HOT_API hot_status hot_batch_run(hot_context *context, const hot_batch *batch);

/* The same with these functions, and `user` for them. */
static inline hot_status hot_batch_run_with(hot_context *context, hot_batch *batch, void *user,
                                            hot_status (*begin)(hot_context *, void *, void **),
                                            hot_status (*launch)(hot_context *, void *, void *,
                                                                 const hot_batch_chunk *),
                                            void (*end)(hot_context *, void *, void *))
{
    batch->user = user, batch->begin = begin, batch->launch = launch, batch->end = end;
    return hot_batch_run(context, batch);
}

/* A number of items for hot_batch.chunk. With arrays in device memory that of hot_batch_chunk_size; else about `bytes`
 * bytes of the batch's arrays, fewer where `scratch` bytes per item would take too much of the current GPU's memory; at
 * least 1, at most batch->count. HOT_BATCH_BYTES hides the cost of a launch and keeps chunks short; each GPU needs
 * HOT_BATCH_SLOTS times as much pinned memory. */
#define HOT_BATCH_BYTES ((size_t)8 << 20)
/* The items per chunk: `usual` with arrays of the host; with arrays in device memory all, or the number that a call's
 * working memory allows at `scratch` bytes each. For hot_batch.chunk, once count and arrays are set. */
HOT_API size_t hot_batch_chunk_size(const hot_context *context, const hot_batch *batch, size_t usual, size_t scratch);
HOT_API size_t hot_batch_fit(const hot_context *context, const hot_batch *batch, size_t bytes, size_t scratch);

HOT_C_END

/* Batches of any size from host memory through one GPU or several: chunks are dealt to the GPUs as each has room, and
 * on each of them copying in, computing and copying out overlap. */
#ifndef HOT_BATCH_PIPELINE_H
#define HOT_BATCH_PIPELINE_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_BATCH_ARRAYS = 4 };

/* One array: a row per item. */
typedef struct hot_batch_array {
    void *host;       /* NULL: there is room for it on the GPU alone */
    size_t row, last; /* bytes of a row, and of the last one of all, which may end early; 0: no such array */
} hot_batch_array;

typedef struct hot_batch {
    const char *stage;   /* for progress */
    size_t count, chunk; /* items, and how many go at a time */
    hot_batch_array in[HOT_BATCH_ARRAYS], out[HOT_BATCH_ARRAYS];
    void *user;
    /* On each GPU that takes part, with it as the current one, from one thread per GPU and with a context of that
     * thread's own. begin (may be NULL) makes what the launches there need, *own; end (may be NULL) frees it. launch
     * queues the work on a chunk; in and out are where the arrays' rows lie on the GPU, 256-byte aligned; stream is a
     * cudaStream_t. Chunks of one GPU are launched on several streams: what is in *own must stand that. */
    hot_status (*begin)(hot_context *context, void *user, void **own);
    hot_status (*launch)(hot_context *context, void *user, void *own, size_t count, void *const *in, void *const *out,
                         void *stream);
    void (*end)(hot_context *context, void *user, void *own);
} hot_batch;

/* Runs it on the GPU that the context asks for, or on all. Returns when all results are in host memory. The context
 * keeps streams and buffers for its next call; after a failure it gives them back. */
hot_status hot_batch_run(hot_context *context, const hot_batch *feed);

#ifdef __cplusplus
}
#endif

#endif

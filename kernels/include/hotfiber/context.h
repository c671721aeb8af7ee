/* The context: device, threads, allocator, messages, progress. Every call takes one.
 *
 * One context is used by one thread at a time; any number of contexts may live side by side. There is no global
 * state. The library never prints, exits or aborts. A context that has computed on a GPU keeps buffers there and in
 * pinned memory, for its next call, until it is destroyed. */
#ifndef HOTFIBER_CONTEXT_H
#define HOTFIBER_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <hotfiber/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_context hot_context;

/* Where the kernels run. */
typedef enum hot_device {
    HOT_DEVICE_AUTO = 0, /* the GPU when there is one that works, else the CPU */
    HOT_DEVICE_CPU,
    HOT_DEVICE_CUDA,
    HOT_DEVICE_REFERENCE /* the slow reference implementations: for tests */
} hot_device;

typedef enum hot_log_level { HOT_LOG_NOTE = 0, HOT_LOG_WARNING } hot_log_level;

/* How to make a context. Zero (or `{ .size = sizeof(hot_context_options) }`) gives the defaults. */
typedef struct hot_context_options {
    size_t size;         /* sizeof(hot_context_options), so that later versions can add fields */
    hot_device device;   /* default HOT_DEVICE_AUTO */
    int device_number;   /* which GPU with HOT_DEVICE_CUDA; -1 = all of them */
    int threads;         /* CPU threads; 0 = as many as the machine offers */
    uint64_t seed;       /* of everything random */
    /* Allocator; NULL = malloc and free. `allocate` may return NULL; memory need not be zeroed. Called from the
     * thread that calls the library only. */
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *allocator_user;
    /* Notes and warnings, one line each without a newline; NULL = dropped. */
    void (*log)(void *user, hot_log_level level, const char *line);
    void *log_user;
    /* Called now and then from the calling thread with the name of the stage and how much of it is done, 0 to 1;
     * a return value other than 0 cancels (the call then returns HOT_ERROR_CANCELLED). NULL = none. */
    int (*progress)(void *user, const char *stage, double fraction);
    void *progress_user;
    /* Whether to stop: asked every few voxels, from every thread that computes, so it must be quick and safe to call
     * from several threads at once (reading a flag that another thread sets). Other than 0 cancels, and the call is
     * back well within 200 ms. NULL = none; a host that can only say it through `progress` waits until the next stretch
     * of work. */
    int (*stop)(void *user);
    void *stop_user;
} hot_context_options;

/* Makes a context. `options` may be NULL. On failure *context is NULL (there is no message to read then).
 * Errors: HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (negative thread count, wrong size). */
HOT_API hot_status hot_context_create(const hot_context_options *options, hot_context **context);

/* Frees the context and sets *context to NULL; NULL and a pointer to NULL are accepted. */
HOT_API void hot_context_destroy(hot_context **context);

/* The message of the last failed call on this context: what, which value, where; deepest cause first. Owned by the
 * context, valid until its next call; "" when nothing failed. */
HOT_API const char *hot_context_message(const hot_context *context);
/* The name of the parameter that the last failed call found at fault ("starts"); "" when it was none in particular. The
 * message then begins with the name and a colon. Owned by the context, valid until its next call. */
HOT_API const char *hot_context_parameter(const hot_context *context);

/* Asks the running call of this context to stop; may be called from any thread, at any time. */
HOT_API void hot_context_cancel(hot_context *context);

/* How many CPU threads the kernels use (at least 1), the device asked for, its number, and the seed. */
HOT_API int hot_context_threads(const hot_context *context);
HOT_API hot_device hot_context_device(const hot_context *context);
HOT_API int hot_context_device_number(const hot_context *context);
/* What has computed so far: HOT_DEVICE_CUDA once a kernel has run on the GPU, else the CPU (or the reference). */
HOT_API hot_device hot_context_device_used(const hot_context *context);
HOT_API uint64_t hot_context_seed(const hot_context *context);

/* ---- For those who write stages and kernels -------------------------------------------------------------- */

/* Memory for count items of item_size bytes, aligned for any type, not zeroed; NULL (and the message set) when the
 * product overflows or memory is short. count = 0 gives a valid pointer. Free with hot_context_free. */
HOT_API void *hot_context_alloc(hot_context *context, size_t count, size_t item_size);
/* The same, zeroed. */
HOT_API void *hot_context_calloc(hot_context *context, size_t count, size_t item_size);
/* Frees memory of hot_context_alloc; NULL is accepted. */
HOT_API void hot_context_free(hot_context *context, void *memory);

/* Sets the message and returns `status`: `return hot_context_fail(c, HOT_ERROR_DATA, "no b=0 volume in '%s'",
 * name);` */
HOT_API hot_status hot_context_fail(hot_context *context, hot_status status, const char *format, ...) HOT_PRINTF(3, 4);
/* The same where one parameter is at fault, which hot_context_parameter names from then on: "starts: <text>" for
 * hot_context_fail_parameter(c, HOT_ERROR_ARGUMENT, "starts", <text>). parameter: at most 31 letters. */
HOT_API hot_status hot_context_fail_parameter(hot_context *context, hot_status status, const char *parameter,
                                              const char *format, ...) HOT_PRINTF(4, 5);
/* Names the parameter whose value made the call fail that has just failed with `status`; returns `status`. Nothing is
 * changed after HOT_OK and HOT_ERROR_CANCELLED, and where a parameter is named already. */
HOT_API hot_status hot_context_blame(hot_context *context, hot_status status, const char *parameter);
/* Appends "; <text>" to the message (where the deeper failure happened) and returns `status`. */
HOT_API hot_status hot_context_add(hot_context *context, hot_status status, const char *format, ...) HOT_PRINTF(3, 4);

/* Sends one line to the log. */
HOT_API void hot_context_log(hot_context *context, hot_log_level level, const char *format, ...) HOT_PRINTF(3, 4);

/* Reports progress of `stage`; HOT_OK, or HOT_ERROR_CANCELLED (with the message set) when the caller wants to stop.
 * Call it from the calling thread only. */
HOT_API hot_status hot_context_progress(hot_context *context, const char *stage, double fraction);
/* HOT_OK, or HOT_ERROR_CANCELLED with the message "cancelled while <doing>": for loops that have nothing to report. */
HOT_API hot_status hot_context_check(hot_context *context, const char *doing);
/* Whether hot_context_cancel was called or a callback said stop; cheap, from any thread. Loops that run for more than a
 * few milliseconds ask it. */
HOT_API int hot_context_cancelled(const hot_context *context);

#ifdef __cplusplus
}
#endif
#endif

/* The context: device, threads, allocator, messages, progress. Every call takes one.
 *
 * One thread at a time may use a context; different contexts may be used at once, and share nothing. The library never
 * prints, exits or aborts. A context that has computed on a GPU keeps device memory and pinned memory for its next call
 * until it is destroyed. */
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
    size_t size;         /* sizeof(hot_context_options): later versions may add fields */
    hot_device device;   /* default HOT_DEVICE_AUTO */
    int device_number;   /* the GPU to use, counted from 0; -1 = all GPUs share the work */
    int threads;         /* CPU threads; 0 = as many as the machine has */
    uint64_t seed;       /* of all random numbers */
    /* Allocator; NULL = malloc and free. `allocate` may return NULL; memory need not be zeroed. Called from the
     * thread that calls the library only. */
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *allocator_user;
    /* Receives notes and warnings, one line each without a newline; NULL = none. */
    void (*log)(void *user, hot_log_level level, const char *line);
    void *log_user;
    /* Reports progress: the name of the stage and the fraction of it that is done, 0 to 1. Called in the thread of the
     * call; a value other than 0 cancels the call, which returns HOT_ERROR_CANCELLED. NULL = none. */
    int (*progress)(void *user, const char *stage, double fraction);
    void *progress_user;
    /* Whether to cancel the call (other than 0): a cancelled call returns within 200 ms. Called every few voxels by all
     * computing threads, so it must be fast and thread-safe; for example, it reads a flag that another thread sets.
     * NULL = none: then `progress`, which is called less often, and hot_context_cancel are the only ways to cancel.
     */
    int (*stop)(void *user);
    void *stop_user;
} hot_context_options;

/* Makes a context. `options` may be NULL. On failure *context is NULL (there is no message to read then).
 * Errors: HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (negative thread count, wrong size). */
HOT_API hot_status hot_context_create(const hot_context_options *options, hot_context **context);

/* Frees the context and sets *context to NULL; NULL and a pointer to NULL are accepted. */
HOT_API void hot_context_destroy(hot_context **context);

/* The message of the last failed call with this context: what failed, with which value, where; the innermost cause
 * first; one line, what it quotes escaped. Owned by the context, valid until its next call; "" if none has failed. */
HOT_API const char *hot_context_message(const hot_context *context);
/* The name of the parameter that the last failed call found at fault ("starts"); "" when it was none in particular. The
 * message then begins with the name and a colon. Owned by the context, valid until its next call. */
HOT_API const char *hot_context_parameter(const hot_context *context);

/* Cancels the running call of this context, and all later ones. Any thread may call it at any time. */
HOT_API void hot_context_cancel(hot_context *context);

/* What the options say: CPU threads (at least 1), the device, its number, and the seed. */
HOT_API int hot_context_threads(const hot_context *context);
HOT_API hot_device hot_context_device(const hot_context *context);
HOT_API int hot_context_device_number(const hot_context *context);
/* What has been used so far: HOT_DEVICE_CUDA once a kernel has run on a GPU, else the CPU (or the reference). */
HOT_API hot_device hot_context_device_used(const hot_context *context);
HOT_API uint64_t hot_context_seed(const hot_context *context);

/* ---- For authors of stages and kernels ------------------------------------------------------------------- */

/* Memory for count items of item_size bytes, aligned for any type, not zeroed; NULL, with the message set, if the
 * product overflows or memory is short. count = 0 gives a valid pointer. Free it with hot_context_free. */
HOT_API void *hot_context_alloc(hot_context *context, size_t count, size_t item_size);
/* The same, zeroed. */
HOT_API void *hot_context_calloc(hot_context *context, size_t count, size_t item_size);
/* Frees memory from hot_context_alloc; NULL is accepted. */
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
/* Appends "; <text>" to the message, to say where the failure occurred, and returns `status`. */
HOT_API hot_status hot_context_add(hot_context *context, hot_status status, const char *format, ...) HOT_PRINTF(3, 4);

/* Sends one line to the log; control characters of what it quotes are escaped. */
HOT_API void hot_context_log(hot_context *context, hot_log_level level, const char *format, ...) HOT_PRINTF(3, 4);

/* Reports progress of `stage`: HOT_OK, or HOT_ERROR_CANCELLED with the message set if the call is cancelled. For the
 * calling thread only. */
HOT_API hot_status hot_context_progress(hot_context *context, const char *stage, double fraction);
/* The same without a report; the message is "cancelled while <doing>". */
HOT_API hot_status hot_context_check(hot_context *context, const char *doing);
/* Whether the call is cancelled: by hot_context_cancel or by a callback. Cheap, for any thread. Loops that take more
 * than a few milliseconds check it. */
HOT_API int hot_context_cancelled(const hot_context *context);

#ifdef __cplusplus
}
#endif
#endif

/* The context: device, threads, allocator, messages, progress. Every call takes one.
 *
 * One thread at a time may use a context; different contexts may be used at once, and share nothing. The library never
 * prints, exits or aborts. Results depend on nothing else of the process: calls run in the C locale and the default
 * floating-point environment (no traps, rounding to nearest, denormals kept), in all their threads, and restore the
 * caller's. Only plain arithmetic on single values (hot_symtensor_value_f64 and its like) runs in the caller's
 * environment. A process may fork and use its contexts in the child, on the CPU. If it forks inside a callback of a
 * computing thread, or from one of several threads that has not called the library before, the child's calls use one
 * thread each. A context that has computed on a GPU keeps device memory and pinned memory for its next call until it is
 * destroyed. */
#ifndef HOTFIBER_CONTEXT_H
#define HOTFIBER_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <hotfiber/status.h>

HOT_C_BEGIN

/* ---- The rule of all pointers --------------------------------------------------------------------------------- A
 * pointer that must not be NULL and is NULL makes a function fail with HOT_ERROR_ARGUMENT, and hot_context_parameter
 * names it; without a context only the status tells. Functions without a status then return NULL, 0, "" or NaN. Arrays
 * without elements may be NULL. A mask that is NULL is all voxels. Objects go with hot_..._destroy(&object), which sets
 * the pointer to NULL; structs of the caller's that a function has filled are emptied with hot_..._free(&struct). Both
 * accept NULL, and a pointer to NULL. Objects need the context that made them until then.
 *
 * ---- The rule of all options structs ---------------------------------------------------------------------------
 * They begin with their own size, and zero in every other field is the default:
 *
 *     hot_fit_options options = HOT_FIT_OPTIONS_INIT;     (C and C++; the same as a zeroed struct with its size set)
 *     options.order = 4;
 *
 * A pointer to one may be NULL: all defaults. A size that this library does not know, 0 among them, is
 * HOT_ERROR_ARGUMENT, as is a number out of its bounds; so is a negative number, unless documented otherwise. HOT_ZERO
 * means exactly 0, or none (no threshold, plain weights). */
enum { HOT_ZERO = -1073741824 /* the same number as an int, a float and a double */ };

/* A struct with its size set and all else zero: HOT_..._INIT of every struct that begins with its size. */
#ifdef __cplusplus
extern "C++" {
template <class Struct> inline Struct hot_sized()
{
    Struct made = Struct();
    made.size = sizeof(Struct);
    return made;
}
}
#define HOT_SIZED(type) hot_sized<type>()
#endif
#ifndef __cplusplus
#define HOT_SIZED(type) {.size = sizeof(type)}
#endif

typedef struct hot_context hot_context;

/* Where the kernels run. */
typedef enum hot_device {
    HOT_DEVICE_AUTO = 0, /* the GPU when there is one that works, else the CPU */
    HOT_DEVICE_CPU,
    HOT_DEVICE_CUDA,
    HOT_DEVICE_REFERENCE /* the slow reference implementations: for tests */
} hot_device;

enum { HOT_ALL_GPUS = -1 }; /* hot_context_options.device_number */

typedef enum hot_log_level { HOT_LOG_NOTE = 0, HOT_LOG_WARNING } hot_log_level;

/* How to make a context. */
typedef struct hot_context_options {
    size_t size;         /* sizeof(hot_context_options): later versions may add fields */
    hot_device device;   /* default HOT_DEVICE_AUTO */
    int device_number;   /* the GPU to use, counted from 0; HOT_ALL_GPUS = all GPUs share the work */
    int threads;         /* CPU threads; 0 = all of the machine's. If the system refuses to start that many, a call uses
                            those that it gets, with a note. The limit is found by trying, so another process that takes
                            the last threads in that moment can still end this one (libgomp exits) */
    uint64_t seed;       /* of all random numbers */
    /* Allocator; NULL = malloc and free. `allocate` may return NULL; memory need not be zeroed. Called from the
     * thread that calls the library only, in the library's locale and floating-point environment. */
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *allocator_user;
    /* Receives notes and warnings, one line each without a newline; NULL = none. As `progress` it is called in the
     * caller's locale and floating-point environment. */
    void (*log)(void *user, hot_log_level level, const char *line);
    void *log_user;
    /* Reports progress: the name of the stage and the fraction of it that is done, 0 to 1. Called in the thread of the
     * call; a value other than 0 cancels the call, which returns HOT_ERROR_CANCELLED. NULL = none. */
    int (*progress)(void *user, const char *stage, double fraction);
    void *progress_user;
    /* Whether to cancel the call (other than 0): a cancelled call returns within 200 ms (on a GPU hot_heev_* with n
     * above 1,024: after the matrix that is being solved). Called every few voxels by all computing threads, so it must
     * be fast and thread-safe; for example, it reads a flag that another thread sets. It is called in the library's
     * locale and floating-point environment.
     * NULL = none: then `progress`, which is called less often, and hot_context_cancel are the only ways to cancel. */
    int (*stop)(void *user);
    void *stop_user;
} hot_context_options;
#define HOT_CONTEXT_OPTIONS_INIT HOT_SIZED(hot_context_options)

/* Makes a context. options: NULL = defaults. On failure *context is NULL (there is no message to read then).
 * Errors: HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (a size that is not sizeof(hot_context_options), 0 among them; a device
 * that there is none of, a device_number below HOT_ALL_GPUS, a negative thread count, one of allocate and release). */
HOT_API hot_status hot_context_create(const hot_context_options *options, hot_context **context);

/* Frees the context and sets *context to NULL. */
HOT_API void hot_context_destroy(hot_context **context);

/* The message of the last failed call with this context: what failed, with which value, where; the innermost cause
 * first; one line, what it quotes escaped. Owned by the context, valid until its next call; "" if none has failed. */
HOT_API const char *hot_context_message(const hot_context *context);
/* The name of the parameter that the last failed call found at fault ("starts"); "" when it was none in particular. The
 * message then begins with the name and a colon. Owned by the context, valid until its next call. */
HOT_API const char *hot_context_parameter(const hot_context *context);

/* Cancels the running call of this context; and all later ones, until hot_context_resume. Any thread may call it at any
 * time; a call that begins afterwards fails as well, so that no cancellation is lost between two calls. NULL is
 * accepted. */
HOT_API void hot_context_cancel(hot_context *context);
/* Makes a cancelled context usable again, whoever has cancelled it: hot_context_cancel or a callback. For the thread
 * that uses the context, between its calls; what cancels from then on counts. NULL is accepted. */
HOT_API void hot_context_resume(hot_context *context);

/* The options' values: CPU threads (at least 1), the device, its number, and the seed. */
HOT_API int hot_context_threads(const hot_context *context);
HOT_API hot_device hot_context_device(const hot_context *context);
HOT_API int hot_context_device_number(const hot_context *context);
/* The device used so far: HOT_DEVICE_CUDA once a kernel has run on a GPU, else the CPU (or the reference). */
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
HOT_API hot_status hot_context_set_parameter(hot_context *context, hot_status status, const char *parameter);
/* Appends "; <text>" to the message, to say where the failure occurred, and returns `status`. */
HOT_API hot_status hot_context_add(hot_context *context, hot_status status, const char *format, ...) HOT_PRINTF(3, 4);

/* Sends one line to the log; control characters in its arguments are escaped. */
HOT_API void hot_context_log(hot_context *context, hot_log_level level, const char *format, ...) HOT_PRINTF(3, 4);

/* Reports progress of `stage`: HOT_OK, or HOT_ERROR_CANCELLED with the message set if the call is cancelled. For the
 * calling thread only. */
HOT_API hot_status hot_context_progress(hot_context *context, const char *stage, double fraction);
/* The same without a report; the message is "cancelled while <doing>". */
HOT_API hot_status hot_context_check(hot_context *context, const char *doing);
/* Whether the call is cancelled: by hot_context_cancel or by a callback. Cheap, for any thread. Loops that take more
 * than a few milliseconds check it. */
HOT_API int hot_context_cancelled(const hot_context *context);

HOT_C_END
#endif

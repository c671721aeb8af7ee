/* The part of the context that is not public: for kernels and tests. */
#pragma once

#include <hotfiber/device.h>

#include "entry.h"

HOT_C_BEGIN

/* Messages that are logged once per context, and what it has been used for. */
enum { HOT_ONCE_NO_CUDA = 1, HOT_ONCE_CUDA_FAILED = 2, HOT_ONCE_CUDA_USED = 4, HOT_ONCE_FEW_THREADS = 16 };

/* 1 at the first call with `what` (one of the bits above) for this context, then 0. */
HOT_API int hot_context_once(hot_context *context, unsigned what);

/* The widest vector instructions that kernels may use on this context (a hot_cpu_level); INT_MAX unless a test has
 * lowered it, so that every variant can be forced on one machine. */
HOT_API int hot_context_cpu_limit(const hot_context *context);
HOT_API void hot_context_set_cpu_limit(hot_context *context, int level);

/* The number of GPUs that hot_backend_run assumes, and the maximum that share a batch; negative (the default): all of
 * the machine's. For tests of what happens without a GPU or when one fails, and to measure how work scales with their
 * number. */
HOT_API int hot_context_overridden_gpu_count(const hot_context *context);
HOT_API void hot_context_override_gpu_count(hot_context *context, int count);

/* Objects that are made when they are first needed and kept as long as the context: NULL before; `release` is called
 * with each when the context is destroyed. */
typedef enum hot_kept { HOT_KEPT_BATCH, HOT_KEPT_DEVICE, HOT_KEPT_CUBLAS, HOT_KEPT_CUSOLVER, HOT_KEPT } hot_kept;
HOT_API void *hot_context_kept(const hot_context *context, hot_kept which);
HOT_API void hot_context_keep(hot_context *context, hot_kept which, void *kept,
                              void (*release)(hot_context *context, void *kept));

/* From now on `hear` also gets every line of the log, even if the user's log function is NULL; NULL ends it. For a
 * stage that stores the log with its results. */
HOT_API void hot_context_add_log_sink(hot_context *context, void (*hear)(void *user, hot_log_level level,
                                                                         const char *line),
                                void *user);

/* Sets what hot_context_memory returns: for hot_context_set_memory, which sees that it can be so. */
HOT_API void hot_context_note_memory(hot_context *context, hot_memory memory, void *stream);

/* For a call that leaves processors to somebody else for a while, and gives the caller its number back. */
HOT_API void hot_context_set_threads(hot_context *context, int threads);

HOT_C_END

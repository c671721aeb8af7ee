/* What the kernels may ask of a context beyond its public functions. */
#ifndef HOT_COMMON_CONTEXT_INTERNAL_H
#define HOT_COMMON_CONTEXT_INTERNAL_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Things said once per context; and what has happened on it. */
enum { HOT_ONCE_NO_CUDA = 1, HOT_ONCE_CUDA_FAILED = 2, HOT_ONCE_CUDA_USED = 4 };

/* Whether this is the first time that `what` (one bit) is asked on this context. */
HOT_API int hot_context_first_time(hot_context *context, unsigned what);

/* The widest vector instructions that kernels may use on this context (a hot_cpu_level); INT_MAX unless a test has
 * lowered it, so that every variant can be forced on one machine. */
HOT_API int hot_context_cpu_limit(const hot_context *context);
HOT_API void hot_context_set_cpu_limit(hot_context *context, int level);

/* How many GPUs hot_backend_run takes the machine to have, and the most that share a batch; negative (the default): as
 * many as it has. For tests of what happens when a GPU fails, on machines without one, and to measure what more of them
 * bring. */
HOT_API int hot_context_pretended_gpus(const hot_context *context);
HOT_API void hot_context_pretend_gpus(hot_context *context, int count);

/* One thing that is made when it is first needed and lives as long as the context: NULL before, and `release` is called
 * with it when the context ends. */
HOT_API void *hot_context_kept(const hot_context *context);
HOT_API void hot_context_keep(hot_context *context, void *kept, void (*release)(hot_context *context, void *kept));

#ifdef __cplusplus
}
#endif
#endif

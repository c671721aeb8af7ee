/* Which backend computes: the GPU, the CPU or the reference, as the context asks and the machine has. */
#ifndef HOT_COMMON_BACKEND_H
#define HOT_COMMON_BACKEND_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One backend of a family: does the whole job (the family's own struct of arguments). */
typedef hot_status hot_backend_fn(hot_context *context, void *args);

/* The backends of a family; NULL where there is none. */
typedef struct hot_backends {
    const char *family; /* for messages: "sshopm" */
    hot_backend_fn *reference, *cpu, *cuda;
} hot_backends;

/* A CUDA backend's entry in the table: NULL in a build without CUDA. */
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
#define HOT_CUDA_BACKEND(function) function
#else
#define HOT_CUDA_BACKEND(function) NULL
#endif

/* Runs the job on the backend that the context asks for. HOT_DEVICE_AUTO takes the GPU when there is one and the family
 * has a CUDA backend; when there is none, or it fails or is short of memory, the CPU does the whole job (with one line
 * to the log per context). HOT_DEVICE_CUDA without a GPU, or for a family that has none there, is HOT_ERROR_DEVICE. */
HOT_API hot_status hot_backend_run(hot_context *context, const hot_backends *backends, void *args);

/* Starts the driver and the GPU `number` (below 0: all) in a thread of its own, once per process, and waits for it.
 * That takes some tenths of a second which nobody can interrupt; the caller who wants to stop need not wait for its
 * end. HOT_OK (whether or not there is a GPU), or HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_cuda_wake(hot_context *context, int number);

/* What that thread does; in a build without CUDA nothing. */
HOT_API void hot_cuda_start(int number);

/* How many GPUs can be used: 0 without one, without a driver, or in a build without CUDA. */
HOT_API int hot_cuda_count(void);

/* Makes `number` (below 0: the first) the current GPU; HOT_ERROR_DEVICE when there is no such one. */
HOT_API hot_status hot_cuda_select(hot_context *context, int number);

#ifdef __cplusplus
}
#endif
#endif

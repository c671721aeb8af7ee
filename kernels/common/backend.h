/* Which backend computes: a GPU, the CPU or the reference, by the context's options and what the machine has. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* One backend of a family: executes a call, described by the family's own struct of arguments. */
typedef hot_status hot_backend_fn(hot_context *context, void *args);

/* The backends of a family; NULL: the family has no such backend. */
typedef struct hot_backends {
    const char *family; /* for messages: "sshopm" */
    hot_backend_fn *reference, *cpu, *cuda;
    int device_arrays; /* 1: the CUDA backend takes arrays in device memory, too (hotfiber/device.h) */
} hot_backends;

/* A CUDA backend's entry in the table: NULL in a build without CUDA. */
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
#define HOT_CUDA_BACKEND(function) function
#else
#define HOT_CUDA_BACKEND(function) NULL
#endif

/* Executes a call on the backend that the context's device selects. HOT_DEVICE_AUTO takes the GPU if there is one and
 * the family has a CUDA backend; otherwise, or if it fails or is short of memory, the CPU executes the call (with one
 * line to the log per context): all of it, or the rest that `args` describes. HOT_DEVICE_CUDA without a GPU or a CUDA
 * backend is HOT_ERROR_DEVICE. With arrays in device memory the CUDA backend executes the call, or it fails. */
HOT_API hot_status hot_backend_run(hot_context *context, const hot_backends *backends, void *args);

/* HOT_ERROR_ARGUMENT when the context's arrays are in device memory: for calls that take them from the host only. */
HOT_API hot_status hot_backend_need_host(hot_context *context, const char *family);

/* Starts the driver and the GPU `number` (below 0: all) in a separate thread, once per process, and waits for it. It
 * takes some tenths of a second and cannot be interrupted; a cancelled call returns without waiting for its end.
 * HOT_OK (whether or not there is a GPU), or HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_cuda_init(hot_context *context, int number);

/* For a job that begins with other work than the GPU's: hot_backend_init_async lets that thread begin
 * where the context's device may be a GPU, and returns. Before the job returns hot_backend_init_wait waits for it, as a
 * process should not end while the driver starts; not after a cancelled call. */
HOT_API void hot_backend_init_async(hot_context *context);
HOT_API void hot_backend_init_wait(hot_context *context);

/* Whether that thread is at work. */
HOT_API int hot_backend_starting(const hot_context *context);

/* The body of that thread; empty in a build without CUDA. */
HOT_API void hot_cuda_start(int number);

/* Whether there is a driver: told at once, where hot_cuda_count has to start it. */
HOT_API int hot_cuda_has_driver(void);

/* The number of usable GPUs: 0 without a driver, or in a build without CUDA. */
HOT_API int hot_cuda_count(void);

/* Makes GPU `number` (below 0: the first) the current one; HOT_ERROR_DEVICE if there is no such GPU. */
HOT_API hot_status hot_cuda_select(hot_context *context, int number);

HOT_C_END

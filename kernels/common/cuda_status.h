/* CUDA calls with our status and messages. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* The status of a CUDA call (error: its cudaError_t): HOT_OK, HOT_ERROR_MEMORY, or HOT_ERROR_DEVICE, with the message
 * "GPU, <what>: <CUDA's text>". */
HOT_API hot_status hot_cuda_status(hot_context *context, int error, const char *what);

/* Copies between host and device memory (either way), and returns when it is done: in steps, between which the call can
 * be cancelled. For single large arrays; batches of items go through common/batch_pipeline.h. */
HOT_API hot_status hot_cuda_copy(hot_context *context, void *to, const void *from, size_t bytes, const char *what);

HOT_C_END

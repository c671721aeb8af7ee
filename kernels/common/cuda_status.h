/* A CUDA call's outcome as ours. */
#ifndef HOT_COMMON_CUDA_STATUS_H
#define HOT_COMMON_CUDA_STATUS_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a CUDA call: HOT_OK, HOT_ERROR_MEMORY or HOT_ERROR_DEVICE with the message set. `what` says what was
 * done. */
HOT_API hot_status hot_cuda_status(hot_context *context, int error, const char *what);

#ifdef __cplusplus
}
#endif
#endif

/* Memory on the GPU for one call, by either way in which arrays come: from the driver, or in the order of the caller's
 * stream from the context's pool (hotfiber/device.h). Tables that a call's launches share are got by these functions,
 * so that one text serves both. */
#pragma once

#include <hotfiber/device.h>

HOT_C_BEGIN

/* Memory of `bytes` bytes on the current GPU, aligned to 256; *device is NULL after a failure. what: for messages. */
HOT_API hot_status hot_device_alloc(hot_context *context, size_t bytes, void **device, const char *what);
/* The same with a copy of `bytes` bytes of host memory, which may be freed at once. */
HOT_API hot_status hot_device_upload(hot_context *context, const void *host, size_t bytes, void **device,
                                     const char *what);
/* Gives it back; NULL is accepted. */
HOT_API void hot_device_release(hot_context *context, void *device);

/* Whether an array lies where the context's calls have theirs; else HOT_ERROR_ARGUMENT with its name. NULL does. */
HOT_API hot_status hot_device_check(hot_context *context, const char *name, const void *array);

/* Bytes of working memory that a call on device arrays may take: the same in every call, so that the parts into which
 * it divides its items are. */
HOT_API size_t hot_device_budget(const hot_context *context);
/* Bytes that the context's pool has taken from the driver; for tests. */
size_t hot_device_reserved(const hot_context *context);

HOT_C_END

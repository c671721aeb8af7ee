/* Eigenproblems on the GPU's own memory, for the CUDA backends of other families. */
#ifndef HOT_HEEV_DEVICE_H
#define HOT_HEEV_DEVICE_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a shape of problem needs on the current GPU: working memory, some 100 n^2 bytes per matrix, for calls of at most
 * `most` matrices. */
typedef struct hot_heev_device hot_heev_device;

/* Matrices of size n (1 to HOT_HEEV_MAX), of which the `kept` <= n largest eigenvalues are wanted, and vectors or not.
 * Errors: HOT_ERROR_MEMORY, HOT_ERROR_DEVICE; *out is then NULL. The caller destroys it. */
hot_status hot_heev_device_create(hot_context *context, int f64, int is_complex, size_t n, size_t kept, int vectors,
                                  size_t most, hot_heev_device **out);

/* Starts `count` <= most matrices on a stream (a cudaStream_t; NULL: the default one) and returns at once. Every
 * pointer is of the device's memory, aligned as cudaMalloc's are (vectors: to 16 bytes); layout and meaning as in
 * hotfiber/heev.h; flags and, where none were asked for, vectors may be NULL. One call at a time: the next must be on
 * the same stream, or after this one. */
hot_status hot_heev_device_run(hot_context *context, hot_heev_device *device, size_t count, const void *matrices,
                               void *values, void *vectors, uint8_t *flags, void *stream);

void hot_heev_device_destroy(hot_context *context, hot_heev_device **device);

/* Bytes of working memory per matrix, about. */
size_t hot_heev_device_bytes(int is_complex, size_t n, int vectors);

#ifdef __cplusplus
}
#endif
#endif

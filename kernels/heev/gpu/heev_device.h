/* Eigenproblems on the GPU's own memory, for the CUDA backends of other families. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Matrices of size n (1 to HOT_HEEV_DEVICE_MAX), of which the `kept` <= n largest eigenvalues are wanted, and vectors
 * or not; upper: the triangle that is read. */
typedef struct hot_heev_problem {
    int f64, is_complex, upper, vectors;
    size_t n, kept;
} hot_heev_problem;

/* The kernels for a problem on the current GPU, and how they are launched. */
typedef struct hot_heev_device hot_heev_device;

/* count: of all matrices, in as many calls as it takes; where they are few, more threads share one, and the last bits
 * of the results differ. Errors: HOT_ERROR_MEMORY; *out is then NULL. The caller destroys it. */
hot_status hot_heev_device_create(hot_context *context, const hot_heev_problem *problem, size_t count,
                                  hot_heev_device **out);

/* Bytes of working memory for a call with `count` matrices: some 100 n^2 per matrix, none for the smallest. */
size_t hot_heev_device_bytes(const hot_heev_problem *problem, size_t count);

/* Starts `count` matrices on a stream (a cudaStream_t; NULL: the default one) and returns at once. Every pointer is of
 * the device's memory, aligned as cudaMalloc's are (vectors: to 16 bytes); layout and meaning as in hotfiber/heev.h;
 * flags may be NULL, and so may vectors if only values are computed. memory: working memory, which calls on different
 * streams must not share. */
hot_status hot_heev_device_run(hot_context *context, const hot_heev_device *device, size_t count, const void *matrices,
                               void *values, void *vectors, uint8_t *flags, void *memory, void *stream);

void hot_heev_device_destroy(hot_context *context, hot_heev_device **device);

HOT_C_END

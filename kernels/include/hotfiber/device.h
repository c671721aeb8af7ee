/* Arrays in the memory of a GPU: where the arrays of a call lie, and on which stream it computes.
 *
 *     hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
 *     make_matrices<<<blocks, threads, 0, stream>>>(matrices);                        // yours
 *     hot_heev_f64(context, NULL, n, count, matrices, values, vectors, flags);        // queued on the stream
 *     use_vectors<<<blocks, threads, 0, stream>>>(vectors);                           // yours
 *     hot_context_wait(context);
 *
 * The kernel families sshopm, directions (orders 4, 6, 8), forms (hot_symtensor_contract_*), lowrank, signal, msmt,
 * fit, denoise, heev, tridiag, contract, fem, cpd and mttkrp take arrays in device memory; all other calls of a context
 * in this state fail with HOT_ERROR_ARGUMENT. */
#ifndef HOTFIBER_DEVICE_H
#define HOTFIBER_DEVICE_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Where the arrays of a context's calls lie. */
typedef enum hot_memory {
    HOT_MEMORY_HOST = 0, /* in the host's memory, pageable or not; a call returns when its results are there */
    HOT_MEMORY_DEVICE    /* in the memory of the context's GPU, or managed; a call returns when it is queued */
} hot_memory;

/* Says where the arrays of the following calls lie, and with HOT_MEMORY_DEVICE on which stream (a cudaStream_t of the
 * context's GPU; NULL: the default stream) they compute.
 *
 * With HOT_MEMORY_DEVICE
 *   - the arrays that have an element or a row per item of the batch, inputs and outputs, are in device memory, with
 *     the shapes and strides that the functions document. Arguments that are shared by all items stay in host memory
 *     and may be freed when the call returns: options, schemes, responses, starting vectors, a basis. An array at an
 *     address that is no multiple of 16, or whose rows have gaps, is copied on the GPU first.
 *   - a call does what has to be done on the host, queues copies and kernels on the stream and returns. It neither
 *     waits for the GPU nor allocates from the driver once a call of its size has been made: working memory comes, in
 *     the order of the stream, from a pool that belongs to the context.
 *   - hot_cpd_f32 and hot_cpd_f64 have options.fits and the report in device memory, too. They wait for the stream
 *     where the host decides what comes next: between iterations unless options.tolerance is HOT_ZERO, and with the
 *     start HOT_CPD_HOSVD. Where they do not wait, a tensor that holds NaN or Inf is no error: weights, factors, fits
 *     and the report's fit and norm are NaN; and a copy of the tensor is made, scaled or not.
 *     hot_mttkrp_tensor_create_* waits; products with that tensor are queued one behind the other, whatever their
 *     streams, but for those that are captured, which the graphs must keep in order.
 *   - a call may be captured into a CUDA graph, unless it waits, as hot_heev_* does with n above 1,024. Small tables
 *     of captured calls are kept until the context is destroyed; it must live longer than the graph.
 *   - what only the GPU knows is found in the outputs (flags), as with host arrays, or is the status of
 *     hot_context_wait. A call is not cancelled once it is queued, and reports no progress.
 *   - results are those of the same call on host arrays, bit by bit; with
 *     hot_tridiag_options.absolute within it; of hot_contract_groups_* within rounding.
 *   - there is no way back to the CPU: a call that the GPU cannot do fails.
 * An array that lies elsewhere is HOT_ERROR_ARGUMENT with its name, in either state.
 *
 * The context's device must be HOT_DEVICE_CUDA or HOT_DEVICE_AUTO, its device_number 0 or more; that GPU becomes the
 * calling thread's current one. Changing the stream does not wait: work of two streams on one context may overlap.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DEVICE (no GPU, a build without CUDA), HOT_ERROR_MEMORY. The state is then as
 * before. Arrays and stream stay the caller's and must live until the GPU has finished the queued work. Threads: as any
 * call with this context; several contexts may share a GPU and a stream. */
HOT_API hot_status hot_context_set_memory(hot_context *context, hot_memory memory, void *stream);

/* Returns the current setting; *stream (may be NULL) is NULL with HOT_MEMORY_HOST. */
HOT_API hot_memory hot_context_memory(const hot_context *context, void **stream);

/* Waits for the stream. HOT_OK when all that was queued on it has succeeded, also at once with HOT_MEMORY_HOST; else
 * HOT_ERROR_DEVICE with CUDA's message. Threads: as any call with this context. */
HOT_API hot_status hot_context_wait(hot_context *context);

HOT_C_END
#endif

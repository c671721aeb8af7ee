/* See batch_device.h. Rows with gaps, and arrays that begin at an odd place, are made contiguous by copies on the GPU:
 * kernels get what the pipeline gives them for host arrays. */
#include <algorithm>
#include <cuda_runtime.h>

#include "arena.h"
#include "batch_device.h"
#include "cuda_status.h"
#include "device_memory.h"

namespace {

enum { ALIGNMENT = 16 };

/* Whether kernels can take an array as it lies. */
bool is_plain(const hot_batch_array *array)
{
    return array->stride == array->row && (size_t)array->host % ALIGNMENT == 0;
}

/* The rows of items first ... first + count - 1, between the caller's array and a contiguous copy. */
hot_status copy_rows(hot_context *context, const hot_batch_array *array, size_t first, size_t count, void *copy,
                     bool out, cudaStream_t stream)
{
    char *theirs = (char *)array->host + first * array->stride;
    const cudaError_t error =
        out ? cudaMemcpy2DAsync(theirs, array->stride, copy, array->row, array->row, count, cudaMemcpyDeviceToDevice,
                                stream)
            : cudaMemcpy2DAsync(copy, array->row, theirs, array->stride, array->row, count, cudaMemcpyDeviceToDevice,
                                stream);
    return hot_cuda_status(context, error, "copying rows");
}

/* The places of a chunk's arrays: the caller's own, or in the memory of the call. Returns the bytes of the latter. */
size_t place(const hot_batch *batch, size_t first, size_t count, char *memory, hot_batch_chunk *chunk)
{
    hot_arena arena = {memory, 0};
    chunk->first = first;
    chunk->count = count;
    for (int k = 0; k < 2 * HOT_BATCH_ARRAYS; k++) {
        const hot_batch_array *array = k < HOT_BATCH_ARRAYS ? &batch->in[k] : &batch->out[k - HOT_BATCH_ARRAYS];
        void **at = k < HOT_BATCH_ARRAYS ? &chunk->in[k] : &chunk->out[k - HOT_BATCH_ARRAYS];
        *at = array->row == 0 ? NULL
              : is_plain(array) && first * array->row % ALIGNMENT == 0
                  ? (char *)array->host + first * array->row
                  : (char *)hot_arena_alloc(&arena, count * array->row);
    }
    chunk->scratch = batch->scratch ? hot_arena_alloc(&arena, batch->scratch) : NULL;
    return arena.used;
}

bool is_copied(const hot_batch_array *array, size_t first, const void *at)
{
    return at && at != (const char *)array->host + first * array->row;
}

hot_status queue_chunk(hot_context *context, const hot_batch *batch, void *workspace, char *memory, size_t first,
                       size_t count, cudaStream_t stream)
{
    hot_batch_chunk chunk = {};
    hot_status status = HOT_OK;
    chunk.stream = stream;
    place(batch, first, count, memory, &chunk);
    for (int k = 0; k < HOT_BATCH_ARRAYS && status == HOT_OK; k++)
        if (is_copied(&batch->in[k], first, chunk.in[k]))
            status = copy_rows(context, &batch->in[k], first, count, chunk.in[k], false, stream);
    if (status == HOT_OK)
        status = batch->launch(context, batch->user, workspace, &chunk);
    for (int k = 0; k < HOT_BATCH_ARRAYS && status == HOT_OK; k++)
        if (is_copied(&batch->out[k], first, chunk.out[k]))
            status = copy_rows(context, &batch->out[k], first, count, chunk.out[k], true, stream);
    return status;
}

} // namespace

extern "C" hot_status hot_batch_check_arrays(hot_context *context, const hot_batch *batch)
{
    hot_status status = HOT_OK;
    for (int k = 0; k < 2 * HOT_BATCH_ARRAYS && status == HOT_OK; k++) {
        const hot_batch_array *array = k < HOT_BATCH_ARRAYS ? &batch->in[k] : &batch->out[k - HOT_BATCH_ARRAYS];
        if (array->row && array->name)
            status = hot_device_check(context, array->name, array->host);
    }
    return status;
}

extern "C" size_t hot_batch_chunk_size(const hot_context *context, const hot_batch *batch, size_t usual, size_t scratch)
{
    if (hot_context_memory(context, NULL) == HOT_MEMORY_HOST)
        return usual;
    for (int k = 0; k < 2 * HOT_BATCH_ARRAYS; k++) {
        const hot_batch_array *array = k < HOT_BATCH_ARRAYS ? &batch->in[k] : &batch->out[k - HOT_BATCH_ARRAYS];
        scratch += array->row && !is_plain(array) ? array->row : 0;
    }
    return scratch ? std::max(std::min(hot_device_budget(context) / scratch, batch->count), (size_t)1) : batch->count;
}

extern "C" hot_status hot_batch_queue(hot_context *context, const hot_batch *batch)
{
    void *on_stream, *workspace = NULL, *memory = NULL;
    hot_context_memory(context, &on_stream);
    size_t most = 0;
    hot_status status = hot_batch_check_arrays(context, batch);
    for (size_t first = 0; first < batch->count && status == HOT_OK; first += batch->chunk) {
        hot_batch_chunk chunk = {};
        most = std::max(most, place(batch, first, std::min(batch->chunk, batch->count - first), NULL, &chunk));
    }
    if (status == HOT_OK && most > 0)
        status = hot_device_alloc(context, most, &memory, "working memory");
    if (status == HOT_OK && batch->begin)
        status = batch->begin(context, batch->user, &workspace);
    for (size_t first = 0; first < batch->count && status == HOT_OK; first += batch->chunk)
        status = queue_chunk(context, batch, workspace, (char *)memory, first,
                             std::min(batch->chunk, batch->count - first), (cudaStream_t)on_stream);
    if (workspace && batch->end)
        batch->end(context, batch->user, workspace);
    hot_device_release(context, memory);
    return status;
}

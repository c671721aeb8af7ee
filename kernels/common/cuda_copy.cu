/* Single large arrays from host to device memory and back: see cuda_status.h. */
#include <algorithm>
#include <cuda_runtime.h>

#include "batch_pipeline.h"
#include "cuda_status.h"

namespace {

/* Pageable memory goes through the batch pipeline, as rows: its threads and pinned buffers take it at the bus's speed,
 * where the driver alone reaches a quarter of that. Below LARGE its buffers cost more to get than they save. */
constexpr size_t ROW = 256 << 10, LARGE = 32 << 20, STEP = 64 << 20;

struct copy {
    char *device;
    const char *what;
};

hot_status copy_chunk(hot_context *context, void *user, void *, const hot_batch_chunk *chunk)
{
    const copy *self = (const copy *)user;
    char *there = self->device + chunk->first * ROW;
    return hot_cuda_status(context,
                           cudaMemcpyAsync(chunk->in[0] ? there : chunk->out[0], chunk->in[0] ? chunk->in[0] : there,
                                           chunk->count * ROW, cudaMemcpyDeviceToDevice, (cudaStream_t)chunk->stream),
                           self->what);
}

/* Whether the host's array is pageable: the GPU cannot access it directly. */
bool is_pageable(const void *array)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, array) == cudaSuccess)
        return attributes.type == cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return false;
}

hot_status copy_rows(hot_context *context, void *to, const void *from, size_t rows, const char *what)
{
    const bool out = is_pageable(to);
    copy self = {(char *)(out ? (void *)(uintptr_t)from : to), what};
    hot_batch batch = {};
    batch.stage = what;
    batch.quiet = batch.here = 1;
    batch.count = rows;
    batch.chunk = HOT_BATCH_BYTES / ROW;
    if (out)
        batch.out[0] = hot_batch_rows(NULL, to, ROW);
    else
        batch.in[0] = hot_batch_rows(NULL, from, ROW);
    batch.user = &self;
    batch.launch = copy_chunk;
    /* the pipeline's streams do not wait for the default stream */
    const hot_status status = hot_cuda_status(context, cudaStreamSynchronize(NULL), what);
    return status == HOT_OK ? hot_batch_run(context, &batch) : status;
}

} // namespace

hot_status hot_cuda_copy(hot_context *context, void *to, const void *from, size_t bytes, const char *what)
{
    size_t done = 0;
    hot_status status = HOT_OK;
    if (bytes >= LARGE && is_pageable(to) != is_pageable(from)) {
        done = bytes / ROW * ROW;
        status = copy_rows(context, to, from, bytes / ROW, what);
    }
    while (done < bytes && status == HOT_OK) {
        const size_t here = std::min(bytes - done, STEP);
        status = hot_cuda_status(
            context, cudaMemcpy((char *)to + done, (const char *)from + done, here, cudaMemcpyDefault), what);
        if (status == HOT_OK) /* it has arrived, too, for streams that do not wait for this one */
            status = hot_cuda_status(context, cudaStreamSynchronize(NULL), what);
        done += here;
        if (status == HOT_OK)
            status = hot_context_check(context, what);
    }
    return status;
}

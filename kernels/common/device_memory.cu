/* See device_memory.h and hotfiber/device.h.
 *
 * Tables go to the GPU through pinned memory, as a copy from pageable memory waits for the stream. A piece of pinned
 * memory is used again when the copy out of it is complete; one that a captured call has used never is, because the
 * graph copies from it whenever it is launched. */
#include <cuda_runtime.h>
#include <string.h>

#include "backend.h"
#include "context_internal.h"
#include "cuda_status.h"
#include "device_memory.h"

namespace {

enum { MAX_PIECES = 64 }; /* beyond as many copies in progress the oldest is waited for */
constexpr size_t MAX_BUDGET = (size_t)4 << 30;

struct piece {
    piece *next;
    unsigned char *host;
    size_t bytes;
    cudaEvent_t copied;
    bool captured;
};

struct device_state {
    int device;
    size_t budget; /* of working memory for a call */
    cudaMemPool_t pool;
    piece *pieces; /* the one that was used last comes last */
    int count;     /* of those that are not captured */
};

void free_piece(hot_context *context, piece *gone)
{
    if (gone->copied) {
        if (!gone->captured)
            cudaEventSynchronize(gone->copied);
        cudaEventDestroy(gone->copied);
    }
    cudaFreeHost(gone->host);
    hot_context_free(context, gone);
}

/* When the context is destroyed. */
void free_state(hot_context *context, void *kept)
{
    device_state *state = (device_state *)kept;
    int current = 0;
    cudaGetDevice(&current);
    cudaSetDevice(state->device);
    while (state->pieces) {
        piece *gone = state->pieces;
        state->pieces = gone->next;
        free_piece(context, gone);
    }
    if (state->pool)
        cudaMemPoolDestroy(state->pool); /* destroyed when the last of its memory is freed */
    cudaSetDevice(current);
    cudaGetLastError();
    hot_context_free(context, state);
}

device_state *state_of(const hot_context *context)
{
    return (device_state *)hot_context_kept(context, HOT_KEPT_DEVICE);
}

cudaStream_t stream_of(const hot_context *context)
{
    void *stream;
    hot_context_memory(context, &stream);
    return (cudaStream_t)stream;
}

bool on_device(const hot_context *context) { return hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE; }

hot_status make_state(hot_context *context, int device)
{
    unsigned long long keep = ~0ull; /* freed memory stays in the pool */
    cudaMemPoolProps props = {};
    device_state *state = (device_state *)hot_context_calloc(context, 1, sizeof *state);
    if (!state)
        return HOT_ERROR_MEMORY;
    size_t available = 0, total = 0;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        cudaGetLastError();
    state->budget = total == 0 || total / 16 > MAX_BUDGET ? MAX_BUDGET : total / 16;
    state->device = device;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    cudaError_t error = cudaMemPoolCreate(&state->pool, &props);
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &keep);
    hot_context_keep(context, HOT_KEPT_DEVICE, state, free_state);
    return hot_cuda_status(context, error, "a pool of memory");
}

/* A new piece of pinned memory; allowed while a stream is captured. */
hot_status new_piece(hot_context *context, size_t bytes, bool captured, piece **made)
{
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    piece *fresh = (piece *)hot_context_calloc(context, 1, sizeof *fresh);
    *made = NULL;
    if (!fresh)
        return HOT_ERROR_MEMORY;
    fresh->captured = captured;
    fresh->bytes = bytes < 4096 ? 4096 : bytes;
    cudaThreadExchangeStreamCaptureMode(&mode);
    cudaError_t error = cudaHostAlloc((void **)&fresh->host, fresh->bytes, cudaHostAllocDefault);
    if (error == cudaSuccess && !captured)
        error = cudaEventCreateWithFlags(&fresh->copied, cudaEventDisableTiming);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (error != cudaSuccess) {
        free_piece(context, fresh);
        return hot_cuda_status(context, error, "pinned memory for tables");
    }
    *made = fresh;
    return HOT_OK;
}

/* A piece that nothing is copied from any more, taken out of the list. */
hot_status take_piece(hot_context *context, device_state *state, size_t bytes, bool capturing, piece **taken)
{
    for (piece **at = &state->pieces; *at && !capturing; at = &(*at)->next) {
        piece *one = *at;
        const bool must = state->count >= MAX_PIECES && !one->captured;
        if (one->captured || one->bytes < bytes)
            continue;
        if (must ? cudaEventSynchronize(one->copied) != cudaSuccess : cudaEventQuery(one->copied) != cudaSuccess)
            continue;
        *at = one->next;
        *taken = one;
        return HOT_OK;
    }
    cudaGetLastError(); /* that some are not ready is no error */
    state->count += !capturing;
    return new_piece(context, bytes, capturing, taken);
}

} // namespace

extern "C" hot_status hot_context_set_memory(hot_context *context, hot_memory memory, void *stream)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    const hot_device device = hot_context_device(context);
    const int number = hot_context_device_number(context);
    if (memory == HOT_MEMORY_HOST) {
        hot_context_note_memory(context, memory, NULL);
        return HOT_OK;
    }
    if (memory != HOT_MEMORY_DEVICE)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no memory %d: host or device", (int)memory);
    if (device != HOT_DEVICE_CUDA && device != HOT_DEVICE_AUTO)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "arrays in a GPU's memory need a context that computes there (HOT_DEVICE_CUDA)");
    if (number < 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "arrays in a GPU's memory need a context of one GPU (device_number 0 or more)");
    hot_status status = hot_cuda_init(context, number);
    if (status == HOT_OK)
        status = hot_cuda_select(context, number);
    if (status == HOT_OK && !state_of(context))
        status = make_state(context, number);
    if (status == HOT_OK)
        hot_context_note_memory(context, memory, stream);
    return status;
}

extern "C" hot_status hot_context_wait(hot_context *context)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    if (!on_device(context))
        return HOT_OK;
    return hot_cuda_status(context, cudaStreamSynchronize(stream_of(context)), "queued work");
}

extern "C" hot_status hot_device_alloc(hot_context *context, size_t bytes, void **device, const char *what)
{
    const size_t least = bytes ? bytes : 1;
    *device = NULL;
    const cudaError_t error = on_device(context)
                                  ? cudaMallocFromPoolAsync(device, least, state_of(context)->pool, stream_of(context))
                                  : cudaMalloc(device, least);
    if (error != cudaSuccess)
        *device = NULL;
    return hot_cuda_status(context, error, what);
}

extern "C" hot_status hot_device_upload(hot_context *context, const void *host, size_t bytes, void **device,
                                        const char *what)
{
    hot_status status = hot_device_alloc(context, bytes, device, what);
    if (status != HOT_OK || bytes == 0)
        return status;
    if (!on_device(context)) {
        /* cudaMemcpy returns when pageable memory has been read, which on a busy GPU is long before it has arrived; the
         * streams of the batch pipeline do not wait for the default one */
        cudaError_t error = cudaMemcpyAsync(*device, host, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(cudaStreamPerThread);
        status = hot_cuda_status(context, error, what);
    } else {
        device_state *state = state_of(context);
        cudaStream_t stream = stream_of(context);
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        piece *through = NULL;
        status = hot_cuda_status(context, cudaStreamIsCapturing(stream, &capture), what);
        const bool capturing = capture != cudaStreamCaptureStatusNone;
        if (status == HOT_OK)
            status = take_piece(context, state, bytes, capturing, &through);
        if (status == HOT_OK) {
            memcpy(through->host, host, bytes);
            cudaError_t error = cudaMemcpyAsync(*device, through->host, bytes, cudaMemcpyHostToDevice, stream);
            if (error == cudaSuccess && !capturing)
                error = cudaEventRecord(through->copied, stream);
            status = hot_cuda_status(context, error, what);
            piece **last = &state->pieces;
            while (*last)
                last = &(*last)->next;
            through->next = NULL;
            *last = through;
        }
    }
    if (status != HOT_OK) {
        hot_device_release(context, *device);
        *device = NULL;
    }
    return status;
}

extern "C" void hot_device_release(hot_context *context, void *device)
{
    if (!device)
        return;
    if (on_device(context))
        cudaFreeAsync(device, stream_of(context));
    else
        cudaFree(device);
}

extern "C" hot_status hot_device_check(hot_context *context, const char *name, const void *array)
{
    cudaPointerAttributes about = {};
    if (!array)
        return HOT_OK;
    if (cudaPointerGetAttributes(&about, array) != cudaSuccess) {
        cudaGetLastError();
        about.type = cudaMemoryTypeUnregistered;
    }
    if (!on_device(context))
        return about.type != cudaMemoryTypeDevice
                   ? HOT_OK
                   : hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                      "%s is in the memory of GPU %d; hot_context_set_memory says that arrays are in "
                                      "the host's", name, about.device);
    if (about.type != cudaMemoryTypeDevice && about.type != cudaMemoryTypeManaged)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "%s is in the host's memory; hot_context_set_memory says that arrays are in that of "
                                "GPU %d", name, hot_context_device_number(context));
    if (about.type == cudaMemoryTypeDevice && about.device != hot_context_device_number(context))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s is in the memory of GPU %d, the context computes on "
                                "GPU %d", name, about.device, hot_context_device_number(context));
    return HOT_OK;
}

extern "C" size_t hot_device_budget(const hot_context *context) { return state_of(context)->budget; }

extern "C" size_t hot_device_reserved(const hot_context *context)
{
    unsigned long long bytes = 0;
    cudaMemPoolGetAttribute(state_of(context)->pool, cudaMemPoolAttrReservedMemCurrent, &bytes);
    return (size_t)bytes;
}

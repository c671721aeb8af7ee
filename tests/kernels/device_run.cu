/* See device_run.h. */
#include "device_run.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include <hotfiber/device.h>

#include "common/device_memory.h"

enum { FENCE = 256, POISON = 0x5b };

namespace {

/* Copies of a call's arrays on the GPU, with fences around them. */
struct arrays_there {
    const std::vector<device_array> &arrays;
    const size_t odd;
    std::vector<unsigned char *> blocks;
    std::vector<void *> at;

    arrays_there(const std::vector<device_array> &of, size_t odd_bytes)
        : arrays(of), odd(odd_bytes), blocks(of.size()), at(of.size())
    {
    }
    ~arrays_there()
    {
        for (unsigned char *block : blocks)
            cudaFree(block);
    }
    hot_status put(hot_context *context)
    {
        for (size_t i = 0; i < arrays.size(); i++) {
            const device_array &a = arrays[i];
            if (!a.host)
                continue;
            std::vector<unsigned char> block(a.bytes + 2 * FENCE + odd, POISON);
            memcpy(block.data() + FENCE + odd, a.host, a.bytes);
            if (cudaMalloc((void **)&blocks[i], block.size()) != cudaSuccess ||
                cudaMemcpy(blocks[i], block.data(), block.size(), cudaMemcpyHostToDevice) != cudaSuccess)
                return device_trouble(context, "no memory on the GPU", a.name);
            at[i] = blocks[i] + FENCE + odd;
        }
        cudaDeviceSynchronize();
        return HOT_OK;
    }
    /* Checks fences and inputs, and that the outputs equal those of `same` if not NULL; `how` for messages. */
    hot_status look(hot_context *context, const char *how, unsigned char *const *same) const
    {
        for (size_t i = 0; i < arrays.size(); i++) {
            const device_array &a = arrays[i];
            if (!a.host)
                continue;
            std::vector<unsigned char> block(a.bytes + 2 * FENCE + odd);
            cudaMemcpy(block.data(), blocks[i], block.size(), cudaMemcpyDeviceToHost);
            const unsigned char *const inside = block.data() + FENCE + odd;
            for (size_t k = 0; k < FENCE; k++)
                if (block[k] != POISON || block[block.size() - 1 - k] != POISON)
                    return hot_context_fail(context, HOT_ERROR_DEVICE, "%s: written beyond its ends%s", a.name, how);
            if (!a.out && memcmp(inside, a.host, a.bytes) != 0)
                return hot_context_fail(context, HOT_ERROR_DEVICE, "%s: an input was changed%s", a.name, how);
            if (same && a.out && memcmp(inside, same[i], a.bytes) != 0)
                return hot_context_fail(context, HOT_ERROR_DEVICE, "%s: not the same as with host arrays%s", a.name,
                                        how);
        }
        return HOT_OK;
    }
    void give_back() const
    {
        for (size_t i = 0; i < arrays.size(); i++)
            if (arrays[i].host && arrays[i].out && blocks[i])
                cudaMemcpy(arrays[i].host, blocks[i] + FENCE + odd, arrays[i].bytes, cudaMemcpyDeviceToHost);
    }
};

/* Fills memory of the context's pool with NaN, so that the next call's working memory is poisoned. */
hot_status poison_pool(hot_context *context, cudaStream_t stream)
{
    const size_t bytes = 8 << 20;
    void *memory = NULL;
    hot_status status = hot_device_alloc(context, bytes, &memory, "poison");
    if (status == HOT_OK)
        cudaMemsetAsync(memory, 0xff, bytes, stream);
    hot_device_release(context, memory);
    return status;
}

/* The call once more, captured on the stream and launched. */
hot_status run_captured(hot_context *context, arrays_there *captured, const device_call &make, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    hot_status status = captured->put(context);
    if (status != HOT_OK)
        return status;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess)
        return device_trouble(context, "cannot be captured", "the stream");
    status = make(captured->at.data());
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (status == HOT_OK && (ended != cudaSuccess || cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess ||
                             cudaGraphLaunch(ready, stream) != cudaSuccess))
        status = device_trouble(context, cudaGetErrorString(cudaGetLastError()), "the graph");
    if (status == HOT_OK)
        status = hot_context_wait(context);
    if (ready)
        cudaGraphExecDestroy(ready);
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

} // namespace

hot_status device_trouble(hot_context *context, const char *what, const char *name)
{
    return hot_context_fail(context, HOT_ERROR_DEVICE, "%s: %s", name, what);
}

/* The call on two streams at once, in poisoned working memory, with host arrays, and now and then captured. */
hot_status device::run(hot_context *context, const std::vector<device_array> &arrays, const device_call &make,
                       bool exact, bool captures)
{
    static cudaStream_t other; /* as long as the process */
    static unsigned calls;
    const size_t odd = ++calls % 3 == 0 ? 8 : 0, count = arrays.size();
    std::vector<unsigned char *> copies(count);
    std::vector<void *> here(count);
    arrays_there one(arrays, odd), two(arrays, odd), captured(arrays, odd);
    void *stream;
    hot_context_memory(context, &stream);
    if (!other)
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    for (size_t i = 0; i < count; i++)
        if (arrays[i].host) {
            here[i] = copies[i] = (unsigned char *)malloc(arrays[i].bytes + 1);
            memcpy(copies[i], arrays[i].host, arrays[i].bytes);
        }
    hot_status status = one.put(context);
    if (status == HOT_OK)
        status = two.put(context);
    if (status == HOT_OK)
        status = poison_pool(context, (cudaStream_t)stream);
    if (status == HOT_OK)
        status = make(one.at.data());
    if (status == HOT_OK) {
        hot_context_set_memory(context, HOT_MEMORY_DEVICE, other);
        status = make(two.at.data());
        if (status == HOT_OK)
            status = hot_context_wait(context);
        hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
    }
    if (status == HOT_OK)
        status = hot_context_wait(context);
    const bool is_captured = captures && calls % 4 == 0;
    if (status == HOT_OK && is_captured)
        status = run_captured(context, &captured, make, (cudaStream_t)stream);
    if (status == HOT_OK) { /* the same from the host */
        hot_context_set_memory(context, HOT_MEMORY_HOST, NULL);
        status = make(here.data());
        const hot_status again = hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
        status = status == HOT_OK ? again : status;
    }
    if (status == HOT_OK)
        status = one.look(context, "", exact ? copies.data() : NULL);
    if (status == HOT_OK)
        status = two.look(context, ", on a second stream", exact ? copies.data() : NULL);
    if (status == HOT_OK && is_captured)
        status = captured.look(context, ", captured", exact ? copies.data() : NULL);
    one.give_back();
    for (unsigned char *copy : copies)
        free(copy);
    return status;
}

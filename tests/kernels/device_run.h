/* A call of a family made in several ways, all of which must give the same: for device_calls.cu. */
#pragma once

#include <functional>
#include <vector>

#include <hotfiber/device.h>

struct device_array {
    const char *name;
    void *host; /* of the test; NULL: there is none */
    size_t bytes;
    bool out;
};

/* A call on these arrays, as pointers in their order. */
typedef std::function<hot_status(void *const *at)> device_call;

/* Makes the call with the arrays on the GPU, in poisoned working memory, on two streams at once and, every fourth time,
 * in a CUDA graph; and with copies of them on the host. Every third call has its arrays at odd places. Outputs, of the
 * first way, go to the test's arrays; HOT_ERROR_DEVICE where ways differ. exact: outputs must be the same bit by bit.
 * captures: whether the call can be captured. The context's arrays are in device memory. */
namespace device {
/* Whether the call is to be made as it is. */
inline bool direct(const hot_context *context) { return hot_context_memory(context, NULL) == HOT_MEMORY_HOST; }
inline device_array in(const char *name, const void *host, size_t bytes) { return {name, (void *)host, bytes, false}; }
inline device_array out(const char *name, void *host, size_t bytes) { return {name, host, bytes, true}; }

hot_status run(hot_context *context, const std::vector<device_array> &arrays, const device_call &make,
               bool exact = true, bool captures = true);
}

/* HOT_ERROR_DEVICE with a message. */
hot_status device_trouble(hot_context *context, const char *what, const char *name);

/* "Results do not depend on the number of threads": a call is made with 1, 2, 3 and 7 of them. */
#ifndef HOT_TESTS_THREADS_H
#define HOT_TESTS_THREADS_H

#include <hotfiber/context.h>

#include "check.h"

static inline hot_context *context_of(int threads)
{
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = threads};
    hot_context *context = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "a context with %d threads", threads);
    return context;
}

/* What `call` writes to out (bytes, poisoned before) is the same, bit for bit. */
static inline void check_threads(const char *what, hot_status (*call)(hot_context *context, void *out), size_t bytes)
{
    unsigned char *first = malloc(bytes), *other = malloc(bytes);
    for (int threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
        hot_context *context = context_of(threads);
        unsigned char *out = threads == 1 ? first : other;
        memset(out, 0x5a, bytes);
        CHECK(call(context, out) == HOT_OK, "%s: %s", what, hot_context_message(context));
        CHECK(memcmp(first, out, bytes) == 0, "%s: with %d threads other bits than with one", what, threads);
        hot_context_destroy(&context);
    }
    free(first);
    free(other);
}

#endif

/* Contexts that count allocations, so that leaks show without a sanitizer; and "results do not depend on the number of
 * threads": calls with 1, 2, 3 and 7 threads. */
#pragma once

#include <pthread.h>

#include <hotfiber/context.h>

#include "check.h"

static long allocations_held;

static inline void *counted_allocate(void *user, size_t bytes)
{
    void *memory = malloc(bytes);
    (void)user;
    __atomic_add_fetch(&allocations_held, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

static inline void counted_release(void *user, void *memory)
{
    (void)user;
    __atomic_sub_fetch(&allocations_held, memory != NULL, __ATOMIC_RELAXED);
    free(memory);
}

static inline hot_context *context_of(int threads)
{
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = threads,
                                         .allocate = counted_allocate, .release = counted_release};
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

/* ask(to) in eight threads at once gives the bytes, `size` at `alone`, that it gives alone. */
static inline void check_at_once(void *(*ask)(void *to), void *alone, size_t size)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    char *many = malloc(THREADS * size);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, ask, many + t * size) == 0, "a thread");
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    ask(alone);
    for (int t = 0; t < THREADS; t++)
        CHECK(memcmp(many + t * size, alone, size) == 0, "thread %d has other results", t);
    free(many);
}

/* After the last context is gone: the verdict. */
#define COUNTED_TEST_END()                                                                 \
    do {                                                                                   \
        CHECK(allocations_held == 0, "%ld allocations were not released", allocations_held); \
        HOT_TEST_END();                                                                    \
    } while (0)

/* A fuzz target: any bytes in, no crash, no leak, no hang. Returns 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <hotfiber/context.h>

#include "starve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The allocator of all contexts of a target. replay.c lets its calls fail one after the other; a fuzzer does not. The
 * target and replay.c share it: weak, because a fuzzer has no replay.c. */
__attribute__((weak)) starved fuzz_memory = {.fail_at = -1};

/* A context on one thread of the CPU; NULL where its own memory fails. options: NULL, or with callbacks in it. */
static inline hot_context *fuzz_context(const hot_context_options *options)
{
    hot_context_options settings = options ? *options : (hot_context_options){.size = sizeof settings};
    hot_context *context = NULL;
    settings.threads = 1;
    settings.device = HOT_DEVICE_CPU;
    settings.allocate = starved_take;
    settings.release = starved_give;
    settings.allocator_user = &fuzz_memory;
    return hot_context_create(&settings, &context) == HOT_OK ? context : NULL;
}

/* Ends it. Nothing that it gave may be left: a leak is a finding. */
static inline void fuzz_context_end(hot_context **context)
{
    const long before = fuzz_memory.live;
    hot_context_destroy(context);
    if (before > 0 && fuzz_memory.live != 0)
        abort();
}

/* A context, and the input from byte `from` on as text of its very size, so that reading past it is seen;
 * fuzz_text_end ends both. 0 without memory or without so many bytes. */
static inline int fuzz_text_begin(const uint8_t *data, size_t size, size_t from, hot_context **context, char **text)
{
    *context = fuzz_context(NULL);
    *text = size >= from ? malloc(size - from + 1) : NULL;
    if (!*text || !*context) {
        fuzz_context_end(context);
        free(*text);
        return 0;
    }
    memcpy(*text, data + from, size - from);
    (*text)[size - from] = '\0';
    return 1;
}

static inline int fuzz_text_end(hot_context **context, char *text)
{
    fuzz_context_end(context);
    free(text);
    return 0;
}

/* Memory that runs out: an allocator for hot_context_options that fails at a chosen call, or from there on, and counts
 * what is not given back. What it gives is not zero. */
#pragma once

#include <stdlib.h>
#include <string.h>

typedef struct starved {
    long calls, fail_at, live; /* fail_at: from 0 (the context's own); < 0 = none fails */
    int for_good;              /* 1: all later ones fail too */
} starved;

static inline void *starved_take(void *user, size_t bytes)
{
    starved *s = user;
    const long call = s->calls++;
    if (call == s->fail_at || (s->for_good && s->fail_at >= 0 && call > s->fail_at))
        return NULL;
    void *memory = malloc(bytes);
    if (memory) {
        s->live++;
        memset(memory, 0xa5, bytes);
    }
    return memory;
}

static inline void starved_give(void *user, void *memory)
{
    ((starved *)user)->live -= memory != NULL;
    free(memory);
}

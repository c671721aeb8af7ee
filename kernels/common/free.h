/* How allocations and objects of a context are freed. */
#pragma once

#include <hotfiber/context.h>

/* HOT_FREE(context, matrix, right, order); in this order, each NULL or from hot_context_alloc. The last may hold the
 * others, and the context. */
#define HOT_FREE(context, ...)                                                                                         \
    do {                                                                                                               \
        hot_context *const owner_ = (context);                                                                         \
        void *const freed_[] = {__VA_ARGS__};                                                                          \
        for (size_t at_ = 0; at_ < sizeof freed_ / sizeof *freed_; at_++)                                              \
            hot_context_free(owner_, freed_[at_]);                                                                     \
    } while (0)

/* How a destroy function begins: takes the caller's object over as `gone` and leaves NULL there, or returns when there
 * is none. */
#define HOT_DESTROY_BEGIN(TYPE, handle)                                                                                \
    TYPE *gone = (handle) ? *(handle) : NULL;                                                                          \
    if (!gone)                                                                                                         \
        return;                                                                                                        \
    *(handle) = NULL

/* Pointers that must not be NULL: one rule for all public functions (hotfiber/context.h). */
#pragma once

#include "flow.h"

#include <hotfiber/context.h>

HOT_C_BEGIN

/* HOT_OK, or HOT_ERROR_ARGUMENT naming the first pointer that is NULL. names: of the pointers, with commas and blanks
 * between them; pointers[0] is the context. */
HOT_API hot_status hot_arguments_check(const char *names, const void *const *pointers, size_t count);

/* Returns HOT_ERROR_ARGUMENT from the calling function if its context or one of these arguments is NULL:
 * HOT_NEED(context, dwi, fibers); */
#define HOT_NEED(...)                                                                                                  \
    do {                                                                                                               \
        const void *const needed_[] = {__VA_ARGS__};                                                                   \
        const hot_status found_ = hot_arguments_check(#__VA_ARGS__, needed_, sizeof needed_ / sizeof *needed_);        \
        if (found_ != HOT_OK)                                                                                          \
            return found_;                                                                                             \
    } while (0)

HOT_C_END

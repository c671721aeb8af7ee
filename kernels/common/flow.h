/* How functions begin and end early. */
#pragma once

#include <hotfiber/context.h>

/* Returns from the calling function with the status of this call unless it is HOT_OK:
 * HOT_TRY(hot_grid_check(context, grid)); */
#define HOT_TRY(...)                                                                                                   \
    do {                                                                                                               \
        const hot_status tried_ = (__VA_ARGS__);                                                                       \
        if (tried_ != HOT_OK)                                                                                          \
            return tried_;                                                                                             \
    } while (0)

/* NULL in the place for a result, if there is a place: also after a call that fails. */
#define HOT_CLEAR(result)                                                                                              \
    do {                                                                                                               \
        if (result)                                                                                                    \
            *(result) = NULL;                                                                                          \
    } while (0)

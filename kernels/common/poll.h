/* Cancelling inside one item: loops whose length is the user's choice check regularly whether to continue. */
#pragma once

#include <hotfiber/context.h>

/* One thread's. Once `stopped` is set the item's results do not matter: every loop ends as soon as it can, and the call
 * returns HOT_ERROR_CANCELLED. */
typedef struct hot_poll {
    hot_context *context;
    size_t work; /* since the last check of the context */
    int stopped;
} hot_poll;

/* After so many units of work of some hundred nanoseconds: whether to stop. poll: NULL = never. */
static inline int hot_poll_after(hot_poll *poll, size_t units)
{
    enum { UNITS = 1 << 13 }; /* a few milliseconds */
    if (!poll)
        return 0;
    poll->work += units;
    if (poll->work >= UNITS && !poll->stopped) {
        poll->work = 0;
        poll->stopped = hot_context_cancelled(poll->context);
    }
    return poll->stopped;
}

static inline int hot_poll_stopped(const hot_poll *poll) { return poll && poll->stopped; }

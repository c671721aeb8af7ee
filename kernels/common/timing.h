/* A clock. */
#pragma once

#include <time.h>

/* seconds, of a clock that only rises */
static inline double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

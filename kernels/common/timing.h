/* A clock. */
#ifndef HOT_COMMON_TIMING_H
#define HOT_COMMON_TIMING_H

#include <time.h>

/* seconds, of a clock that only rises */
static inline double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif

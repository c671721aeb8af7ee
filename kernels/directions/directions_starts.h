/* Directions by many starts of SS-HOPM: what the CPU and the GPU share. */
#pragma once

#include "common/portable.h"
#include "directions_args.h"
#include "sshopm/sshopm_args.h"

HOT_C_BEGIN

/* Ends whose cosine squared is above this (.2 degrees) are merged into the first: different maxima are farther apart,
 * and Newton's method finds a maximum from anywhere in its neighbourhood. */
#define HOT_STARTS_SAME (1 - 1.2e-5f)

/* The farthest that a step of Newton's method may go, radians. */
#define HOT_STARTS_LEAP 0.1

/* Where rounding ends Newton's method before the slope is as small as it should be, the step that is left, radians, may
 * be this long: .0006 degrees. */
#define HOT_STARTS_NEAR 1e-5

enum {
    HOT_STARTS_RANGE = 6, /* fewer do not show whether a form is isotropic: it is then taken not to be */
    HOT_STARTS_TERMS = 45
};

/* The arrays of a job besides its plan. */
typedef struct hot_starts_job {
    const hot_directions_args *args;
    hot_sshopm_args sshopm; /* without arrays, but for the starts */
    double *wide;           /* the starts, starts x 3 */
    float *unit;            /* the same as SS-HOPM takes them */
    double multiplicity[HOT_STARTS_TERMS];
} hot_starts_job;

hot_status hot_starts_job_create(hot_context *context, const hot_directions_args *args, hot_starts_job *job);
void hot_starts_job_destroy(hot_context *context, hot_starts_job *job);

HOT_C_END

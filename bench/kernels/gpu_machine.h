/* The GPU that benchmarks run on: its name, what it can do, and a plain method to compare with. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* The current GPU's name, as the driver gives it; NULL without one. */
const char *hot_gpu_name(void);

/* The measured peaks: fused multiply-adds (an FMA counts two; no tensor cores) and a copy of 2 GiB, read + write. */
typedef struct hot_gpu_peaks { double f32, f64, bandwidth; } hot_gpu_peaks;
hot_status hot_gpu_measure_peaks(hot_context *context, hot_gpu_peaks *peaks);

/* All eigenvalues of one tridiagonal matrix of floats by plain bisection: a thread for each eigenvalue halves the
 * Gerschgorin interval until it is shorter than `absolute`, counting the eigenvalues below its middle with all pivots
 * (algorithms 1 and 2 of Lessig's report, one eigenvalue in an interval; his tree of intervals shared by a block saves
 * counts at the start). From data in the GPU's memory to results there, `repeats` times; values (n, ascending, may be
 * NULL) for a check. */
hot_status hot_gpu_bisect(hot_context *context, size_t n, const double *a, const double *b, double absolute,
                          int repeats, double *seconds, float *values);

HOT_C_END

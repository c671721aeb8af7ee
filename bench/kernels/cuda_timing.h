/* Timing work on the GPU by its own clock (CUDA events): the one place where benchmarks do it. C++, for the .cu files.
 */
#pragma once

#include <cuda_runtime.h>
#include <functional>

#include <hotfiber/context.h>

typedef std::function<hot_status()> hot_cuda_work;

/* How runs are timed: at least `least` of them, then until `seconds` are spent, at most `most`. */
struct hot_cuda_timing {
    cudaStream_t stream = NULL; /* on which the work is launched */
    int warm_up = 2;            /* runs before those */
    int least = 1, most = 1;
    double seconds = 0;
    hot_cuda_work prepare = nullptr; /* done before each run and not timed */
};

/* Times runs of the work, one after another: times[0 ... *count - 1] in seconds; times has `most` places. */
hot_status hot_cuda_time_runs(hot_context *context, const hot_cuda_timing &timing, const hot_cuda_work &work,
                              double *times, int *count);

/* Times `calls` calls of the work, captured in one graph so that launches cost nothing, for about `seconds`; once
 * before that without a graph, which loads code. Seconds per call; fastest and repeats may be NULL. */
hot_status hot_cuda_time(hot_context *context, cudaStream_t stream, int calls, const hot_cuda_work &work,
                         double seconds, double *median, double *fastest, int *repeats);

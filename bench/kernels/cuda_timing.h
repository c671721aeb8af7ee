/* Timing work on the GPU, for benchmarks: C++, for the .cu files. */
#ifndef HOT_COMMON_CUDA_TIMING_H
#define HOT_COMMON_CUDA_TIMING_H

#include <cuda_runtime.h>
#include <functional>

#include <hotfiber/context.h>

/* Seconds that the work takes, which launches on `stream` and nowhere else: once to warm up, once captured in a graph,
 * so that launches cost nothing, which then runs for about `seconds`, at least four times. fastest may be NULL. */
hot_status hot_cuda_time(hot_context *context, cudaStream_t stream, const std::function<hot_status()> &work,
                         double seconds, double *median, double *fastest);

#endif

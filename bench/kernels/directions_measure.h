/* Timing directions with everything on the GPU, for `hotfiber bench` and the checker's --bench. */
#ifndef HOT_DIRECTIONS_MEASURE_H
#define HOT_DIRECTIONS_MEASURE_H

#include "directions/directions_args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For benchmarks: uploads the plan's tensors to the current GPU, runs `repeats` times there (with many starts too) and
 * gives the median time of a run in milliseconds; results are copied back. HOT_ERROR_DEVICE in a build without CUDA. */
hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_args *args, int repeats,
                                    double *milliseconds);

#ifdef __cplusplus
}
#endif
#endif

/* Times of finding directions with all data in the GPU's memory: for `hotfiber bench directions`. */
#pragma once

#include "directions/directions_args.h"

HOT_C_BEGIN

/* Copies the tensors to the current GPU, runs `repeats` times there (with many starts too) and
 * gives the median time of a run in milliseconds; results are copied back. HOT_ERROR_DEVICE in a build without CUDA. */
hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_args *args, int repeats,
                                    double *milliseconds);

HOT_C_END

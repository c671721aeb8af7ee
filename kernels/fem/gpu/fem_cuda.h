/* Mass operators with their arrays in the GPU's memory: for the backend on host arrays and the benchmarks. */
#pragma once

#include "fem/fem_args.h"

HOT_C_BEGIN

/* Launches an operator; the basis is in host memory and goes to the GPU with the launch. stream: a cudaStream_t. */
hot_status hot_fem_launch(hot_context *context, const hot_fem_args *args, void *stream);
hot_status hot_fem_launch_f64(hot_context *context, const hot_fem_args *args, void *stream);
hot_status hot_fem_launch_f32(hot_context *context, const hot_fem_args *args, void *stream);

HOT_C_END

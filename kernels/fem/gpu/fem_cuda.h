/* Mass operators with their arrays in the GPU's memory: for the backend on host arrays and the benchmarks. */
#ifndef HOT_FEM_CUDA_H
#define HOT_FEM_CUDA_H

#include "fem/fem_args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches an operator; the basis is in host memory and goes to the GPU with the launch. stream: a cudaStream_t. */
hot_status hot_fem_launch(hot_context *context, const hot_fem_args *args, void *stream);
hot_status hot_fem_launch_f64(hot_context *context, const hot_fem_args *args, void *stream);
hot_status hot_fem_launch_f32(hot_context *context, const hot_fem_args *args, void *stream);

#ifdef __cplusplus
}
#endif
#endif

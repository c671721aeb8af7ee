/* The stages that differ between real and complex matrices: each kind has its own file, heev_real.cu and
 * heev_complex.cu, which compile in parallel. */
#pragma once

#include "common/cuda_status.h"
#include "common/shared_memory.cuh"
#include "heev_plan.cuh"

/* Whether the current GPU has what reduction by clusters needs, for matrices of size n. */
bool hot_heev_clusters_real(int n);
bool hot_heev_clusters_complex(int n);

/* Up to HEEV_TINY rows: from the matrices to the results. upper: the triangle that is read. */
void hot_heev_tiny_real(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                        uint8_t *flags, cudaStream_t stream);
void hot_heev_tiny_complex(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                           uint8_t *flags, cudaStream_t stream);

/* From the matrices to d, e and the reflectors. */
hot_status hot_heev_reduce_real(hot_context *context, const heev_plan *plan, const void *matrices, cudaStream_t stream);
hot_status hot_heev_reduce_complex(hot_context *context, const heev_plan *plan, const void *matrices,
                                   cudaStream_t stream);

/* From lambda, z and the reflectors to the results. */
hot_status hot_heev_backtransform_real(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                       uint8_t *flags, cudaStream_t stream);
hot_status hot_heev_backtransform_complex(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                          uint8_t *flags, cudaStream_t stream);

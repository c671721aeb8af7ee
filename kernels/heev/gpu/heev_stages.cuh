/* The stages that differ between real and complex matrices: each kind is a file of its own, heev_real.cu and
 * heev_complex.cu, for the sake of the compiler's time. */
#ifndef HOT_HEEV_STAGES_CUH
#define HOT_HEEV_STAGES_CUH

#include "common/cuda_status.h"
#include "heev_plan.cuh"

/* Kernels with so much dynamic shared memory. */
template <typename... A>
static hot_status allow(hot_context *context, void (*kernel)(A...), size_t bytes)
{
    return bytes <= 48 * 1024
               ? HOT_OK
               : hot_cuda_status(context,
                                 cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                      (int)bytes),
                                 "shared memory");
}

/* Whether the current GPU has what reduction by clusters needs, for matrices of size n. */
bool hot_heev_clusters_real(int n);
bool hot_heev_clusters_complex(int n);

/* From the matrices to d, e and the reflectors. */
hot_status hot_heev_reduce_real(hot_context *context, const heev_plan *plan, const void *matrices, cudaStream_t stream);
hot_status hot_heev_reduce_complex(hot_context *context, const heev_plan *plan, const void *matrices,
                                   cudaStream_t stream);

/* From lambda, z and the reflectors to the results. */
hot_status hot_heev_backtransform_real(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                       uint8_t *flags, cudaStream_t stream);
hot_status hot_heev_backtransform_complex(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                          uint8_t *flags, cudaStream_t stream);

#endif

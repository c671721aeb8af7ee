/* The stages of complex matrices. */
#include "heev_dispatch.cuh"

bool hot_heev_clusters_complex(int n)
{
    return cluster_fits<true>(n);
}

void hot_heev_tiny_complex(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                           uint8_t *flags, cudaStream_t stream)
{
    launch_tiny<true>(plan, upper, matrices, values, vectors, flags, stream);
}

hot_status hot_heev_reduce_complex(hot_context *context, const heev_plan *plan, const void *matrices,
                                   cudaStream_t stream)
{
    return launch_reduction<true>(context, plan, matrices, stream);
}

hot_status hot_heev_backtransform_complex(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                          uint8_t *flags, cudaStream_t stream)
{
    return launch_backtransform<true>(context, plan, values, vectors, flags, stream);
}

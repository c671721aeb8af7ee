/* The stages of real matrices. */
#include "heev_dispatch.cuh"

bool hot_heev_clusters_real(int n)
{
    return cluster_fits<false>(n);
}

void hot_heev_tiny_real(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                        uint8_t *flags, cudaStream_t stream)
{
    launch_tiny<false>(plan, upper, matrices, values, vectors, flags, stream);
}

hot_status hot_heev_reduce_real(hot_context *context, const heev_plan *plan, const void *matrices, cudaStream_t stream)
{
    return launch_reduction<false>(context, plan, matrices, stream);
}

hot_status hot_heev_backtransform_real(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                       uint8_t *flags, cudaStream_t stream)
{
    return launch_backtransform<false>(context, plan, values, vectors, flags, stream);
}

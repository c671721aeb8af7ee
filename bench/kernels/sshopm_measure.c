/* See sshopm_measure.h: what needs no CUDA. */
#include "sshopm_measure.h"

#include "common/backend.h"

double hot_sshopm_flops(int order)
{
    /* a product for each monomial of degree order - 1 and its part in three sums, and 12 for the length */
    return 7 * (order * (order + 1) / 2.0) + 12;
}

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
hot_status hot_sshopm_bench_create(hot_context *context, int order, size_t count, size_t starts,
                                   hot_sshopm_bench **bench)
{
    (void)order, (void)count, (void)starts;
    *bench = NULL;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

void hot_sshopm_bench_destroy(hot_context *context, hot_sshopm_bench **bench)
{
    (void)context;
    *bench = NULL;
}

hot_status hot_sshopm_bench_run(hot_context *context, hot_sshopm_bench *bench, hot_sshopm_algorithm algorithm,
                                int iterations, double tolerance, double change, double seconds,
                                hot_sshopm_figure *figure)
{
    (void)bench, (void)algorithm, (void)iterations, (void)tolerance, (void)change, (void)seconds, (void)figure;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_sshopm_shape_time(hot_context *context, const hot_sshopm_shape *shape, hot_sshopm_figure *figure)
{
    (void)shape, (void)figure;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_sshopm_run_whole(hot_context *context, const hot_sshopm_args *args, hot_sshopm_algorithm algorithm)
{
    (void)args, (void)algorithm;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
#endif

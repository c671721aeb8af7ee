/* See sshopm_measure.h: what needs no CUDA. */
#include "sshopm_measure.h"

#include "common/backend.h"

double hot_sshopm_flops(int order)
{
    /* The paper says 250 for order 4, dimension 3; other orders in proportion to the products and sums of its loops: a
     * term of A x^m costs m + 2, the three sums of A x^(m-1) m + 1 each. */
    double unique = (order + 1) * (order + 2) / 2.0, lower = order * (order + 1) / 2.0;
    double mine = unique * (order + 2) + 3 * lower * (order + 1), paper = 15 * 6 + 3 * 10 * 5;
    return 250 * mine / paper;
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

hot_status hot_sshopm_run_whole(hot_context *context, const hot_sshopm_args *args, hot_sshopm_algorithm algorithm)
{
    (void)args, (void)algorithm;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
#endif

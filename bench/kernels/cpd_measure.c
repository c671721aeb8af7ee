/* See cpd_measure.h: what needs no CUDA. */
#include "cpd_measure.h"

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
hot_status hot_cpd_bench_create(hot_context *context, size_t side, size_t rank, hot_cpd_arithmetic arithmetic,
                                hot_cpd_bench **bench)
{
    (void)side, (void)rank, (void)arithmetic;
    *bench = NULL;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

void hot_cpd_bench_destroy(hot_context *context, hot_cpd_bench **bench)
{
    (void)context;
    *bench = NULL;
}

hot_status hot_cpd_bench_run(hot_context *context, hot_cpd_bench *bench, int mode, int how, double seconds,
                             double *median, double *error)
{
    (void)bench, (void)mode, (void)how, (void)seconds, (void)median, (void)error;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_cpd_bench_cublas(hot_context *context, hot_cpd_bench *bench, int mode, hot_cpd_cublas_method method,
                                double seconds, double *median)
{
    (void)bench, (void)mode, (void)method, (void)seconds, (void)median;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_cpd_bench_read(hot_context *context, hot_cpd_bench *bench, size_t bytes, double seconds, double *median)
{
    (void)bench, (void)bytes, (void)seconds, (void)median;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
hot_status hot_cpd_bench_lend(hot_context *context, const void *values, size_t bytes, void **there)
{
    (void)values, (void)bytes, (void)there;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_cpd_bench_return(hot_context *context, void *there, size_t bytes, void *values)
{
    (void)there, (void)bytes, (void)values;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
#else
typedef int hot_cpd_measure_is_in_cuda; /* a file of C is not empty */
#endif

/* See contract_measure.h: what needs no CUDA. */
#include "contract_measure.h"

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
static hot_status none(hot_context *context)
{
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

hot_status hot_contract_bench(hot_context *context, int f64, size_t n, size_t batch, int tune, double seconds,
                              hot_contract_figure *figure)
{
    (void)f64, (void)n, (void)batch, (void)tune, (void)seconds, (void)figure;
    return none(context);
}

hot_status hot_contract_bench_cublas(hot_context *context, int f64, size_t n, size_t batch, double seconds,
                                     hot_contract_figure *figure)
{
    (void)f64, (void)n, (void)batch, (void)seconds, (void)figure;
    return none(context);
}

hot_status hot_fem_bench(hot_context *context, int f64, int dim, size_t dofs, size_t points, int assemble,
                         size_t megabytes, double seconds, size_t *elements, hot_contract_figure *figure)
{
    (void)f64, (void)dim, (void)dofs, (void)points, (void)assemble, (void)megabytes, (void)seconds, (void)elements,
        (void)figure;
    return none(context);
}
#else
typedef int hot_contract_measure_is_in_cuda; /* a file of C is not empty */
#endif

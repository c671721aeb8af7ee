/* See tridiag_measure.h: the build without CUDA has nothing to time. */
#include "tridiag_measure.h"

#include "common/backend.h"

hot_status hot_tridiag_measure(hot_context *context, int f64, size_t n, const double *a, const double *b,
                               double absolute, int repeats, double *seconds)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (hot_cuda_count() > 0)
        return hot_tridiag_measure_cuda(context, f64, n, a, b, absolute, repeats, seconds);
#else
    (void)f64, (void)n, (void)a, (void)b, (void)absolute, (void)repeats, (void)seconds;
#endif
    return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
}

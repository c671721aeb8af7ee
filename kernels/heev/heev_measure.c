/* See heev_measure.h: the build without CUDA has nothing to time. */
#include "heev_measure.h"

#include "common/backend.h"

hot_status hot_heev_measure(hot_context *context, size_t n, size_t count, int repeats, double *seconds)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (hot_cuda_count() > 0)
        return hot_heev_measure_cuda(context, n, count, repeats, seconds);
#else
    (void)n, (void)count, (void)repeats, (void)seconds;
#endif
    return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
}

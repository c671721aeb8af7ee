/* See directions_measure.h: the build without CUDA has nothing to time. */
#include "directions_measure.h"

#include <math.h>

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
hot_status hot_directions_cuda_time(hot_context *context, const hot_directions_args *args, int repeats,
                                    double *milliseconds)
{
    (void)args, (void)repeats;
    *milliseconds = NAN;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
#endif

/* See gpu_machine.h: a build without CUDA has no GPU. */
#include "gpu_machine.h"

#include "common/backend.h"

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
static hot_status none(hot_context *context)
{
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}

const char *hot_gpu_name(void) { return NULL; }

hot_status hot_gpu_measure_peaks(hot_context *context, hot_gpu_peaks *peaks)
{
    (void)peaks;
    return none(context);
}

hot_status hot_gpu_bisect(hot_context *context, size_t n, const double *a, const double *b, double absolute,
                          int repeats, double *seconds, float *values)
{
    (void)n, (void)a, (void)b, (void)absolute, (void)repeats, (void)seconds, (void)values;
    return none(context);
}
#endif

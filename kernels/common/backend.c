/* The choice of a backend: see backend.h. */
#include "backend.h"

#include "context_internal.h"

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
int hot_cuda_count(void) { return 0; }

hot_status hot_cuda_select(hot_context *context, int number)
{
    (void)number;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA; use the CPU");
}
#endif

static int gpus(const hot_context *context)
{
    const int pretended = hot_context_pretended_gpus(context);
    return pretended >= 0 ? pretended : hot_cuda_count();
}

static hot_status run_cuda(hot_context *context, const hot_backends *backends, void *job)
{
    if (!backends->cuda)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "%s has no CUDA backend in this build; use the CPU",
                                backends->family);
    if (gpus(context) == 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found; use the CPU");
    hot_status status = HOT_OK;
    if (hot_context_pretended_gpus(context) < 0)
        status = hot_cuda_select(context, hot_context_device_number(context));
    if (status == HOT_OK)
        status = backends->cuda(context, job);
    if (status == HOT_OK)
        hot_context_first_time(context, HOT_ONCE_CUDA_USED);
    return status;
}

hot_status hot_backend_run(hot_context *context, const hot_backends *backends, void *job)
{
    switch (hot_context_device(context)) {
    case HOT_DEVICE_REFERENCE:
        if (backends->reference)
            return backends->reference(context, job);
        break;
    case HOT_DEVICE_CUDA:
        return run_cuda(context, backends, job);
    case HOT_DEVICE_AUTO:
        if (backends->cuda && gpus(context) > 0) {
            hot_status status = run_cuda(context, backends, job);
            if (status != HOT_ERROR_DEVICE && status != HOT_ERROR_MEMORY)
                return status;
            if (hot_context_first_time(context, HOT_ONCE_CUDA_FAILED))
                hot_context_log(context, HOT_LOG_WARNING, "the GPU could not do it, the CPU does: %s",
                                hot_context_message(context));
        } else if (hot_context_first_time(context, HOT_ONCE_NO_CUDA)) {
            hot_context_log(context, HOT_LOG_NOTE, "no GPU is used%s: computing on the CPU",
                            gpus(context) > 0 ? " for this" : ", as none was found");
        }
        break;
    case HOT_DEVICE_CPU:
        break;
    }
    return backends->cpu(context, job);
}

#include "interop.h"

#include <dlfcn.h>

hot_status hot_interop_load(hot_context *context, const hot_interop **interop)
{
    /* by name only: next to libhotview (its RUNPATH), then the system's search path */
    void *library = dlopen("libhotview_cuda.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *interop = library ? dlsym(library, HOT_INTEROP_NAME) : NULL;
    if (*interop && (*interop)->size == sizeof **interop)
        return HOT_OK;
    const char *reason = library ? "it is of another version" : dlerror();
    *interop = NULL;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "tensors on the GPU need libhotview_cuda.so: %s",
                            reason ? reason : "it cannot be loaded");
}

hot_status hot_interop_status(hot_context *context, const hot_interop *interop, int error, const char *what)
{
    if (error == 0)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "GPU, %s: %s", what, interop->error_text(error));
}

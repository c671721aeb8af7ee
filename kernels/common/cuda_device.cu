/* The GPUs of this machine: see backend.h and cuda_status.h. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <string.h>

#include "backend.h"
#include "cuda_status.h"

int hot_cuda_has_driver(void)
{
    /* not by cudaDriverGetVersion, which starts the driver: .1 s in which the caller could read its data */
    int version = 0, (*get)(int *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *const address = driver ? dlsym(driver, "cuDriverGetVersion") : NULL;
    memcpy(&get, &address, sizeof address);
    return get && get(&version) == 0 && version > 0;
}

int hot_cuda_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError(); /* no driver or no GPU is not an error */
        return 0;
    }
    return count;
}

void hot_cuda_start(int number)
{
    const int count = hot_cuda_count();
    for (int device = number < 0 ? 0 : number; device < count && (number < 0 || device == number); device++)
        if (cudaSetDevice(device) != cudaSuccess || cudaFree(NULL) != cudaSuccess) /* makes the device's context */
            cudaGetLastError(); /* the call that uses it fails in the same way, and reports it */
}

hot_status hot_cuda_select(hot_context *context, int number)
{
    int count = hot_cuda_count();
    if (number >= count)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "there is no GPU %d: this machine has %d, counted from 0",
                                number, count);
    cudaError_t error = cudaSetDevice(number < 0 ? 0 : number);
    if (error != cudaSuccess)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "GPU %d cannot be used: %s", number < 0 ? 0 : number,
                                cudaGetErrorString(error));
    return HOT_OK;
}

hot_status hot_cuda_status(hot_context *context, int error, const char *what)
{
    if (error == cudaSuccess)
        return HOT_OK;
    cudaGetLastError();
    return hot_context_fail(context, error == cudaErrorMemoryAllocation ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                            "GPU, %s: %s", what, cudaGetErrorString((cudaError_t)error));
}

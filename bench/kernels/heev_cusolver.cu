/* See heev_measure.h: cuSOLVER's XsyevBatched. Its library is loaded on first use; no program is linked with it. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdint.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "heev_measure.h"

/* The declarations of cusolverDn.h, with pointers for handles and ints for enumerations. */
typedef int create_fn(void **handle);
typedef int destroy_fn(void *handle);
typedef int size_fn(void *handle, void *params, int args, int fill, int64_t n, int type_a, const void *a, int64_t lda,
                    int type_w, const void *w, int compute, size_t *device_bytes, size_t *host_bytes, int64_t batch);
typedef int solve_fn(void *handle, void *params, int args, int fill, int64_t n, int type_a, void *a, int64_t lda,
                     int type_w, void *w, int compute, void *device, size_t device_bytes, void *host, size_t host_bytes,
                     int *info, int64_t batch);
enum {
    VECTORS = 1,
    LOWER = 0,
    REAL_F64 = 1,
    COMPLEX_F64 = 5
}; /* CUSOLVER_EIG_MODE_VECTOR ..., CUDA_R_64F, CUDA_C_64F */

static hot_status trouble(hot_context *context, const char *what)
{
    cudaGetLastError();
    return hot_context_fail(context, HOT_ERROR_DEVICE, "cuSOLVER: %s", what);
}

hot_status hot_heev_measure_cusolver(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                      double *seconds)
{
    static const char *const names[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"};
    void *library = NULL, *handle = NULL, *params = NULL, *from = NULL, *a = NULL, *w = NULL, *work = NULL,
         *host = NULL;
    int *info = NULL;
    hot_cuda_timing timing;
    int timed = 0;
    size_t device_bytes = 0, host_bytes = 0;
    const size_t bytes = count * n * n * 2 * sizeof(double);
    for (int i = 0; i < 3 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return trouble(context, "its library is not here");
    create_fn *create = (create_fn *)dlsym(library, "cusolverDnCreate"),
              *more = (create_fn *)dlsym(library, "cusolverDnCreateParams");
    destroy_fn *destroy = (destroy_fn *)dlsym(library, "cusolverDnDestroy"),
               *less = (destroy_fn *)dlsym(library, "cusolverDnDestroyParams");
    size_fn *size = (size_fn *)dlsym(library, "cusolverDnXsyevBatched_bufferSize");
    solve_fn *solve = (solve_fn *)dlsym(library, "cusolverDnXsyevBatched");
    hot_status status = HOT_OK;
    if (!create || !more || !destroy || !less || !size || !solve)
        status = trouble(context, "this version has no XsyevBatched");
    if (status == HOT_OK && (create(&handle) || more(&params)))
        status = trouble(context, "no handle");
    if (status == HOT_OK &&
        (cudaMalloc(&from, bytes) || cudaMalloc(&a, bytes) || cudaMalloc(&w, count * n * sizeof(double)) ||
         cudaMalloc((void **)&info, count * sizeof(int)) || cudaMemcpy(from, matrices, bytes, cudaMemcpyHostToDevice)))
        status = trouble(context, "memory");
    if (status == HOT_OK && size(handle, params, VECTORS, LOWER, (int64_t)n, COMPLEX_F64, a, (int64_t)n, REAL_F64, w,
                                 COMPLEX_F64, &device_bytes, &host_bytes, (int64_t)count))
        status = trouble(context, "bufferSize failed");
    host = status == HOT_OK ? hot_context_alloc(context, host_bytes, 1) : NULL;
    if (status == HOT_OK && (!host || cudaMalloc(&work, device_bytes ? device_bytes : 1)))
        status = trouble(context, "memory for its work");
    timing.warm_up = 1, timing.least = timing.most = repeats;
    timing.prepare = [&] { /* it overwrites its input */
        return hot_cuda_status(context, cudaMemcpy(a, from, bytes, cudaMemcpyDeviceToDevice), "copying");
    };
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            const int failed = solve(handle, params, VECTORS, LOWER, (int64_t)n, COMPLEX_F64, a, (int64_t)n, REAL_F64,
                                     w, COMPLEX_F64, work, device_bytes, host, host_bytes, info, (int64_t)count);
            return failed ? trouble(context, "XsyevBatched failed") : HOT_OK;
        }, seconds, &timed);
    hot_context_free(context, host);
    cudaFree(from);
    cudaFree(a);
    cudaFree(w);
    cudaFree(work);
    cudaFree(info);
    if (params)
        less(params);
    if (handle)
        destroy(handle);
    dlclose(library);
    return status;
}

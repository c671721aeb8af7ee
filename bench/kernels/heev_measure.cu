/* Our solver's time on the GPU alone, for benchmarks. */
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "heev/gpu/heev_device.h"
#include "heev_measure.h"

hot_status hot_heev_measure_cuda(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                 double *seconds)
{
    const size_t bytes = 2 * count * n * n * sizeof(double);
    void *from = NULL, *values = NULL, *vectors = NULL, *memory = NULL;
    hot_heev_device *device = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    hot_status status = hot_heev_device_create(context, 1, 1, n, n, 1, count, &device);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&memory, hot_heev_device_bytes(1, n, 1, count)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&from, bytes), "memory for matrices");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&values, count * n * sizeof(double)), "memory for eigenvalues");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&vectors, bytes), "memory for eigenvectors");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(from, matrices, bytes, cudaMemcpyHostToDevice), "copying");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&begin), "an event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&end), "an event");
    for (int i = -2; i < repeats && status == HOT_OK; i++) {
        float ms = 0;
        cudaEventRecord(begin);
        status = hot_heev_device_run(context, device, count, from, values, vectors, NULL, memory, NULL);
        cudaEventRecord(end);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventSynchronize(end), "timing");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventElapsedTime(&ms, begin, end), "timing");
        if (i >= 0)
            seconds[i] = 1e-3 * ms;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaFree(memory);
    cudaFree(from);
    cudaFree(values);
    cudaFree(vectors);
    hot_heev_device_destroy(context, &device);
    return status;
}

/* See heev_measure.h: our own solver. */
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "heev/gpu/heev_device.h"
#include "heev_measure.h"

hot_status hot_heev_measure_cuda(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                 double *seconds)
{
    const size_t bytes = 2 * count * n * n * sizeof(double);
    void *from = NULL, *values = NULL, *vectors = NULL, *memory = NULL;
    hot_heev_device *device = NULL;
    hot_cuda_timing timing;
    int timed = 0;
    const hot_heev_problem problem = {1, 1, 0, 1, n, n};
    hot_status status = hot_heev_device_create(context, &problem, count, &device);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&memory, hot_heev_device_bytes(&problem, count)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&from, bytes), "memory for matrices");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&values, count * n * sizeof(double)), "memory for eigenvalues");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&vectors, bytes), "memory for eigenvectors");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(from, matrices, bytes, cudaMemcpyHostToDevice), "copying");
    timing.least = timing.most = repeats;
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            return hot_heev_device_run(context, device, count, from, values, vectors, NULL, memory, NULL);
        }, seconds, &timed);
    cudaFree(memory);
    cudaFree(from);
    cudaFree(values);
    cudaFree(vectors);
    hot_heev_device_destroy(context, &device);
    return status;
}

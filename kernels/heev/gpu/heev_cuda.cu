/* The CUDA backend of the heev family: matrices from the host's memory through the GPU, a piece of the batch at a
 * time. */
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "heev/heev.h"
#include "heev_device.h"

typedef struct heev_buffers {
    void *matrices, *values, *vectors;
    uint8_t *flags;
} heev_buffers;

static hot_status reserve(hot_context *context, const hot_heev_args *args, size_t matrix, size_t row, size_t vector,
                          size_t *most, heev_buffers *buffers, hot_heev_device **device)
{
    size_t room = 0, total = 0;
    hot_status status = hot_cuda_status(context, cudaMemGetInfo(&room, &total), "asking for memory");
    if (status != HOT_OK)
        return status;
    /* as many matrices at a time as half of what is free holds, and 8 GiB */
    const int vectors = args->vectors != NULL;
    room = room / 2 < (size_t)8 << 30 ? room / 2 : (size_t)8 << 30;
    *most = room / (hot_heev_device_bytes(args->is_complex, args->n, vectors) + matrix + row + vector);
    *most = *most < 1 ? 1 : *most > 1 << 18 ? 1 << 18 : *most;
    *most = *most < args->count ? *most : args->count;
    status = hot_heev_device_create(context, args->f64, args->is_complex, args->n, args->kept, vectors, *most, device);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&buffers->matrices, *most * matrix), "memory for matrices");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&buffers->values, *most * row), "memory for eigenvalues");
    if (status == HOT_OK && vectors)
        status = hot_cuda_status(context, cudaMalloc(&buffers->vectors, *most * vector), "memory for eigenvectors");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&buffers->flags, *most), "memory for flags");
    return status;
}

hot_status hot_heev_cuda(hot_context *context, void *argument)
{
    const hot_heev_args *args = (const hot_heev_args *)argument;
    const size_t n = args->n, value = args->f64 ? sizeof(double) : sizeof(float), parts = args->is_complex ? 2 : 1;
    const size_t matrix = n * n * parts * value, vector = args->kept * n * parts * value, row = args->kept * value;
    heev_buffers buffers = {};
    hot_heev_device *device = NULL;
    size_t most = 1;
    hot_status status = reserve(context, args, matrix, row, vector, &most, &buffers, &device);
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += most) {
        const size_t count = args->count - begin < most ? args->count - begin : most;
        status = hot_cuda_status(context, cudaMemcpy(buffers.matrices, (const char *)args->matrices + begin * matrix,
                                                     count * matrix, cudaMemcpyHostToDevice), "copying matrices");
        if (status == HOT_OK)
            status = hot_heev_device_run(context, device, count, buffers.matrices, buffers.values, buffers.vectors,
                                         buffers.flags, NULL);
        if (status == HOT_OK)
            status = hot_cuda_status(context,
                                     cudaMemcpy(args->flags + begin, buffers.flags, count, cudaMemcpyDeviceToHost),
                                     "the eigensolver");
        if (status == HOT_OK)
            status = hot_cuda_status(
                context,
                cudaMemcpy((char *)args->values + begin * row, buffers.values, count * row, cudaMemcpyDeviceToHost),
                "copying eigenvalues");
        if (status == HOT_OK && args->vectors)
            status = hot_cuda_status(context,
                                     cudaMemcpy((char *)args->vectors + begin * vector, buffers.vectors, count * vector,
                                                cudaMemcpyDeviceToHost),
                                     "copying eigenvectors");
        if (status == HOT_OK)
            status = hot_context_progress(context, "eigenvectors", (double)(begin + count) / (double)args->count);
    }
    cudaFree(buffers.matrices);
    cudaFree(buffers.values);
    cudaFree(buffers.vectors);
    cudaFree(buffers.flags);
    hot_heev_device_destroy(context, &device);
    return status;
}

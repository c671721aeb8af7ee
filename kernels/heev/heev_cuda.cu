/* The CUDA backend of the heev family: matrices from the host's memory through the GPU, a piece of the batch at a
 * time. */
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "heev.h"
#include "heev_device.h"

typedef struct heev_buffers {
    void *matrices, *values, *vectors;
    uint8_t *flags;
} heev_buffers;

static hot_status reserve(hot_context *context, const hot_heev_job *job, size_t matrix, size_t row, size_t vector,
                          size_t *most, heev_buffers *buffers, hot_heev_device **device)
{
    size_t room = 0, total = 0;
    hot_status status = hot_cuda_status(context, cudaMemGetInfo(&room, &total), "asking for memory");
    if (status != HOT_OK)
        return status;
    /* as many matrices at a time as half of what is free holds, and 8 GiB */
    const int vectors = job->vectors != NULL;
    room = room / 2 < (size_t)8 << 30 ? room / 2 : (size_t)8 << 30;
    *most = room / (hot_heev_device_bytes(job->is_complex, job->n, vectors) + matrix + row + vector);
    *most = *most < 1 ? 1 : *most > 1 << 18 ? 1 << 18 : *most;
    *most = *most < job->count ? *most : job->count;
    status = hot_heev_device_create(context, job->f64, job->is_complex, job->n, job->kept, vectors, *most, device);
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
    const hot_heev_job *job = (const hot_heev_job *)argument;
    const size_t n = job->n, value = job->f64 ? sizeof(double) : sizeof(float), parts = job->is_complex ? 2 : 1;
    const size_t matrix = n * n * parts * value, vector = job->kept * n * parts * value, row = job->kept * value;
    heev_buffers buffers = {};
    hot_heev_device *device = NULL;
    size_t most = 1;
    hot_status status = reserve(context, job, matrix, row, vector, &most, &buffers, &device);
    for (size_t begin = 0; begin < job->count && status == HOT_OK; begin += most) {
        const size_t count = job->count - begin < most ? job->count - begin : most;
        status = hot_cuda_status(context, cudaMemcpy(buffers.matrices, (const char *)job->matrices + begin * matrix,
                                                     count * matrix, cudaMemcpyHostToDevice), "copying matrices");
        if (status == HOT_OK)
            status = hot_heev_device_run(context, device, count, buffers.matrices, buffers.values, buffers.vectors,
                                         buffers.flags, NULL);
        if (status == HOT_OK)
            status = hot_cuda_status(context,
                                     cudaMemcpy(job->flags + begin, buffers.flags, count, cudaMemcpyDeviceToHost),
                                     "the eigensolver");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy((char *)job->values + begin * row, buffers.values, count * row,
                                                         cudaMemcpyDeviceToHost), "copying eigenvalues");
        if (status == HOT_OK && job->vectors)
            status = hot_cuda_status(context,
                                     cudaMemcpy((char *)job->vectors + begin * vector, buffers.vectors, count * vector,
                                                cudaMemcpyDeviceToHost),
                                     "copying eigenvectors");
        if (status == HOT_OK)
            status = hot_context_progress(context, "eigenvectors", (double)(begin + count) / (double)job->count);
    }
    cudaFree(buffers.matrices);
    cudaFree(buffers.values);
    cudaFree(buffers.vectors);
    cudaFree(buffers.flags);
    hot_heev_device_destroy(context, &device);
    return status;
}

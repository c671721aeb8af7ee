/* hot_mttkrp_tensor on a GPU: a copy of the tensor, prepared for products, that stays there (cpd.h). */
#include <algorithm>
#include <cuda_runtime.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "cpd_queue.h"
#include "cpd/hopper/pass_args.h"

namespace {

const size_t rank_bound = 512; /* of a product through cuBLAS: more are made in pieces */

struct resident {
    pthread_mutex_t lock; /* what follows is one product's at a time */
    int number;           /* of the GPU */
    void *x;              /* NULL: products read the packed alone */
    hot_cpd_shared shared; /* without a packed they read x through cuBLAS */
    hot_cpd_device device;
    size_t rank;          /* that it is for; 0: there is none */
    void *narrow;         /* a product in the tensor's precision */
    cudaEvent_t done;     /* the last product that was queued on a caller's stream */
};

template <typename T> __global__ void finite_kernel(const T *x, size_t count, int *strange)
{
    bool all = true;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        all = all && isfinite(x[i]);
    if (!all)
        *strange = 1;
}

size_t size_of(const hot_mttkrp_tensor *t) { return t->f64 ? sizeof(double) : sizeof(float); }

hot_status copy(hot_context *context, void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return hot_cuda_status(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
}

hot_status check_finite(hot_context *context, const hot_mttkrp_tensor *t, const void *x)
{
    const size_t count = t->n[0] * t->n[1] * t->n[2];
    int *there = NULL, strange = 0;
    hot_status status = hot_cuda_status(context, cudaMalloc((void **)&there, sizeof *there), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemset(there, 0, sizeof *there), "memory");
    if (status == HOT_OK) {
        if (t->f64)
            finite_kernel<<<2048, 256>>>((const double *)x, count, there);
        else
            finite_kernel<<<2048, 256>>>((const float *)x, count, there);
        status = hot_cuda_status(context, cudaGetLastError(), "checking the tensor");
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(&strange, there, sizeof strange, cudaMemcpyDeviceToHost),
                                 "checking the tensor");
    cudaFree(there);
    return status == HOT_OK && strange ? hot_context_fail(context, HOT_ERROR_DATA, "the tensor holds NaN or Inf")
                                       : status;
}

/* The needs of products of this rank. */
hot_status prepare(hot_context *context, hot_mttkrp_tensor *t, resident *k, size_t rank)
{
    const size_t longest = std::max(t->n[0], std::max(t->n[1], t->n[2]));
    if (k->rank == rank)
        return HOT_OK;
    hot_cpd_device_destroy(context, &k->device);
    cudaFree(k->narrow);
    k->narrow = NULL, k->rank = 0;
    hot_status status =
        hot_cpd_device_create(context, t->f64, t->arithmetic, t->n, rank, k->x, &k->shared, 0, &k->device);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&k->narrow, longest * rank * size_of(t)), "memory for products");
    if (status == HOT_OK && k->shared.packed && !k->device.pass)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "there is no memory on the GPU for products of rank %zu",
                                  rank);
    if (status == HOT_OK)
        k->rank = rank;
    else
        hot_cpd_device_destroy(context, &k->device);
    return status;
}

/* Columns `first` to `first + count` of the product. */
hot_status piece(hot_context *context, hot_mttkrp_tensor *t, resident *k, const hot_mttkrp_args *args, size_t first,
                 size_t count)
{
    hot_cpd_device *d = &k->device;
    cudaStream_t stream = (cudaStream_t)d->stream;
    const size_t size = size_of(t), values = t->n[args->mode] * count;
    hot_status status = HOT_OK;
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        const size_t column = t->n[m] * size;
        if (m == args->mode)
            continue;
        status = copy(context, d->narrow[m], (const char *)args->factor[m] + first * column, count * column, stream);
        if (status == HOT_OK && count < k->rank)
            status = hot_cuda_status(context, cudaMemsetAsync((char *)d->narrow[m] + count * column, 0,
                                                              (k->rank - count) * column, stream), "memory");
        if (status == HOT_OK)
            status = hot_cpd_device_take_factor(context, d, m);
    }
    if (status == HOT_OK)
        status = hot_cpd_device_product(context, d, args->mode, 1);
    if (status == HOT_OK)
        status = hot_cpd_device_narrow(context, d, values, k->narrow);
    return status == HOT_OK ? copy(context, (char *)args->out + first * t->n[args->mode] * size, k->narrow,
                                   values * size, stream)
                            : status;
}

hot_status pieces(hot_context *context, hot_mttkrp_tensor *t, resident *k, const hot_mttkrp_args *args)
{
    const size_t most = k->shared.packed ? (size_t)CPD_MAX_COLUMNS : rank_bound;
    const size_t count = (args->rank + most - 1) / most, each = (args->rank + count - 1) / count;
    hot_status status = prepare(context, t, k, each);
    for (size_t first = 0; first < args->rank && status == HOT_OK; first += each)
        status = piece(context, t, k, args, first, std::min(each, args->rank - first));
    return status;
}

/* The state and prepared data of products. */
hot_status use_stream(hot_context *context, resident *k, void *stream)
{
    k->shared.stream = stream;
    if (k->device.stream)
        hot_cpd_device_set_stream(&k->device, stream);
    return k->shared.cublas ? hot_cublas_set_stream(context, k->shared.cublas, stream) : HOT_OK;
}

/* On the caller's stream, after the last product of another. Only the graph orders captured products. */
hot_status queue(hot_context *context, hot_mttkrp_tensor *t, resident *k, const hot_mttkrp_args *args,
                 cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    hot_status status = hot_mttkrp_check_places(context, args);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamIsCapturing(stream, &capture), "its stream");
    const bool captured = capture != cudaStreamCaptureStatusNone;
    if (status == HOT_OK && !captured)
        status = hot_cuda_status(context, cudaStreamWaitEvent(stream, k->done, 0), "the last product");
    if (status == HOT_OK) {
        void *const own = k->shared.stream;
        status = use_stream(context, k, stream);
        if (status == HOT_OK)
            status = pieces(context, t, k, args);
        const hot_status back = use_stream(context, k, own);
        status = status == HOT_OK ? back : status;
    }
    if (status == HOT_OK && !captured)
        status = hot_cuda_status(context, cudaEventRecord(k->done, stream), "the product");
    return status;
}

hot_status product(hot_context *context, hot_mttkrp_tensor *t, hot_mttkrp_args *args)
{
    resident *const k = (resident *)t->device;
    cudaStream_t own = (cudaStream_t)k->shared.stream;
    void *stream;
    const bool queued = hot_context_memory(context, &stream) == HOT_MEMORY_DEVICE;
    if (queued && hot_context_device_number(context) != k->number)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the tensor is on GPU %d, the context computes on GPU %d",
                                k->number, hot_context_device_number(context));
    pthread_mutex_lock(&k->lock);
    hot_status status = hot_cuda_status(context, cudaSetDevice(k->number), "device");
    if (status == HOT_OK && queued) {
        status = queue(context, t, k, args, (cudaStream_t)stream);
    } else if (status == HOT_OK) {
        status = hot_cuda_status(context, cudaStreamWaitEvent(own, k->done, 0), "the last product");
        if (status == HOT_OK)
            status = pieces(context, t, k, args);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaStreamSynchronize(own), "the product");
    }
    pthread_mutex_unlock(&k->lock);
    return status;
}

void release(hot_context *context, hot_mttkrp_tensor *t)
{
    resident *const k = (resident *)t->device;
    if (!k)
        return;
    cudaSetDevice(k->number);
    if (k->done) {
        cudaEventSynchronize(k->done);
        cudaEventDestroy(k->done);
    }
    hot_cpd_device_destroy(context, &k->device);
    hot_cpd_packed_tensor_destroy(context, &k->shared.packed);
    cudaFree(k->narrow);
    cudaFree(k->x);
    hot_cublas_destroy(context, &k->shared.cublas);
    if (k->shared.stream)
        cudaStreamDestroy((cudaStream_t)k->shared.stream);
    pthread_mutex_destroy(&k->lock);
    hot_context_free(context, k);
    t->device = NULL;
}

} // namespace

hot_status hot_mttkrp_tensor_cuda(hot_context *context, void *tensor)
{
    hot_mttkrp_tensor *const t = (hot_mttkrp_tensor *)tensor;
    t->product = product, t->release = release;
    hot_status status = hot_cpd_fits_kernels(context, t->n, 1);
    resident *const k = status == HOT_OK ? (resident *)hot_context_calloc(context, 1, sizeof *k) : NULL;
    if (!k)
        return status == HOT_OK ? HOT_ERROR_MEMORY : status;
    t->device = k;
    pthread_mutex_init(&k->lock, NULL);
    cudaStream_t stream = NULL;
    status = hot_cuda_status(context, cudaGetDevice(&k->number), "device");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamCreate(&stream) /* in order with plain copies */, "stream");
    k->shared.stream = stream;
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreateWithFlags(&k->done, cudaEventDisableTiming), "event");
    if (status == HOT_OK && hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE) {
        status = hot_device_check(context, "x", t->given);
        if (status == HOT_OK)
            status = hot_context_wait(context); /* for what makes x */
    }
    if (status == HOT_OK)
        status = hot_cpd_put_tensor(context, t->f64, t->n, t->given, &k->x);
    if (status == HOT_OK)
        status = check_finite(context, t, k->x);
    if (status == HOT_OK && t->arithmetic != HOT_CPD_FULL)
        status = hot_cpd_packed_tensor_create(context, (const float *)k->x, t->n, t->arithmetic == HOT_CPD_SPLIT,
                                              CPD_PRODUCTS, stream, &k->shared.packed);
    /* Without our own kernels, tensor cores are reached through cuBLAS alone; its message stands. */
    if (status == HOT_OK && !k->shared.packed && hot_cublas_create(context, stream, &k->shared.cublas) != HOT_OK &&
        t->arithmetic != HOT_CPD_FULL)
        status = HOT_ERROR_DEVICE;
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceSynchronize(), "keeping the tensor");
    hot_cpd_packed_tensor *const packed = k->shared.packed;
    if (status == HOT_OK && packed && (packed->halves || packed->aligned)) { /* x is not read any more */
        cudaFree(k->x);
        k->x = NULL, packed->x = NULL;
    }
    if (status != HOT_OK) { /* another backend may come after this one */
        release(context, t);
        t->release = NULL;
    }
    return status;
}

/* See cpd_queue.h. Arithmetic whose bits must be those of the host is written so that it is not fused. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_status.h"
#include "cpd_memory.h"
#include "cpd_queue.h"

namespace {

enum { THREADS = 256, ALIGNMENT = 16 };

cudaStream_t stream_of(const hot_cpd_device *d) { return (cudaStream_t)d->stream; }

/* As hot_cpd_first_end does on the host: a column per block to unit length; one of zeros to equal values. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    given_kernel(const T *from, int n, int non_negative, double *f, double *before)
{
    __shared__ double most[THREADS];
    __shared__ double norm;
    const size_t column = (size_t)n * blockIdx.x;
    double here = 0;
    for (int i = threadIdx.x; i < n; i += THREADS)
        here = fmax(here, fabs((double)from[column + i]));
    most[threadIdx.x] = here;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int t = 1; t < THREADS; t++)
            here = fmax(here, most[t]);
        for (int i = 0; i < n && here > 0; i++) {
            const double part = fabs((double)from[column + i]) / here;
            sum = __dadd_rn(sum, __dmul_rn(part, part));
        }
        norm = here * sqrt(sum);
    }
    __syncthreads();
    const bool null = !(norm > 0 && isfinite(norm));
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const double value = from[column + i], kept = non_negative ? fabs(value) : value;
        f[column + i] = before[column + i] = null ? 1 / sqrt((double)n) : kept / norm;
    }
}

/* most = the bits of the largest |value|, which has the largest bits: of NaN and Inf those. */
template <typename T, typename BITS>
__global__ void __launch_bounds__(THREADS) most_kernel(const T *x, size_t count, BITS *most)
{
    BITS here = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * THREADS) {
        const T value = x[i] < 0 ? -x[i] : x[i];
        BITS bits;
        memcpy(&bits, &value, sizeof bits);
        bits &= ~(BITS)0 >> 1;
        here = bits > here ? bits : here;
    }
    for (int step = 16; step; step /= 2) {
        const BITS other = __shfl_xor_sync(0xffffffff, here, step);
        here = other > here ? other : here;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(most, here);
}

/* As far_exponent does on the host (cpd.c). */
template <typename T, typename BITS> __global__ void exponent_kernel(const BITS *most, int *exponent)
{
    T largest;
    int of = 0;
    memcpy(&largest, most, sizeof largest);
    if (largest > 0 && isfinite(largest))
        frexp((double)largest, &of);
    *exponent = abs(of) > HOT_CPD_USUAL_EXPONENT ? of : 0;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) scale_kernel(const T *x, size_t count, const int *exponent, T *to)
{
    const int power = -*exponent;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * THREADS)
        to[i] = (T)ldexp((double)x[i], power);
}

template <typename T, typename BITS>
hot_status queue_scaled(hot_context *context, size_t total, int waits, const T *x, int **exponent, void **copy,
                        const void **scaled)
{
    enum { BLOCKS = 1024 };
    void *stream_pointer, *most = NULL;
    hot_context_memory(context, &stream_pointer);
    const cudaStream_t stream = (cudaStream_t)stream_pointer;
    int far = 1;
    hot_status status = hot_device_alloc(context, sizeof(BITS), &most, "the tensor's largest value");
    if (status == HOT_OK)
        status = hot_device_alloc(context, sizeof **exponent, (void **)exponent, "the tensor's largest value");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemsetAsync(most, 0, sizeof(BITS), stream), "the tensor's largest value");
    if (status == HOT_OK) {
        most_kernel<<<BLOCKS, THREADS, 0, stream>>>(x, total, (BITS *)most);
        exponent_kernel<T><<<1, 1, 0, stream>>>((const BITS *)most, *exponent);
        status = hot_cpd_launched(context, "the tensor's largest value");
    }
    if (status == HOT_OK && waits) {
        status = hot_cuda_status(context, cudaMemcpyAsync(&far, *exponent, sizeof far, cudaMemcpyDeviceToHost, stream),
                                 "the tensor's largest value");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaStreamSynchronize(stream), "the tensor's largest value");
    }
    if (status == HOT_OK && far) {
        status = hot_device_alloc(context, total * sizeof(T), copy, "memory for the tensor");
        if (status == HOT_OK) {
            scale_kernel<<<BLOCKS, THREADS, 0, stream>>>(x, total, *exponent, (T *)*copy);
            status = hot_cpd_launched(context, "scaling the tensor");
            *scaled = *copy;
        }
    }
    hot_device_release(context, most);
    return status;
}

/* order[r]: which term is the r-th by falling lambda, as exchanging columns finds it. One block. */
__global__ void __launch_bounds__(THREADS) order_kernel(int rank, const double *lambda, int *order)
{
    extern __shared__ double value[]; /* rank values, and behind them which terms they are of */
    __shared__ double most[THREADS / 32];
    __shared__ int at[THREADS / 32];
    int *const term = (int *)(value + rank);
    for (int r = threadIdx.x; r < rank; r += THREADS)
        value[r] = lambda[r], term[r] = r;
    __syncthreads();
    for (int r = 0; r + 1 < rank; r++) {
        double best = -1;
        int place = rank; /* the first of the largest */
        for (int q = r + threadIdx.x; q < rank; q += THREADS)
            if (value[q] > best)
                best = value[q], place = q;
        for (int step = 16; step; step /= 2) {
            const double other = __shfl_xor_sync(0xffffffff, best, step);
            const int there = __shfl_xor_sync(0xffffffff, place, step);
            if (other > best || (other == best && there < place))
                best = other, place = there;
        }
        if (threadIdx.x % 32 == 0)
            most[threadIdx.x / 32] = best, at[threadIdx.x / 32] = place;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < THREADS / 32; w++)
                if (most[w] > best || (most[w] == best && at[w] < place))
                    best = most[w], place = at[w];
            if (place < rank) { /* else there is nothing but NaN */
                const double kept = value[r];
                const int which = term[r];
                value[r] = value[place], term[r] = term[place];
                value[place] = kept, term[place] = which;
            }
        }
        __syncthreads();
    }
    for (int r = threadIdx.x; r < rank; r += THREADS)
        order[r] = term[r];
}

/* A term's column of one factor. *square 0: that of the start; not finite: NaN. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    factor_kernel(const double *square, const int *order, int n, const double *f, const double *first, T *to)
{
    const size_t r = blockIdx.x;
    const bool zero = *square == 0, strange = !isfinite(*square);
    const double *const from = zero && first ? first + n * r : f + (size_t)n * (zero ? (int)r : order[r]);
    for (int i = threadIdx.x; i < n; i += THREADS)
        to[i + n * r] = strange ? (T)NAN : (T)from[i];
}

struct report_arrays {
    const double *square, *lambda, *gram[3], *fits;
    const int *order, *regularised, *exponent;
    double *their_fits;
    hot_cpd_report *report;
};

/* lambda, the fits and the report. One block. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    report_kernel(report_arrays a, int rank, int iterations, int converged, T *to)
{
    __shared__ double most[THREADS];
    __shared__ int nulls;
    const double square = a.square[0], residual = a.square[1];
    const bool zero = square == 0, strange = !isfinite(square);
    double congruence = 0;
    if (threadIdx.x == 0)
        nulls = 0;
    __syncthreads();
    for (int r = threadIdx.x; r < rank; r += THREADS) {
        const double value = zero ? 0 : strange ? NAN : a.lambda[a.order[r]];
        to[r] = (T)ldexp(value, *a.exponent);
        if (value == 0)
            atomicAdd(&nulls, 1);
    }
    for (int at = threadIdx.x; at < rank * rank && !zero; at += THREADS) {
        const int r = at / rank, q = at % rank;
        const double cosine = fabs(a.gram[0][at] * a.gram[1][at] * a.gram[2][at]);
        if (q < r && a.lambda[r] > 0 && a.lambda[q] > 0)
            congruence = fmax(congruence, fmin(cosine, 1.));
    }
    for (int i = threadIdx.x; a.their_fits && i < iterations && !zero; i += THREADS)
        a.their_fits[i] = strange ? NAN : a.fits[i];
    most[threadIdx.x] = congruence;
    __syncthreads();
    if (threadIdx.x != 0 || !a.report)
        return;
    for (int t = 1; t < THREADS; t++)
        congruence = fmax(congruence, most[t]);
    hot_cpd_report report = {};
    report.iterations = zero ? 0 : iterations, report.converged = zero ? 1 : converged;
    report.regularised = zero ? 0 : *a.regularised, report.nulls = nulls;
    report.norm = strange ? NAN : ldexp(sqrt(square), *a.exponent);
    report.fit = zero ? 1 : strange ? NAN : 1 - sqrt(residual / square);
    report.congruence = congruence;
    *a.report = report;
}

template <typename T>
hot_status write_results(hot_context *context, const hot_cpd_args *args, hot_cpd_device *d, const int *order,
                         const int *exponent, double *const first[3])
{
    const int rank = (int)d->rank;
    report_arrays arrays = {d->square, d->lambda, {d->gram[0], d->gram[1], d->gram[2]}, d->fits,
                            order, d->counters, exponent, args->options.fits, args->device_report};
    for (int m = 0; m < 3; m++)
        factor_kernel<T><<<rank, THREADS, 0, stream_of(d)>>>(d->square, order, (int)d->n[m], d->f[m],
                                                             first ? first[m] : NULL, (T *)args->factor[m]);
    report_kernel<T><<<1, THREADS, 0, stream_of(d)>>>(arrays, rank, args->report.iterations, args->report.converged,
                                                      (T *)args->device_lambda);
    return hot_cpd_launched(context, "results");
}

} // namespace

hot_status hot_mttkrp_check_places(hot_context *context, const hot_mttkrp_args *args)
{
    static const char *const names[] = {"a", "b", "c"};
    hot_status status = hot_device_check(context, "x", args->x);
    for (int m = 0; m < 3 && status == HOT_OK; m++)
        if (m != args->mode)
            status = hot_device_check(context, names[m], args->factor[m]);
    return status == HOT_OK ? hot_device_check(context, "out", args->out) : status;
}

int hot_cpd_waits(const hot_cpd_args *args)
{
    return args->options.tolerance >= 0 || args->options.start == HOT_CPD_HOSVD;
}

hot_status hot_cpd_check_places(hot_context *context, const hot_cpd_args *args)
{
    const struct { const char *name; const void *array; } arrays[] = {
        {"x", args->x}, {"lambda", args->device_lambda}, {"a", args->factor[0]}, {"b", args->factor[1]},
        {"c", args->factor[2]}, {"report", args->device_report}, {"options.fits", args->options.fits}};
    hot_status status = HOT_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == HOT_OK; i++)
        status = hot_device_check(context, arrays[i].name, arrays[i].array);
    void *stream;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (status != HOT_OK || hot_context_memory(context, &stream) == HOT_MEMORY_HOST || !hot_cpd_waits(args))
        return status;
    status = hot_cuda_status(context, cudaStreamIsCapturing((cudaStream_t)stream, &capture), "its stream");
    if (status == HOT_OK && capture != cudaStreamCaptureStatusNone)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a decomposition waits for the GPU %s, which a capture does not allow",
                                args->options.start == HOT_CPD_HOSVD ? "with the start HOSVD"
                                                                     : "unless its tolerance is negative");
    return status;
}

hot_status hot_cpd_queue_aligned(hot_context *context, const void *x, size_t bytes, void **copy, const void **aligned)
{
    void *stream;
    *copy = NULL;
    *aligned = x;
    if ((uintptr_t)x % ALIGNMENT == 0)
        return HOT_OK;
    hot_context_memory(context, &stream);
    const hot_status status = hot_device_alloc(context, bytes, copy, "memory for the tensor");
    *aligned = *copy;
    return status != HOT_OK ? status
                            : hot_cuda_status(context, cudaMemcpyAsync(*copy, x, bytes, cudaMemcpyDeviceToDevice,
                                                                       (cudaStream_t)stream), "copying the tensor");
}

hot_status hot_cpd_queue_scaled(hot_context *context, const hot_cpd_args *args, int waits, const void *x,
                                int **exponent, void **copy, const void **scaled)
{
    const size_t total = args->n[0] * args->n[1] * args->n[2];
    *exponent = NULL, *copy = NULL, *scaled = x;
    return args->f64 ? queue_scaled<double, unsigned long long>(context, total, waits, (const double *)x, exponent,
                                                                copy, scaled)
                     : queue_scaled<float, unsigned>(context, total, waits, (const float *)x, exponent, copy, scaled);
}

hot_status hot_cpd_queue_given(hot_context *context, const hot_cpd_args *args, hot_cpd_device *d, int mode)
{
    const int n = (int)d->n[mode], non_negative = args->options.non_negative;
    if (d->f64)
        given_kernel<<<(unsigned)d->rank, THREADS, 0, stream_of(d)>>>((const double *)args->factor[mode], n,
                                                                      non_negative, d->f[mode], d->before);
    else
        given_kernel<<<(unsigned)d->rank, THREADS, 0, stream_of(d)>>>((const float *)args->factor[mode], n,
                                                                      non_negative, d->f[mode], d->before);
    return hot_cpd_launched(context, "the start");
}

hot_status hot_cpd_queue_finish(hot_context *context, const hot_cpd_args *args, hot_cpd_device *d, const void *x,
                                const int *exponent, double *const first[3])
{
    const size_t shared = d->rank * (sizeof(double) + sizeof(int));
    int *order = NULL;
    hot_status status = hot_device_alloc(context, d->rank * sizeof *order, (void **)&order, "the order of the terms");
    if (status == HOT_OK)
        status = hot_cpd_device_residual(context, d, x, NULL);
    if (status == HOT_OK) {
        order_kernel<<<1, THREADS, shared, stream_of(d)>>>((int)d->rank, d->lambda, order);
        status = hot_cpd_launched(context, "the order of the terms");
    }
    if (status == HOT_OK)
        status = d->f64 ? write_results<double>(context, args, d, order, exponent, first)
                        : write_results<float>(context, args, d, order, exponent, first);
    hot_device_release(context, order);
    return status;
}

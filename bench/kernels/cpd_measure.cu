/* See cpd_measure.h. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "cpd/gpu/cpd_device.h"
#include "cpd/gpu/als_kernels.cuh"
#include "cpd_measure.h"

struct hot_cpd_bench {
    hot_cpd_device device;
    hot_cpd_shared kept;    /* of the tensor, kept for products */
    hot_cpd_use use;        /* of the device */
    float *x, *pairs, *out; /* the tensor; for cuBLAS: Khatri-Rao product and result */
    __half *halves, *thin;  /* for cuBLAS on halves: tensor and factors */
    float *sums;
    hot_cpd_arithmetic arithmetic;
    size_t side, rank;
};

static __global__ void fill(float *values, size_t count, unsigned seed)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        values[i] = (float)((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1;
    }
}

static __global__ void reset(int *counters) { counters[threadIdx.x] = 0; }

static __global__ void widen(const float *from, size_t count, double *to)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

/* pairs[p + P (q + Q r)] = one[p, r] other[q, r] */
static __global__ void khatri_rao(const float *one, size_t np, const float *other, size_t nq, size_t rank, float *pairs)
{
    const size_t count = np * nq * rank;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        pairs[i] = one[i % np + np * (i / (np * nq))] * other[i / np % nq + nq * (i / (np * nq))];
}

/* Reads, and would write if it could be left out. */
static __global__ void __launch_bounds__(512) read_all(const float4 *x, size_t count, float *out)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    float sum = 0;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
        const float4 a = x[i], b = x[i + step], c = x[i + 2 * step], d = x[i + 3 * step];
        sum += a.x + b.y + c.z + d.w;
    }
    for (; i < count; i += step)
        sum += x[i].x;
    if (sum == 12345.f)
        *out = sum;
}

static __global__ void empty() {}

/* Columns or rows of n as halves, ld apart; between them 0. */
static __global__ void halve(const float *from, size_t n, size_t count, size_t ld, __half *to)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < ld * count; i += (size_t)gridDim.x * blockDim.x)
        to[i] = i % ld < n ? __float2half_rn(from[i % ld + n * (i / ld)]) : __half(0);
}

/* Values of the product in double: a block each. */
static __global__ void __launch_bounds__(256)
    exact(const float *x, size_t n, int mode, const float *one, const float *other, const size_t *where, double *out)
{
    __shared__ double parts[256];
    const size_t row = where[2 * blockIdx.x], r = where[2 * blockIdx.x + 1];
    const size_t step[3] = {1, n, n * n};
    const int first = mode == 0 ? 1 : 0, second = mode == 2 ? 1 : 2;
    double sum = 0;
    for (size_t pair = threadIdx.x; pair < n * n; pair += 256)
        sum += (double)x[row * step[mode] + pair % n * step[first] + pair / n * step[second]] * one[pair % n + n * r] *
               other[pair / n + n * r];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if ((int)threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = parts[0];
}

static void forget(hot_context *context, hot_cpd_bench *bench)
{
    hot_cpd_packed_tensor_destroy(context, &bench->kept.packed);
    hot_cublas_destroy(context, &bench->kept.cublas);
    if (bench->kept.stream)
        cudaStreamDestroy((cudaStream_t)bench->kept.stream);
    bench->kept.stream = NULL;
}

/* The arrays of products from floats, of products from a kept tensor, or of iterations. */
static hot_status make_device(hot_context *context, hot_cpd_bench *bench, hot_cpd_use use)
{
    hot_cpd_device *d = &bench->device;
    const size_t n[3] = {bench->side, bench->side, bench->side};
    double square = 0;
    hot_status status = HOT_OK;
    if (d->stream && bench->use == use)
        return HOT_OK;
    hot_cpd_device_destroy(context, d);
    forget(context, bench);
    if (use == CPD_PRODUCTS && bench->arithmetic != HOT_CPD_FULL) {
        cudaStream_t stream = NULL;
        status = hot_cuda_status(context, cudaStreamCreate(&stream), "stream");
        bench->kept.stream = stream;
        if (status == HOT_OK)
            status = hot_cpd_packed_tensor_create(context, bench->x, n, bench->arithmetic == HOT_CPD_SPLIT, use, stream,
                                                  &bench->kept.packed);
        if (status == HOT_OK) /* to compare with; there may be none */
            hot_cublas_create(context, stream, &bench->kept.cublas);
    }
    if (status == HOT_OK)
        status = hot_cpd_device_create(context, 0, bench->arithmetic, n, bench->rank, bench->x,
                                       bench->kept.stream ? &bench->kept : NULL, use == CPD_SWEEPS ? 10 : 0, d);
    bench->use = use;
    if (status == HOT_OK)
        status = hot_cpd_device_square(context, d, bench->x, &square);
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        fill<<<64, 256, 0, (cudaStream_t)d->stream>>>((float *)d->before, bench->side * bench->rank, 7 + m);
        widen<<<64, 256, 0, (cudaStream_t)d->stream>>>((const float *)d->before, bench->side * bench->rank, d->f[m]);
        status = hot_cpd_device_publish(context, d, m);
    }
    return status;
}

hot_status hot_cpd_bench_create(hot_context *context, size_t side, size_t rank, hot_cpd_arithmetic arithmetic,
                                hot_cpd_bench **out)
{
    *out = NULL;
    if (hot_cuda_count() == 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
    hot_status status = hot_cuda_select(context, hot_context_device_number(context));
    hot_cpd_bench *bench = status == HOT_OK ? (hot_cpd_bench *)hot_context_calloc(context, 1, sizeof *bench) : NULL;
    const size_t total = side * side * side;
    if (!bench)
        return status == HOT_OK ? HOT_ERROR_MEMORY : status;
    bench->arithmetic = arithmetic, bench->side = side, bench->rank = rank;
    status = hot_cuda_status(context, cudaMalloc((void **)&bench->x, total * sizeof(float)), "memory for the tensor");
    if (status == HOT_OK) {
        fill<<<2048, 256>>>(bench->x, total, 1);
        status = hot_cuda_status(context, cudaDeviceSynchronize(), "random data");
    }
    if (status == HOT_OK)
        status = make_device(context, bench, CPD_ONE_PRODUCT);
    if (status == HOT_OK)
        *out = bench;
    else
        hot_cpd_bench_destroy(context, &bench);
    return status;
}

void hot_cpd_bench_destroy(hot_context *context, hot_cpd_bench **bench)
{
    if (!*bench)
        return;
    hot_cpd_device_destroy(context, &(*bench)->device);
    forget(context, *bench);
    cudaFree((*bench)->x);
    cudaFree((*bench)->halves);
    cudaFree((*bench)->thin);
    cudaFree((*bench)->sums);
    cudaFree((*bench)->pairs);
    cudaFree((*bench)->out);
    hot_context_free(context, *bench);
    *bench = NULL;
}

static hot_status measure_error(hot_context *context, hot_cpd_bench *bench, int mode, double *error)
{
    enum { SAMPLE = 200 };
    hot_cpd_device *d = &bench->device;
    const size_t n = d->n[0], count = n * d->rank;
    const int first = mode == 0 ? 1 : 0, second = mode == 2 ? 1 : 2;
    size_t where[2 * SAMPLE], *there = NULL;
    double expected[SAMPLE], *there_expected = NULL, *all = (double *)hot_context_alloc(context, count, sizeof *all);
    float *whole[2] = {NULL, NULL};
    hot_status status = all ? HOT_OK : HOT_ERROR_MEMORY;
    for (int s = 0; s < SAMPLE; s++)
        where[2 * s] = (size_t)(s * 7919) % n, where[2 * s + 1] = (size_t)(s * 104729) % d->rank;
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&there, sizeof where), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&there_expected, sizeof expected), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(there, where, sizeof where, cudaMemcpyHostToDevice), "copy");
    for (int f = 0; f < 2 && status == HOT_OK; f++) { /* factors as floats, whole also where they are split */
        status = hot_cuda_status(context, cudaMalloc((void **)&whole[f], count * sizeof(float)), "memory");
        if (status == HOT_OK)
            status = hot_cuda_status(
                context, cudaMemcpy(all, d->f[f ? second : first], count * sizeof *all, cudaMemcpyDeviceToHost),
                "copy");
        float *narrow = status == HOT_OK ? (float *)hot_context_alloc(context, count, sizeof *narrow) : NULL;
        for (size_t i = 0; narrow && i < count; i++)
            narrow[i] = (float)all[i];
        if (narrow)
            status = hot_cuda_status(
                context, cudaMemcpy(whole[f], narrow, count * sizeof *narrow, cudaMemcpyHostToDevice), "copy");
        hot_context_free(context, narrow);
    }
    if (status == HOT_OK) {
        exact<<<SAMPLE, 256>>>(bench->x, n, mode, whole[0], whole[1], there, there_expected);
        status = hot_cuda_status(context, cudaMemcpy(expected, there_expected, sizeof expected, cudaMemcpyDeviceToHost),
                                 "reference");
    }
    if (status == HOT_OK)
        status = hot_cpd_device_product(context, d, mode, 1);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(all, d->product, count * sizeof *all, cudaMemcpyDeviceToHost),
                                 "product");
    double largest = 0;
    *error = 0;
    for (int s = 0; s < SAMPLE && status == HOT_OK; s++) {
        const double difference = fabs(all[where[2 * s] + n * where[2 * s + 1]] - expected[s]);
        largest = std::max(largest, fabs(expected[s]));
        *error = !(difference <= *error) ? difference : *error; /* NaN stays */
    }
    *error /= largest;
    cudaFree(there);
    cudaFree(there_expected);
    cudaFree(whole[0]);
    cudaFree(whole[1]);
    hot_context_free(context, all);
    return status;
}

hot_status hot_cpd_bench_run(hot_context *context, hot_cpd_bench *bench, int mode, int how, double seconds,
                             double *median, double *error)
{
    hot_cpd_device *d = &bench->device;
    hot_status status = make_device(context, bench,
                                    mode == 0                 ? CPD_SWEEPS
                                    : how & HOT_CPD_FROM_KEPT ? CPD_PRODUCTS
                                                              : CPD_ONE_PRODUCT);
    cudaStream_t stream = (cudaStream_t)d->stream;
    if (status == HOT_OK && mode > 0 && error)
        status = measure_error(context, bench, mode - 1, error);
    if (status == HOT_OK)
        status = hot_cuda_time(context, stream, 1, [&]() {
            if (mode > 0) {
                hot_status made = HOT_OK;
                for (int product = 0; product < 3 && made == HOT_OK; product++) {
                    if (mode < 4 && product != mode - 1)
                        continue;
                    for (int m = 0; m < 3 && made == HOT_OK && how & HOT_CPD_AND_FACTORS; m++)
                        made = m == product ? HOT_OK : hot_cpd_device_take_factor(context, d, m);
                    if (made == HOT_OK)
                        made = hot_cpd_device_product(context, d, product, 1);
                }
                return made;
            }
            reset<<<1, 2, 0, stream>>>(d->counters);
            hot_status made = hot_cuda_status(context, cudaGetLastError(), "counters");
            d->turn = 0;
            if (made == HOT_OK && d->pass)
                made = hot_cpd_packed_tensor_round(context, d->packed, stream);
            for (int i = 0; i < 10 && made == HOT_OK; i++)
                made = hot_cpd_device_iterate(context, d, 0);
            return made;
        }, seconds, median, NULL, NULL);
    if (mode == 4)
        *median /= 3;
    return status;
}

/* cuBLAS on halves: the tensor has `ld` rows, those beyond the side are 0. */
static hot_status cublas_half(hot_context *context, hot_cpd_bench *bench, int mode, double seconds, double *median)
{
    hot_cpd_device *d = &bench->device;
    const size_t n = bench->side, rank = bench->rank, ld = (n + 7) / 8 * 8;
    cudaStream_t stream = (cudaStream_t)d->stream;
    hot_status status = HOT_OK;
    const auto allocate = [&](void *where, size_t bytes) {
        cudaFree(*(void **)where);
        *(void **)where = NULL;
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMalloc((void **)where, bytes), "memory for cuBLAS");
    };
    allocate(&bench->halves, ld * n * n * sizeof(__half));
    allocate(&bench->thin, ld * rank * sizeof(__half));
    allocate(&bench->sums, ld * n * rank * sizeof(float));
    allocate(&bench->out, ld * rank * sizeof(double));
    allocate(&bench->pairs, ld * rank * sizeof(float)); /* a factor with `ld` rows: any values do */
    if (status != HOT_OK)
        return status;
    const int contracted = mode == 3 ? 0 : 2, with = mode == 2 ? 0 : 1;
    halve<<<2048, 256, 0, stream>>>(bench->x, n, n * n, ld, bench->halves);
    halve<<<64, 256, 0, stream>>>((const float *)d->narrow[contracted], n, rank, ld, bench->thin);
    fill<<<64, 256, 0, stream>>>(bench->pairs, ld * rank, 3);
    const size_t rows = mode == 3 ? n * n : ld * n;
    const float *const factor = with == 0 ? bench->pairs : (const float *)d->narrow[with];
    double *const out = (double *)bench->out;
    return hot_cuda_time(context, stream, 1, [&]() {
        hot_status made = hot_cublas_multiply(context, d->cublas, HOT_CUBLAS_F16, mode == 3, 0, rows, rank, n, 1,
                                              bench->halves, mode == 3 ? ld : ld * n, 0, bench->thin, ld, 0, 0,
                                              bench->sums, rows, 0, 1);
        if (mode == 1)
            over_second<float><<<dim3((unsigned)((ld + 31) / 32), (unsigned)rank), dim3(32, 16), 0, stream>>>(
                bench->sums, ld, n, factor, NULL, out);
        else
            over_first<float><<<dim3((unsigned)((n + 7) / 8), (unsigned)rank), dim3(32, 8), 0, stream>>>(
                bench->sums, mode == 3 ? n : ld, n, factor, NULL, out);
        return made == HOT_OK ? hot_cuda_status(context, cudaGetLastError(), "the sums beside cuBLAS") : made;
    }, seconds, median, NULL, NULL);
}

hot_status hot_cpd_bench_cublas(hot_context *context, hot_cpd_bench *bench, int mode, hot_cpd_cublas_method method,
                                double seconds, double *median)
{
    hot_cpd_device *d = &bench->device;
    const size_t n = d->n[0], rank = d->rank, pairs = n * n;
    cudaStream_t stream = (cudaStream_t)d->stream;
    hot_status status = HOT_OK;
    if (!d->cublas || (mode == 2 && method == HOT_CPD_CUBLAS_KHATRI_RAO))
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                d->cublas ? "mode 2 is no unfolding in memory" : "there is no cuBLAS");
    if (method == HOT_CPD_CUBLAS_GEMM_HALF)
        return cublas_half(context, bench, mode, seconds, median);
    if (method == HOT_CPD_CUBLAS_GEMM) {
        hot_cpd_pass *const pass = d->pass; /* without it products are cuBLAS's */
        d->pass = NULL;
        status = hot_cuda_time(context, stream, 1, [&]() { return hot_cpd_device_product(context, d, mode - 1, 1); },
                               seconds, median, NULL, NULL);
        d->pass = pass;
        return status;
    }
    cudaFree(bench->pairs);
    cudaFree(bench->out);
    bench->pairs = bench->out = NULL;
    status = hot_cuda_status(context, cudaMalloc((void **)&bench->pairs, pairs * rank * sizeof(float)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&bench->out, n * rank * sizeof(float)), "memory");
    if (status != HOT_OK)
        return status;
    const hot_cublas_precision precision = bench->arithmetic == HOT_CPD_FULL ? HOT_CUBLAS_F32 : HOT_CUBLAS_TF32;
    return hot_cuda_time(context, stream, 1, [&]() {
        const int first = mode == 1 ? 1 : 0, second = mode == 1 ? 2 : 1;
        khatri_rao<<<2048, 256, 0, stream>>>((const float *)d->narrow[first], n, (const float *)d->narrow[second], n,
                                             rank, bench->pairs);
        return hot_cublas_multiply(context, d->cublas, precision, mode == 3, 0, n, rank, pairs, 1, bench->x,
                                   mode == 3 ? pairs : n, 0, bench->pairs, pairs, 0, 0, bench->out, n, 0, 1);
    }, seconds, median, NULL, NULL);
}

hot_status hot_cpd_bench_read(hot_context *context, hot_cpd_bench *bench, size_t bytes, double seconds, double *median)
{
    cudaStream_t stream = (cudaStream_t)bench->device.stream;
    const size_t total = bench->side * bench->side * bench->side;
    return hot_cuda_time(context, stream, 1, [&]() {
        if (bytes)
            read_all<<<528, 512, 0, stream>>>((const float4 *)bench->x, total * bytes / 16,
                                              (float *)bench->device.product);
        else
            empty<<<1, 32, 0, stream>>>();
        return hot_cuda_status(context, cudaGetLastError(), "reading");
    }, seconds, median, NULL, NULL);
}

hot_status hot_cpd_bench_lend(hot_context *context, const void *values, size_t bytes, void **there)
{
    const hot_status status = hot_cuda_status(context, cudaMalloc(there, bytes), "memory");
    return status == HOT_OK
               ? hot_cuda_status(context, cudaMemcpy(*there, values, bytes, cudaMemcpyHostToDevice), "copying")
               : status;
}

hot_status hot_cpd_bench_return(hot_context *context, void *there, size_t bytes, void *values)
{
    const hot_status status =
        hot_cuda_status(context, cudaMemcpy(values, there, bytes, cudaMemcpyDeviceToHost), "copying");
    cudaFree(there);
    return status;
}

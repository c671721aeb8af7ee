/* See gpu_machine.h. */
#include <algorithm>
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <vector>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "gpu_machine.h"

namespace {

enum { CHAINS = 8, STEPS = 4096, THREADS = 256, TRIES = 5 };

/* Independent chains of multiply-adds; the sum is stored where it cannot be, so that none is left out. */
template <typename T> __global__ void multiply_add(T factor, T term, T *out)
{
    T sum[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum[c] = T(threadIdx.x + c);
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            sum[c] = fma(sum[c], factor, term);
    T all = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        all += sum[c];
    if (all == T(-1))
        *out = all;
}

template <typename T> hot_status peak(hot_context *context, int blocks, void *out, double *rate)
{
    double times[TRIES];
    int timed = 0;
    hot_cuda_timing timing;
    timing.warm_up = 2, timing.least = timing.most = TRIES;
    const hot_status status = hot_cuda_time_runs(context, timing, [&] {
        multiply_add<T><<<blocks, THREADS>>>(T(.999), T(.001), (T *)out);
        return hot_cuda_status(context, cudaGetLastError(), "multiply-adds");
    }, times, &timed);
    if (status == HOT_OK)
        *rate = 2. * CHAINS * STEPS * THREADS * blocks / *std::min_element(times, times + timed);
    return status;
}

/* The number of eigenvalues below x: the negative pivots of T - x I. A pivot that vanishes counts as negative, and
 * dividing by one of `least` keeps the count monotone. */
__device__ int count_below(const float *a, const float *b, int n, float x, float least)
{
    int count = 0;
    float pivot = 1, square = 0;
    for (int i = 0; i < n; i++) {
        pivot = a[i] - x - square / pivot;
        if (fabsf(pivot) < least)
            pivot = -least;
        count += pivot < 0;
        square = b[i] * b[i];
    }
    return count;
}

__global__ void bisect(const float *a, const float *b, int n, float low, float high, float absolute, float least,
                       float *values)
{
    const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (k >= n)
        return;
    while (high - low > absolute) {
        const float middle = .5f * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (count_below(a, b, n, middle, least) > k)
            high = middle;
        else
            low = middle;
    }
    values[k] = .5f * (low + high);
}

} // namespace

const char *hot_gpu_name(void)
{
    static char name[256];
    cudaDeviceProp properties;
    int device = 0;
    if (name[0])
        return name;
    if (hot_cuda_count() == 0 || cudaGetDevice(&device) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    snprintf(name, sizeof name, "%s", properties.name);
    return name;
}

hot_status hot_gpu_measure_peaks(hot_context *context, hot_gpu_peaks *peaks)
{
    const size_t bytes = (size_t)1 << 30;
    void *from = NULL, *to = NULL;
    double times[TRIES];
    int timed = 0, multiprocessors = 0;
    hot_cuda_timing timing;
    *peaks = hot_gpu_peaks{};
    hot_status status = hot_cuda_select(context, -1);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
                                 "multiprocessors");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&from, bytes), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&to, bytes), "memory");
    if (status == HOT_OK)
        status = peak<float>(context, 16 * multiprocessors, to, &peaks->f32);
    if (status == HOT_OK)
        status = peak<double>(context, 16 * multiprocessors, to, &peaks->f64);
    timing.warm_up = 1, timing.least = timing.most = TRIES;
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            return hot_cuda_status(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copying");
        }, times, &timed);
    if (status == HOT_OK)
        peaks->bandwidth = 2. * (double)bytes / *std::min_element(times, times + timed);
    cudaFree(from);
    cudaFree(to);
    return status;
}

hot_status hot_gpu_bisect(hot_context *context, size_t n, const double *a, const double *b, double absolute,
                          int repeats, double *seconds, float *values)
{
    std::vector<float> rows(2 * n);
    double low = INFINITY, high = -INFINITY, largest = 0;
    int timed = 0;
    float *memory = NULL;
    hot_cuda_timing timing;
    for (size_t i = 0; i < n; i++) {
        const double radius = (i + 1 < n ? fabs(b[i]) : 0) + (i ? fabs(b[i - 1]) : 0);
        low = std::min(low, a[i] - radius), high = std::max(high, a[i] + radius);
        rows[i] = (float)a[i], rows[n + i] = (float)b[i];
        largest = std::max(largest, b[i] * b[i]);
    }
    const float least = (float)std::max(largest, 1.) * FLT_MIN;
    hot_status status = hot_cuda_select(context, -1);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&memory, 3 * n * sizeof *memory), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(memory, rows.data(), 2 * n * sizeof *memory,
                                                     cudaMemcpyHostToDevice), "copying");
    timing.warm_up = 1, timing.least = timing.most = repeats;
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            bisect<<<(unsigned)((n + 63) / 64), 64>>>(memory, memory + n, (int)n, (float)low, (float)high,
                                                      (float)absolute, least, memory + 2 * n);
            return hot_cuda_status(context, cudaGetLastError(), "bisection");
        }, seconds, &timed);
    if (status == HOT_OK && values)
        status = hot_cuda_status(context, cudaMemcpy(values, memory + 2 * n, n * sizeof *values,
                                                     cudaMemcpyDeviceToHost), "results");
    cudaFree(memory);
    return status;
}

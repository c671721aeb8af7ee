/* Shared by the CUDA kernels of SS-HOPM: scaling a tensor, storing results, the general shape. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "common/portable.h"
#include "common/warp.cuh"
#include "sshopm_cuda.h"

/* The kernels with a thread per start, one line per shape; the last is 0, 0: any. Defined in sshopm_thread_f32.cu and
 * sshopm_thread_f64.cu, which take long enough to compile alone. */
typedef void hot_sshopm_thread_kernel(hot_sshopm_args, hot_sshopm_tables);
typedef struct hot_sshopm_thread {
    int order, dim;
    hot_sshopm_thread_kernel *kernel;
} hot_sshopm_thread;
extern "C" const hot_sshopm_thread hot_sshopm_threads_f32[], hot_sshopm_threads_f64[];

/* As hot_sshopm_launch, in the gnomonic projection (gnomonic.cu): dimension 3, order 4 6 8, float, no shift (or the
 * adaptive one, for maxima, with a stop on the residual), fewer than 2^28 starts. */
extern "C" hot_status hot_gnomonic_launch(hot_context *context, const hot_sshopm_args *args,
                                          const hot_sshopm_tables *tables, void *stream);

/* One tensor, scaled and with the sign of the search in it. */
template <typename T> struct thread_item {
    const T *values;
    T scale, alpha, unit;
    T unscale[2];
    size_t at;
};

/* Coordinate d of x is x[d * apart]. */
template <typename T>
static __device__ __forceinline__ void store_result(const hot_sshopm_args &args, const thread_item<T> &item,
                                                    size_t start, const T *x, int apart, int n, T lambda, T residual,
                                                    int iterations)
{
    size_t at = item.at + start;
    if (args.lambda)
        ((T *)args.lambda)[at] = lambda * item.unscale[0] * item.unscale[1] * (T)args.sign;
    if (args.residual)
        ((T *)args.residual)[at] = residual * item.unscale[0] * item.unscale[1];
    if (args.iterations)
        args.iterations[at] = iterations;
    if (args.x)
        for (int d = 0; d < n; d++)
            ((T *)args.x)[at * (size_t)n + d] = x[d * apart];
}

/* Zero (1): lambda 0, x = start. NaN or Inf (2): NaN. */
template <typename T>
static __device__ __noinline__ void store_special(const hot_sshopm_args &args, int special, size_t tensor, size_t start)
{
    size_t at = tensor * args.starts + start;
    T value = special == 1 ? (T)0 : (T)NAN;
    if (args.lambda)
        ((T *)args.lambda)[at] = value;
    if (args.residual)
        ((T *)args.residual)[at] = value;
    if (args.iterations)
        args.iterations[at] = 0;
    if (args.x)
        for (int d = 0; d < args.dim; d++)
            ((T *)args.x)[at * args.dim + d] = special == 1 ? ((const T *)args.start)[start * args.dim + d] : (T)NAN;
}

/* Products that scale a value, one after the other: together they may be beyond the type. */
struct tensor_scale {
    double first, second;
};

/* All threads of a block: how a tensor is scaled. Returns 0, 1 (zero) or 2 (NaN or Inf); the same for all. */
template <typename T>
static __device__ int find_scale(const hot_sshopm_args &args, const hot_sshopm_tables &tables, const T *from,
                                 size_t tensor, thread_item<T> *item, tensor_scale *scale)
{
    __shared__ double block_largest[32];
    double largest = 0, all = 0;
    int finite = 1, huge = 0;
    for (size_t i = threadIdx.x; i < args.unique; i += blockDim.x) {
        double value = fabs((double)from[i]);
        finite &= value <= 1.7976931348623157e308;
        huge |= value > 1e200;
    }
    finite = __syncthreads_and(finite);
    if (!finite)
        return 2;
    /* Values so large that a multiplicity would make them infinite are compared 2^60 times smaller. */
    huge = __syncthreads_or(huge);
    for (size_t i = threadIdx.x; i < args.unique; i += blockDim.x)
        largest = fmax(largest, fabs((double)from[i]) * (huge ? 0x1p-60 : 1) * tables.multiplicity[i]);
    largest = warp_max(largest);
    if (threadIdx.x % 32 == 0)
        block_largest[threadIdx.x / 32] = largest;
    __syncthreads();
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        all = fmax(all, block_largest[w]);
    if (!(all > 0)) {
        __syncthreads();
        return 1;
    }
    int exponent;
    item->scale = (T)(2 * frexp(all, &exponent));
    exponent += huge ? 59 : -1;
    item->alpha = (T)ldexp(args.alpha, -exponent);
    item->unit = (T)ldexp(1.0, -exponent);
    item->unscale[0] = (T)ldexp(1.0, exponent / 2);
    item->unscale[1] = (T)ldexp(1.0, exponent - exponent / 2);
    item->at = tensor * args.starts;
    scale->first = ldexp((double)args.sign, -exponent / 2);
    scale->second = ldexp(1.0, -exponent + exponent / 2);
    return 0;
}

/* The same, and the scaled tensor into shared memory. */
template <typename T>
static __device__ int scale_in_block(const hot_sshopm_args &args, const hot_sshopm_tables &tables, const T *from,
                                     size_t tensor, T *values, thread_item<T> *item)
{
    tensor_scale scale;
    const int special = find_scale<T>(args, tables, from, tensor, item, &scale);
    if (special)
        return special;
    for (size_t i = threadIdx.x; i < args.unique; i += blockDim.x)
        values[i] = (T)((double)from[i] * scale.first * scale.second);
    item->values = values;
    __syncthreads();
    return 0;
}

/* The squared length of a step below which it is lengthened before it is squared. */
template <typename T> struct sshopm_tiny;
template <> struct sshopm_tiny<float> {
    static constexpr float LENGTH2 = (float)1e-30;
};
template <> struct sshopm_tiny<double> {
    static constexpr double LENGTH2 = 1e-280;
};

/* The eigenvalue and the squared residual at x, from g = A x^(m-1); returns whether step k has converged. n: the
 * dimension, at most N. *before: lambda a step ago. */
template <typename T, int N>
static __device__ __forceinline__ int sshopm_judge(const hot_sshopm_args &args, const thread_item<T> &item, int n,
                                                   int k, const T *x, const T *g, T *before, T *lambda, T *residual2)
{
    const T limit = (T)args.tolerance * item.scale, change = (T)args.change;
    *lambda = 0;
    *residual2 = 0;
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        if (d < n)
            *lambda += x[d] * g[d];
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        if (d < n)
            *residual2 += (g[d] - *lambda * x[d]) * (g[d] - *lambda * x[d]);
    int small = *residual2 <= limit * limit;
    if (change > 0) {
        const T magnitude = *lambda < 0 ? -*lambda : *lambda, size = magnitude > item.unit ? magnitude : item.unit;
        const T off = *lambda - *before;
        small = k > 0 && (off < 0 ? -off : off) <= size * change;
        *before = *lambda;
    }
    return small;
}

/* x <- (g + shift x) / |...|; g is overwritten. */
template <typename T, int N>
static __device__ __forceinline__ void sshopm_move(int n, T shift, T *x, T *g)
{
    T norm2 = 0;
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        if (d < n) {
            g[d] += shift * x[d];
            norm2 += g[d] * g[d];
        }
    if (!(norm2 > sshopm_tiny<T>::LENGTH2)) { /* too short to square: lengthen first; zero: stay */
        T largest = 0;
        HOT_UNROLL
        for (int d = 0; d < N; d++)
            if (d < n) {
                const T magnitude = g[d] < 0 ? -g[d] : g[d];
                largest = largest > magnitude ? largest : magnitude;
            }
        if (!(largest > 0))
            return;
        norm2 = 0;
        HOT_UNROLL
        for (int d = 0; d < N; d++)
            if (d < n) {
                g[d] /= largest;
                norm2 += g[d] * g[d];
            }
    }
    const T inverse = 1 / sqrt(norm2);
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        if (d < n)
            x[d] = g[d] * inverse;
}

/* Any shape: the sums over index classes, from the table of index tuples. For the adaptive shift the Hessian's trace
 * and squares bound its smallest eigenvalue (Samuelson), as on the CPU. */
template <typename T>
static __device__ __noinline__ T general_evaluate(const hot_sshopm_args &args, const hot_sshopm_tables &tables,
                                                  const T *a, const T *x, T *g, int adaptive, T margin)
{
    const int n = args.dim, m = args.order;
    for (int d = 0; d < n; d++)
        g[d] = 0;
    for (size_t i = 0; i < args.unique; i++) {
        const unsigned char *tuple = tables.index + i * m;
        T weighted = a[i] * (T)(tables.multiplicity[i] / m);
        /* Every place j of the tuple leaves out its own index once: the sum over places is the sum over k_d. */
        for (int j = 0; j < m; j++) {
            T term = weighted;
            for (int k = 0; k < m; k++)
                if (k != j)
                    term *= x[tuple[k]];
            g[tuple[j]] += term;
        }
    }
    if (!adaptive)
        return 0;
    T h[HOT_DIM_MAX * HOT_DIM_MAX];
    for (int k = 0; k < n * n; k++)
        h[k] = 0;
    for (size_t i = 0; i < args.unique; i++) {
        const unsigned char *tuple = tables.index + i * m;
        T weighted = a[i] * (T)(tables.multiplicity[i] / ((double)m * (m - 1)));
        for (int p = 0; p < m; p++)
            for (int q = 0; q < m; q++) {
                if (p == q)
                    continue;
                T term = weighted;
                for (int k = 0; k < m; k++)
                    if (k != p && k != q)
                        term *= x[tuple[k]];
                h[tuple[p] * n + tuple[q]] += term;
            }
    }
    T sum = 0, squares = 0;
    for (int k = 0; k < n * n; k++) {
        squares += h[k] * h[k];
        if (k % (n + 1) == 0)
            sum += h[k];
    }
    T mean = sum / n, variance = squares / n - mean * mean;
    T shift = margin - (mean - sqrt((variance > 0 ? variance : 0) * (n - 1))) * (m - 1);
    return shift > 0 ? shift : 0;
}

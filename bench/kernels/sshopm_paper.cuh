/* The algorithm of Ballard, Kolda and Plantenga (2011), sections V-B to V-D, as the peer in benchmarks: a thread block
 * per tensor, a thread per start, the tensor in shared memory, loops over the index classes unrolled, x and y in
 * registers. Every iteration forms A x^(m-1), normalises, and forms A x^m for the stop on lambda. Dimension 3,
 * float. */
#pragma once

#include "sshopm/gpu/sshopm_device.cuh"

/* b times x^k, by k products. */
template <int MOST> static __device__ __forceinline__ float paper_power(float b, float x, int k)
{
#pragma unroll
    for (int i = 0; i < MOST; i++)
        if (i < k)
            b *= x;
    return b;
}

/* (a + b + c)! / (a! b! c!), at compile time: loops with bounds from template parameters. */
static __host__ __device__ constexpr int paper_multinomial(int a, int b, int c)
{
    long long value = 1;
    for (int i = 1; i <= b; i++)
        value = value * (a + i) / i;
    for (int i = 1; i <= c; i++)
        value = value * (a + b + i) / i;
    return (int)value;
}

/* The multiplicities as constants of the program, as the paper's generated code has them. */
template <int M> struct paper_table {
    float value[(M + 1) * (M + 2) / 2] = {};
    constexpr paper_table()
    {
        for (int s = 0; s <= M; s++)
            for (int t = 0; t <= s; t++)
                value[s * (s + 1) / 2 + t] = (float)paper_multinomial(M - s, s - t, t);
    }
};

/* A x^m: the sum of section III-B. */
template <int M> static __device__ __forceinline__ float paper_value(const float *a, const float *x)
{
    constexpr paper_table<M> times;
    float sum = 0;
#pragma unroll
    for (int s = 0; s <= M; s++)
#pragma unroll
        for (int t = 0; t <= s; t++) {
            float term = times.value[s * (s + 1) / 2 + t] * a[s * (s + 1) / 2 + t];
            sum += paper_power<M>(paper_power<M>(paper_power<M>(term, x[0], M - s), x[1], s - t), x[2], t);
        }
    return sum;
}

/* A x^(m-1): every class contributes to y_i for each index i in it, with the multiplicity of the rest. */
template <int M> static __device__ __forceinline__ void paper_vector(const float *a, const float *x, float *y)
{
    constexpr paper_table<M - 1> times; /* of x^(k0 - 1) y^k1 z^k2 and so on: classes of order m - 1 */
    y[0] = y[1] = y[2] = 0;
#pragma unroll
    for (int s = 0; s <= M; s++)
#pragma unroll
        for (int t = 0; t <= s; t++) {
            const int k0 = M - s, k1 = s - t, k2 = t;
            const float value = a[s * (s + 1) / 2 + t];
            if (k0 > 0)
                y[0] += paper_power<M>(
                    paper_power<M>(paper_power<M>(times.value[s * (s + 1) / 2 + t] * value, x[0], k0 - 1), x[1], k1),
                    x[2], k2);
            if (k1 > 0)
                y[1] += paper_power<M>(
                    paper_power<M>(paper_power<M>(times.value[(s - 1) * s / 2 + t] * value, x[0], k0), x[1], k1 - 1),
                    x[2], k2);
            if (k2 > 0)
                y[2] += paper_power<M>(
                    paper_power<M>(paper_power<M>(times.value[(s - 1) * s / 2 + t - 1] * value, x[0], k0), x[1], k1),
                    x[2], k2 - 1);
        }
}

template <int M> static __global__ void __launch_bounds__(128) paper_kernel(hot_sshopm_args args)
{
    constexpr int UNIQUE = (M + 1) * (M + 2) / 2;
    __shared__ float a[UNIQUE];
    const size_t tensor = blockIdx.x;
    for (int i = threadIdx.x; i < UNIQUE; i += blockDim.x)
        a[i] = ((const float *)args.tensors)[tensor * args.stride + i];
    __syncthreads();
    const float alpha = (float)(args.sign * args.alpha), change = (float)args.change;
    for (size_t start = threadIdx.x; start < args.starts; start += blockDim.x) {
        float x[3], y[3];
        for (int d = 0; d < 3; d++)
            x[d] = ((const float *)args.start)[start * 3 + d];
        float lambda = paper_value<M>(a, x);
        int k = 0, small = 0;
        while (k < args.max_iterations && !small) {
            paper_vector<M>(a, x, y);
            for (int d = 0; d < 3; d++)
                y[d] = args.sign * (y[d] + alpha * x[d]);
            float inverse = rsqrtf(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
            for (int d = 0; d < 3; d++)
                x[d] = y[d] * inverse;
            float before = lambda;
            lambda = paper_value<M>(a, x);
            k++;
            small = !args.exact && fabsf(lambda - before) <= change * fmaxf(1, fabsf(lambda));
        }
        size_t at = tensor * args.starts + start;
        if (args.lambda)
            ((float *)args.lambda)[at] = lambda;
        if (args.x)
            for (int d = 0; d < 3; d++)
                ((float *)args.x)[at * 3 + d] = x[d];
        if (args.residual) {
            paper_vector<M>(a, x, y);
            float squares = 0;
            for (int d = 0; d < 3; d++)
                squares += (y[d] - lambda * x[d]) * (y[d] - lambda * x[d]);
            ((float *)args.residual)[at] = sqrtf(squares);
        }
        if (args.iterations)
            args.iterations[at] = args.exact || small ? k : -k;
    }
}

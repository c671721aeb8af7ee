/* One start in the gnomonic projection on the GPU (gnomonic_step.cuh), one start per thread: how it enters the
 * projection, and how its result is stored. */
#pragma once

#include <string.h>

#include "gnomonic_step.cuh"
#include "gnomonic_table.h"
#include "sshopm_device.cuh"

struct gnomonic_constants {
    const float *matrix;        /* unique x terms, the multiplicities, and hot_gnomonic_shift_table's values */
    const double *multiplicity; /* unique */
    float frame[3][3];
    float tolerance;
    unsigned per_warp;    /* tensors that a warp takes at a time, at most GNOMONIC_SLOTS */
    unsigned part, parts; /* and how many of their starts, of how many such parts */
    unsigned projected;   /* starts whose (u, v) a block keeps (even); 0: too many */
    int first_steps;      /* steps before the first convergence check, two or more */
    int refill;           /* idle lanes that are worth a round of new starts */
};

/* The constants that do not depend on the number of tensors. */
static inline gnomonic_constants gnomonic_constants_make(const hot_sshopm_args *args, const hot_sshopm_tables *tables)
{
    gnomonic_constants constants;
    memset(&constants, 0, sizeof constants);
    constants.matrix = tables->gnomonic;
    constants.multiplicity = tables->multiplicity;
    constants.tolerance = (float)args->tolerance;
    constants.refill = 8; /* measured: 4 to 12 are alike, 20 costs 7 % */
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            constants.frame[k][d] = (float)hot_gnomonic_frame[k][d];
    return constants;
}

/* Start number `start` in the projection. */
static __device__ __forceinline__ float2 gnomonic_project(const hot_sshopm_args &args,
                                                          const gnomonic_constants &constants, size_t start)
{
    const float *x = (const float *)args.start + start * 3;
    float p[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        p[k] = fmaf(constants.frame[k][0], x[0], fmaf(constants.frame[k][1], x[1], constants.frame[k][2] * x[2]));
    const float inverse = approximate_reciprocal(p[2]);
    return make_float2(p[0] * inverse, p[1] * inverse);
}

/* A tensor's values lane, lane + 32 ... into a, by a warp; returns whether all are finite. *largest: of |value| * times
 * (the multiplicities), 2^10 times smaller, the same for all lanes. */
template <int ORDER>
static __device__ __forceinline__ int gnomonic_read(const float *from, const float *times, float *a, float *largest)
{
    using G = gnomonic<ORDER>;
    const int lane = threadIdx.x % 32;
    int finite = 1;
    float most = 0;
    HOT_UNROLL
    for (int r = 0; r < (G::UNIQUE + 31) / 32; r++) {
        int i = lane + 32 * r;
        a[r] = i < G::UNIQUE ? from[i] : 0;
        finite &= fabsf(a[r]) <= 3.402823466e38f;
        most = fmaxf(most, fabsf(a[r]) * 0x1p-10f * times[r]);
    }
    finite = __all_sync(0xffffffffu, finite);
    HOT_UNROLL
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    *largest = most;
    return finite;
}

/* Whether a tensor that gnomonic_read has read is zero. */
template <int ORDER> static __device__ __forceinline__ int gnomonic_is_zero(const float *a)
{
    int zero = 1;
    HOT_UNROLL
    for (int r = 0; r < (gnomonic<ORDER>::UNIQUE + 31) / 32; r++)
        zero &= a[r] == 0;
    return __all_sync(0xffffffffu, zero);
}

/* Whether a tensor is not iterated in the projection: zero, with NaN or Inf, or at the ends of float's range. */
static __device__ __forceinline__ int gnomonic_is_odd(int finite, float largest)
{
    return !finite || !(largest > 0x1p-120f) || !(largest < 0x1p120f);
}

/* The shift of a tensor, scaled, in shared memory: by a warp, the same for all lanes. */
template <int ORDER>
static __device__ __forceinline__ float gnomonic_shift(const gnomonic_constants &constants, const float *tensor)
{
    using G = gnomonic<ORDER>;
    const float *point = constants.matrix + G::UNIQUE * (G::TERMS + 2) + 3 * (threadIdx.x % 32);
    float shift = G::shift(tensor, point[0], point[1], point[2]);
    HOT_UNROLL
    for (int step = 16; step; step /= 2)
        shift = fmaxf(shift, __shfl_xor_sync(0xffffffffu, shift, step));
    return fmaxf(shift, 0.0f);
}

/* Where the projection fails (a point on its horizon, a tensor at the end of float's range): the start is iterated
 * again in the caller's frame, normalised in every step. SHIFTED: with the adaptive shift of every step, also where one
 * for the whole tensor leads too slowly. */
template <int ORDER, bool SHIFTED = false>
static __device__ __noinline__ void gnomonic_fallback(const hot_sshopm_args &args, const gnomonic_constants &constants,
                                                      size_t tensor, size_t start, float factor)
{
    const float *from = (const float *)args.tensors + tensor * args.stride;
    const size_t at = tensor * args.starts + start;
    float a[gnomonic<ORDER>::UNIQUE], x[3], g[3], lambda, squares, scale = 0;
    for (int i = 0; i < gnomonic<ORDER>::UNIQUE; i++) {
        a[i] = from[i] * factor * 0x1p-10f;
        scale = fmaxf(scale, fabsf(a[i]) * (float)constants.multiplicity[i]);
    }
    for (int d = 0; d < 3; d++)
        x[d] = ((const float *)args.start)[start * 3 + d];
    int k = 0, small;
    for (;; k++) {
        float shift = 0;
        if (SHIFTED) {
            float h[6];
            hot_form3<float, ORDER>::derivatives(a, x[0], x[1], x[2], g, h);
            shift = sshopm_step3<ORDER>::adaptive_shift(h, 1e-6f * scale / ORDER);
        } else {
            hot_form3<float, ORDER>::gradient(a, x[0], x[1], x[2], g);
        }
        lambda = x[0] * g[0] + x[1] * g[1] + x[2] * g[2];
        squares = 0;
        for (int d = 0; d < 3; d++)
            squares += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
        small = squares <= constants.tolerance * constants.tolerance * scale * scale;
        if (k == args.max_iterations || (small && !args.exact))
            break;
        for (int d = 0; d < 3 && SHIFTED; d++)
            g[d] = fmaf(shift, x[d], g[d]);
        float largest = fmaxf(fmaxf(fabsf(g[0]), fabsf(g[1])), fabsf(g[2]));
        if (!(largest > 0))
            continue;
        for (int d = 0; d < 3; d++)
            g[d] /= largest;
        float inverse = rsqrtf(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int d = 0; d < 3; d++)
            x[d] = g[d] * inverse;
    }
    if (args.lambda)
        ((float *)args.lambda)[at] = lambda * 0x1p10f / factor;
    if (args.residual)
        ((float *)args.residual)[at] = sqrtf(squares) * 0x1p10f / factor;
    if (args.iterations)
        args.iterations[at] = small ? k : -k;
    for (int d = 0; d < 3 && args.x; d++)
        ((float *)args.x)[at * 3 + d] = x[d];
}

/* The true residual at x, in the caller's units, from the tensor as it came; and A x^m. */
template <int ORDER>
static __device__ __forceinline__ float gnomonic_residual(const hot_sshopm_args &args, size_t tensor, float x, float y,
                                                          float z, float factor, float *lambda = NULL)
{
    float a[gnomonic<ORDER>::UNIQUE], g[3];
    const float *from = (const float *)args.tensors + tensor * args.stride;
    const float back = __uint_as_float((254u << 23) - __float_as_uint(factor));
    HOT_UNROLL
    for (int i = 0; i < gnomonic<ORDER>::UNIQUE; i++)
        a[i] = from[i] * factor * 0x1p-10f;
    hot_form3<float, ORDER>::gradient(a, x, y, z, g);
    const float value = g[0] * x + g[1] * y + g[2] * z;
    if (lambda)
        *lambda = value * back * 0x1p10f;
    const float p = g[0] - value * x, q = g[1] - value * y, r = g[2] - value * z;
    return sqrtf(p * p + q * q + r * r) * back * 0x1p10f;
}

/* The result at (u, v): x in the caller's frame, lambda, and the true residual if args.residual is set. `stage`: 96
 * floats in shared memory of a warp whose lanes store consecutive starts; NULL when they do not. SHIFTED: lambda has
 * the shift in it, and is found anew, lest rounding errors be those of the larger one. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ void gnomonic_store(const hot_sshopm_args &args, const gnomonic_constants &constants,
                                                      size_t tensor, size_t start, float u, float v, float inverse,
                                                      float lambda, float factor, int iterations, float *stage)
{
    const size_t at = tensor * args.starts + start;
    const float p = u * inverse, q = v * inverse;
    float x[3];
    HOT_UNROLL
    for (int d = 0; d < 3; d++)
        x[d] = fmaf(constants.frame[0][d], p, fmaf(constants.frame[1][d], q, constants.frame[2][d] * inverse));
    /* back from the scaled units: 2^10 and the power of two of the tensor */
    float back = __uint_as_float((254u << 23) - __float_as_uint(factor));
    if (!SHIFTED && args.lambda)
        ((float *)args.lambda)[at] = lambda * back * 0x1p10f;
    if (args.x && stage) { /* the warp's 96 values in three whole rows instead of every third value thrice */
        const unsigned lane = threadIdx.x % 32;
        __syncwarp();
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            stage[3 * lane + d] = x[d];
        __syncwarp();
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            ((float *)args.x)[(at - lane) * 3 + lane + 32 * d] = stage[lane + 32 * d];
    } else if (args.x) {
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            ((float *)args.x)[at * 3 + d] = x[d];
    }
    if (args.residual || (SHIFTED && args.lambda)) {
        float value;
        const float residual = gnomonic_residual<ORDER>(args, tensor, x[0], x[1], x[2], factor, &value);
        if (args.residual)
            ((float *)args.residual)[at] = residual;
        if (SHIFTED && args.lambda)
            ((float *)args.lambda)[at] = value;
    }
    if (args.iterations)
        args.iterations[at] = iterations;
}

template <int ORDER> static __device__ __forceinline__ void gnomonic_load(const float4 *from, float *c)
{
    HOT_UNROLL
    for (int k = 0; k < gnomonic<ORDER>::PADDED / 4; k++) {
        float4 four = from[k];
        c[4 * k] = four.x;
        c[4 * k + 1] = four.y;
        c[4 * k + 2] = four.z;
        c[4 * k + 3] = four.w;
    }
}

/* lambda and whether the residual is small at (u, v), by one more evaluation; then everything is stored. For a warp
 * whose lanes hold consecutive starts of one tensor (stage not NULL), or for any lanes. A negative number of iterations
 * says that the start has not converged. SHIFTED: c has the shift in it, the results have not. */
template <int ORDER, bool SHIFTED = false>
static __device__ __forceinline__ void gnomonic_finish(const hot_sshopm_args &args, const gnomonic_constants &constants,
                                                       size_t tensor, size_t start, const float *c, float u, float v,
                                                       float factor, float limit2, int steps, float *stage)
{
    const float gx = gnomonic<ORDER>::polynomial(c, u, v),
                gy = gnomonic<ORDER>::polynomial(c + gnomonic<ORDER>::PART, u, v);
    const float gz = gnomonic<ORDER>::polynomial(c + 2 * gnomonic<ORDER>::PART, u, v);
    const float q = fmaf(u, u, fmaf(v, v, 1.0f)), inverse = approximate_rsqrt(q), inverse2 = inverse * inverse;
    const float lambda = gnomonic<ORDER>::normalise(fmaf(u, gx, fmaf(v, gy, gz)), inverse2);
    const int lost = !(q < 1e24f) | !(fabsf(lambda) < 1e30f) | (gz == 0);
    if (args.iterations) {
        const float down = approximate_reciprocal(gz), du = fmaf(gx, down, -u), dv = fmaf(gy, down, -v);
        const float twist = u * dv - v * du, scale = gnomonic<ORDER>::normalise(gz, inverse2);
        if (!(fmaf(twist, twist, fmaf(du, du, dv * dv)) * scale * scale <= limit2))
            steps = -steps;
    }
    gnomonic_store<ORDER, SHIFTED>(args, constants, tensor, start, u, v, inverse, lambda, factor, steps, stage);
    if (stage) /* other lanes write x for this one */
        __syncwarp();
    if (lost)
        gnomonic_fallback<ORDER, SHIFTED>(args, constants, tensor, start, factor);
}

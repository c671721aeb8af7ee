/* Shared by the reductions to tridiagonal form (heev_small.cuh, heev_cluster.cuh, heev_panel.cuh): the matrix scaled
 * and its rows and columns reversed, a Householder reflection (LAPACK's zhetd2), rows of zeros.
 *
 * The family denoise has another reduction (denoise_reduce.cuh), for windows of up to 128 rows: nothing is scaled,
 * loops shrink with the matrix in steps of the thread grid, A u comes after u and not before (here A x, for one barrier
 * less), and packed reflectors replace the matrix. All of that changes roundings. The two have only the formula of the
 * reflection in common, and there it has no case for vanishing columns. */
#pragma once

#include "common/warp.cuh"
#include "heev_number.cuh"
#include "heev_plan.cuh"

/* Finds the matrix's scale, 2^-exponent, from its largest number; false if a number is not finite. One thread, `first`,
 * stores it. */
__device__ __forceinline__ bool heev_find_scale(const heev_plan &plan, size_t matrix, double largest, bool first,
                                                int *exponent)
{
    *exponent = 0;
    if (isfinite(largest) && largest > 0)
        frexp(largest, exponent);
    if (first) {
        plan.exponent[matrix] = *exponent;
        plan.state[matrix] = isfinite(largest) ? HEEV_FINE : HEEV_BAD;
        plan.apart[matrix] = 0;
    }
    return isfinite(largest);
}

/* Scales the lower triangle of the block's matrix, which is in the caller's precision: rows and columns are taken from
 * the end, so that its columns become the rows of the plan's triangle, A(k, i), k <= i, at place(i)[k]. False (and the
 * state set) when it holds NaN or Inf. */
template <bool C, typename PLACE>
__device__ bool heev_load(const heev_plan &plan, const void *matrices, double *workspace, PLACE place)
{
    const int n = plan.n, parts = C ? 2 : 1, warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t begin = (size_t)blockIdx.x * n * n * parts;
    auto value = [&](size_t at) {
        return plan.f64 ? ((const double *)matrices)[at] : (double)((const float *)matrices)[at];
    };
    double largest = 0;
    for (int i = warp; i < n; i += warps) {
        const size_t column = begin + (size_t)(n - 1 - i) * (n + 1) * parts;
#pragma unroll 4
        for (int k = lane; k <= i; k += 32) {
            const double x = fabs(value(column + k * parts)), y = C && k > 0 ? fabs(value(column + k * parts + 1)) : 0;
            largest = isfinite(x) && isfinite(y) ? fmax(largest, fmax(x, y)) : INFINITY;
        }
    }
    int exponent;
    if (!heev_find_scale(plan, blockIdx.x, block_max(largest, workspace), threadIdx.x == 0, &exponent))
        return false;
    const double scale = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent - -exponent / 2);
    for (int i = warp; i < n; i += warps) {
        const size_t column = begin + (size_t)(n - 1 - i) * (n + 1) * parts;
        number<C> *row = place(i);
#pragma unroll 4
        for (int k = lane; k <= i; k += 32) {
            const double x = value(column + k * parts), y = C && k > 0 ? value(column + k * parts + 1) : 0;
            row[i - k] = number<C>::make(x * scale * rest, y * scale * rest);
        }
    }
    return true;
}

/* The reflection 1 - t u u^H that takes the rest of a column, of squared norm `rest`, into its end alpha, and that to
 * the real beta; u is `scale` times the column, and 1 at its end. */
template <bool C>
__device__ __forceinline__ void heev_reflection(double rest, number<C> alpha, double *beta, number<C> *t,
                                                number<C> *scale)
{
    const double size = rest + alpha.re * alpha.re + alpha.im() * alpha.im();
    *t = *scale = number<C>::make(0, 0);
    *beta = alpha.re;
    if (size < 1e-270) { /* negligible against a norm near 1, and squares vanish */
        *beta = 0;
    } else if (rest > 0 || alpha.im() != 0) {
        const double inverse = -copysign(rsqrt(size), alpha.re);
        *beta = size * inverse;
        *t = number<C>::make(1 - alpha.re * inverse, -alpha.im() * inverse);
        const double re = alpha.re - *beta, im = alpha.im(), over = 1 / (re * re + im * im);
        *scale = number<C>::make(re * over, -im * over);
    }
}

/* Zeros where the rows of reflectors are no reflectors: the first, and those beyond n. */
template <bool C> __device__ void heev_pad(const heev_plan &plan, number<C> *reflectors, number<C> *tau)
{
    const int n = plan.n, ld = plan.ld;
    for (int c = threadIdx.x; c < ld; c += blockDim.x) {
        reflectors[c] = number<C>::make(0, 0);
        for (int i = n; i < ld; i++)
            reflectors[(size_t)i * ld + c] = number<C>::make(0, 0);
        if (c == 0 || c >= n)
            tau[c] = number<C>::make(0, 0);
    }
}

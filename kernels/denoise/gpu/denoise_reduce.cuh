/* Householder's reduction of one matrix per block, in registers: thread (r, c) of an S x S grid holds
 * A(r + S a, c + S b) for a, b < T, of the whole matrix: of other threads it needs elements of vectors only. As the
 * matrix shrinks from below, so do the loops over a and b. Reflectors, tau, d and e are as of LAPACK's zhetd2 with
 * UPLO = 'U'. Why this is not the reduction of the family heev: heev_reduce_common.cuh. */
#pragma once

#include "common/warp.cuh"
#include "denoise_plan.cuh"

/* Sums over the S lanes of a row of T values each: which of them this lane is left with, and its sum. */
template <bool C, int S, int T>
__device__ __forceinline__ int denoise_row_sums(number<C> (&y)[T], int lane, number<C> *sum)
{
    constexpr int P = T <= 2 ? 2 : T <= 4 ? 4 : 8;
    static_assert(P <= S, "a lane for each value");
    number<C> part[P];
    int index = 0, bit = 1;
#pragma unroll
    for (int q = 0; q < P; q++)
        part[q] = q < T ? y[q < T ? q : 0] : number<C>::make(0, 0);
#pragma unroll
    for (int half = P / 2; half; half /= 2, bit *= 2) {
        const bool upper = lane & bit;
#pragma unroll
        for (int q = 0; q < half; q++) {
            const number<C> mine = upper ? part[q + half] : part[q], other = upper ? part[q] : part[q + half];
            part[q] = plus(mine, shuffled(other, bit));
        }
        index += upper ? half : 0;
    }
#pragma unroll
    for (; bit < S; bit *= 2)
        part[0] = plus(part[0], shuffled(part[0], bit));
    *sum = part[0];
    return (lane & ~(P - 1)) == 0 ? index : T;
}

template <bool C, int S, int T>
__global__ void __launch_bounds__(S * S, S == 8 && T == 8 ? 6 : 1)
    denoise_reduce(const __grid_constant__ denoise_plan plan)
{
    typedef number<C> num;
    __shared__ num columns[2][S * T], v[S * T], product[S * T]; /* columns: in turns, of a step and of the next */
    const int n = plan.n, row = threadIdx.x / S, column = threadIdx.x % S, lane = threadIdx.x % 32;
    const size_t w = blockIdx.x, triangle = (size_t)n * (n + 1) / 2;
    const num zero = num::make(0, 0), one = num::make(1, 0);
    num *packed = (num *)plan.gram + w * triangle, *taus = (num *)plan.tau + w * n, a[T][T];
    double *d = plan.d + w * n, *e = plan.e + w * n;
    int turn = 0;
    if (plan.signal[w] == DENOISE_UNWANTED)
        return;
#pragma unroll
    for (int p = 0; p < T; p++)
#pragma unroll
        for (int q = 0; q < T; q++) {
            const int r = row + S * p, c = column + S * q, low = r > c ? r : c, high = r > c ? c : r;
            num x = low < n ? packed[(size_t)low * (low + 1) / 2 + high] : zero;
            a[p][q] = r < c ? num::make(x.re, -x.im()) : x;
        }
    __syncthreads(); /* the reflectors take the triangle's place */
#pragma unroll
    for (int ib = T - 1; ib >= 0; ib--)
        for (int is = n - 1 - S * ib < S - 1 ? n - 1 - S * ib : S - 1; is >= 0; is--) {
            const int i = S * ib + is;
            num *u = columns[turn];
            turn ^= 1;
            if (column == is)
#pragma unroll
                for (int p = 0; p <= ib; p++)
                    u[row + S * p] = row + S * p <= i ? a[p][ib] : zero;
            __syncthreads();
            if (threadIdx.x == 0)
                d[i] = u[i].re;
            if (i == 0)
                break;
            double rest = 0;
#pragma unroll
            for (int k = lane; k < S * (ib + 1); k += 32)
                rest = k < i - 1 ? fma(u[k].re, u[k].re, fma(u[k].im(), u[k].im(), rest)) : rest;
            rest = warp_sum(rest);
            const num alpha = u[i - 1];
            num tau = zero, scale = zero;
            double beta = alpha.re;
            if (rest > 0 || alpha.im() != 0) {
                const double size = rest + alpha.re * alpha.re + alpha.im() * alpha.im(), by_norm = rsqrt(size);
                const double by_beta = -copysign(by_norm, alpha.re);
                beta = size * by_beta;
                const double re = alpha.re - beta, im = alpha.im();
                tau = num::make(-re * by_beta, -im * by_beta);
                scale = C ? num::make(re / (re * re + im * im), -im / (re * re + im * im)) : num::make(1 / re, 0);
            }
            if (threadIdx.x == 0) {
                e[i] = beta;
                taus[i] = tau;
            }
            for (int k = threadIdx.x; k < S * (ib + 1); k += S * S) {
                const num x = k < i - 1 ? times(u[k], scale) : k == i - 1 ? one : zero;
                v[k] = x;
                if (k < i)
                    packed[(size_t)i * (i + 1) / 2 + k] = x;
            }
            __syncthreads();
            num vr[T], vc[T], y[T], sum;
#pragma unroll
            for (int p = 0; p < T; p++) {
                vr[p] = p <= ib ? v[row + S * p] : zero;
                vc[p] = p <= ib ? v[column + S * p] : zero;
                y[p] = zero;
            }
#pragma unroll
            for (int p = 0; p <= ib; p++)
#pragma unroll
                for (int q = 0; q <= ib; q++)
                    y[p] = add(y[p], a[p][q], vc[q]);
            const int mine = denoise_row_sums<C, S, T>(y, column, &sum);
            if (mine <= ib)
                product[row + S * mine] = row + S * mine < i ? times(tau, sum) : zero;
            __syncthreads();
            num dot = zero;
#pragma unroll
            for (int k = lane; k < S * (ib + 1); k += 32)
                dot = add_conj(dot, product[k], v[k]);
            dot.re = warp_sum(dot.re);
            if (C)
                dot = num::make(dot.re, warp_sum(dot.im()));
            const num half = times(num::make(-0.5 * tau.re, -0.5 * tau.im()), dot);
            for (int k = threadIdx.x; k < S * (ib + 1); k += S * S)
                u[k] = add(product[k], half, v[k]); /* w; all have read the column */
            __syncthreads();
            num wr[T], wc[T];
#pragma unroll
            for (int p = 0; p <= ib; p++) {
                wr[p] = u[row + S * p];
                wc[p] = u[column + S * p];
            }
#pragma unroll
            for (int p = 0; p <= ib; p++)
#pragma unroll
                for (int q = 0; q <= ib; q++)
                    a[p][q] = minus_conj(minus_conj(a[p][q], vr[p], wc[q]), wr[p], vc[q]);
        }
    if (threadIdx.x == 0)
        e[0] = 0;
}

/* The signal's eigenvectors of a window: of the tridiagonal matrix by twisted factorisations (Fernando 1997), and
 * through the reflectors. 16 at a time, a block per window; the first warp makes them, a lane from each end of each.
 * Why this is not the code of the family heev: heev_twisted in heev_tridiagonal.cuh. */
#pragma once

#include "denoise_reduce.cuh"

enum { DENOISE_VECTORS = 16, DENOISE_HELD = 16 };

/* Eigenvalues of the scaled matrix that are nearer to each other have vectors that are not orthogonal to single
 * precision. */
#define DENOISE_CLOSE 4e-8

/* Bytes of shared memory. */
static inline size_t denoise_vectors_bytes(int n)
{
    return ((2 * (size_t)n + 1) * DENOISE_VECTORS + 2 * (size_t)n) * sizeof(double);
}

/* Vector number lane % 16 into z (n x 16), not scaled; returns one over its norm. Lanes 0 to 15 come from the top,
 * the others from the bottom. */
__device__ __forceinline__ double denoise_twisted(int n, const double *d, const double *e, double lambda, double *z,
                                                  double *other)
{
    const int lane = threadIdx.x % 32, s = lane % DENOISE_VECTORS, up = lane / DENOISE_VECTORS;
    double *mine = (up ? other : z) + s, last = 0; /* 1 / pivot */
    const double *top = z + s, *bottom = other + s;
    for (int r = 0; r < n; r++) {
        const int i = up ? n - 1 - r : r;
        const double couple = r == 0 ? 0 : up ? e[i + 1] : e[i];
        double pivot = fma(-couple * couple, last, d[i] - lambda);
        pivot = fabs(pivot) < 0x1p-120 ? 0x1p-120 : pivot;
        last = denoise_inverse(pivot);
        mine[i * DENOISE_VECTORS] = last;
    }
    __syncwarp();
    double best = INFINITY;
    int at = 0;
    for (int i = up; i < n; i += 2) {
        double gamma = d[i] - lambda;
        if (i > 0)
            gamma = fma(-e[i] * e[i], top[(i - 1) * DENOISE_VECTORS], gamma);
        if (i + 1 < n)
            gamma = fma(-e[i + 1] * e[i + 1], bottom[(i + 1) * DENOISE_VECTORS], gamma);
        if (fabs(gamma) < best) {
            best = fabs(gamma);
            at = i;
        }
    }
    const double theirs = __shfl_xor_sync(~0u, best, DENOISE_VECTORS);
    const int their_at = __shfl_xor_sync(~0u, at, DENOISE_VECTORS);
    if (theirs < best || (theirs == best && their_at < at))
        at = their_at;
    __syncwarp();
    double x = 1, norm = up ? 0 : 1;
    if (up) {
        for (int i = at + 1; i < n; i++) {
            x *= -e[i] * bottom[i * DENOISE_VECTORS];
            z[i * DENOISE_VECTORS + s] = x;
            norm = fma(x, x, norm);
        }
    } else {
        for (int i = at; i-- > 0;) {
            x *= -e[i + 1] * top[i * DENOISE_VECTORS];
            z[i * DENOISE_VECTORS + s] = x;
            norm = fma(x, x, norm);
        }
        z[at * DENOISE_VECTORS + s] = 1;
    }
    norm += __shfl_xor_sync(~0u, norm, DENOISE_VECTORS);
    __syncwarp();
    return rsqrt(norm);
}

/* Gram and Schmidt over a window's basis, for eigenvalues that are close. False when one vector was nearly lost. */
template <bool C> __device__ bool denoise_orthogonalise(const denoise_plan &plan, int w, int signal, double *memory)
{
    typedef typename denoise_number<C>::type E;
    typedef number<C> num;
    const int n = plan.n;
    num *dots = (num *)memory, *x = dots + n;
    double *workspace = (double *)(x + n);
    for (int s = 1; s < signal; s++) {
        for (int t = threadIdx.x; t < s; t += blockDim.x) {
            num dot = num::make(0, 0);
            for (int c = 0; c < n; c++)
                dot = add_conj(dot, denoise_load(*denoise_basis<E>(plan, w, signal, t, c)),
                               denoise_load(*denoise_basis<E>(plan, w, signal, s, c)));
            dots[t] = dot;
        }
        __syncthreads();
        double norm = 0;
        for (int c = threadIdx.x; c < n; c += blockDim.x) {
            num y = denoise_load(*denoise_basis<E>(plan, w, signal, s, c));
            for (int t = 0; t < s; t++)
                y = minus(y, dots[t], denoise_load(*denoise_basis<E>(plan, w, signal, t, c)));
            x[c] = y;
            norm += y.re * y.re + y.im() * y.im();
        }
        norm = block_sum(norm, workspace);
        if (!(norm > 0.5))
            return false;
        norm = rsqrt(norm);
        for (int c = threadIdx.x; c < n; c += blockDim.x)
            denoise_store(denoise_basis<E>(plan, w, signal, s, c), num::make(x[c].re * norm, x[c].im() * norm));
        __syncthreads();
    }
    return true;
}

/* G lanes share a vector; n is at most DENOISE_HELD G, and a block has 32 DENOISE_VECTORS G / 32 threads. */
template <bool C, int G>
__global__ void __launch_bounds__(DENOISE_VECTORS * G) denoise_vectors(const __grid_constant__ denoise_plan plan)
{
    typedef number<C> num;
    typedef typename denoise_number<C>::type E;
    constexpr int EACH = 32 / G; /* vectors of a warp */
    extern __shared__ double denoise_vectors_memory[];
    const int n = plan.n, w = blockIdx.x, signal = plan.signal[w], lane = threadIdx.x % 32;
    double *z = denoise_vectors_memory, *other = z + n * DENOISE_VECTORS, *scale = other + n * DENOISE_VECTORS,
           *d = scale + DENOISE_VECTORS, *e = d + n;
    if (signal <= 0 || signal == n)
        return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = plan.d[(size_t)w * n + i];
        e[i] = plan.e[(size_t)w * n + i];
    }
    const double *lambda = plan.lambda + (size_t)w * n;
    const num *tau = (const num *)plan.tau + (size_t)w * n,
              *reflectors = (const num *)plan.gram + (size_t)w * ((size_t)n * (n + 1) / 2);
    const int own = threadIdx.x / 32 * EACH + lane % EACH, part = lane / EACH;
    for (int s0 = 0; s0 < signal; s0 += DENOISE_VECTORS) {
        __syncthreads();
        if (threadIdx.x < 32) {
            const int s = s0 + lane % DENOISE_VECTORS;
            const double inverse = denoise_twisted(n, d, e, lambda[s < signal ? s : signal - 1], z, other);
            if (lane < DENOISE_VECTORS)
                scale[lane] = inverse;
        }
        __syncthreads();
        num x[DENOISE_HELD];
#pragma unroll
        for (int q = 0; q < DENOISE_HELD; q++) {
            const int r = G * q + part;
            x[q] = num::make(r < n ? z[r * DENOISE_VECTORS + own] * scale[own] : 0, 0);
        }
        num next[DENOISE_HELD]; /* of the next reflector, on its way */
#pragma unroll
        for (int q = 0; q < DENOISE_HELD; q++)
            next[q] = q == 0 && part == 0 ? reflectors[1] : num::make(0, 0);
        for (int i = 1; i < n; i++) {
            const num *v = reflectors + (size_t)(i + 1) * (i + 2) / 2;
            num held[DENOISE_HELD], dots[4];
#pragma unroll
            for (int q = 0; q < DENOISE_HELD; q++) {
                const int r = G * q + part;
                held[q] = next[q];
                next[q] = r < i + 1 && i + 1 < n ? v[r] : num::make(0, 0);
                dots[q % 4] = add_conj(q < 4 ? num::make(0, 0) : dots[q % 4], held[q], x[q]);
            }
            num dot = plus(plus(dots[0], dots[1]), plus(dots[2], dots[3]));
#pragma unroll
            for (int offset = EACH; offset < 32; offset *= 2)
                dot = plus(dot, shuffled(dot, offset));
            dot = times(tau[i], dot);
#pragma unroll
            for (int q = 0; q < DENOISE_HELD; q++)
                x[q] = minus(x[q], dot, held[q]);
        }
        if (s0 + own < signal)
#pragma unroll
            for (int q = 0; q < DENOISE_HELD; q++)
                if (G * q + part < n)
                    denoise_store(denoise_basis<E>(plan, w, signal, s0 + own, G * q + part), x[q]);
    }
    int close = 0;
    for (int s = threadIdx.x; s + 1 < signal; s += blockDim.x)
        close |= !(lambda[s] - lambda[s + 1] > DENOISE_CLOSE);
    if (!__syncthreads_or(close))
        return;
    if (!denoise_orthogonalise<C>(plan, w, signal, denoise_vectors_memory) && threadIdx.x == 0)
        plan.list[1 + atomicAdd(plan.list, 1)] = w;
}

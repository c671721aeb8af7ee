/* Eigenpairs of the tridiagonal matrices: values by multisection, vectors by twisted factorisations, a thread each;
 * where eigenvalues are too close for that, implicit QL. */
#pragma once

#include "common/warp.cuh"
#include "heev_plan.cuh"
#include "heev/heev_ql.h"
#include "tridiag/tridiag_counter.cuh"

/* plan.lanes threads per eigenvalue: each sweep counts at as many points of its bracket. Every eigenvalue of a matrix
 * descends the same tree of brackets, so that they come out in order. */
static __global__ void heev_values(const __grid_constant__ heev_plan plan)
{
    extern __shared__ double2 heev_memory[];
    __shared__ double workspace[32];
    const int n = plan.n, lanes = plan.lanes, filled = (n + TRIDIAG_GROUP - 1) / TRIDIAG_GROUP * TRIDIAG_GROUP;
    const size_t matrix = blockIdx.x;
    tridiag_entry<double> *entries = reinterpret_cast<tridiag_entry<double> *>(heev_memory);
    if (plan.state[matrix] != HEEV_FINE)
        return;
    double norm = 0;
    for (int i = threadIdx.x; i < filled; i += blockDim.x) {
        tridiag_entry<double> x = {1e6, 0x1p-110}; /* beyond n: positive pivots whatever the shift */
        if (i < n) {
            const double a = plan.d[matrix * n + i], b = i ? plan.e[matrix * n + i] : 0;
            const double after = i + 1 < n ? plan.e[matrix * n + i + 1] : 0;
            norm = fmax(norm, fabs(a) + fabs(b) + fabs(after));
            x.a = a;
            x.b2 = fmax(b * b, 0x1p-110);
        }
        entries[i] = x;
    }
    norm = block_max(norm, workspace);
    const int thread = (int)(blockIdx.y * blockDim.x + threadIdx.x), index = min(thread / lanes, n - 1),
              lane = thread % lanes;
    const unsigned mask = (1u << lanes) - 1, shift = threadIdx.x % 32 / lanes * lanes;
    const double part = 1.0 / (lanes + 1), tolerance = 0x1p-54 * norm;
    double low = -norm * (1 + 1e-14) - 1e-300, high = -low;
    __syncthreads();
    for (;;) {
        const double middle = low + (high - low) / 2;
        const bool open = high - low > tolerance && middle > low && middle < high;
        if (!__any_sync(~0u, open))
            break;
        tridiag_counter<double, false> count;
        count.start(low + (high - low) * ((lane + 1) * part));
        for (int i = 0; i < filled; i += TRIDIAG_GROUP)
            count.steps(entries + i);
        int below = count.below;
        if (count.vanished()) {
            tridiag_counter<double, true> slow;
            slow.start(low + (high - low) * ((lane + 1) * part));
            for (int i = 0; i < filled; i += TRIDIAG_GROUP)
                slow.steps(entries + i);
            below = slow.below;
        }
        const unsigned not_above = __ballot_sync(~0u, below <= index) >> shift & mask;
        const int first = __ffs(~not_above) - 1;
        const double from = low, length = high - low;
        if (open && first < lanes)
            high = from + length * ((first + 1) * part);
        if (open && first > 0)
            low = from + length * (first * part);
    }
    if (lane == 0 && thread / lanes < n)
        plan.lambda[matrix * n + index] = low + (high - low) / 2;
}

/* Calls step(i, from[i * stride]) for i = 0 ... count - 1; eight loads are on their way all the time. */
template <typename STEP>
__device__ __forceinline__ void heev_prefetched(const double *from, ptrdiff_t stride, int count, STEP step)
{
    double next[8];
#pragma unroll
    for (int q = 0; q < 8; q++)
        next[q] = q < count ? from[q * stride] : 0;
    for (int i = 0; i < count; i += 8) {
        double now[8];
#pragma unroll
        for (int q = 0; q < 8; q++) {
            now[q] = next[q];
            next[q] = i + 8 + q < count ? from[(i + 8 + q) * stride] : 0;
        }
#pragma unroll
        for (int q = 0; q < 8; q++)
            if (i + q < count)
                step(i + q, now[q]);
    }
}

/* The same of two arrays; step(i, one[i * stride], other[i * stride]). */
template <typename STEP>
__device__ __forceinline__ void heev_prefetched2(const double *one, const double *other, ptrdiff_t stride, int count,
                                                 STEP step)
{
    double next[2][4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        next[0][q] = q < count ? one[q * stride] : 0;
        next[1][q] = q < count ? other[q * stride] : 0;
    }
    for (int i = 0; i < count; i += 4) {
        double now[2][4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            now[0][q] = next[0][q];
            now[1][q] = next[1][q];
            next[0][q] = i + 4 + q < count ? one[(i + 4 + q) * stride] : 0;
            next[1][q] = i + 4 + q < count ? other[(i + 4 + q) * stride] : 0;
        }
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (i + q < count)
                step(i + q, now[0][q], now[1][q]);
    }
}

/* Twisted factorisations, a thread per vector: pivots from the top and from the bottom, joined where their sum is
 * least; the vector's residual is that least sum over its length (Fernando 1997; Parlett, Dhillon 2000).
 *
 * The family denoise has the same recurrences for small matrices (denoise_twisted): two lanes per vector, pivots in
 * shared memory and by an approximate reciprocal. Here vectors have up to 1024 elements, which pass through device
 * memory, so that the order of the walk is what matters. */
static __global__ void heev_twisted(const __grid_constant__ heev_plan plan)
{
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, ld = plan.ld;
    const unsigned parts = ((unsigned)n + blockDim.x - 1) / blockDim.x;
    const int k = (int)(blockIdx.x % parts * blockDim.x + threadIdx.x);
    const size_t matrix = blockIdx.x / parts, at = matrix * ld * ld + k;
    double *d = reinterpret_cast<double *>(heev_memory), *e = d + n;
    if (plan.state[matrix] != HEEV_FINE)
        return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = plan.d[matrix * n + i];
        e[i] = plan.e[matrix * n + i];
    }
    __syncthreads();
    if (k >= n)
        return;
    double *up = plan.z[1] + at, *down = plan.gram + at, *z = plan.z[0] + at;
    const double lambda = plan.lambda[matrix * n + k], tiny = 1e-40;
    double inverse = 0;
    for (int i = 0; i < n; i++) {
        const double pivot = d[i] - lambda - e[i] * e[i] * inverse;
        inverse = 1 / (fabs(pivot) < tiny ? tiny : pivot);
        up[(size_t)i * ld] = inverse;
    }
    double best = INFINITY, after = 0;
    int twist = 0;
    inverse = 0;
    auto turn = [&](int i, double above) { /* above: the inverse pivot from the top before this row */
        const double pivot = d[i] - lambda - after * after * inverse;
        const double gamma = fabs(i ? pivot - e[i] * e[i] * above : pivot);
        if (gamma < best)
            best = gamma, twist = i;
        inverse = 1 / (fabs(pivot) < tiny ? tiny : pivot);
        down[(size_t)i * ld] = inverse;
        after = e[i];
    };
    heev_prefetched(up + (ptrdiff_t)(n - 2) * ld, -(ptrdiff_t)ld, n - 1,
                    [&](int i, double above) { turn(n - 1 - i, above); });
    turn(0, 0);
    /* The twists of a warp's vectors differ, but it walks over the same rows for all, for the sake of memory: above the
     * twist the products replace the pivots, below it they are made twice, first for the length. */
    double norm = 1, x = 1;
    heev_prefetched(up + (ptrdiff_t)(n - 2) * ld, -(ptrdiff_t)ld, n - 1, [&](int q, double factor) {
        const int i = n - 2 - q;
        if (i < twist) {
            x *= -e[i + 1] * factor;
            norm += x * x;
        }
        up[(size_t)i * ld] = i < twist ? x : factor;
    });
    x = 1;
    heev_prefetched(down + ld, ld, n - 1, [&](int q, double factor) {
        if (q + 1 > twist) {
            x *= -e[q + 1] * factor;
            norm += x * x;
        }
    });
    norm = 1 / sqrt(norm);
    heev_prefetched2(up, down, ld, n, [&](int i, double above, double below) {
        x = i <= twist ? norm : x * (-e[i] * below);
        z[(size_t)i * ld] = i < twist ? norm * above : x;
    });
}

/* Implicit QL for matrices whose vectors came out far from orthogonal. One thread turns the tridiagonal matrix, a sweep
 * at a time; all threads then turn the vectors, in plan.z[1] with vector k in row k. */
static __global__ void heev_ql(const __grid_constant__ heev_plan plan)
{
    extern __shared__ double2 heev_memory[];
    __shared__ heev_sweep shared;
    __shared__ int more;
    const int n = plan.n;
    const size_t matrix = blockIdx.x;
    double *d = reinterpret_cast<double *>(heev_memory), *e = d + n + 1, *cosine = e + n + 1, *sine = cosine + n;
    double *z = plan.z[1] + matrix * plan.ld * plan.ld;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || apart <= HEEV_TWO_STEPS)
        return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = plan.d[matrix * n + i];
        e[i] = i + 1 < n ? plan.e[matrix * n + i + 1] : 0; /* e[i] couples i and i + 1 here */
    }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        z[i] = i % (n + 1) == 0;
    heev_sweep sweep = {0, 0, 0, 0}; /* of thread 0 */
    __syncthreads();
    for (;;) {
        if (threadIdx.x == 0) {
            more = heev_sweep_next(&sweep, n, d, e, cosine, sine);
            shared = sweep;
        }
        __syncthreads();
        if (more != 1)
            break;
        for (int r = threadIdx.x; r < n; r += blockDim.x) {
            double y = z[(size_t)shared.end * n + r];
            for (int i = shared.end - 1; i >= shared.begin; i--) {
                const double x = z[(size_t)i * n + r], c = cosine[i], s = sine[i];
                z[(size_t)(i + 1) * n + r] = s * x + c * y;
                y = c * x - s * y;
            }
            z[(size_t)shared.begin * n + r] = y;
        }
        __syncthreads();
    }
    int *order = reinterpret_cast<int *>(sine);
    if (threadIdx.x == 0) {
        plan.state[matrix] = more == 0 ? HEEV_BY_QL : HEEV_BAD;
        heev_order(n, d, order);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        plan.lambda[matrix * n + k] = d[order[k]];
    double *out = plan.z[0] + matrix * plan.ld * plan.ld;
    for (int at = threadIdx.x; at < n * n; at += blockDim.x)
        out[(size_t)(at / n) * plan.ld + at % n] = z[(size_t)order[at % n] * n + at / n];
}

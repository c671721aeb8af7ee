/* The rank of a window's signal: how many of its eigenvalues are not noise (denoise_rule.h). The largest ones come by
 * bisection with Sturm counts until the rest passes for noise, 16 lanes per window and as many eigenvalues at a time
 * (the first time one of them is the smallest). */
#pragma once

#include <math.h>

#include "denoise_plan.cuh"
#include "denoise/denoise_rule.h"

enum { DENOISE_GROUP = 16, DENOISE_RANK_THREADS = 128, DENOISE_RANK_WINDOWS = DENOISE_RANK_THREADS / DENOISE_GROUP };

/* A value with the exponent of 1 / x. */
__device__ __forceinline__ double denoise_rescale(double p, double q)
{
    const int exponent = __double2hiint(fmax(fabs(p), fabs(q))) & 0x7ff00000;
    return __hiloint2double(0x7fe00000 - exponent, 0);
}

/* How many eigenvalues are below x: sign changes of p_i = (d_i - x) p_(i-1) - e_i^2 p_(i-2). rows: (d, -e^2), a
 * multiple of 16. */
__device__ __forceinline__ int denoise_count_below(int n, const double2 *rows, double x)
{
    double p = 1, q = 0;
    int below = 0;
    for (int i0 = 0; i0 < n; i0 += 16) {
        unsigned signs = (unsigned)__double2hiint(p) >> 31; /* the newest is the lowest bit */
#pragma unroll
        for (int r = 0; r < 16; r++) {
            const double2 row = rows[i0 + r];
            const double next = fma(row.x - x, p, row.y * q);
            q = p;
            p = next;
            signs = __funnelshift_l((unsigned)__double2hiint(p), signs, 1);
        }
        below += __popc((signs ^ signs >> 1) & 0xffff);
        const double scale = denoise_rescale(p, q);
        p *= scale;
        q *= scale;
    }
    return below;
}

/* With 16 candidates, lane l's being number first + l: which is the first after which the rest is noise; -1: none.
 * carry: the sum of all eigenvalues from number first on. */
__device__ __forceinline__ int denoise_first_noise(const denoise_plan &plan, unsigned group, int lane, bool valid,
                                                   int number, double value, double least, double *carry,
                                                   double *variance)
{
    double sum = valid ? value : 0;
    for (int offset = 1; offset < DENOISE_GROUP; offset *= 2) {
        const double other = __shfl_up_sync(group, sum, offset, DENOISE_GROUP);
        sum += lane >= offset ? other : 0;
    }
    const double rest = fmax(*carry - (sum - (valid ? value : 0)), 0.0);
    double found = 0;
    const bool noise = valid && denoise_is_noise(plan.n, plan.rows, plan.veraart, number, rest, value, least, &found);
    const unsigned which = __ballot_sync(group, noise) & group;
    *carry -= __shfl_sync(group, sum, DENOISE_GROUP - 1, DENOISE_GROUP);
    if (!which)
        return -1;
    const int first = (__ffs((int)which) - 1) % DENOISE_GROUP;
    *variance = __shfl_sync(group, found, first, DENOISE_GROUP);
    return first;
}

__global__ void __launch_bounds__(DENOISE_RANK_THREADS)
    hot_denoise_select_rank(const __grid_constant__ denoise_plan plan)
{
    extern __shared__ double2 denoise_rank_memory[];
    const int n = plan.n, lane = threadIdx.x % DENOISE_GROUP, slot = threadIdx.x / DENOISE_GROUP;
    const int w = blockIdx.x * DENOISE_RANK_WINDOWS + slot;
    const unsigned group = 0xffffu << (threadIdx.x & 16);
    const int padded = (n + 15) / 16 * 16;
    double2 *rows = denoise_rank_memory + (size_t)slot * padded;
    if (w >= plan.count || plan.signal[w] == DENOISE_UNWANTED)
        return;
    double *global_d = plan.d + (size_t)w * n, *global_e = plan.e + (size_t)w * n, norm = 0, trace = 0;
    for (int i = lane; i < n; i += DENOISE_GROUP) {
        norm = fmax(norm, fabs(global_d[i]) + fabs(global_e[i]) + (i + 1 < n ? fabs(global_e[i + 1]) : 0));
        trace += global_d[i];
    }
    for (int offset = DENOISE_GROUP / 2; offset; offset /= 2) {
        norm = fmax(norm, __shfl_xor_sync(group, norm, offset));
        trace += __shfl_xor_sync(group, trace, offset);
    }
    norm = norm > 0 ? norm : 1;
    const double scale = 1 / norm;
    for (int i = lane; i < n; i += DENOISE_GROUP) {
        const double di = global_d[i] * scale, ei = global_e[i] * scale;
        global_d[i] = di;
        global_e[i] = ei;
        rows[i] = make_double2(di, -fmax(ei * ei, 0x1p-110)); /* the recurrence cannot vanish between two scalings */
    }
    for (int i = n + lane; i < padded; i += DENOISE_GROUP)
        rows[i] = make_double2(4, 0); /* above all */
    __syncwarp(group);
    double carry = trace * scale, least = 0, variance = NAN;
    int signal = n;
    for (int known = 0, fresh = DENOISE_GROUP - 1; known < n; known += fresh, fresh = DENOISE_GROUP) {
        const int number = known + lane, index = lane < fresh && number < n ? n - 1 - number : 0;
        double from = -1 - 0x1p-40, to = 1 + 0x1p-40;
        for (int step = 0; step < 52; step++) {
            const double x = 0.5 * (from + to);
            if (denoise_count_below(n, rows, x) > index)
                to = x;
            else
                from = x;
        }
        const double value = 0.5 * (from + to);
        if (known == 0)
            least = fmax(__shfl_sync(group, value, DENOISE_GROUP - 1, DENOISE_GROUP), 0.0);
        if (lane < fresh && number < n)
            plan.lambda[(size_t)w * n + number] = value;
        const int noise = denoise_first_noise(plan, group, lane, lane < fresh && number < n, number, fmax(value, 0.0),
                                              least, &carry, &variance);
        if (noise >= 0) {
            signal = known + noise;
            break;
        }
    }
    if (lane == 0) {
        plan.signal[w] = signal;
        plan.level[w] = (float)(variance * norm);
    }
}

/* The same for windows whose eigenvalues (ascending) and eigenvectors are all known, and their basis. A block per
 * window of a part of the list, which `listed` others precede. */
template <bool C>
__global__ void __launch_bounds__(DENOISE_RANK_THREADS)
    denoise_select_rank_solved(const __grid_constant__ denoise_plan plan, const int *list, int listed,
                               const double *values, const double *vectors, const uint8_t *flags)
{
    typedef typename denoise_number<C>::type E;
    __shared__ int found;
    if (listed + (int)blockIdx.x >= *plan.list)
        return;
    const int n = plan.n, w = list[blockIdx.x], lane = threadIdx.x % DENOISE_GROUP;
    const double *value = values + (size_t)blockIdx.x * n;
    if (threadIdx.x < DENOISE_GROUP) {
        const unsigned group = 0xffffu;
        double carry = 0, variance = NAN;
        int signal = n;
        const double least = fmax(value[0], 0.0);
        for (int i = lane; i < n; i += DENOISE_GROUP)
            carry += value[i];
        for (int offset = DENOISE_GROUP / 2; offset; offset /= 2)
            carry += __shfl_xor_sync(group, carry, offset);
        for (int known = 0; known < n && !flags[blockIdx.x]; known += DENOISE_GROUP) {
            const int number = known + lane;
            const int noise =
                denoise_first_noise(plan, group, lane, number < n, number,
                                    number < n ? fmax(value[n - 1 - number], 0.0) : 0, least, &carry, &variance);
            if (noise >= 0) {
                signal = known + noise;
                break;
            }
        }
        if (lane == 0) {
            found = plan.signal[w] = signal;
            plan.level[w] = (float)variance;
        }
    }
    __syncthreads();
    const int signal = found;
    if (signal == n)
        return;
    const number<C> *from = (const number<C> *)vectors + (size_t)blockIdx.x * n * n;
    for (int at = threadIdx.x; at < signal * n; at += blockDim.x)
        denoise_store(denoise_basis<E>(plan, w, signal, at / n, at % n), from[(size_t)(n - 1 - at / n) * n + at % n]);
}

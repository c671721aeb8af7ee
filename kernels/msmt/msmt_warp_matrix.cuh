/* The tensor's matrix and its multiplier, of one voxel by one warp: see msmt_semidefinite.h. SIDE: of these matrices,
 * which are whole and in shared memory. */
#pragma once

#include "msmt_tables.h"
#include "msmt_warp.cuh"

namespace {

/* As `semidefinite` of msmt_semidefinite.h. */
struct warp_matrices {
    double *s, *z, *ds, *dz, *inverse, *target, *a, *b;
};

template <int SIDE> __device__ inline void set_matrix(const msmt_tables &tables, const double *x, double *matrix)
{
    for (int i = lane_of_warp(); i < SIDE * SIDE; i += 32)
        matrix[i] = tables.entry_scale[i] * x[tables.entry[i]];
    __syncwarp();
}

/* sum += F*(matrix), of a symmetric matrix */
template <int SIDE>
__device__ inline void add_adjoint(const msmt_tables &tables, int terms, const double *matrix, double *sum)
{
    for (int t = lane_of_warp(); t < terms; t += 32) {
        double more = 0;
        for (int f = tables.first_pair[t]; f < tables.first_pair[t + 1]; f++) {
            const int p = tables.pair[f][0], q = tables.pair[f][1], at = p * SIDE + q;
            more += (p == q ? 1 : 2) * tables.entry_scale[at] * matrix[at];
        }
        sum[t] += more;
    }
    __syncwarp();
}

template <int SIDE> __device__ inline double inner(const double *a, const double *b)
{
    double sum = 0;
    for (int i = lane_of_warp(); i < SIDE * SIDE; i += 32)
        sum += a[i] * b[i];
    return warp_sum(sum);
}

template <int SIDE> __device__ inline void multiply(const double *a, const double *b, double *out)
{
    for (int e = lane_of_warp(); e < SIDE * SIDE; e += 32) {
        const int i = e / SIDE, j = e % SIDE;
        double sum = 0;
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            sum += a[i * SIDE + k] * b[k * SIDE + j];
        out[e] = sum;
    }
    __syncwarp();
}

/* m.inverse = m.s^-1: both halves of the warp factorise, a row per lane; then a column of the factor's inverse each. */
template <int SIDE> __device__ inline void invert(const warp_matrices &m)
{
    const int lane = lane_of_warp(), row = lane % 16, r = row < SIDE ? row : 0;
    double a[SIDE];
#pragma unroll
    for (int c = 0; c < SIDE; c++)
        a[c] = m.s[r * SIDE + c];
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        const double root = rsqrt(fmax(__shfl_sync(~0u, a[k], k, 16), 1e-300));
        a[k] = row == k ? root : a[k] * root;
#pragma unroll
        for (int c = k + 1; c < SIDE; c++)
            a[c] -= a[k] * __shfl_sync(~0u, a[k], c, 16);
    }
#pragma unroll
    for (int c = 0; c < SIDE; c++)
        if (lane < SIDE && c <= lane)
            m.a[lane * SIDE + c] = a[c];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        double sum = i == row;
#pragma unroll
        for (int k = 0; k < i; k++)
            sum -= m.a[i * SIDE + k] * a[k];
        a[i] = i < row ? 0 : sum * m.a[i * SIDE + i];
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        if (lane < SIDE)
            m.b[i * SIDE + lane] = a[i];
    __syncwarp();
    for (int e = lane; e < SIDE * SIDE; e += 32) {
        const int i = e / SIDE, j = e % SIDE;
        double sum = 0;
        for (int k = i > j ? i : j; k < SIDE; k++)
            sum += m.b[k * SIDE + i] * m.b[k * SIDE + j];
        m.inverse[e] = sum;
    }
    __syncwarp();
}

/* hessian += H: lanes side by side have entries with as many pairs. */
template <int SIDE>
__device__ inline void add_curvature(const msmt_tables &tables, int entries, const warp_matrices &m, double *hessian)
{
    for (int i = lane_of_warp(); i < SIDE * SIDE; i += 32) {
        const double roots = tables.root[i / SIDE] * tables.root[i % SIDE];
        m.a[i] = roots * m.z[i];
        m.b[i] = roots * m.inverse[i];
    }
    __syncwarp();
    for (int e = lane_of_warp(); e < entries; e += 32) {
        const int i = tables.sorted[e][0], j = tables.sorted[e][1];
        double sum = 0;
        for (int f = tables.first_pair[i]; f < tables.first_pair[i + 1]; f++)
            for (int g = tables.first_pair[j]; g < tables.first_pair[j + 1]; g++) {
                const int p = tables.pair[f][0], q = tables.pair[f][1], r = tables.pair[g][0], s = tables.pair[g][1];
                const double four = m.a[q * SIDE + r] * m.b[s * SIDE + p] + m.a[p * SIDE + r] * m.b[s * SIDE + q] +
                                    m.a[q * SIDE + s] * m.b[r * SIDE + p] + m.a[p * SIDE + s] * m.b[r * SIDE + q];
                sum += (p == q ? 0.5 : 1) * (r == s ? 0.5 : 1) * four;
            }
        hessian[packed_at(i, j)] += tables.scale[i] * tables.scale[j] * sum;
    }
    __syncwarp();
}

/* out = sym(a b m.inverse) */
template <int SIDE>
__device__ inline void symmetric_product(const warp_matrices &m, const double *a, const double *b, double *out)
{
    multiply<SIDE>(a, b, m.a);
    multiply<SIDE>(m.a, m.inverse, m.b);
    for (int e = lane_of_warp(); e < SIDE * SIDE; e += 32)
        out[e] = 0.5 * (m.b[e] + m.b[e % SIDE * SIDE + e / SIDE]);
    __syncwarp();
}

/* m.dz = target - z - sym(z ds s^-1); target NULL: 0 */
template <int SIDE> __device__ inline void set_multiplier_step(const warp_matrices &m, const double *target)
{
    symmetric_product<SIDE>(m, m.z, m.ds, m.dz);
    for (int e = lane_of_warp(); e < SIDE * SIDE; e += 32)
        m.dz[e] = (target ? target[e] : 0) - m.z[e] - m.dz[e];
    __syncwarp();
}

/* The longest step up to `most` that keeps both matrices positive definite, to a 2^-rounds of it: a half of the warp
 * tests each, a row per lane. */
template <int SIDE> __device__ inline double longest_definite(const warp_matrices &m, double most, int rounds)
{
    const int lane = lane_of_warp(), r = lane % 16 < SIDE ? lane % 16 : 0;
    const double *const from = (lane < 16 ? m.s : m.z) + r * SIDE, *const along = (lane < 16 ? m.ds : m.dz) + r * SIDE;
    double base[SIDE], step[SIDE], low = 0, high = most, length = most;
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
        base[c] = from[c];
        step[c] = along[c];
    }
    for (int round = 0; round <= rounds; round++) {
        double a[SIDE];
        bool good = true;
#pragma unroll
        for (int c = 0; c < SIDE; c++)
            a[c] = base[c] + length * step[c];
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            const double pivot = __shfl_sync(~0u, a[k], k, 16), factor = a[k] * (1 / pivot);
            good = good && pivot > 0;
#pragma unroll
            for (int c = k + 1; c < SIDE; c++)
                a[c] -= factor * __shfl_sync(~0u, a[k], c, 16);
        }
        good = __all_sync(~0u, good);
        if (good && round == 0)
            return most;
        low = good ? length : low;
        high = good ? high : length;
        length = 0.5 * (low + high);
    }
    return low;
}

} // namespace

/* Householder's reduction of matrices too large for registers and for clusters (heev_cluster.cuh), down to what fits
 * there: a block per matrix, which it reads from L2 or memory once per reflector (half of it: every element serves its
 * row and its column) and writes once per panel of reflectors. Between two reflectors the block meets three times: for
 * the column, for the product with it, for u^H A u.
 *
 * The lower half is kept with zeros above it and half of the diagonal on it, so that an element is an element wherever
 * it lies. */
#pragma once

#include <cuda_pipeline.h>

#include "heev_reduce_common.cuh"
#include "heev_mma.cuh"

enum { HEEV_PANEL_WARPS = 8, HEEV_ROWS = 8 }; /* rows of a strip */

/* Numbers from one pair's elements to the next one's in shared memory, so that no two lanes are in one bank. */
template <bool C> static constexpr __host__ __device__ int heev_update_pitch() { return C ? 66 : 68; }

/* Numbers of shared memory for the products, or for an update. */
template <bool C> static inline __host__ __device__ int heev_panel_numbers(int ld, int panel)
{
    const int product = ld * (1 + HEEV_PANEL_WARPS), update = 4 * panel * heev_update_pitch<C>();
    return product > update ? product : update;
}

/* Bytes of shared memory. */
template <bool C> static inline size_t heev_panel_bytes(int ld, int panel)
{
    return (size_t)(ld + heev_panel_numbers<C>(ld, panel) + 4 * HEEV_PANEL + 1) * sizeof(number<C>) +
           32 * sizeof(double);
}

/* One warp: a strip of rows, `stride` apart, times x, over `chunks` of 32 columns: the dot products, for its lane's row
 * of the strip. SQUARE: they are rows r0 ... of the matrix's lower half, and its upper half, their columns, is
 * multiplied too: into `columns`, set by the warp's `first` strip, which is its longest. Half of the next loads are on
 * their way while the other half is worked on. */
template <bool C, bool SQUARE, bool CACHED>
__device__ __forceinline__ number<C> heev_strip(const number<C> *base, ptrdiff_t stride, int r0, int chunks,
                                                const number<C> *x, bool first, number<C> *columns)
{
    typedef number<C> num;
    const num zero = num::make(0, 0);
    num dot[HEEV_ROWS], a[HEEV_ROWS];
    base += threadIdx.x % 32;
    x += threadIdx.x % 32;
    columns += threadIdx.x % 32;
    const num *xr = x - threadIdx.x % 32 + r0;
#pragma unroll
    for (int k = 0; k < HEEV_ROWS; k++) {
        a[k] = heev_fetch<CACHED>(base + k * stride);
        dot[k] = zero;
    }
    for (int chunk = 0; chunk < chunks; chunk++) {
        const num xc = x[32 * chunk];
        num column = SQUARE && !first ? columns[32 * chunk] : zero;
        base += 32;
#pragma unroll
        for (int half = 0; half < HEEV_ROWS; half += HEEV_ROWS / 2) {
#pragma unroll
            for (int k = half; k < half + HEEV_ROWS / 2; k++) {
                dot[k] = add_conj(dot[k], a[k], xc);
                if (SQUARE)
                    column = add(column, a[k], xr[k]);
            }
            if (chunk + 1 < chunks)
#pragma unroll
                for (int k = half; k < half + HEEV_ROWS / 2; k++)
                    a[k] = heev_fetch<CACHED>(base + k * stride);
        }
        if (SQUARE)
            columns[32 * chunk] = column;
    }
    return heev_sum_across<C, 32, HEEV_ROWS>(dot); /* lane l has that of row l / (32 / HEEV_ROWS) */
}

/* The strips of a product: first those of V and W, then the matrix's from the longest on; dealt to the warps to and
 * fro, so that each gets as much. */
struct heev_strips {
    int dots, square;
    __device__ heev_strips(int length, int pairs)
        : dots(2 * ((pairs + HEEV_ROWS - 1) / HEEV_ROWS)), square((length + HEEV_ROWS - 1) / HEEV_ROWS)
    {
    }
    /* A warp's strip in a round, in that order; and how many columns its strips of the matrix reach into. */
    __device__ int at(int warp, int round) const
    {
        return round * HEEV_PANEL_WARPS + (round % 2 ? HEEV_PANEL_WARPS - 1 - warp : warp);
    }
    __device__ int reach(int warp) const { return (square + dots - at(warp, warp < dots)) * HEEV_ROWS; }
};

/* A x, each warp's part of the upper half in separate columns; V^H x and W^H x for the panel's pairs, in rows first,
 * first - 1 ... of a and w. */
template <bool C, bool CACHED>
__device__ __forceinline__ void heev_multiply(const number<C> *a, const number<C> *w, int ld, int length, int first,
                                              int pairs, const number<C> *x, number<C> *columns, number<C> *rows,
                                              number<C> *with_v, number<C> *with_w)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / (32 / HEEV_ROWS);
    const heev_strips strips(length, pairs);
    bool fresh = true;
    for (int round = 0; round * HEEV_PANEL_WARPS < strips.dots + strips.square; round++) {
        const int at = strips.at(warp, round);
        if (at < strips.dots) {
            const int p = at / 2 * HEEV_ROWS;
            const number<C> sum = heev_strip<C, false, true>((at % 2 ? w : a) + (size_t)(first - p) * ld,
                                                             -(ptrdiff_t)ld, 0, (length + 31) / 32, x, false, columns);
            if (lane % (32 / HEEV_ROWS) == 0)
                (at % 2 ? with_w : with_v)[p + row] = sum; /* not read beyond `pairs` */
        } else if (at < strips.dots + strips.square) {
            const int strip = strips.square - 1 - (at - strips.dots), r0 = strip * HEEV_ROWS;
            const number<C> sum = heev_strip<C, true, CACHED>(a + (size_t)r0 * ld, ld, r0, (r0 + HEEV_ROWS + 31) / 32,
                                                              x, fresh, columns);
            if (lane % (32 / HEEV_ROWS) == 0)
                rows[r0 + row] = sum;
            fresh = false;
        }
    }
}

/* Sends 64 elements of each of the panel's pairs to shared memory: rows first, first - 1 ... of `from`, from `begin`
 * on. */
template <bool C>
__device__ __forceinline__ void heev_send_pairs(number<C> *to, const number<C> *from, int ld, int first, int pairs,
                                                int panel, int begin)
{
    constexpr int PITCH = heev_update_pitch<C>();
    for (int at = threadIdx.x; at < 64 * panel; at += 32 * HEEV_PANEL_WARPS) {
        const int p = at / 64, k = at % 64;
        if (p < pairs && begin + k < ld)
            __pipeline_memcpy_async(to + p * PITCH + k, from + (size_t)(first - p) * ld + begin + k, sizeof(number<C>));
        else
            to[p * PITCH + k] = number<C>::make(0, 0);
    }
}

/* A -= V W^H + W V^H for the first `length` rows, 64 x 64 of the lower half at a time, of which a warp does 16 x 32. Of
 * the diagonal half is kept. stage: 4 panel numbers of heev_update_pitch. */
template <bool C>
__device__ __forceinline__ void heev_update(number<C> *a, const number<C> *w, int ld, int length, int first, int pairs,
                                            int panel, number<C> *stage)
{
    typedef number<C> num;
    constexpr int PARTS = C ? 2 : 1, PITCH = heev_update_pitch<C>();
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
    num *row_v = stage, *row_w = row_v + panel * PITCH, *other_v = row_w + panel * PITCH,
        *other_w = other_v + panel * PITCH;
    for (int r64 = 0; r64 < length; r64 += 64)
        for (int c64 = 0; c64 <= r64; c64 += 64) {
            if (c64 == 0) {
                heev_send_pairs<C>(row_v, a, ld, first, pairs, panel, r64);
                heev_send_pairs<C>(row_w, w, ld, first, pairs, panel, r64);
            }
            if (c64 < r64) {
                heev_send_pairs<C>(other_v, a, ld, first, pairs, panel, c64);
                heev_send_pairs<C>(other_w, w, ld, first, pairs, panel, c64);
            }
            __pipeline_commit();
            const num *column_v = c64 < r64 ? other_v : row_v, *column_w = c64 < r64 ? other_w : row_w;
            for (int half = 0; half < 2; half++) {
                const int r0 = warp / 2 * 16, c0 = warp % 2 * 32 + 16 * half;
                double sum[2][PARTS][4]; /* the elements themselves */
                const bool needed = r64 + r0 < length && c64 + c0 <= r64 + r0 + 15;
#pragma unroll
                for (int h = 0; h < 2; h++)
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        const int r = r64 + r0 + g + 8 * (k / 2), c = c64 + c0 + 8 * h + 2 * j + k % 2;
                        const num old = needed && r < length && c <= r ? a[(size_t)r * ld + c] : num::make(0, 0);
                        const double twice = r == c ? 2 : 1;
                        sum[h][0][k] = twice * old.re;
                        if constexpr (C)
                            sum[h][1][k] = twice * old.im();
                    }
                if (half == 0) {
                    __pipeline_wait_prior(0);
                    __syncthreads();
                }
                if (!needed)
                    continue;
                for (int p = 0; p < panel; p += 8) {
                    double minus_w[PARTS][4], minus_v[PARTS][4]; /* -conj */
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        const int from = (p + j + 4 * (k / 2)) * PITCH + r0 + g + 8 * (k % 2);
                        const num wk = row_w[from], vk = row_v[from];
                        minus_w[0][k] = -wk.re;
                        minus_v[0][k] = -vk.re;
                        if constexpr (C) {
                            minus_w[1][k] = wk.im();
                            minus_v[1][k] = vk.im();
                        }
                    }
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        const int from = (p + j) * PITCH + c0 + 8 * h + g;
                        heev_product<C>(sum[h], minus_w, column_v[from], column_v[from + 4 * PITCH]);
                        heev_product<C>(sum[h], minus_v, column_w[from], column_w[from + 4 * PITCH]);
                    }
                }
#pragma unroll
                for (int h = 0; h < 2; h++)
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        const int r = r64 + r0 + g + 8 * (k / 2), c = c64 + c0 + 8 * h + 2 * j + k % 2;
                        const double part = r == c ? .5 : 1;
                        if (r < length && c <= r)
                            a[(size_t)r * ld + c] = num::make(part * sum[h][0][k], C ? part * sum[h][C ? 1 : 0][k] : 0);
                    }
            }
            __syncthreads();
        }
}

/* EACH: columns of a thread, n <= 256 EACH. Stops where `tail` rows are left, which are then up to date. */
template <bool C, int EACH>
__global__ void __launch_bounds__(32 * HEEV_PANEL_WARPS, 2)
    heev_panels(const __grid_constant__ heev_plan plan, const void *matrices, int tail)
{
    typedef number<C> num;
    constexpr int THREADS = 32 * HEEV_PANEL_WARPS;
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, ld = plan.ld, warp = threadIdx.x / 32, lane = threadIdx.x % 32, tid = threadIdx.x;
    const size_t matrix = blockIdx.x;
    num *x = reinterpret_cast<num *>(heev_memory), *rows = x + ld, *columns = rows + ld; /* columns: of each warp */
    num *with_v = rows + heev_panel_numbers<C>(ld, plan.panel), *with_w = with_v + HEEV_PANEL,
        *next_v = with_w + HEEV_PANEL;
    num *next_w = next_v + HEEV_PANEL, *corner = next_w + HEEV_PANEL;
    double *workspace = reinterpret_cast<double *>(corner + 1);
    num *a = (num *)plan.reflectors + matrix * ld * ld, *w = (num *)plan.second + matrix * ld * ld,
        *tau = (num *)plan.tau + matrix * ld;
    const num zero = num::make(0, 0);
    if (!heev_load<C>(plan, matrices, workspace, [=](int row) { return a + (size_t)row * ld; }))
        return;
    __syncthreads();
    num column[EACH];
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int c = tid + m * THREADS;
        column[m] = c < n ? a[(size_t)(n - 1) * ld + c] : zero;
    }
    __syncthreads();
    for (int i = warp; i < ld; i += HEEV_PANEL_WARPS) {
        num *row = a + (size_t)i * ld;
        for (int c = lane; c < ld; c += 32)
            if (c > i || i >= n)
                row[c] = zero;
            else if (c == i)
                row[c] = num::make(.5 * row[c].re, 0);
    }
    int first = n - 1, pairs = 0;
    for (int i = n - 1; i >= tail; i--) {
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int c = tid + m * THREADS;
            if (c < ld)
                x[c] = c < i ? column[m] : zero;
            if (c == i)
                plan.d[matrix * n + i] = column[m].re;
        }
        __syncthreads();
        if (pairs == plan.panel) {
            heev_update<C>(a, w, ld, i, first, pairs, plan.panel, rows);
            first = i;
            pairs = 0;
        }
        if (tid < 2 * pairs)
            next_v[tid % 2 * HEEV_PANEL + tid / 2] = (tid % 2 ? w : a)[(size_t)(first - tid / 2) * ld + i - 1];
        double rest = 0;
        for (int c = lane; c < i - 1; c += 32)
            rest += x[c].re * x[c].re + x[c].im() * x[c].im();
        rest = warp_sum(rest);
        double beta;
        num t, scale;
        heev_reflection(rest, x[i - 1], &beta, &t, &scale);
        heev_multiply<C, EACH == 1>(a, w, ld, i, first, pairs, x, columns + (size_t)warp * ld, rows, with_v, with_w);
        __syncthreads();
        if (tid == 0) {
            plan.e[matrix * n + i] = beta;
            tau[i] = t;
        }
        /* u = (x - beta) scale; A u; the next column without the newest pair */
        const heev_strips strips(i, pairs);
        double real = 0;
        num u[EACH], mine[EACH], after[EACH];
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int c = tid + m * THREADS, inside = min(c, i - 1); /* columns beyond the matrix repeat the last */
            u[m] = c == i - 1 ? num::make(1, 0) : c < i - 1 ? times(column[m], scale) : zero;
            if (c < ld)
                a[(size_t)i * ld + c] = u[m];
            after[m] = a[(size_t)(i - 1) * ld + inside];
            if (inside == i - 1)
                after[m] = num::make(2 * after[m].re, 0);
            mine[m] = rows[inside];
#pragma unroll
            for (int k = 0; k < HEEV_PANEL_WARPS; k++)
                if (inside < strips.reach(k))
                    mine[m] = plus(mine[m], columns[(size_t)k * ld + inside]);
        }
        size_t line = (size_t)first * ld;
#pragma unroll(4 / EACH > 1 ? 4 / EACH : 1)
        for (int p = 0; p < pairs; p++, line -= ld) {
            const num by_v = with_v[p], by_w = with_w[p], end_v = next_v[p], end_w = next_w[p];
#pragma unroll
            for (int m = 0; m < EACH; m++) {
                const num vp = a[line + min(tid + m * THREADS, i - 1)], wp = w[line + min(tid + m * THREADS, i - 1)];
                mine[m] = minus(minus(mine[m], vp, by_w), wp, by_v);
                after[m] = minus_conj(minus_conj(after[m], vp, end_w), wp, end_v);
            }
        }
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int c = tid + m * THREADS;
            const num product = times(num::make(mine[m].re - beta * after[m].re, mine[m].im() - beta * after[m].im()),
                                      scale);
            real += add_conj(zero, product, u[m]).re; /* u is zero beyond */
            mine[m] = times(t, product);
            column[m] = after[m];
            if (c == i - 1)
                *corner = mine[m];
        }
        real = block_sum(real, workspace);
        /* w = tau A u - tau / 2 (w^H u) u with w^H u = conj(tau) times the real u^H A u */
        const double half = -0.5 * (t.re * t.re + t.im() * t.im()) * real;
        const num last = plus(*corner, num::make(half, 0));
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int c = tid + m * THREADS;
            const num wc = c < i ? add(mine[m], num::make(half, 0), u[m]) : zero;
            if (c < ld)
                w[(size_t)i * ld + c] = wc;
            if (c < i)
                column[m] = minus_conj(minus_conj(column[m], u[m], last), wc, num::make(1, 0));
        }
        pairs++;
    }
    __syncthreads();
    heev_update<C>(a, w, ld, tail, first, pairs, plan.panel, rows);
}

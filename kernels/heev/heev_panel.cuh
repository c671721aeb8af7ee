/* Householder's reduction of matrices too large for registers, down to what fits there: a block per matrix, which it reads from
 * L2 or memory once per reflector (half of it: every element serves its row and its column) and writes once per panel of
 * reflectors. Between two reflectors the block meets three times: for the column, for the product with it, for u^H A u.
 *
 * The lower half is kept with zeros above it and half of the diagonal on it, so that an element is an element wherever it
 * lies. */
#ifndef HOT_HEEV_PANEL_CUH
#define HOT_HEEV_PANEL_CUH

#include "heev_begin.cuh"
#include "heev_tensor.cuh"

enum { HEEV_PANEL_WARPS = 8, HEEV_ROWS = 8 }; /* rows of a strip */

/* Bytes of shared memory. */
static inline size_t heev_panel_room(int ld, size_t number_bytes)
{
    return ((size_t)ld * (2 + HEEV_PANEL_WARPS) + 4 * HEEV_PANEL + 1) * number_bytes + 32 * sizeof(double);
}

/* Sums over the warp of HEEV_ROWS values at once: lane l ends with that of row l / (32 / HEEV_ROWS). */
template <bool C> __device__ __forceinline__ number<C> heev_sum_rows(number<C> value[HEEV_ROWS])
{
    int offset = 16;
#pragma unroll
    for (int kept = HEEV_ROWS / 2; kept; kept /= 2, offset /= 2) {
        const bool upper = threadIdx.x & offset;
#pragma unroll
        for (int k = 0; k < kept; k++)
            value[k] = plus(upper ? value[k + kept] : value[k], shuffled(upper ? value[k] : value[k + kept], offset));
    }
#pragma unroll
    for (; offset; offset /= 2)
        value[0] = plus(value[0], shuffled(value[0], offset));
    return value[0];
}

/* One warp: a strip of rows, `stride` apart, times x, over `chunks` of 32 columns: the dot products, for its lane's row of the
 * strip. SQUARE: they are rows r0 ... of the matrix's lower half, and its upper half, their columns, is multiplied too: into
 * `columns`, set by the warp's `first` strip, which is its longest. Half of the next loads are on their way while the other
 * half is worked on. */
template <bool C, bool SQUARE, bool CACHED>
__device__ __forceinline__ number<C> heev_strip(const number<C> *base, ptrdiff_t stride, int r0, int chunks, const number<C> *x,
                                                bool first, number<C> *columns)
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
    return heev_sum_rows<C>(dot);
}

/* The strips of a product: first those of V and W, then the matrix's from the longest on; dealt to the warps to and fro, so that
 * each gets as much. */
struct heev_strips {
    int dots, square;
    __device__ heev_strips(int length, int pairs)
        : dots(2 * ((pairs + HEEV_ROWS - 1) / HEEV_ROWS)), square((length + HEEV_ROWS - 1) / HEEV_ROWS)
    {
    }
    /* A warp's strip in a round, in that order; and how many columns its strips of the matrix reach into. */
    __device__ int at(int warp, int round) const { return round * HEEV_PANEL_WARPS + (round % 2 ? HEEV_PANEL_WARPS - 1 - warp : warp); }
    __device__ int reach(int warp) const { return (square + dots - at(warp, warp < dots)) * HEEV_ROWS; }
};

/* A x, each warp's part of the upper half in columns of its own; V^H x and W^H x for the panel's pairs, in rows first, first - 1 ...
 * of a and w. */
template <bool C, bool CACHED>
__device__ __forceinline__ void heev_multiply(const number<C> *a, const number<C> *w, int ld, int length, int first, int pairs,
                                              const number<C> *x, number<C> *columns, number<C> *rows, number<C> *with_v,
                                              number<C> *with_w)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / (32 / HEEV_ROWS);
    const heev_strips strips(length, pairs);
    bool fresh = true;
    for (int round = 0; round * HEEV_PANEL_WARPS < strips.dots + strips.square; round++) {
        const int at = strips.at(warp, round);
        if (at < strips.dots) {
            const int p = at / 2 * HEEV_ROWS;
            const number<C> sum = heev_strip<C, false, true>((at % 2 ? w : a) + (size_t)(first - p) * ld, -(ptrdiff_t)ld, 0,
                                                             (length + 31) / 32, x, false, columns);
            if (lane % (32 / HEEV_ROWS) == 0)
                (at % 2 ? with_w : with_v)[p + row] = sum; /* beyond `pairs` nobody looks */
        } else if (at < strips.dots + strips.square) {
            const int strip = strips.square - 1 - (at - strips.dots), r0 = strip * HEEV_ROWS;
            const number<C> sum = heev_strip<C, true, CACHED>(a + (size_t)r0 * ld, ld, r0, (r0 + HEEV_ROWS + 31) / 32, x, fresh, columns);
            if (lane % (32 / HEEV_ROWS) == 0)
                rows[r0 + row] = sum;
            fresh = false;
        }
    }
}

/* A -= V W^H + W V^H for the first `length` rows, 16 x 16 tiles of the lower half. Of the diagonal half is kept. */
template <bool C>
__device__ __forceinline__ void heev_update(number<C> *a, const number<C> *w, int ld, int length, int first, int pairs)
{
    typedef number<C> num;
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
    const int tiles = (length + 15) / 16;
    for (int at = warp; at < tiles * (tiles + 1) / 2; at += HEEV_PANEL_WARPS) {
        int row = (int)((sqrtf(8 * (float)at + 1) - 1) / 2);
        row += at >= (row + 1) * (row + 2) / 2 ? 1 : at < row * (row + 1) / 2 ? -1 : 0;
        const int r0 = 16 * row, c0 = 16 * (at - row * (row + 1) / 2);
        double sum[2][C ? 2 : 1][4] = {};
        for (int p = 0; p < pairs; p += 8) {
            const bool here[2] = {p + j < pairs, p + j + 4 < pairs};
            const size_t line[2] = {(size_t)(first - p - j) * ld, (size_t)(first - p - j - 4) * ld};
            double minus_w[C ? 2 : 1][4], minus_v[C ? 2 : 1][4]; /* -conj */
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const size_t from = line[k / 2] + (size_t)(r0 + g + 8 * (k % 2));
                const num wk = here[k / 2] ? w[from] : num::make(0, 0), vk = here[k / 2] ? a[from] : num::make(0, 0);
                minus_w[0][k] = -wk.re;
                minus_v[0][k] = -vk.re;
                if constexpr (C) {
                    minus_w[1][k] = wk.im();
                    minus_v[1][k] = vk.im();
                }
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                num v[2], second[2];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const size_t from = line[k] + (size_t)(c0 + 8 * h + g);
                    v[k] = here[k] ? a[from] : num::make(0, 0);
                    second[k] = here[k] ? w[from] : num::make(0, 0);
                }
                heev_product<C>(sum[h], minus_w, v[0], v[1]);
                heev_product<C>(sum[h], minus_v, second[0], second[1]);
            }
        }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int r = r0 + g + 8 * (k / 2), c = c0 + 8 * h + 2 * j + k % 2;
                num *to = a + (size_t)r * ld + c;
                const double part = r == c ? .5 : 1;
                if (r < length && c <= r)
                    *to = plus(*to, num::make(part * sum[h][0][k], C ? part * sum[h][C ? 1 : 0][k] : 0));
            }
    }
}

/* EACH: columns of a thread, n <= 256 EACH. Stops where `tail` rows are left, which are then up to date. */
template <bool C, int EACH>
__global__ void __launch_bounds__(32 * HEEV_PANEL_WARPS, 2) heev_panels(const __grid_constant__ heev_plan plan, const void *matrices,
                                                                        int tail)
{
    typedef number<C> num;
    constexpr int THREADS = 32 * HEEV_PANEL_WARPS;
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, ld = plan.ld, warp = threadIdx.x / 32, lane = threadIdx.x % 32, tid = threadIdx.x;
    const size_t matrix = blockIdx.x;
    num *x = reinterpret_cast<num *>(heev_memory), *rows = x + ld, *columns = rows + ld; /* columns: of each warp */
    num *with_v = columns + (size_t)HEEV_PANEL_WARPS * ld, *with_w = with_v + HEEV_PANEL, *next_v = with_w + HEEV_PANEL;
    num *next_w = next_v + HEEV_PANEL, *corner = next_w + HEEV_PANEL;
    double *room = reinterpret_cast<double *>(corner + 1);
    num *a = (num *)plan.reflectors + matrix * ld * ld, *w = (num *)plan.second + matrix * ld * ld, *tau = (num *)plan.tau + matrix * ld;
    const num zero = num::make(0, 0);
    if (!heev_load<C>(plan, matrices, room, [=](int row) { return a + (size_t)row * ld; }))
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
            heev_update(a, w, ld, i, first, pairs);
            __syncthreads();
            first = i;
            pairs = 0;
        }
        if (tid < 2 * pairs)
            next_v[tid % 2 * HEEV_PANEL + tid / 2] = (tid % 2 ? w : a)[(size_t)(first - tid / 2) * ld + i - 1];
        double rest = 0;
        for (int c = lane; c < i - 1; c += 32)
            rest += x[c].re * x[c].re + x[c].im() * x[c].im();
        for (int offset = 16; offset; offset /= 2)
            rest += __shfl_xor_sync(~0u, rest, offset);
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
        num u[EACH], mine[EACH];
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int c = tid + m * THREADS;
            u[m] = c == i - 1 ? num::make(1, 0) : c < i - 1 ? times(column[m], scale) : zero;
            if (c < ld)
                a[(size_t)i * ld + c] = u[m];
            if (c >= i)
                continue;
            num after = a[(size_t)(i - 1) * ld + c], product = rows[c];
            if (c == i - 1)
                after = num::make(2 * after.re, 0);
#pragma unroll
            for (int k = 0; k < HEEV_PANEL_WARPS; k++)
                if (c < strips.reach(k))
                    product = plus(product, columns[(size_t)k * ld + c]);
            const num *vp = a + (size_t)first * ld + c, *wp = w + (size_t)first * ld + c;
#pragma unroll 4
            for (int p = 0; p < pairs; p++, vp -= ld, wp -= ld) {
                product = minus(minus(product, *vp, with_w[p]), *wp, with_v[p]);
                after = minus_conj(minus_conj(after, *vp, next_w[p]), *wp, next_v[p]);
            }
            product = times(num::make(product.re - beta * after.re, product.im() - beta * after.im()), scale);
            real += add_conj(zero, product, u[m]).re;
            mine[m] = times(t, product);
            column[m] = after;
            if (c == i - 1)
                *corner = mine[m];
        }
        real = block_sum(real, room);
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
    heev_update(a, w, ld, tail, first, pairs);
}

#endif

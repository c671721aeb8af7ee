/* From the tridiagonal matrix's eigenvectors to the matrix's: V = Q Z with Q = H_(n-1) ... H_1, 16 reflections at a
 * time as 1 - Y T Y^H (Schreiber, Van Loan 1989). All in products on the tensor cores. */
#pragma once

#include <cuda_pipeline.h>

#include "heev_plan.cuh"
#include "heev_mma.cuh"

enum { HEEV_WY_WARPS = 4, HEEV_WY_PITCH = HEEV_WY + 1 };

/* T of a panel: a block per matrix and panel. With G = Y^H Y, column after column from the last on:
 * T(a, i) = -tau_i sum of T(a, b) G(b, i), i < b <= a, and T(i, i) = tau_i. */
template <bool C>
__global__ void __launch_bounds__(32 * HEEV_WY_WARPS) heev_compact_wy(const __grid_constant__ heev_plan plan)
{
    typedef number<C> num;
    extern __shared__ double2 heev_memory[];
    num *gram = reinterpret_cast<num *>(heev_memory), *t = gram + HEEV_WY_WARPS * HEEV_WY * HEEV_WY_PITCH;
    const int ld = plan.ld, panels = (plan.n + HEEV_WY - 1) / HEEV_WY, panel = (int)(blockIdx.x % (unsigned)panels);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, j = lane % 4, first = panel * HEEV_WY;
    const size_t matrix = blockIdx.x / (unsigned)panels;
    const num *y = (const num *)plan.reflectors + matrix * ld * ld + (size_t)first * ld;
    const num *tau = (const num *)plan.tau + matrix * ld + first;
    num *out = (num *)plan.factors + (matrix * ld + first) * HEEV_WY;
    if (plan.state[matrix] == HEEV_BAD)
        return;
    double sum[2][C ? 2 : 1][4] = {};
    for (int tile = warp; tile < 2 * panel + 2; tile += HEEV_WY_WARPS) {
        num part[2][2]; /* vectors g and g + 8, elements 2j and 2j + 1 */
        double left[C ? 2 : 1][4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const num v = part[k % 2][k / 2] = y[(size_t)(g + 8 * (k % 2)) * ld + 8 * tile + 2 * j + k / 2];
            left[0][k] = v.re;
            if constexpr (C)
                left[1][k] = v.im();
        }
#pragma unroll
        for (int h = 0; h < 2; h++) /* Y^T conj(Y), the conjugate of the result */
            heev_product<C, true>(sum[h], left, part[h][0], part[h][1]);
    }
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            gram[((size_t)warp * HEEV_WY + g + 8 * (k / 2)) * HEEV_WY_PITCH + 8 * h + 2 * j + k % 2] =
                num::make(sum[h][0][k], C ? -sum[h][C ? 1 : 0][k] : 0);
    __syncthreads();
    for (int at = threadIdx.x; at < HEEV_WY * HEEV_WY; at += blockDim.x) {
        const int place = at / HEEV_WY * HEEV_WY_PITCH + at % HEEV_WY;
        num s = gram[place];
        for (int from = 1; from < HEEV_WY_WARPS; from++)
            s = plus(s, gram[from * HEEV_WY * HEEV_WY_PITCH + place]);
        gram[place] = s;
        t[place] = num::make(0, 0);
    }
    __syncthreads();
    if (warp == 0) {
        const int a = lane % HEEV_WY; /* a row of T each, the upper half of the lanes idly along */
        for (int i = HEEV_WY - 1; i >= 0; i--) {
            num s = num::make(0, 0);
            for (int b = i + 1; b <= a; b++)
                s = add(s, t[a * HEEV_WY_PITCH + b], gram[b * HEEV_WY_PITCH + i]);
            s = a == i ? tau[i] : times(num::make(-tau[i].re, -tau[i].im()), s);
            if (lane < HEEV_WY && a >= i)
                t[a * HEEV_WY_PITCH + i] = s;
            __syncwarp();
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < HEEV_WY * HEEV_WY; at += blockDim.x)
        out[at] = t[at / HEEV_WY * HEEV_WY_PITCH + at % HEEV_WY];
}

static inline size_t heev_compact_wy_bytes(size_t number_bytes)
{
    return (HEEV_WY_WARPS + 1) * HEEV_WY * HEEV_WY_PITCH * number_bytes;
}

/* A tile of 8 elements of 16 reflectors in shared memory: what a lane reads of it, either way, is no other lane's
 * bank. */
template <bool C> struct heev_slot {
    static constexpr int PITCH = C ? 9 : 10, NUMBERS = 16 * PITCH;
};

/* Starts a tile on its way to a slot, by the whole warp. */
template <bool C> __device__ __forceinline__ void heev_send_tile(number<C> *slot, const number<C> *from, int ld)
{
    constexpr int AT_ONCE = C ? 1 : 2, PIECES = 8 / AT_ONCE; /* numbers in 16 bytes */
#pragma unroll
    for (int k = 0; k < 16 * PIECES / 32; k++) {
        const int at = threadIdx.x % 32 + 32 * k, row = at / PIECES, column = at % PIECES * AT_ONCE;
        __pipeline_memcpy_async(slot + row * heev_slot<C>::PITCH + column, from + (size_t)row * ld + column, 16);
    }
}

/* The product c as the left factor of the next one. */
template <int PARTS> __device__ __forceinline__ void heev_as_left(double c[PARTS][4])
{
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        const double second = c[part][1];
        c[part][1] = c[part][2];
        c[part][2] = second;
    }
}

/* A block per matrix and 16 vectors, which stay in registers, TILES times 8 elements in each warp; so do, in shared
 * memory (STAGED), the panel's reflectors: as soon as a tile has been used for the last time, the next panel's is sent
 * for. Also the eigenvalues, unscaled, and the flags. */
template <bool C, int TILES, int WARPS, bool STAGED>
__global__ void __launch_bounds__(32 * WARPS)
    heev_backtransform(const __grid_constant__ heev_plan plan, void *values, void *vectors, uint8_t *flags)
{
    typedef number<C> num;
    constexpr int PARTS = C ? 2 : 1, SIZE = 2 * PARTS * 4; /* doubles of a lane in Y^H X */
    extern __shared__ double2 heev_memory[]; /* WARPS > 1: Y^H X of every warp, and their sum; slots */
    const int n = plan.n, ld = plan.ld, kept = plan.kept, blocks = (kept + 15) / 16, first_kept = n - kept;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, j = lane % 4;
    const size_t matrix = blockIdx.x / (unsigned)blocks;
    const int column0 = (int)(blockIdx.x % (unsigned)blocks) * 16;
    const bool bad = plan.state[matrix] == HEEV_BAD;
    auto put = [&](void *to, size_t at, double value) {
        if (plan.f64)
            ((double *)to)[at] = value;
        else
            ((float *)to)[at] = (float)value;
    };
    if (threadIdx.x < 16 && column0 + (int)threadIdx.x < kept) {
        const size_t k = column0 + threadIdx.x;
        put(values, matrix * kept + k,
            bad ? NAN : ldexp(plan.lambda[matrix * n + first_kept + k], plan.exponent[matrix]));
    }
    if (flags && column0 == 0 && threadIdx.x == 0)
        flags[matrix] = bad;
    if (!plan.vectors)
        return;
    const size_t out = (matrix * kept + column0) * (size_t)n * PARTS;
    if (bad) {
        for (int at = threadIdx.x; at < min(16, kept - column0) * n * PARTS; at += blockDim.x)
            put(vectors, out + at, NAN);
        return;
    }
    const double *z = plan.z[which_z(plan, (int)matrix)] + matrix * ld * ld + first_kept + column0;
    const num *y = (const num *)plan.reflectors + matrix * ld * ld,
              *factors = (const num *)plan.factors + matrix * ld * 16;
    double *part = reinterpret_cast<double *>(heev_memory), *sum = part + WARPS * SIZE * 32;
    num *slots = reinterpret_cast<num *>(WARPS > 1 ? sum + SIZE * 32 : part) + warp * TILES * heev_slot<C>::NUMBERS;
    const int pitch = STAGED ? heev_slot<C>::PITCH : ld;
    if (STAGED) /* the first panel reaches into two tiles */
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            if (m * WARPS + warp < 2)
                heev_send_tile<C>(slots + m * heev_slot<C>::NUMBERS, y + 8 * (m * WARPS + warp), ld);
            __pipeline_commit();
        }
    double x[TILES][PARTS][4]; /* transposed, as the left factor: (g, 2j) (g + 8, 2j) (g, 2j + 1) (g + 8, 2j + 1) */
#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int row = 8 * (m * WARPS + warp) + 2 * j + k / 2, column = g + 8 * (k % 2);
            x[m][0][k] = row < n && column0 + column < kept ? z[(size_t)row * ld + column] : 0;
            if constexpr (C)
                x[m][1][k] = 0;
        }
    const int panels = (n + 15) / 16;
    for (int panel = 0; panel < panels; panel++) {
        const int tiles = 2 * panel + 2; /* that its vectors reach into */
        auto tile = [&](int m) {
            return STAGED ? slots + m * heev_slot<C>::NUMBERS : y + (size_t)16 * panel * ld + 8 * (m * WARPS + warp);
        };
        double p[2][PARTS][4] = {};
#pragma unroll
        for (int m = 0; m < TILES; m++)
            if (m * WARPS + warp < tiles) {
                if (STAGED) {
                    __pipeline_wait_prior(TILES - 1 - m);
                    __syncwarp();
                }
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const num *from = tile(m) + (size_t)(8 * h + g) * pitch + 2 * j;
                    heev_product<C, true>(p[h], x[m], from[0], from[1]);
                }
            }
        num t[2][2][2]; /* T^T: rows 8 h + 2 j and the next, column 8 to + g */
#pragma unroll
        for (int to = 0; to < 2; to++)
#pragma unroll
            for (int h = 0; h < 2; h++)
#pragma unroll
                for (int k = 0; k < 2; k++)
                    t[to][h][k] = factors[((size_t)16 * panel + 8 * to + g) * 16 + 8 * h + 2 * j + k];
        if (WARPS > 1) {
#pragma unroll
            for (int at = 0; at < SIZE; at++)
                part[(warp * SIZE + at) * 32 + lane] = p[at / (4 * PARTS)][at / 4 % PARTS][at % 4];
            __syncthreads();
            for (int at = threadIdx.x; at < SIZE * 32; at += blockDim.x) {
                double s = part[at];
#pragma unroll
                for (int from = 1; from < WARPS; from++)
                    s += part[from * SIZE * 32 + at];
                sum[at] = s;
            }
            __syncthreads();
#pragma unroll
            for (int at = 0; at < SIZE; at++)
                p[at / (4 * PARTS)][at / 4 % PARTS][at % 4] = sum[at * 32 + lane];
        }
        double q[2][PARTS][4] = {}; /* T Y^H X, negative */
        heev_as_left<PARTS>(p[0]);
        heev_as_left<PARTS>(p[1]);
#pragma unroll
        for (int to = 0; to < 2; to++) {
#pragma unroll
            for (int h = 0; h < 2; h++)
                heev_product<C>(q[to], p[h], t[to][h][0], t[to][h][1]);
            heev_as_left<PARTS>(q[to]);
#pragma unroll
            for (int k = 0; k < 4 * PARTS; k++)
                q[to][k / 4][k % 4] = -q[to][k / 4][k % 4];
        }
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            if (m * WARPS + warp < tiles) {
                heev_as_left<PARTS>(x[m]);
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const num *from = tile(m) + (size_t)(8 * h + 2 * j) * pitch + g;
                    heev_product<C>(x[m], q[h], from[0], from[pitch]);
                }
                heev_as_left<PARTS>(x[m]);
            }
            if (STAGED) {
                __syncwarp();
                if (m * WARPS + warp < tiles + 2 && panel + 1 < panels)
                    heev_send_tile<C>(slots + m * heev_slot<C>::NUMBERS,
                                      y + (size_t)16 * (panel + 1) * ld + 8 * (m * WARPS + warp), ld);
                __pipeline_commit();
            }
        }
    }
#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int row = n - 1 - (8 * (m * WARPS + warp) + 2 * j + k / 2), column = g + 8 * (k % 2);
            if (row >= 0 && column0 + column < kept) {
                const size_t at = out + ((size_t)column * n + row) * PARTS;
                put(vectors, at, x[m][0][k]);
                if constexpr (C)
                    put(vectors, at + 1, x[m][1][k]);
            }
        }
}

template <bool C, int TILES, int WARPS, bool STAGED> static constexpr size_t heev_backtransform_bytes()
{
    return (WARPS > 1 ? (WARPS + 1) * 2 * (C ? 2 : 1) * 4 * 32 * sizeof(double) : 0) +
           (STAGED ? WARPS * TILES * heev_slot<C>::NUMBERS * sizeof(number<C>) : 0);
}

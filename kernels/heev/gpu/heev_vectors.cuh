/* The tridiagonal matrix's eigenvectors Z made orthogonal to the last place by one or two steps of Newton and Schulz,
 * Z <- Z (3 - Z^T Z) / 2 (Higham, Functions of Matrices, section 8.3), on the tensor cores. A block makes a tile of
 * 64 x 64 of Z^T Z (heev_gram) or of the product (heev_newton_schulz). */
#pragma once

#include "common/warp.cuh"
#include "heev_plan.cuh"
#include "heev_mma.cuh"

enum { HEEV_TILE = 64, HEEV_DEEP = 16, HEEV_TILE_THREADS = 128 }; /* a warp makes 32 x 32 of a tile */
enum { HEEV_PITCH = HEEV_TILE + 4, HEEV_PITCH_DEEP = HEEV_DEEP + 4 }; /* no two lanes in one bank */

/* A 64 x 64 tile of left^T right (TRANSPOSED) or left right, both n x n by rows of ld. Lane l's part of the warp's 32 x
 * 32 is as heev_product has it: sum[m][c] is 16 x 8 at (16 m, 8 c). */
template <bool TRANSPOSED>
__device__ __forceinline__ void heev_tile(int n, int ld, const double *left, const double *right, int row0, int column0,
                                          double sum[2][4][4])
{
    constexpr int LEFT = TRANSPOSED ? HEEV_DEEP * HEEV_PITCH : HEEV_TILE * HEEV_PITCH_DEEP,
                  LOADS = HEEV_DEEP * HEEV_TILE / 2 / HEEV_TILE_THREADS;
    __shared__ alignas(16) double a[2][LEFT], b[2][HEEV_DEEP * HEEV_PITCH];
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
    const int down = warp / 2 * 32, across = warp % 2 * 32;
    double2 next_a[LOADS], next_b[LOADS];
    auto pair = [&](const double *from, int row, int column) { /* zero outside of the matrix; ld is even */
        double2 v = make_double2(0, 0);
        if (row < n && column < n)
            v = *reinterpret_cast<const double2 *>(from + (size_t)row * ld + column);
        if (column + 1 >= n)
            v.y = 0;
        return v;
    };
    auto load = [&](int k0) {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            const int at = threadIdx.x + l * HEEV_TILE_THREADS, k = at / (HEEV_TILE / 2), c = at % (HEEV_TILE / 2) * 2;
            const int r = at / (HEEV_DEEP / 2), deep = at % (HEEV_DEEP / 2) * 2;
            next_b[l] = pair(right, k0 + k, column0 + c);
            next_a[l] = TRANSPOSED ? pair(left, k0 + k, row0 + c) : pair(left, row0 + r, k0 + deep);
        }
    };
    auto store = [&](int which) {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            const int at = threadIdx.x + l * HEEV_TILE_THREADS, k = at / (HEEV_TILE / 2), c = at % (HEEV_TILE / 2) * 2;
            const int r = at / (HEEV_DEEP / 2), deep = at % (HEEV_DEEP / 2) * 2;
            *reinterpret_cast<double2 *>(&b[which][k * HEEV_PITCH + c]) = next_b[l];
            const int to = TRANSPOSED ? k * HEEV_PITCH + c : r * HEEV_PITCH_DEEP + deep;
            *reinterpret_cast<double2 *>(&a[which][to]) = next_a[l];
        }
    };
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum[m][c][k] = 0;
    const bool needed = row0 + down < n && column0 + across < n;
    load(0);
    for (int k0 = 0, which = 0; k0 < n; k0 += HEEV_DEEP, which ^= 1) {
        store(which);
        __syncthreads();
        if (k0 + HEEV_DEEP < n)
            load(k0 + HEEV_DEEP);
        if (!needed)
            continue;
#pragma unroll
        for (int k = 0; k < HEEV_DEEP; k += 8) {
            double x[2][4], y[4][2];
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    const int r = down + 16 * m + g + 8 * (q % 2), deep = k + j + 4 * (q / 2);
                    x[m][q] = a[which][TRANSPOSED ? deep * HEEV_PITCH + r : r * HEEV_PITCH_DEEP + deep];
                }
#pragma unroll
            for (int c = 0; c < 4; c++)
#pragma unroll
                for (int q = 0; q < 2; q++)
                    y[c][q] = b[which][(k + j + 4 * q) * HEEV_PITCH + across + 8 * c + g];
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    heev_product(sum[m][c], x[m], y[c][0], y[c][1]);
        }
    }
}

/* Calls take(row, column, value) for each of the lane's elements of the tile inside the matrix. */
template <typename TAKE>
__device__ __forceinline__ void heev_each(int n, int row0, int column0, const double sum[2][4][4], TAKE take)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int row = row0 + warp / 2 * 32 + 16 * m + g + 8 * (k / 2);
                const int column = column0 + warp % 2 * 32 + 8 * c + 2 * j + k % 2;
                if (row < n && column < n)
                    take(row, column, sum[m][c][k]);
            }
}

/* Gram = Z^T Z, and how far it is from 1. Second round: of the matrices that one step does not correct. */
static __global__ void __launch_bounds__(HEEV_TILE_THREADS, 3)
    heev_gram(const __grid_constant__ heev_plan plan, int round)
{
    const int n = plan.n, ld = plan.ld;
    const unsigned tiles = (unsigned)(n + HEEV_TILE - 1) / HEEV_TILE, tile = blockIdx.x % (tiles * tiles);
    const int row0 = (int)(tile / tiles) * HEEV_TILE, column0 = (int)(tile % tiles) * HEEV_TILE;
    const size_t matrix = blockIdx.x / (tiles * tiles), at = matrix * ld * ld;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || column0 < row0 || (round == 1 && !(apart > HEEV_ONE_STEP)))
        return;
    double sum[2][4][4], worst = 0;
    heev_tile<true>(n, ld, plan.z[round] + at, plan.z[round] + at, row0, column0, sum);
    heev_each(n, row0, column0, sum, [&](int row, int column, double value) {
        plan.gram[at + (size_t)row * ld + column] = value;
        if (row0 != column0)
            plan.gram[at + (size_t)column * ld + row] = value;
        const double off = fabs(value - (row == column));
        worst = off <= 1e300 ? fmax(worst, off) : 1e300; /* NaN too */
    });
    worst = warp_max(worst);
    if (round == 0 && threadIdx.x % 32 == 0 && worst > 0)
        atomicMax(&plan.apart[matrix], (unsigned long long)__double_as_longlong(worst));
}

/* Z <- Z (3 - Z^T Z) / 2, from the round's buffer into the other. */
static __global__ void __launch_bounds__(HEEV_TILE_THREADS, 3)
    heev_newton_schulz(const __grid_constant__ heev_plan plan, int round)
{
    const int n = plan.n, ld = plan.ld;
    const unsigned tiles = (unsigned)(n + HEEV_TILE - 1) / HEEV_TILE, tile = blockIdx.x % (tiles * tiles);
    const int row0 = (int)(tile / tiles) * HEEV_TILE, column0 = (int)(tile % tiles) * HEEV_TILE;
    const size_t matrix = blockIdx.x / (tiles * tiles), at = matrix * ld * ld;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || apart > HEEV_TWO_STEPS || (round == 1 && !(apart > HEEV_ONE_STEP)))
        return;
    const double *z = plan.z[round] + at;
    double *out = plan.z[1 - round] + at, sum[2][4][4];
    heev_tile<false>(n, ld, z, plan.gram + at, row0, column0, sum);
    heev_each(n, row0, column0, sum, [&](int row, int column, double value) {
        const size_t k = (size_t)row * ld + column;
        out[k] = 1.5 * z[k] - 0.5 * value;
    });
}

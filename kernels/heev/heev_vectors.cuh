/* From the tridiagonal matrix's eigenvectors to the matrix's: made orthogonal to the last place, then reflected back. */
#ifndef HOT_HEEV_VECTORS_CUH
#define HOT_HEEV_VECTORS_CUH

#include "heev_number.cuh"
#include "heev_plan.cuh"

enum { HEEV_TILE = 32, HEEV_DEEP = 16, HEEV_TILE_THREADS = 64 };

/* A 32 x 32 tile of left^T right (TRANSPOSED) or left right, both n x n by rows; 64 threads of 4 x 4. */
template <bool TRANSPOSED>
__device__ __forceinline__ void heev_tile(int n, const double *left, const double *right, int row0, int column0, double sum[4][4])
{
    __shared__ double a[HEEV_DEEP][HEEV_TILE + 1], b[HEEV_DEEP][HEEV_TILE + 1];
    const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[r][c] = 0;
    for (int k0 = 0; k0 < n; k0 += HEEV_DEEP) {
        __syncthreads();
        for (int at = threadIdx.x; at < HEEV_DEEP * HEEV_TILE; at += HEEV_TILE_THREADS) {
            const int fast = at % HEEV_TILE, slow = at / HEEV_TILE;
            const int k = k0 + slow;
            b[slow][fast] = k < n && column0 + fast < n ? right[(size_t)k * n + column0 + fast] : 0;
            if (TRANSPOSED)
                a[slow][fast] = k < n && row0 + fast < n ? left[(size_t)k * n + row0 + fast] : 0;
            else {
                const int row = at / HEEV_DEEP, deep = at % HEEV_DEEP;
                a[deep][row] = k0 + deep < n && row0 + row < n ? left[(size_t)(row0 + row) * n + k0 + deep] : 0;
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < HEEV_DEEP; k++) {
            double x[4], y[4];
#pragma unroll
            for (int r = 0; r < 4; r++)
                x[r] = a[k][ty + 8 * r], y[r] = b[k][tx + 8 * r];
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sum[r][c] = fma(x[r], y[c], sum[r][c]);
        }
    }
}

/* Gram = Z^T Z, and how far it is from 1. Second round: of the matrices that one step does not mend. */
static __global__ void __launch_bounds__(HEEV_TILE_THREADS) heev_gram(const __grid_constant__ heev_plan plan, int round)
{
    const int n = plan.n, row0 = (int)blockIdx.y * HEEV_TILE, column0 = (int)blockIdx.z * HEEV_TILE;
    const size_t matrix = blockIdx.x, at = matrix * (size_t)n * n;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || column0 < row0 || (round == 1 && !(apart > HEEV_ONE_STEP)))
        return;
    double sum[4][4], worst = 0;
    heev_tile<true>(n, plan.z[round] + at, plan.z[round] + at, row0, column0, sum);
    const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            const int row = row0 + ty + 8 * r, column = column0 + tx + 8 * c;
            if (row >= n || column >= n)
                continue;
            plan.gram[at + (size_t)row * n + column] = sum[r][c];
            plan.gram[at + (size_t)column * n + row] = sum[r][c];
            const double off = fabs(sum[r][c] - (row == column));
            worst = off <= 1e300 ? fmax(worst, off) : 1e300; /* NaN too */
        }
    if (round == 0 && worst > 0)
        atomicMax(&plan.apart[matrix], (unsigned long long)__double_as_longlong(worst));
}

/* Z <- Z (3 - Z^T Z) / 2, from the round's buffer into the other. */
static __global__ void __launch_bounds__(HEEV_TILE_THREADS) heev_mend(const __grid_constant__ heev_plan plan, int round)
{
    const int n = plan.n, row0 = (int)blockIdx.y * HEEV_TILE, column0 = (int)blockIdx.z * HEEV_TILE;
    const size_t matrix = blockIdx.x, at = matrix * (size_t)n * n;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || apart > HEEV_TWO_STEPS || (round == 1 && !(apart > HEEV_ONE_STEP)))
        return;
    const double *z = plan.z[round] + at;
    double *out = plan.z[1 - round] + at, sum[4][4];
    heev_tile<false>(n, z, plan.gram + at, row0, column0, sum);
    const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            const int row = row0 + ty + 8 * r, column = column0 + tx + 8 * c;
            if (row < n && column < n)
                out[(size_t)row * n + column] = 1.5 * z[(size_t)row * n + column] - 0.5 * sum[r][c];
        }
}

/* V = Q Z, Q = H_(n-1) ... H_1: eight lanes per vector, which lies in their registers (IN_REGISTERS = elements per lane) or, when
 * that is 0, in shared memory. Also the eigenvalues, unscaled. */
template <typename OUT, bool C, int IN_REGISTERS>
__global__ void __launch_bounds__(256) heev_reflect(const __grid_constant__ heev_plan plan, OUT *values, OUT *vectors)
{
    typedef number<C> num;
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, lane = threadIdx.x % 8, skipped = n - plan.kept, parts = C ? 2 : 1;
    const int k = (int)(blockIdx.y * (blockDim.x / 8) + threadIdx.x / 8); /* of the kept ones */
    const size_t matrix = blockIdx.x;
    if (plan.state[matrix] == HEEV_BAD)
        return;
    if (k < plan.kept && lane == 0)
        values[matrix * plan.kept + k] = (OUT)ldexp(plan.lambda[matrix * n + skipped + k], plan.exponent[matrix]);
    if (!plan.vectors)
        return;
    const int vector = skipped + min(k, plan.kept - 1); /* idle lanes go along: the shuffles are the warp's */
    const double *z = plan.z[which_z(plan, (int)matrix)] + matrix * (size_t)n * n + vector;
    const num *reflectors = (const num *)plan.reflectors + matrix * packed(n), *tau = (const num *)plan.tau + matrix * n;
    constexpr int HELD = IN_REGISTERS ? IN_REGISTERS : 1;
    num held[HELD], *x = reinterpret_cast<num *>(heev_memory) + (size_t)(threadIdx.x / 8) * n;
    const num zero = num::make(0, 0);
    if (IN_REGISTERS) {
#pragma unroll
        for (int c = 0; c < HELD; c++)
            held[c] = num::make(lane + 8 * c < n ? z[(size_t)(lane + 8 * c) * n] : 0, 0);
    } else {
        for (int r = lane; r < n; r += 8)
            x[r] = num::make(z[(size_t)r * n], 0);
    }
    for (int i = 1; i < n; i++) {
        const num *v = reflectors + packed(i);
        const num t = tau[i];
        if (t.re == 0 && t.im() == 0)
            continue;
        num dot = zero;
        if (IN_REGISTERS) {
            num mine[HELD];
#pragma unroll
            for (int c = 0; c < HELD; c++)
                mine[c] = lane + 8 * c < i ? v[lane + 8 * c] : zero;
#pragma unroll
            for (int c = 0; c < HELD; c++)
                if (8 * c < i)
                    dot = add_conj(dot, mine[c], held[c]);
            for (int offset = 4; offset; offset >>= 1)
                dot = plus(dot, shuffled(dot, offset));
            dot = times(t, dot);
#pragma unroll
            for (int c = 0; c < HELD; c++)
                if (8 * c < i)
                    held[c] = minus(held[c], dot, mine[c]);
        } else {
            for (int r = lane; r < i; r += 8)
                dot = add_conj(dot, v[r], x[r]);
            for (int offset = 4; offset; offset >>= 1)
                dot = plus(dot, shuffled(dot, offset));
            dot = times(t, dot);
            for (int r = lane; r < i; r += 8)
                x[r] = minus(x[r], dot, v[r]);
        }
    }
    if (k >= plan.kept)
        return;
    OUT *out = vectors + (matrix * plan.kept + k) * (size_t)n * parts;
    if (IN_REGISTERS) {
#pragma unroll
        for (int c = 0; c < HELD; c++)
            if (lane + 8 * c < n) {
                out[(lane + 8 * c) * parts] = (OUT)held[c].re;
                if (C)
                    out[(lane + 8 * c) * parts + 1] = (OUT)held[c].im();
            }
    } else {
        for (int r = lane; r < n; r += 8) {
            out[r * parts] = (OUT)x[r].re;
            if (C)
                out[r * parts + 1] = (OUT)x[r].im();
        }
    }
}

#endif

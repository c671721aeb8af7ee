/* The inverse of the least-squares problem's matrix, the Hadamard product of two Gram matrices, by one block. */
#pragma once

#include <cuda_runtime.h>

namespace {

/* The threads that invert: a larger block has other work for the rest. */
template <int THREADS> __device__ __forceinline__ void invert_sync()
{
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

/* To the last bit or nearly: pivots are not so small or large that more care is needed. */
__device__ __forceinline__ float reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r * fmaf(-x, r, 2.f);
}
__device__ __forceinline__ double reciprocal(double x)
{
    double r = reciprocal((float)x);
    r *= 2 - x * r;
    return r * (2 - x * r);
}

/* m = (one * other, element by element, + added I)^-1; returns `added`: 0, or the value that keeps every pivot above
 * eps of the largest diagonal value. GRID x GRID threads, the block's first; the matrix is in registers: thread (y, x)
 * has the values (SIDE y + a, SIDE x + b); beyond the rank it is the unit matrix. V is float or double; float is enough
 * if the right-hand side is less accurate. Sweep operator: the matrix stays symmetric on its way to minus the inverse,
 * so that threads only exchange one row. In that row the pivot is replaced by -1, and the pivot's row and column by 0
 * beforehand, so that all elements have one formula. The next pivot is known, and inverted, before the others are
 * ready. */
template <typename V, int GRID, int SIDE>
__device__ __forceinline__ double invert_in_registers(int rank, const double *one, const double *other, double eps,
                                                      V (&m)[SIDE][SIDE])
{
    enum { WIDE = GRID * SIDE };
    __shared__ alignas(16) V lines[2][WIDE];
    __shared__ V diagonal[2];
    const int x = threadIdx.x % GRID, y = threadIdx.x / GRID;
    double tops[(WIDE + 31) / 32], most = 0, added = 0;
#pragma unroll
    for (int t = 0; t < (WIDE + 31) / 32; t++) {
        const int r = threadIdx.x % 32 + 32 * t;
        tops[t] = r < rank ? one[r * rank + r] * other[r * rank + r] : 0;
    }
    for (int attempt = 0; attempt < 60; attempt++) {
        bool lost = false;
#pragma unroll
        for (int a = 0; a < SIDE; a++)
#pragma unroll
            for (int b = 0; b < SIDE; b++) {
                const int i = SIDE * y + a, j = SIDE * x + b;
                m[a][b] = (V)((i < rank && j < rank ? one[i * rank + j] * other[i * rank + j] : i == j) +
                              (i == j ? added : 0));
            }
        if (attempt == 0) {
#pragma unroll
            for (int t = 0; t < (WIDE + 31) / 32; t++)
                most = fmax(most, tops[t]);
            for (int step = 16; step; step /= 2)
                most = fmax(most, __shfl_xor_sync(0xffffffff, most, step));
            most = most > 0 ? most : 1;
        }
        const V least = (V)(eps * most);
        if (threadIdx.x == 0)
            diagonal[1] = m[0][0];
        invert_sync<GRID * GRID>();
        V pivot = diagonal[1];
        for (int block = 0; SIDE * block < rank && !lost; block++)
#pragma unroll
            for (int c = 0; c < SIDE; c++) {
                const int k = SIDE * block + c;
                if (k >= rank || lost)
                    break;
                V *const line = lines[k % 2];
                if (y == block)
#pragma unroll
                    for (int b = 0; b < SIDE; b++)
                        line[SIDE * x + b] = b == c && x == block ? (V)-1 : m[c][b];
                if (x == y && y == (c + 1 < SIDE ? block : block + 1))
                    diagonal[k % 2] = m[(c + 1) % SIDE][(c + 1) % SIDE];
                lost = !(pivot > least); /* every thread sees the same pivot */
                const V inverse = reciprocal(pivot);
                invert_sync<GRID * GRID>();
                const V next = line[min(k + 1, (int)WIDE - 1)];
                pivot = diagonal[k % 2] - next * inverse * next;
                V right[SIDE];
#pragma unroll
                for (int b = 0; b < SIDE; b++)
                    right[b] = line[SIDE * x + b];
#pragma unroll
                for (int a = 0; a < SIDE; a++) {
                    const V left = line[SIDE * y + a] * inverse;
#pragma unroll
                    for (int b = 0; b < SIDE; b++) {
                        const bool here = (a == c && y == block) || (b == c && x == block);
                        m[a][b] = (here ? (V)0 : m[a][b]) - left * right[b];
                    }
                }
            }
        if (!lost)
            break;
        added = added == 0 ? 2 * eps * most : 4 * added;
        invert_sync<GRID * GRID>(); /* the last row was read by all */
    }
#pragma unroll
    for (int a = 0; a < SIDE; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++)
            m[a][b] = -m[a][b];
    return added;
}

/* The same into memory. `regularised` counts. matrix: the product itself. */
template <typename V, int SIDE>
__global__ void __launch_bounds__(256, 1) invert_tiles(int rank, const double *one, const double *other, double eps,
                                                       double *matrix, double *inverse, int *regularised)
{
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    V m[SIDE][SIDE];
    for (int i = threadIdx.x; i < rank * rank; i += 256)
        matrix[i] = one[i] * other[i];
    const double added = invert_in_registers<V, 16, SIDE>(rank, one, other, eps, m);
#pragma unroll
    for (int a = 0; a < SIDE; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++)
            if (SIDE * y + a < rank && SIDE * x + b < rank)
                inverse[(SIDE * y + a) * rank + SIDE * x + b] = m[a][b];
    if (threadIdx.x == 0 && added > 0)
        *regularised += 1;
}

/* The same for any rank, in memory. work: rank^2 values. */
__global__ void __launch_bounds__(1024) invert_any(int rank, const double *one, const double *other, double eps,
                                                   double *matrix, double *inverse, double *work, int *regularised)
{
    extern __shared__ double shared[]; /* a row and a column */
    __shared__ double largest;
    double *const row = shared, *const column = shared + rank;
    double *const m = work;
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32, high = blockDim.x / 32;
    for (int i = ty; i < rank; i += high)
        for (int j = tx; j < rank; j += 32)
            matrix[i * rank + j] = one[i * rank + j] * other[i * rank + j];
    __syncthreads();
    if (threadIdx.x < 32) {
        double most = 0;
        for (int r = tx; r < rank; r += 32)
            most = fmax(most, matrix[r * rank + r]);
        for (int step = 16; step; step /= 2)
            most = fmax(most, __shfl_xor_sync(0xffffffff, most, step));
        if (tx == 0)
            largest = most > 0 ? most : 1;
    }
    __syncthreads();
    double added = 0;
    for (int attempt = 0; attempt < 60; attempt++) {
        for (int i = ty; i < rank; i += high)
            for (int j = tx; j < rank; j += 32)
                m[i * rank + j] = matrix[i * rank + j] + (i == j ? added : 0);
        bool lost = false;
        __syncthreads();
        for (int p = 0; p < rank; p++) {
            const double pivot = m[p * rank + p];
            lost = !(pivot > eps * largest); /* every thread sees the same pivot */
            if (lost)
                break;
            for (int x = threadIdx.x; x < rank; x += blockDim.x) {
                row[x] = x == p ? 1 / pivot : m[p * rank + x] / pivot;
                column[x] = m[x * rank + p];
            }
            __syncthreads();
            for (int i = ty; i < rank; i += high) {
                const double factor = column[i];
                for (int j = tx; j < rank; j += 32)
                    m[i * rank + j] = i == p ? row[j] : (j == p ? 0 : m[i * rank + j]) - factor * row[j];
            }
            __syncthreads();
        }
        if (!lost)
            break;
        added = added == 0 ? 2 * eps * largest : 4 * added;
        __syncthreads();
    }
    for (int i = ty; i < rank; i += high)
        for (int j = tx; j < rank; j += 32)
            inverse[i * rank + j] = m[i * rank + j];
    if (threadIdx.x == 0 && added > 0)
        *regularised += 1;
}

} // namespace

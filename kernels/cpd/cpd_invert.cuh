/* The inverse of the least-squares problem's matrix, by one block. */
#ifndef HOT_CPD_INVERT_CUH
#define HOT_CPD_INVERT_CUH

#include <cuda_runtime.h>

namespace {

/* Threads 0 to 255; a larger block has other work for the rest. */
__device__ __forceinline__ void invert_sync() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

__device__ __forceinline__ float reciprocal(float x) { return __frcp_rn(x); }
__device__ __forceinline__ double reciprocal(double x)
{
    double r = __frcp_rn((float)x);
    r *= 2 - x * r;
    return r * (2 - x * r);
}

/* m = (one * other, element by element, + added I)^-1 by Gauss and Jordan; returns `added`: 0, or what it takes for
 * every pivot to stay above eps of the largest diagonal value. 256 threads; the matrix lies in registers: thread (y, x)
 * of 16 x 16 has the values (y + 16 a, x + 16 b); beyond the rank it is the unit matrix. V float or double: float does
 * where the right-hand side is good to less. The next pivot is known, and inverted, before the others are ready. */
template <typename V, int T>
__device__ __forceinline__ double invert_in_registers(int rank, const double *one, const double *other, double eps,
                                                      V (&m)[T][T])
{
    __shared__ V rows[2][16 * T], columns[2][16 * T], diagonal[2], least;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    double most = 0, added = 0;
    for (int r = threadIdx.x % 32; r < rank; r += 32)
        most = fmax(most, one[r * rank + r] * other[r * rank + r]);
    for (int step = 16; step; step /= 2)
        most = fmax(most, __shfl_xor_sync(0xffffffff, most, step));
    most = most > 0 ? most : 1;
    if (threadIdx.x == 0)
        least = (V)(eps * most);
    for (int attempt = 0; attempt < 60; attempt++) {
        bool lost = false;
#pragma unroll
        for (int a = 0; a < T; a++)
#pragma unroll
            for (int b = 0; b < T; b++) {
                const int i = y + 16 * a, j = x + 16 * b;
                m[a][b] = (V)((i < rank && j < rank ? one[i * rank + j] * other[i * rank + j] : i == j) +
                              (i == j ? added : 0));
            }
        if (threadIdx.x == 0)
            diagonal[1] = m[0][0];
        invert_sync();
        V pivot = diagonal[1];
#pragma unroll
        for (int block = 0; block < T; block++)
            for (int q = 0; q < 16 && 16 * block + q < rank && !lost; q++) {
                V *const row = rows[q % 2], *const column = columns[q % 2];
                if (y == q)
#pragma unroll
                    for (int b = 0; b < T; b++)
                        row[16 * b + x] = m[block][b];
                if (x == q)
#pragma unroll
                    for (int a = 0; a < T; a++)
                        column[16 * a + y] = m[a][block];
                if (q < 15 ? x == q + 1 && y == q + 1 : x == 0 && y == 0)
                    diagonal[q % 2] = q < 15 ? m[block][block]
                                             : m[block + 1 < T ? block + 1 : block][block + 1 < T ? block + 1 : block];
                lost = !(pivot > least); /* every thread sees the same pivot */
                const V inverse = reciprocal(pivot);
                invert_sync();
                const int next = min(16 * block + q + 1, 16 * T - 1);
                pivot = diagonal[q % 2] - column[next] * (row[next] * inverse);
                V right[T];
#pragma unroll
                for (int b = 0; b < T; b++)
                    right[b] = b == block && x == q ? inverse : row[16 * b + x] * inverse;
#pragma unroll
                for (int a = 0; a < T; a++) {
                    const bool here = a == block && y == q;
                    const V left = here ? (V)-1 : column[16 * a + y];
#pragma unroll
                    for (int b = 0; b < T; b++)
                        m[a][b] = (here || (b == block && x == q) ? (V)0 : m[a][b]) - left * right[b];
                }
            }
        if (!lost)
            break;
        added = added == 0 ? 2 * eps * most : 4 * added;
        invert_sync(); /* the last row was read by all */
    }
    return added;
}

/* The same into memory. `regularised` counts. matrix: the product itself. */
template <typename V, int T>
__global__ void __launch_bounds__(256) invert_tiles(int rank, const double *one, const double *other, double eps,
                                                    double *matrix, double *inverse, int *regularised)
{
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    V m[T][T];
    for (int i = threadIdx.x; i < rank * rank; i += 256)
        matrix[i] = one[i] * other[i];
    const double added = invert_in_registers<V, T>(rank, one, other, eps, m);
#pragma unroll
    for (int a = 0; a < T; a++)
#pragma unroll
        for (int b = 0; b < T; b++)
            if (y + 16 * a < rank && x + 16 * b < rank)
                inverse[(y + 16 * a) * rank + x + 16 * b] = m[a][b];
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

#endif

/* Kernels of alternating least squares, all but the products with the tensor: norms, Gram matrices, updates, the fit.
 * They compute in double; products with the tensor, and the factors that these read, are in T. */
#pragma once

#include <cuda_runtime.h>

namespace {

/* Sum over a block; every thread gets it. Blocks of at most 1024 threads, whole warps. */
__device__ __forceinline__ double block_sum(double value)
{
    __shared__ double parts[33];
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        double sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int step = 16; step; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0)
            parts[32] = sum;
    }
    __syncthreads();
    return parts[32];
}

/* out[i, r] = sum over j of sums[i + rows (j + count r)] b[j, r], b the sum of two parts where low is not NULL. A block
 * per 32 rows and r: lanes run along rows, warps share the j. */
template <typename T> __global__ void __launch_bounds__(512)
    over_second(const T *__restrict__ sums, size_t rows, size_t count, const T *__restrict__ b,
                const T *__restrict__ low, double *__restrict__ out)
{
    __shared__ double parts[16][33];
    const size_t i = (size_t)blockIdx.x * 32 + threadIdx.x, r = blockIdx.y;
    const T *from = sums + i + rows * count * r, *with = b + count * r;
    double total = 0;
    if (i < rows) {
        T sum[4] = {0, 0, 0, 0};
        size_t j = threadIdx.y;
        for (size_t step = 0; j < count; step++) {
#pragma unroll
            for (int u = 0; u < 4; u++, j += 16)
                if (j < count)
                    sum[u] += from[rows * j] * (low ? with[j] + low[j + count * r] : with[j]);
            if (step % 8 == 7) { /* short sums in T, long ones in double */
                total += (double)sum[0] + sum[1] + sum[2] + sum[3];
                sum[0] = sum[1] = sum[2] = sum[3] = 0;
            }
        }
        total += (double)sum[0] + sum[1] + sum[2] + sum[3];
    }
    parts[threadIdx.y][threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.y == 0 && i < rows) {
        for (int y = 1; y < 16; y++)
            total += parts[y][threadIdx.x];
        out[i + rows * r] = total;
    }
}

/* out[j, r] = sum over i of sums[i + rows (j + count r)] a[i, r]. A warp per j and r. */
template <typename T> __global__ void __launch_bounds__(256)
    over_first(const T *__restrict__ sums, size_t rows, size_t count, const T *__restrict__ a,
               const T *__restrict__ low, double *__restrict__ out)
{
    const size_t j = (size_t)blockIdx.x * 8 + threadIdx.y, r = blockIdx.y;
    if (j >= count)
        return;
    const T *from = sums + rows * (j + count * r), *with = a + rows * r;
    double total = 0;
    size_t i = threadIdx.x;
    for (size_t step = 0; i < rows; step++) {
        T sum = 0;
#pragma unroll
        for (int u = 0; u < 8; u++, i += 32)
            if (i < rows)
                sum += from[i] * (low ? with[i] + low[i + rows * r] : with[i]);
        total += sum;
    }
    for (int step = 16; step; step /= 2)
        total += __shfl_xor_sync(0xffffffff, total, step);
    if (threadIdx.x == 0)
        out[j + count * r] = total;
}

enum { ROWS = 4 }; /* of the least-squares problem that a block solves together */

/* Rows of the least-squares problem: f + (product - f V) (V + added I)^-1, f being the factor before with its lengths.
 * The correction refines what the inverse loses, and with `added` it is a pull towards the last values. The factor
 * before, without lengths, is kept in `before`. */
__global__ void __launch_bounds__(128)
    update_rows(int n, int rank, const double *product, const double *matrix, const double *inverse,
                const double *lambda, double *before, double *f)
{
    extern __shared__ double shared[];
    double *const old = shared, *const rest = shared + ROWS * rank; /* [r][row] */
    const int first = blockIdx.x * ROWS;
    for (int x = threadIdx.x; x < ROWS * rank; x += blockDim.x) {
        const int i = first + x % ROWS, r = x / ROWS;
        const double value = i < n ? f[i + (size_t)n * r] : 0;
        if (i < n)
            before[i + (size_t)n * r] = value;
        old[x] = value * lambda[r];
    }
    __syncthreads();
    for (int r = threadIdx.x; r < rank; r += blockDim.x) {
        double sum[ROWS];
        for (int u = 0; u < ROWS; u++)
            sum[u] = first + u < n ? product[first + u + (size_t)n * r] : 0;
#pragma unroll 4
        for (int q = 0; q < rank; q++) {
            const double weight = matrix[q * rank + r];
            for (int u = 0; u < ROWS; u++)
                sum[u] -= old[q * ROWS + u] * weight;
        }
        for (int u = 0; u < ROWS; u++)
            rest[r * ROWS + u] = sum[u];
    }
    __syncthreads();
    for (int r = threadIdx.x; r < rank; r += blockDim.x) {
        double sum[ROWS];
        for (int u = 0; u < ROWS; u++)
            sum[u] = old[r * ROWS + u];
#pragma unroll 4
        for (int q = 0; q < rank; q++) {
            const double weight = inverse[q * rank + r];
            for (int u = 0; u < ROWS; u++)
                sum[u] += rest[q * ROWS + u] * weight;
        }
        for (int u = 0; u < ROWS; u++)
            if (first + u < n)
                f[first + u + (size_t)n * r] = sum[u];
    }
}

/* The same under f >= 0: cyclic coordinate descent, a warp per row. */
__global__ void __launch_bounds__(32)
    update_rows_non_negative(int n, int rank, const double *product, const double *one, const double *other,
                             const double *lambda, double *before, double *f)
{
    extern __shared__ double shared[];
    const int i = blockIdx.x;
    for (int r = threadIdx.x; r < rank; r += 32) {
        before[i + (size_t)n * r] = f[i + (size_t)n * r];
        shared[r] = f[i + (size_t)n * r] * lambda[r];
    }
    __syncwarp();
    for (int sweep = 0; sweep < 8; sweep++)
        for (int r = 0; r < rank; r++) {
            double sum = 0;
            for (int q = threadIdx.x; q < rank; q += 32)
                sum += q == r ? 0 : shared[q] * one[r * rank + q] * other[r * rank + q];
            for (int step = 16; step; step /= 2)
                sum += __shfl_xor_sync(0xffffffff, sum, step);
            const double pivot = one[r * rank + r] * other[r * rank + r], rest = product[i + (size_t)n * r] - sum;
            __syncwarp();
            if (threadIdx.x == 0 && pivot > 0)
                shared[r] = rest > 0 ? rest / pivot : 0;
            __syncwarp();
        }
    for (int r = threadIdx.x; r < rank; r += 32)
        f[i + (size_t)n * r] = shared[r];
}

/* A column per block to unit length; a column of zeros becomes what it was before. narrow: the copy in T, to which f is
 * rounded. low: NULL, or what TF32 leaves of it. inner: of the
 * column and that of the product. */
template <typename T> __global__ void __launch_bounds__(256)
    normalise(int n, const double *before, const double *product, double *f, double *lambda, double *inner, T *narrow,
              T *low)
{
    const size_t r = blockIdx.x;
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += f[i + n * r] * f[i + n * r];
    const double norm = sqrt(block_sum(sum));
    const bool null = !(norm > 0 && isfinite(norm));
    sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double value = null ? before[i + n * r] : f[i + n * r] / norm;
        const T rounded = (T)value;
        f[i + n * r] = rounded;
        narrow[i + n * r] = rounded;
        sum += (double)rounded * product[i + n * r];
        if (low) {
            const T high = (T)__uint_as_float(__float_as_uint((float)rounded) & 0xffffe000u);
            narrow[i + n * r] = high;
            low[i + n * r] = rounded - high;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        lambda[r] = null ? 0 : norm;
        inner[r] = sum;
    }
}

/* gram = f^T f: a warp per entry of the lower triangle. */
__global__ void __launch_bounds__(256) gram_kernel(int n, int rank, const double *f, double *gram)
{
    const int entry = blockIdx.x * 8 + threadIdx.y;
    int r = (int)((sqrt(8. * entry + 1) - 1) / 2);
    r = r * (r + 1) / 2 > entry ? r - 1 : (r + 1) * (r + 2) / 2 <= entry ? r + 1 : r;
    const int s = entry - r * (r + 1) / 2;
    if (r >= rank)
        return;
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += f[i + (size_t)n * r] * f[i + (size_t)n * s];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0)
        gram[r * rank + s] = gram[s * rank + r] = sum;
}

/* The fit from norms and the inner products of the last factor's columns; one block. It goes where the counter says. */
__global__ void __launch_bounds__(1024)
    fit_kernel(int rank, const double *square, const double *inner, const double *lambda, const double *g0,
               const double *g1, const double *g2, double *fits, int *iteration)
{
    double with = 0, approximation = 0;
    for (int r = threadIdx.x; r < rank; r += blockDim.x)
        with += lambda[r] * inner[r];
    for (int i = threadIdx.x / 32; i < rank; i += blockDim.x / 32)
        for (int j = threadIdx.x % 32; j < rank; j += 32)
            approximation += lambda[i] * lambda[j] * g0[i * rank + j] * g1[i * rank + j] * g2[i * rank + j];
    with = block_sum(with);
    approximation = block_sum(approximation);
    if (threadIdx.x == 0) {
        const double rest = *square - 2 * with + approximation;
        fits[(*iteration)++] = 1 - sqrt(rest > 0 ? rest : 0) / sqrt(*square);
    }
}

/* parts[block] = this block's sum of squares; the sum of x - x shows NaN and Inf. */
template <typename T> __global__ void __launch_bounds__(512) square_kernel(const T *x, size_t count, double *parts)
{
    double sum = 0, probe = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const double value = x[i];
        sum += value * value;
        probe += value - value;
    }
    sum = block_sum(sum + probe);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

/* sum = the parts' sum, one after the other, as the host adds them. */
template <int COUNT> __global__ void __launch_bounds__(COUNT) total_kernel(const double *parts, double *sum)
{
    __shared__ double all[COUNT];
    all[threadIdx.x] = parts[threadIdx.x];
    __syncthreads();
    double total = 0;
    for (int i = 0; i < COUNT && threadIdx.x == 0; i++)
        total += all[i];
    if (threadIdx.x == 0)
        *sum = total;
}

template <typename T> __global__ void narrow_kernel(const double *from, size_t count, T *to)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = (T)from[i];
}

/* x = high + low, high with the 11 bits that TF32 keeps. */
__global__ void split_kernel(const float *x, size_t count, float *high, float *low)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const float value = x[i], top = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
        high[i] = top;
        low[i] = value - top;
    }
}

/* parts[block] = the sum of (x - sum lambda a b c)^2 over 64 x 64 values (i, j) of one k after another. */
template <typename T> __global__ void __launch_bounds__(256)
    residual_kernel(size_t ni, size_t nj, size_t nk, int rank, const T *x, const double *lambda, const double *a,
                    const double *b, const double *c, double *parts)
{
    enum { TILE = 64, STEP = 16 };
    __shared__ T left[STEP][TILE + 1], right[STEP][TILE + 1];
    const size_t i_tiles = (ni + TILE - 1) / TILE, j_tiles = (nj + TILE - 1) / TILE, tasks = i_tiles * j_tiles * nk;
    const unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    double total = 0;
    for (size_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const size_t k = task / (i_tiles * j_tiles), i0 = task % i_tiles * TILE, j0 = task / i_tiles % j_tiles * TILE;
        T sum[4][4] = {};
        for (int first = 0; first < rank; first += STEP) {
            for (unsigned at = threadIdx.x; at < STEP * TILE; at += 256) {
                const unsigned e = at % TILE, s = at / TILE;
                const size_t r = first + s;
                const bool here = r < (size_t)rank;
                left[s][e] = here && i0 + e < ni ? (T)a[i0 + e + ni * r] : (T)0;
                /* the weight as the caller gets it */
                const double weight = here ? (double)(T)lambda[r] * c[k + nk * r] : 0;
                right[s][e] = here && j0 + e < nj ? (T)(b[j0 + e + nj * r] * weight) : (T)0;
            }
            __syncthreads();
#pragma unroll
            for (int s = 0; s < STEP; s++)
#pragma unroll
                for (int u = 0; u < 16; u++)
                    sum[u / 4][u % 4] += left[s][tx + 16 * (u % 4)] * right[s][ty + 16 * (u / 4)];
            __syncthreads();
        }
#pragma unroll
        for (int u = 0; u < 16; u++) {
            const size_t i = i0 + tx + 16 * (u % 4), j = j0 + ty + 16 * (u / 4);
            if (i < ni && j < nj) {
                const double difference = (double)x[i + ni * (j + nj * k)] - (double)sum[u / 4][u % 4];
                total += difference * difference;
            }
        }
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = total;
}

/* sum over `count` arrays of n values that lie one behind the other. */
template <typename T> __global__ void sum_kernel(const T *from, size_t n, size_t count, double *to)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += from[i + n * k];
    to[i] = sum;
}

} // namespace

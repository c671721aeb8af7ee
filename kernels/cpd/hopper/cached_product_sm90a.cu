/* See cached_product.h. */
#include "cpd/gpu/dependent_launch.cuh"
#include "cached_product.h"
#include "pass_args.h"
#include "mma.cuh"

namespace {

__device__ __forceinline__ unsigned halves(float one, float two, float scale)
{
    const __half2 both = __floats2half2_rn(one * scale, two * scale);
    return *(const unsigned *)&both;
}

/* Rows of a thread: those of d[tile][..][2 half] and the next. */
template <bool CONTIGUOUS> __device__ __forceinline__ int row_of(int g, int tile, int half)
{
    return CONTIGUOUS ? g + 16 * tile + 8 * half : 4 * g + 2 * tile + half;
}

/* T[row, column] of a warp's 32 rows. from: x at the first of them and v; here: how many there are. Threads take four
 * values that are neighbours in memory and, where k runs along memory (CONTIGUOUS), the k of the operands in the order
 * of that factor's image; else four lines of k, of four rows each.
 * Outside the tensor a neighbour is loaded instead: its rows are not used, and the factor of its k is 0. */
template <int N, bool CONTIGUOUS>
__device__ __forceinline__ void multiply_rows(const hot_cpd_cached_args &args, const float *from, int here,
                                              float (&d)[2][N / 8][4])
{
    enum { AHEAD = N <= 16 ? 7 : N <= 24 ? 3 : 4 }; /* loads in flight; the fastest */
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, inner = args.n[CONTIGUOUS ? 0 : 1];
    const int steps = (inner + 15) / 16, lines = CONTIGUOUS ? here : inner, last = (CONTIGUOUS ? inner : here) - 4;
    const float scale = *args.scale;
#pragma unroll
    for (int tile = 0; tile < 2; tile++)
#pragma unroll
        for (int c = 0; c < N / 8; c++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                d[tile][c][e] = 0;
    for (int first = 0; first < steps; first += AHEAD) {
        float4 x[AHEAD][4];
        uint2 b[AHEAD][N / 8];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int k = 16 * (first + a) + 4 * t;
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int line = min(CONTIGUOUS ? g + 8 * q : k + q, lines - 1), at = min(CONTIGUOUS ? k : 4 * g, last);
                x[a][q] = load((const float4 *)(from + (size_t)line * args.n[0] + at));
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int s = min(first + a, steps - 1);
#pragma unroll
            for (int c = 0; c < N / 8; c++) {
                const __half *const line = args.image + ((size_t)(s / 4) * N + 8 * c + g) * CPD_SIDE;
                const int part = s % 4 * 2;
                if (CONTIGUOUS)
                    b[a][c] = make_uint2(load((const unsigned *)(line + ((part ^ g) * 8 + 2 * t))),
                                         load((const unsigned *)(line + (((part + 1) ^ g) * 8 + 2 * t))));
                else
                    b[a][c] = load((const uint2 *)(line + (((part + t / 2) ^ g) * 8 + t % 2 * 4)));
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const float4 *const v = x[a];
            unsigned left[2][4];
            if (CONTIGUOUS) {
#pragma unroll
                for (int tile = 0; tile < 2; tile++) {
                    const float4 one = v[2 * tile], two = v[2 * tile + 1];
                    left[tile][0] = halves(one.x, one.y, scale), left[tile][1] = halves(two.x, two.y, scale);
                    left[tile][2] = halves(one.z, one.w, scale), left[tile][3] = halves(two.z, two.w, scale);
                }
            } else {
                left[0][0] = halves(v[0].x, v[1].x, scale), left[0][1] = halves(v[0].y, v[1].y, scale);
                left[0][2] = halves(v[2].x, v[3].x, scale), left[0][3] = halves(v[2].y, v[3].y, scale);
                left[1][0] = halves(v[0].z, v[1].z, scale), left[1][1] = halves(v[0].w, v[1].w, scale);
                left[1][2] = halves(v[2].z, v[3].z, scale), left[1][3] = halves(v[2].w, v[3].w, scale);
            }
            if (first + a < steps)
#pragma unroll
                for (int c = 0; c < N / 8; c++)
#pragma unroll
                    for (int tile = 0; tile < 2; tile++)
                        multiply(d[tile][c], make_uint4(left[tile][0], left[tile][1], left[tile][2], left[tile][3]),
                                 b[a][c].x, b[a][c].y);
        }
    }
}

/* Modes 0 and 1: block (b, tile), a v per warp. */
template <int N, bool CONTIGUOUS>
__global__ void __launch_bounds__(CPD_CACHED_WARPS * 32, N == 24 ? 4 : 3)
    cached_parts(const __grid_constant__ hot_cpd_cached_args args)
{
    enum { VALUES = CPD_CACHED_ROWS * N };
    __shared__ float2 sums[CPD_CACHED_WARPS][VALUES / 2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = blockIdx.y * CPD_CACHED_ROWS, v = blockIdx.x * CPD_CACHED_WARPS + warp;
    float d[2][N / 8][4];
    dependency_wait();
    dependents_launch();
    if (v < args.n[2]) {
        float2 weight[N / 8];
#pragma unroll
        for (int c = 0; c < N / 8; c++)
            weight[c] = __ldg((const float2 *)(args.weight + (size_t)v * N) + 4 * c + t);
        const size_t step = CONTIGUOUS ? args.n[0] : 1; /* from row to row */
        const float *const from = args.x + (size_t)v * args.n[0] * args.n[1] + row * step;
        multiply_rows<N, CONTIGUOUS>(args, from, args.n[CONTIGUOUS ? 1 : 0] - row, d);
#pragma unroll
        for (int tile = 0; tile < 2; tile++)
#pragma unroll
            for (int h = 0; h < 2; h++)
#pragma unroll
                for (int c = 0; c < N / 8; c++)
                    sums[warp][(row_of<CONTIGUOUS>(g, tile, h) * N + 8 * c + 2 * t) / 2] =
                        make_float2(weight[c].x * d[tile][c][2 * h], weight[c].y * d[tile][c][2 * h + 1]);
    }
    __syncthreads();
    const int warps = min((int)CPD_CACHED_WARPS, args.n[2] - (int)blockIdx.x * CPD_CACHED_WARPS);
    float2 *const to = (float2 *)(args.parts + ((size_t)blockIdx.y * args.blocks + blockIdx.x) * VALUES);
#pragma unroll
    for (int at = threadIdx.x; at < VALUES / 2; at += CPD_CACHED_WARPS * 32) {
        float2 sum = sums[0][at];
        for (int w = 1; w < warps; w++)
            sum.x += sums[w][at].x, sum.y += sums[w][at].y;
        to[at] = sum;
    }
}

/* Adds the partial sums: a block per 32 values, its warps share the parts. */
template <int N> __global__ void __launch_bounds__(256) cached_sum(const __grid_constant__ hot_cpd_cached_args args)
{
    enum { VALUES = CPD_CACHED_ROWS * N, AHEAD = N <= 16 ? 4 : 8 };
    __shared__ double sums[8][32];
    const int at = blockIdx.x * 32 + threadIdx.x % 32, part = threadIdx.x / 32, tile = at / VALUES;
    const int row = at / N, r = at % N, rows = args.n[args.mode];
    /* These are older than the kernel before this one. */
    const double factor = r < args.rank ? 1 / ((double)*args.scale * args.scales[r]) : 0;
    const float *const from = args.parts + (size_t)tile * args.blocks * VALUES + at % VALUES;
    dependency_wait();
    dependents_launch();
    double sum = 0;
    for (int first = part; first < args.blocks; first += 8 * AHEAD) {
        float here[AHEAD]; /* all loads are issued before the first is used */
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            here[a] = from[(size_t)min(first + 8 * a, args.blocks - 1) * VALUES];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            sum += first + 8 * a < args.blocks ? here[a] : 0;
    }
    sums[part][threadIdx.x % 32] = sum;
    __syncthreads();
    if (part == 0 && row < rows && r < args.rank) {
        for (int p = 1; p < 8; p++)
            sum += sums[p][threadIdx.x];
        args.out[row + (size_t)rows * r] = sum * factor;
    }
}

/* Mode 2: a block has all rows j of one k. */
template <int N>
__global__ void __launch_bounds__(CPD_CACHED_TILES * 32, N == 16 ? 1 : 2)
    cached_slab(const __grid_constant__ hot_cpd_cached_args args)
{
    __shared__ float sums[CPD_CACHED_TILES][N];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = warp * CPD_CACHED_ROWS, k = blockIdx.x;
    float d[2][N / 8][4];
    dependency_wait();
    dependents_launch();
    const int r = threadIdx.x;
    const double factor = r < args.rank ? 1 / ((double)*args.scale * args.scales[r]) : 0;
    float2 weight[4][N / 8];
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int c = 0; c < N / 8; c++)
            weight[q][c] = __ldg((const float2 *)(args.weight + (size_t)min(row + row_of<true>(g, q / 2, q % 2),
                                                                            args.n[1] - 1) * N) + 4 * c + t);
    multiply_rows<N, true>(args, args.x + ((size_t)k * args.n[1] + row) * args.n[0], args.n[1] - row, d);
#pragma unroll
    for (int c = 0; c < N / 8; c++) {
        float one = 0, two = 0;
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (row + row_of<true>(g, q / 2, q % 2) < args.n[1]) {
                one += weight[q][c].x * d[q / 2][c][q % 2 * 2];
                two += weight[q][c].y * d[q / 2][c][q % 2 * 2 + 1];
            }
#pragma unroll
        for (int step = 4; step < 32; step *= 2) {
            one += __shfl_xor_sync(0xffffffff, one, step);
            two += __shfl_xor_sync(0xffffffff, two, step);
        }
        if (g == 0)
            sums[warp][8 * c + 2 * t] = one, sums[warp][8 * c + 2 * t + 1] = two;
    }
    __syncthreads();
    if (r < args.rank) {
        double sum = 0;
        for (int w = 0; w < (int)blockDim.x / 32; w++)
            sum += sums[w][r];
        args.out[k + (size_t)args.n[2] * r] = sum * factor;
    }
}

template <int N> const void *kernel(int mode)
{
    return mode == 0   ? (const void *)cached_parts<N, false>
           : mode == 1 ? (const void *)cached_parts<N, true>
                       : (const void *)cached_slab<N>;
}

} // namespace

const void *hot_cpd_cached_kernel(int columns, int mode)
{
    return columns == 16   ? kernel<16>(mode)
           : columns == 24 ? kernel<24>(mode)
           : columns == 40 ? kernel<40>(mode)
                           : NULL;
}

const void *hot_cpd_cached_sum_kernel(int columns)
{
    return columns == 16   ? (const void *)cached_sum<16>
           : columns == 24 ? (const void *)cached_sum<24>
           : columns == 40 ? (const void *)cached_sum<40>
                           : NULL;
}

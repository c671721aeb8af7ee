/* See fragment_product.h. */
#include "cpd/gpu/dependent_launch.cuh"
#include "cpd/gpu/half_scale.cuh"
#include "fragment_product.h"
#include "mma.cuh"

namespace {

enum { WARPS = 7, AHEAD = 8 /* steps in flight; even */ };

/* A block computes one row of the result; warps load its tiles straight into registers. All loads of a round are issued
 * before the first is used. */
template <int N> __global__ void __launch_bounds__(WARPS * 32)
    fragment_product(const __grid_constant__ hot_cpd_fragment_args args)
{
    __shared__ float sums[WARPS][N];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, r = threadIdx.x;
    const uint4 *const ours = args.x + (size_t)blockIdx.x * args.tiles * args.steps * 32 + lane;
    float part[N / 8][2] = {}, scale = 1, scales = 1;
    for (int tile = warp; tile == warp || tile < args.tiles; tile += WARPS) {
        const uint4 *const from = ours + (size_t)min(tile, args.tiles - 1) * args.steps * 32;
        float d[N / 8][4] = {};
        float4 w[N / 8];
        for (int first = 0; first < args.steps; first += AHEAD) {
            uint4 a[AHEAD];
            uint4 b[AHEAD / 2][N / 8];
#pragma unroll
            for (int s = 0; s < AHEAD; s++)
                a[s] = load(from + min(first + s, args.steps - 1) * 32);
            if (tile == warp && first == 0) { /* the tensor is older than all that is waited for */
                dependency_wait();
                dependents_launch();
                if (r < args.rank)
                    scale = load(args.scale), scales = load(args.scales + r);
            }
#pragma unroll
            for (int s = 0; s < AHEAD / 2; s++)
#pragma unroll
                for (int c = 0; c < N / 8; c++)
                    b[s][c] = load(args.factor + (min(first / 2 + s, (args.steps - 1) / 2) * (N / 8) + c) * 32 + lane);
            if (first == 0)
#pragma unroll
                for (int c = 0; c < N / 8; c++)
                    w[c] = load(args.weight + (min(tile, args.tiles - 1) * (N / 8) + c) * 32 + lane);
#pragma unroll
            for (int s = 0; s < AHEAD; s++)
                if (first + s < args.steps)
#pragma unroll
                    for (int c = 0; c < N / 8; c++)
                        multiply(d[c], a[s], s % 2 ? b[s / 2][c].z : b[s / 2][c].x,
                                 s % 2 ? b[s / 2][c].w : b[s / 2][c].y);
        }
        if (tile < args.tiles)
#pragma unroll
            for (int c = 0; c < N / 8; c++) {
                part[c][0] += w[c].x * d[c][0] + w[c].z * d[c][2];
                part[c][1] += w[c].y * d[c][1] + w[c].w * d[c][3];
            }
    }
#pragma unroll
    for (int c = 0; c < N / 8; c++)
#pragma unroll
        for (int e = 0; e < 2; e++)
#pragma unroll
            for (int step = 4; step < 32; step *= 2)
                part[c][e] += __shfl_xor_sync(0xffffffff, part[c][e], step);
    if (g == 0)
#pragma unroll
        for (int c = 0; c < N / 8; c++)
            *(float2 *)&sums[warp][8 * c + 2 * t] = make_float2(part[c][0], part[c][1]);
    __syncthreads();
    if (r < args.rank) {
        double sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += sums[w][r];
        args.out[blockIdx.x + (size_t)args.outs * r] = sum * scale_inverse(scale) * scale_inverse(scales);
    }
}

} // namespace

const void *hot_cpd_fragment_kernel(int columns, int *threads)
{
    *threads = WARPS * 32;
    return columns == 16   ? (const void *)fragment_product<16>
           : columns == 24 ? (const void *)fragment_product<24>
           : columns == 40 ? (const void *)fragment_product<40>
                           : NULL;
}

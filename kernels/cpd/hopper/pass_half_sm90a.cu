/* A pass over a tensor of halves that stores its partial sums (pass_args.h). As in pass_float_sm90a.cu one warp copies
 * tiles into a ring and two warpgroups multiply, here straight from shared memory. */
#include "cpd/gpu/dependent_launch.cuh"
#include "pass_args.h"
#include "pass_sums_sm90a.cuh"

namespace {

enum { TILE = CPD_SIDE * CPD_SIDE * 2 };

/* Up to so many columns there are registers for three warpgroups that multiply. */
enum { LIGHT = 24 };

/* STREAMED: the factor comes with the tiles; each warpgroup then has two of them to one of the factor's. */
template <int N, bool CONTIGUOUS, bool STREAMED>
__global__ void __launch_bounds__(N <= LIGHT ? 512 : 384, 1)
    half_pass(const __grid_constant__ CUtensorMap map, const hot_cpd_pass_args args)
{
    enum { GROUPS = N <= LIGHT ? 3 : 2, IMAGE = N * 128, EACH = STREAMED ? 2 : 1, TOGETHER = GROUPS * EACH,
           STAGE = TOGETHER * TILE + (STREAMED ? IMAGE : 0), HALF = N / 2, OUT = CPD_SIDE * N * 2 };
    extern __shared__ char raw[];
    char *const stages = raw + ((1024 - (shared_address(raw) & 1023)) & 1023);
    char *const factor = stages + (size_t)args.stages * STAGE;
    char *const out = factor + (STREAMED ? 0 : (size_t)args.k_tiles * IMAGE); /* of each group; at times, sums of all */
    const unsigned full = shared_address(out) + (GROUPS - 1) * 2 * OUT, empty = full + 8 * args.stages;
    const unsigned factor_full = empty + 8 * args.stages;
    if (threadIdx.x == 0) {
        for (int s = 0; s < args.stages; s++) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, GROUPS * 4);
        }
        barrier_init(factor_full, 1);
        barrier_init_fence();
    }
    __syncthreads();
    dependency_wait();
    dependents_launch();
    const int begin = args.first[blockIdx.x], end = args.first[blockIdx.x + 1];
    int stage = 0, phase = 0;
    if (threadIdx.x >= GROUPS * 128) {
        if (N > LIGHT)
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x > GROUPS * 128)
            return;
        const unsigned bytes = CONTIGUOUS ? args.pitch * 128 : TILE;
        if (!STREAMED) {
            barrier_expect(factor_full, args.k_tiles * IMAGE);
            for (int k = 0; k < args.k_tiles; k++)
                bulk_load(shared_address(factor) + k * IMAGE, (const char *)args.image + (size_t)k * IMAGE, IMAGE,
                          factor_full);
        }
        for (int unit = begin; unit < end;) {
            const int tile = unit / args.over, v0 = unit - tile * args.over, count = min(args.over - v0, end - unit);
            for (int v = v0; v < v0 + count; v += TOGETHER) {
                const int here = min((int)TOGETHER, v0 + count - v);
                for (int k = 0; k < args.k_tiles; k++) {
                    const unsigned to = shared_address(stages) + stage * STAGE, ready = full + 8 * stage;
                    const int line = CONTIGUOUS ? tile * args.pitch : k * CPD_SIDE;
                    barrier_wait(empty + 8 * stage, phase ^ 1);
                    barrier_expect(ready, here * bytes + (STREAMED ? IMAGE : 0));
                    if (STREAMED)
                        bulk_load(to + TOGETHER * TILE, (const char *)args.image + (size_t)k * IMAGE, IMAGE, ready);
                    for (int w = 0; w < here; w++)
                        bulk_load_box(to + w * TILE, &map, CPD_SIDE * (CONTIGUOUS ? k : tile),
                                      args.line_is_j ? line : v + w, args.line_is_j ? v + w : line, ready);
                    if (++stage == args.stages)
                        stage = 0, phase ^= 1;
                }
            }
            unit += count;
        }
    } else {
        if (N > LIGHT)
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        /* Uniform in a warp, which the compiler must see: else it puts a wait behind every product. */
        const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0), thread = threadIdx.x % 128;
        const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
        char *const ours = out + group * OUT + warp * (OUT / 4);
        float d[EACH][HALF], sum[HALF];
#pragma unroll
        for (int i = 0; i < HALF; i++)
            sum[i] = 0;
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int i = 0; i < HALF; i++)
                d[u][i] = 0;
        if (!STREAMED)
            barrier_wait(factor_full, 0);
        for (int unit = begin; unit < end;) {
            const int tile = unit / args.over, v0 = unit - tile * args.over, count = min(args.over - v0, end - unit);
            const int rows =
                max(0, min(args.rows - tile * args.pitch, args.pitch) - 16 * warp); /* from this warp's on */
            for (int at = 0; at < count; at += TOGETHER) {
                const int v = v0 + at + group * EACH, here = min((int)EACH, v0 + count - v); /* <= 0: not ours */
                for (int k = 0; k < args.k_tiles; k++) {
                    const unsigned tiles = shared_address(stages) + stage * STAGE;
                    const uint64_t b = operand(STREAMED ? tiles + TOGETHER * TILE
                                                        : shared_address(factor) + k * IMAGE);
                    barrier_wait(full + 8 * stage, phase);
                    products_begin(); /* also of tiles that were not loaded: their results are not used */
#pragma unroll
                    for (int s = 0; s < 4; s++)
#pragma unroll
                        for (int u = 0; u < EACH; u++)
                            warpgroup_product<N>::template both<!CONTIGUOUS>(
                                d[u], operand(tiles + (group * EACH + u) * TILE) + s * (CONTIGUOUS ? 2 : 128),
                                b + 2 * s, k > 0 || s > 0);
                    products_commit();
                    products_wait<1>(); /* the run before this one is done: its place is free */
                    if (k > 0 && lane == 0)
                        barrier_arrive(empty + 8 * (stage > 0 ? stage - 1 : args.stages - 1));
                    if (++stage == args.stages)
                        stage = 0, phase ^= 1;
                }
#pragma unroll
                for (int u = 0; u < EACH; u++)
                    products_done(d[u]);
                if (lane == 0)
                    barrier_arrive(empty + 8 * (stage > 0 ? stage - 1 : args.stages - 1));
#pragma unroll
                for (int u = 0; u < EACH; u++) {
                    if (u >= here)
                        break;
                    if (args.weight) {
                        const float2 *const weight = (const float2 *)(args.weight + (size_t)(v + u) * N) + t;
                        add_weighted(weight, d[u], sum);
                    }
                    if (lane == 0)
                        bulk_wait_read();
                    __syncwarp();
#pragma unroll
                    for (int h = 0; h < 2; h++)
#pragma unroll
                        for (int i = 0; i < N / 8; i++)
                            *(__half2 *)(ours + ((g + 8 * h) * N + 8 * i + 2 * t) * 2) =
                                __floats2half2_rn(d[u][4 * i + 2 * h] * args.store_scale,
                                                  d[u][4 * i + 2 * h + 1] * args.store_scale);
                    bulk_fence();
                    __syncwarp();
                    if (lane == 0 && rows > 0) {
                        bulk_store((__half *)args.store +
                                       ((size_t)(v + u) * args.rows + tile * args.pitch + 16 * warp) * N,
                                   shared_address(ours), min(16, rows) * N * 2);
                        bulk_commit();
                    }
                }
            }
            unit += count;
            if (args.weight && (unit >= end || unit / args.over != tile)) { /* the groups' sums, in order */
                float *const fold = (float *)out;
                if (lane == 0)
                    bulk_wait_read();
                add_groups<GROUPS>(1, group, thread, fold, sum);
                if (group == 0) {
                    float *const to = args.sums + ((size_t)blockIdx.x + tile) * CPD_SIDE * N;
#pragma unroll
                    for (int i = 0; i < N / 8; i++)
#pragma unroll
                        for (int h = 0; h < 2; h++)
                            *(float2 *)(to + (16 * warp + g + 8 * h) * N + 8 * i + 2 * t) =
                                make_float2(sum[4 * i + 2 * h], sum[4 * i + 2 * h + 1]);
                }
                group_sync(1, GROUPS * 128);
#pragma unroll
                for (int i = 0; i < HALF; i++)
                    sum[i] = 0;
            }
        }
        if (lane == 0)
            bulk_wait();
    }
}

} // namespace

const void *hot_cpd_half_kernel(int columns, int contiguous, int streamed, int *groups)
{
    *groups = columns <= LIGHT ? 3 : 2;
#define CPD_COLUMNS(N)                                                                                                 \
    if (columns == N)                                                                                                  \
        return contiguous ? streamed ? (const void *)half_pass<N, true, true>                                          \
                                     : (const void *)half_pass<N, true, false>                                         \
               : streamed ? (const void *)half_pass<N, false, true>                                                    \
                          : (const void *)half_pass<N, false, false>;
    CPD_FOR_COLUMNS(CPD_COLUMNS)
#undef CPD_COLUMNS
    return NULL;
}

/* A pass over a tensor of halves for one product, which stores nothing else (pass_args.h). One warp copies tiles into a
 * ring buffer; two warpgroups take them in turn, multiply them straight from shared memory and add what they have,
 * weighted, whenever v changes. A block's share of the tiles may begin and end anywhere. */
#include "cpd/gpu/dependent_launch.cuh"
#include "pass_args.h"
#include "mma.cuh"
#include "wgmma.cuh"

namespace {

enum { TILE = CPD_SIDE * CPD_SIDE * 2, GROUPS = 2 };

/* All tiles of one chunk and one tile of rows that are a block's: from `begin` on, `count` of them. */
struct panel {
    int tile, k0, k1;
    int begin, end, v, k; /* the first one's v and k */
};

__device__ __forceinline__ panel find(const hot_cpd_pass_args &args, int at, int end)
{
    const int per_tile = args.k_tiles * args.over;
    panel p;
    p.tile = at / per_tile;
    const int inside = at - p.tile * per_tile, chunk = inside / (args.chunk * args.over);
    p.k0 = chunk * args.chunk;
    p.k1 = min(p.k0 + args.chunk, args.k_tiles);
    const int here = inside - p.k0 * args.over;
    p.begin = at;
    p.end = min(end, at - here + (p.k1 - p.k0) * args.over);
    p.v = here / (p.k1 - p.k0);
    p.k = p.k0 + here - p.v * (p.k1 - p.k0);
    return p;
}

template <int N, bool CONTIGUOUS>
__global__ void __launch_bounds__((GROUPS + 1) * 128, 1)
    half_product(const __grid_constant__ CUtensorMap map, const __grid_constant__ hot_cpd_pass_args args)
{
    enum { IMAGE = N * 128, HALF = N / 2 };
    extern __shared__ char raw[];
    char *const stages = raw + ((1024 - (shared_address(raw) & 1023)) & 1023);
    char *const factor = stages + (size_t)args.stages * TILE;
    float *const fold = (float *)(factor + (size_t)args.chunk * IMAGE);
    const unsigned full = shared_address(fold) + CPD_SIDE * N * 4 * (GROUPS - 1), empty = full + 8 * args.stages;
    const unsigned factor_full = empty + 8 * args.stages, factor_empty = factor_full + 8;
    if (threadIdx.x == 0) {
        for (int s = 0; s < args.stages; s++) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, 4);
        }
        barrier_init(factor_full, 1);
        barrier_init(factor_empty, GROUPS * 4);
        barrier_init_fence();
    }
    __syncthreads();
    const int begin = args.first[blockIdx.x], end = args.first[blockIdx.x + 1];
    const int role = __shfl_sync(0xffffffff, threadIdx.x / 128, 0); /* uniform in a warp, which the compiler must see */
    const int warp_of = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    if (role == GROUPS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (warp_of == 0 && lane == 0) { /* the tensor: older than all that is waited for */
            const unsigned bytes = CONTIGUOUS ? args.pitch * args.side * 128 : TILE;
            int stage = 0, phase = 1;
            for (int at = begin; at < end;) {
                const panel p = find(args, at, end);
                int v = p.v * args.side, k = p.k;
                for (; at < p.end; at++) {
                    const int line = CONTIGUOUS ? p.tile * args.pitch : k * CPD_SIDE;
                    barrier_wait(empty + 8 * stage, phase);
                    barrier_expect(full + 8 * stage, bytes);
                    bulk_load_box(shared_address(stages) + stage * TILE, &map, CPD_SIDE * (CONTIGUOUS ? k : p.tile),
                                  args.line_is_j ? line : v, args.line_is_j ? v : line, full + 8 * stage);
                    if (++k == p.k1)
                        k = p.k0, v += args.side;
                    if (++stage == args.stages)
                        stage = 0, phase ^= 1;
                }
            }
        }
        if (warp_of == 1 && lane == 0) { /* the factor */
            int phase = 0;
            dependency_wait();
            for (int at = begin; at < end;) {
                const panel p = find(args, at, end);
                if (at > begin) {
                    barrier_wait(factor_empty, phase);
                    phase ^= 1;
                }
                barrier_expect(factor_full, (p.k1 - p.k0) * IMAGE);
                for (int k = p.k0; k < p.k1; k++)
                    bulk_load(shared_address(factor) + (k - p.k0) * IMAGE, (const char *)args.image + (size_t)k * IMAGE,
                              IMAGE, factor_full);
                at = p.end;
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int group = role, thread = threadIdx.x % 128, warp = warp_of, g = lane / 4, t = lane % 4;
        const int side = CONTIGUOUS ? args.side : 1, beside = g % side; /* of the v of this thread's rows */
        float d[HALF], sum[HALF];
#pragma unroll
        for (int i = 0; i < HALF; i++)
            d[i] = sum[i] = 0;
        dependency_wait();
        dependents_launch();
        int stage = group, phase = 0, factor_phase = 0, turn = 0;
        for (int at = begin; at < end;) {
            const panel p = find(args, at, end);
            const int width = p.k1 - p.k0;
            int here = p.begin + (turn ^ group), v = p.v, k = p.k + (turn ^ group);
            barrier_wait(factor_full, factor_phase);
            factor_phase ^= 1;
            while (here < p.end) {
                while (k >= p.k1)
                    k -= width, v++;
                const int here_v = min(v * side + beside, args.last_v); /* beyond it there are zeros */
                const float2 *const weight = (const float2 *)(args.weight + (size_t)here_v * N) + t;
                float2 w[N / 8];
#pragma unroll
                for (int i = 0; i < N / 8; i++)
                    w[i] = load(weight + 4 * i);
                int keep = 0, before = -1;
                for (; k < p.k1 && here < p.end; k += GROUPS, here += GROUPS) {
                    const uint64_t a = operand(shared_address(stages) + stage * TILE),
                                   b = operand(shared_address(factor) + (k - p.k0) * IMAGE);
                    barrier_wait(full + 8 * stage, phase);
                    products_begin();
#pragma unroll
                    for (int s = 0; s < 4; s++)
                        warpgroup_product<N>::template both<!CONTIGUOUS>(d, a + s * (CONTIGUOUS ? 2 : 128), b + 2 * s,
                                                                         keep || s > 0);
                    products_commit();
                    products_wait<1>(); /* the run before this one is done: its place is free */
                    if (before >= 0 && lane == 0)
                        barrier_arrive(empty + 8 * before);
                    keep = 1, before = stage;
                    if ((stage += GROUPS) >= args.stages)
                        stage = group, phase ^= 1;
                }
                products_done(d);
                if (lane == 0)
                    barrier_arrive(empty + 8 * before);
#pragma unroll
                for (int i = 0; i < N / 8; i++) {
                    sum[4 * i] += w[i].x * d[4 * i], sum[4 * i + 1] += w[i].y * d[4 * i + 1];
                    sum[4 * i + 2] += w[i].x * d[4 * i + 2], sum[4 * i + 3] += w[i].y * d[4 * i + 3];
                }
            }
            if (lane == 0)
                barrier_arrive(factor_empty);
            turn ^= (p.end - at) & 1;
            at = p.end;
            if (at == end || at == (p.tile + 1) * args.k_tiles * args.over) { /* the groups' sums, in order */
                group_sync(1, GROUPS * 128);
                if (group)
#pragma unroll
                    for (int i = 0; i < HALF; i++)
                        fold[i * 128 + thread] = sum[i];
                group_sync(1, GROUPS * 128);
                if (group == 0) {
                    float *const to = args.sums + ((size_t)blockIdx.x + p.tile) * CPD_SIDE * N;
#pragma unroll
                    for (int i = 0; i < HALF; i++)
                        sum[i] += fold[i * 128 + thread];
                    for (int step = 1; step < side; step *= 2)
#pragma unroll
                        for (int i = 0; i < HALF; i++)
                            sum[i] += __shfl_xor_sync(0xffffffff, sum[i], 4 * step);
#pragma unroll
                    for (int i = 0; i < N / 8; i++)
#pragma unroll
                        for (int h = 0; h < 2; h++)
                            if (beside == 0)
                                *(float2 *)(to + (16 * warp + g + 8 * h) / side * N + 8 * i + 2 * t) =
                                    make_float2(sum[4 * i + 2 * h], sum[4 * i + 2 * h + 1]);
                }
#pragma unroll
                for (int i = 0; i < HALF; i++)
                    sum[i] = 0;
            }
        }
    }
}

} // namespace

const void *hot_cpd_product_kernel(int columns, int contiguous)
{
#define CPD_COLUMNS(N)                                                                                                 \
    if (columns == N)                                                                                                  \
        return contiguous ? (const void *)half_product<N, true> : (const void *)half_product<N, false>;
    CPD_FOR_COLUMNS(CPD_COLUMNS)
#undef CPD_COLUMNS
    return NULL;
}

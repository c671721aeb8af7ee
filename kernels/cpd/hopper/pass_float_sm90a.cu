/* A pass over a tensor of floats (pass_args.h). One warp copies tiles of 64 x 64 values into a ring buffer in shared
 * memory; each of two warpgroups converts its own tiles to halves in registers and multiplies them with the factor,
 * which is in shared memory. The tensor is read once, and the copies take longer than the products. */
#include "cpd/gpu/dependent_launch.cuh"
#include "pass_args.h"
#include "pass_sums_sm90a.cuh"

namespace {

/* Where a unit is. */
struct place {
    int tile, v, count; /* tile of rows; first v, and how many follow in this chunk and share */
    int k0, k1;         /* tiles of the contracted mode */
};

__device__ __forceinline__ place find(const hot_cpd_pass_args &args, int unit, int end)
{
    const int chunk = unit / args.over;
    place p;
    p.tile = chunk / args.chunks;
    p.v = unit - chunk * args.over;
    p.count = min(args.over - p.v, end - unit);
    p.k0 = (chunk - p.tile * args.chunks) * args.chunk;
    p.k1 = min(p.k0 + args.chunk, args.k_tiles);
    return p;
}

/* Two rows and four k of a thread, for each of the four products of a tile: the tile is two halves of 32 values x 64
 * lines of 128 bytes, whose 16-byte parts are permuted by the line. Threads that load together have no bank
 * conflicts. */
template <bool CONTIGUOUS>
__device__ __forceinline__ void load(const char *tile, int product, int row, int warp, int lane, float (&f)[2][4])
{
    const int g = lane / 4, t = lane % 4;
    if (CONTIGUOUS) { /* lines are rows; a thread's k are neighbours, and the factor's image has them in that order */
        const char *const from =
            tile + product / 2 * (CPD_TILE / 2) + row * 128 + (((product % 2 * 4 + t) ^ (row & 7)) << 4);
        const float4 one = *(const float4 *)from, two = *(const float4 *)(from + 8 * 128);
        f[0][0] = one.x, f[0][1] = one.y, f[0][2] = one.z, f[0][3] = one.w;
        f[1][0] = two.x, f[1][1] = two.y, f[1][2] = two.z, f[1][3] = two.w;
    } else { /* lines are k; the thread's rows are neighbours */
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const int line = 16 * product + 2 * t + q % 2 + 8 * (q / 2), part = warp % 2 * 4 + g / 2;
            const float2 both = *(const float2 *)(tile + warp / 2 * (CPD_TILE / 2) + line * 128 +
                                                  ((part ^ (line & 7)) << 4) + g % 2 * 8);
            f[0][q] = both.x, f[1][q] = both.y;
        }
    }
}

__device__ __forceinline__ unsigned packed(__half2 both) { return *(const unsigned *)&both; }

/* The left operand in halves: what 11 bits hold and, split, the next 11. */
template <bool SPLIT>
__device__ __forceinline__ void convert(const float (&f)[2][4], float scale, unsigned (&high)[4], unsigned (&low)[4])
{
#pragma unroll
    for (int h = 0; h < 4; h++) {
        const float one = f[h % 2][h / 2 * 2] * scale, two = f[h % 2][h / 2 * 2 + 1] * scale;
        const __half2 top = __floats2half2_rn(one, two);
        high[h] = packed(top);
        if (SPLIT) {
            const float2 back = __half22float2(top);
            low[h] = packed(__floats2half2_rn(one - back.x, two - back.y));
        }
    }
}

template <int N, bool CONTIGUOUS, bool SPLIT, bool STORE, bool STREAMED>
__global__ void __launch_bounds__(CPD_THREADS, 1)
    pass(const __grid_constant__ CUtensorMap map, const hot_cpd_pass_args args)
{
    enum { IMAGE = N * 128 * (SPLIT ? 2 : 1), STAGE = CPD_GROUPS * CPD_TILE + (STREAMED ? IMAGE : 0), HALF = N / 2 };
    extern __shared__ char raw[];
    char *const stages = raw + ((1024 - (shared_address(raw) & 1023)) & 1023);
    char *const factor = stages + (size_t)args.stages * STAGE;
    float *const fold = (float *)(factor + (STREAMED ? 0 : (size_t)args.chunk * IMAGE));
    const unsigned full = shared_address(fold) + (args.weight ? 64 * N * 4 * (CPD_GROUPS - 1) : 0);
    const unsigned empty = full + 8 * args.stages;
    const unsigned factor_full = empty + 8 * args.stages, factor_empty = factor_full + 8;
    if (threadIdx.x == 0) {
        for (int s = 0; s < args.stages; s++) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, CPD_GROUPS);
        }
        barrier_init(factor_full, 1);
        barrier_init(factor_empty, CPD_GROUPS);
        barrier_init_fence();
    }
    __syncthreads();
    dependency_wait();
    dependents_launch();
    const int begin = args.first[blockIdx.x], end = args.first[blockIdx.x + 1];
    int stage = 0, phase = 0, factor_phase = 0;
    if (threadIdx.x >= CPD_GROUPS * 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (!STREAMED && threadIdx.x == CPD_GROUPS * 128 + 32) /* the factor: tiles come while it is waited for */
            for (int unit = begin; unit < end;) {
                const place p = find(args, unit, end);
                if (unit > begin) {
                    barrier_wait(factor_empty, factor_phase);
                    factor_phase ^= 1;
                }
                barrier_expect(factor_full, (p.k1 - p.k0) * IMAGE);
                for (int k = p.k0; k < p.k1; k++)
                    bulk_load(shared_address(factor) + (k - p.k0) * IMAGE, (const char *)args.image + (size_t)k * IMAGE,
                              IMAGE, factor_full);
                unit += p.count;
            }
        if (threadIdx.x > CPD_GROUPS * 128)
            return;
        for (int unit = begin; unit < end;) {
            const place p = find(args, unit, end);
            /* Boxes of rows that are not there need not come. */
            const int halves = CONTIGUOUS || args.rows - p.tile * args.pitch > 32 ? 2 : 1;
            const int bytes = CONTIGUOUS ? args.pitch * args.side * 128 : CPD_TILE / 2;
            for (int v = 0; v < p.count; v += CPD_GROUPS)
                for (int k = p.k0; k < p.k1; k++) {
                    const int here = min((int)CPD_GROUPS, p.count - v);
                    const unsigned to = shared_address(stages) + stage * STAGE, ready = full + 8 * stage;
                    barrier_wait(empty + 8 * stage, phase ^ 1);
                    barrier_expect(ready, here * halves * bytes + (STREAMED ? IMAGE : 0));
                    if (STREAMED)
                        bulk_load(to + CPD_GROUPS * CPD_TILE, (const char *)args.image + (size_t)k * IMAGE, IMAGE,
                                  ready);
                    for (int w = 0; w < here; w++)
                        for (int half = 0; half < halves; half++) {
                            const int first = (CONTIGUOUS ? k * CPD_SIDE : p.tile * args.pitch) + 32 * half;
                            const int line = CONTIGUOUS ? p.tile * args.pitch : k * CPD_SIDE;
                            const int other = (p.v + v + w) * args.side;
                            bulk_load_box(to + w * CPD_TILE + half * (CPD_TILE / 2), &map, first,
                                          args.line_is_j ? line : other, args.line_is_j ? other : line, ready);
                        }
                    if (++stage == args.stages)
                        stage = 0, phase ^= 1;
                }
            unit += p.count;
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
        const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
        const int row[2] = {16 * warp + (CONTIGUOUS ? g / 2 + 4 * (g % 2) : 2 * g),
                            16 * warp + (CONTIGUOUS ? g / 2 + 4 * (g % 2) + 8 : 2 * g + 1)};
        const int side = CONTIGUOUS ? args.side : 1, beside = row[0] % side; /* of the v of this thread's rows */
        const float scale = *args.scale;
        float d[HALF], sum[HALF];
#pragma unroll
        for (int i = 0; i < HALF; i++)
            d[i] = sum[i] = 0;
        for (int unit = begin; unit < end;) {
            const place p = find(args, unit, end);
            if (!STREAMED) {
                barrier_wait(factor_full, factor_phase);
                factor_phase ^= 1;
            }
            for (int v = group; v < p.count + group; v += CPD_GROUPS) {
                const bool mine = v < p.count; /* the last one may be for the first group alone */
                for (int k = p.k0; k < p.k1; k++) {
                    const char *const ours = stages + (size_t)stage * STAGE;
                    const unsigned image = STREAMED ? shared_address(ours) + CPD_GROUPS * CPD_TILE
                                                    : shared_address(factor) + (k - p.k0) * IMAGE;
                    unsigned high[4][4], low[4][4];
                    barrier_wait(full + 8 * stage, phase);
                    if (mine) {
#pragma unroll
                        for (int s = 0; s < 4; s++) {
                            float f[2][4];
                            load<CONTIGUOUS>(ours + group * CPD_TILE, s, row[0], warp, lane, f);
                            convert<SPLIT>(f, scale, high[s], low[s]);
                        }
                    }
                    if (!STREAMED) { /* the tile is in registers: its place is free */
                        group_sync(1 + group, 128);
                        if (thread == 0)
                            barrier_arrive(empty + 8 * stage);
                    }
                    if (mine) {
                        const uint64_t b = operand(image);
                        products_begin();
#pragma unroll
                        for (int s = 0; s < 4; s++) {
                            warpgroup_product<N>::run(d, high[s], b + 2 * s, k > p.k0 || s > 0);
                            if (SPLIT) {
                                warpgroup_product<N>::run(d, high[s], b + 2 * s + N * 8, 1);
                                warpgroup_product<N>::run(d, low[s], b + 2 * s, 1);
                            }
                        }
                        products_commit();
                        products_done(d);
                    }
                    if (STREAMED) {
                        group_sync(1 + group, 128);
                        if (thread == 0)
                            barrier_arrive(empty + 8 * stage);
                    }
                    if (++stage == args.stages)
                        stage = 0, phase ^= 1;
                }
                if (mine && args.weight) {
                    const int here = min((p.v + v) * side + beside, args.last_v); /* beyond it there are zeros */
                    const float2 *const weight = (const float2 *)(args.weight + (size_t)here * N) + t;
                    add_weighted(weight, d, sum);
                }
                if (STORE && mine) {
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        const int here = p.tile * args.pitch + row[h];
                        const size_t at = ((size_t)(p.v + v) * args.rows + here) * N + 2 * t;
                        if (row[h] < args.pitch && here < args.rows) {
#pragma unroll
                            for (int i = 0; i < N / 8; i++)
                                *(float2 *)((float *)args.store + at + 8 * i) =
                                    make_float2(d[4 * i + 2 * h], d[4 * i + 2 * h + 1]);
                        }
                    }
                }
            }
            unit += p.count;
            if (!STREAMED) {
                group_sync(1 + group, 128);
                if (thread == 0)
                    barrier_arrive(factor_empty);
            }
            if (args.weight && (unit >= end || find(args, unit, end).tile != p.tile)) { /* the groups' sums, in order */
                add_groups<CPD_GROUPS>(3, group, thread, fold, sum);
                if (group == 0) {
                    float *const out = args.sums + ((size_t)blockIdx.x + p.tile) * 64 * N;
                    for (int step = 1; step < side; step *= 2)
#pragma unroll
                        for (int i = 0; i < HALF; i++)
                            sum[i] += __shfl_xor_sync(0xffffffff, sum[i], 8 * step);
#pragma unroll
                    for (int i = 0; i < N / 8; i++)
#pragma unroll
                        for (int h = 0; h < 2; h++)
                            if (beside == 0)
                                *(float2 *)(out + row[h] / side * N + 8 * i + 2 * t) =
                                    make_float2(sum[4 * i + 2 * h], sum[4 * i + 2 * h + 1]);
                }
#pragma unroll
                for (int i = 0; i < HALF; i++)
                    sum[i] = 0;
            }
        }
    }
}

template <int N> const void *kernel(int contiguous, int split, hot_cpd_store store, int streamed)
{
    static const void *const whole[2] = {(const void *)pass<N, false, false, false, false>,
                                         (const void *)pass<N, true, false, false, false>};
    static const void *const parts[2][3] = {
        {(const void *)pass<N, false, true, false, false>, (const void *)pass<N, false, true, true, false>,
         (const void *)pass<N, false, true, true, true>},
        {(const void *)pass<N, true, true, false, false>, (const void *)pass<N, true, true, true, false>,
         (const void *)pass<N, true, true, true, true>}};
    if (!split)
        return store == CPD_SUMS_ONLY ? whole[contiguous] : NULL;
    return parts[contiguous][store == CPD_SUMS_ONLY ? 0 : 1 + streamed];
}

} // namespace

const void *hot_cpd_pass_kernel(int rank, int contiguous, int split, hot_cpd_store store, int streamed, int *columns)
{
#define CPD_COLUMNS(N)                                         \
    if (rank <= N) {                                           \
        *columns = N;                                          \
        return kernel<N>(contiguous, split, store, streamed);  \
    }
    CPD_FOR_COLUMNS(CPD_COLUMNS)
#undef CPD_COLUMNS
    return NULL;
}

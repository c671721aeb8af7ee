/* Where fits begin, on the GPU: a block filters its voxels' signals by all directions of the grid at once, keeps what
 * comes out in shared memory, and each of its warps looks through a part of the pairs. The arithmetic is that of
 * signal_search.h. */
#include "signal/gpu/signal_chunk.cuh"
#include "signal/signal_block.h"

/* Of a block: voxels, one for each thread of a warp; warps; directions that a warp filters; volumes at a time. */
enum { VOXELS = SIGNAL_SEARCH_VOXELS, WARPS = 8, EACH = 16, ROWS = 32, FOUR = 4 };
enum { PAIRS_AT_A_TIME = 4 };

static_assert((int)VOXELS == 32 && SIGNAL_GRID * VOXELS < 1 << 16, "a voxel for each lane, places in 16 bits");
static_assert(EACH * WARPS >= (int)SIGNAL_GRID && SIGNAL_GRID % FOUR == 0 && EACH % FOUR == 0, "directions are shared");
static_assert((int)WARPS >= (int)SEPARATION_BINS, "a warp for each class");

/* The best that each warp has found, and where. */
typedef struct found_best {
    float gain[WARPS][VOXELS];
    int at[WARPS][VOXELS];
} found_best;

/* The first of the best. */
static __device__ int best_of(const found_best *found, int voxel)
{
    float gain = found->gain[0][voxel];
    int at = found->at[0][voxel];
    for (int w = 1; w < WARPS; w++)
        if (found->gain[w][voxel] > gain) {
            gain = found->gain[w][voxel];
            at = found->at[w][voxel];
        }
    return at;
}

static __global__ void __launch_bounds__(VOXELS *WARPS)
    signal_places_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    __shared__ float b[SIGNAL_GRID][VOXELS], y[ROWS][VOXELS + 1];
    __shared__ found_best one, pairs[SEPARATION_BINS];
    const unsigned used = *chunk.used, first = blockIdx.x * VOXELS;
    if (first >= used)
        return;
    const int voxels = used - first < VOXELS ? (int)(used - first) : VOXELS, volumes = plan.scheme.volumes;
    const int lane = threadIdx.x % VOXELS, warp = threadIdx.x / VOXELS;
    const float inverse = 1 / plan.learned.noise;
    float sum[EACH];
    HOT_UNROLL
    for (int i = 0; i < EACH; i++)
        sum[i] = 0;
    for (int from = 0; from < volumes; from += ROWS) {
        const int rows = volumes - from < ROWS ? volumes - from : ROWS;
        for (int e = threadIdx.x; e < VOXELS * ROWS; e += VOXELS * WARPS) {
            const int voxel = e / ROWS, row = e % ROWS;
            const size_t at = (size_t)(first + voxel) * volumes + from + row;
            float low = 0;
            if (voxel < voxels && row < rows) {
                const float scaled = signal_gaussian_offset(&plan.scheme, chunk.y[at] * inverse);
                chunk.memory.scaled[at] = scaled;
                low = signal_lower(&plan.scheme, scaled);
            }
            y[row][voxel] = low;
        }
        __syncthreads();
        const float4 *filter = (const float4 *)(chunk.search.filter + (size_t)from * SIGNAL_GRID + warp * EACH);
        for (int row = 0; row < rows; row++, filter += SIGNAL_GRID / FOUR) {
            const float t = y[row][lane];
            HOT_UNROLL
            for (int i = 0; i < EACH / FOUR; i++)
                if (warp * EACH + i * FOUR < SIGNAL_GRID) {
                    const float4 f = filter[i];
                    sum[FOUR * i] += f.x * t;
                    sum[FOUR * i + 1] += f.y * t;
                    sum[FOUR * i + 2] += f.z * t;
                    sum[FOUR * i + 3] += f.w * t;
                }
        }
        __syncthreads();
    }
    float best = -1e30f;
    int where = 0;
    HOT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int d = warp * EACH + i;
        if (d < SIGNAL_GRID) {
            const float gain = vmax(sum[i], 0) * sum[i] / plan.grid.gram[d * (SIGNAL_GRID + 1)];
            b[d][lane] = sum[i];
            where = gain > best ? d : where;
            best = gain > best ? gain : best;
        }
    }
    one.gain[warp][lane] = best;
    one.at[warp][lane] = where;
    __syncthreads();
    const float *own = &b[0][lane];
    for (int c = 0; c < SEPARATION_BINS && plan.max_fibers > 1; c++) {
        const int count = plan.grid.pairs[c], end = count * (warp + 1) / WARPS;
        best = -1e30f;
        where = 0;
#pragma unroll PAIRS_AT_A_TIME
        for (int p = count * warp / WARPS; p < end; p++) {
            const signal_place_pair pair = chunk.search.pairs[c][p];
            float w1, w2, gain;
            const bool better = signal_pair(pair.inverse, own[pair.at & 0xffff], own[pair.at >> 16], best, &w1, &w2,
                                            &gain);
            best = better ? gain : best;
            where = better ? p : where;
        }
        pairs[c].gain[warp][lane] = best;
        pairs[c].at[warp][lane] = where;
    }
    __syncthreads();
    if (warp >= SEPARATION_BINS || lane >= voxels)
        return;
    signal_start_points *to = (signal_start_points *)chunk.memory.places + first + lane;
    int at[3];
    at[0] = at[1] = at[2] = best_of(&one, lane);
    if (warp == 0) {
        to->one = at[0];
        chunk.memory.noise[first + lane] = plan.learned.noise;
    }
    if (plan.max_fibers > 1) {
        const unsigned both = chunk.search.pairs[warp][best_of(&pairs[warp], lane)].at;
        at[0] = (int)(both & 0xffff) / VOXELS;
        at[1] = (int)(both >> 16) / VOXELS;
    }
    if (plan.max_fibers > 2) {
        float w[3];
        signal_best_third(&plan.grid, own, VOXELS, at[0], at[1], &at[2], w);
    }
    to->first[warp] = at[0];
    to->second[warp] = at[1];
    to->third[warp] = at[2];
}

static __global__ void __launch_bounds__(VOXELS *WARPS)
    signal_scale_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned used = *chunk.used;
    const int lane = threadIdx.x % VOXELS, warp = threadIdx.x / VOXELS;
    for (unsigned at = blockIdx.x * VOXELS + warp; at < used && at < (blockIdx.x + 1) * VOXELS; at += WARPS) {
        const float inverse = 1 / chunk.memory.noise[at];
        const size_t first = (size_t)at * plan.scheme.volumes;
        for (int j = lane; j < plan.scheme.volumes; j += VOXELS)
            chunk.memory.scaled[first + j] = signal_gaussian_offset(&plan.scheme, chunk.y[first + j] * inverse);
    }
}

/* ---- From the host ------------------------------------------------------------------------------------------ */

static cudaError_t launch(void (*kernel)(const signal_plan, const signal_chunk), const signal_plan *plan,
                          const signal_chunk *chunk, cudaStream_t stream)
{
    kernel<<<(unsigned)((chunk->count + VOXELS - 1) / VOXELS), VOXELS * WARPS, 0, stream>>>(*plan, *chunk);
    return cudaGetLastError();
}

cudaError_t signal_launch_places(const signal_plan *plan, const signal_chunk *chunk, cudaStream_t stream)
{
    return launch(signal_places_kernel, plan, chunk, stream);
}

cudaError_t signal_launch_scale(const signal_plan *plan, const signal_chunk *chunk, cudaStream_t stream)
{
    return launch(signal_scale_kernel, plan, chunk, stream);
}

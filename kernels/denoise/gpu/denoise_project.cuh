/* From bases to denoised signals: a window's samples times its basis, the sums over the windows of each voxel, and
 * their means. */
#pragma once

#include "denoise_plan.cuh"

enum {
    DENOISE_ITEMS = 128,
    DENOISE_COLUMNS = 32,
    DENOISE_TERMS = 16,
    DENOISE_SUM_VOXELS = 4,
    DENOISE_SUM_THREADS = 128
};

/* usable: 1 where every volume is finite. A warp per voxel. */
__global__ void hot_denoise_find_usable(const float *signals, size_t voxels, int width, uint8_t *usable)
{
    const size_t voxel = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (voxel >= voxels)
        return;
    int bad = 0;
    for (int f = threadIdx.x % 32; f < width; f += 32)
        bad |= !isfinite(signals[voxel * width + f]);
    bad = __any_sync(~0u, bad);
    if (threadIdx.x % 32 == 0)
        usable[voxel] = !bad;
}

/* The windows of the batch that are wanted, for the complete eigensolver. */
__global__ void hot_denoise_list_wanted(const __grid_constant__ denoise_plan plan)
{
    const int w = blockIdx.x;
    const bool wanted = denoise_wanted(plan, denoise_corner_at(plan, w));
    if (threadIdx.x == 0) {
        plan.signal[w] = wanted ? 0 : DENOISE_UNWANTED;
        if (wanted)
            plan.list[1 + atomicAdd(plan.list, 1)] = w;
    }
}

/* The other factor: the products of the basis' vectors with the window's samples. A block per window, a thread per
 * row. */
template <bool C>
__global__ void __launch_bounds__(DENOISE_ITEMS) denoise_coefficients(const __grid_constant__ denoise_plan plan)
{
    typedef typename denoise_number<C>::type E;
    __shared__ E samples[DENOISE_ITEMS][DENOISE_COLUMNS + 1], basis[DENOISE_COLUMNS][DENOISE_TERMS];
    __shared__ long long places[DENOISE_ITEMS];
    const int w = blockIdx.x, n = plan.n, signal = plan.signal[w], row = threadIdx.x;
    if (signal <= 0 || signal == n)
        return;
    const denoise_corner corner = denoise_corner_at(plan, w);
    const E *signals = (const E *)plan.signals, zero = denoise_zero(E());
    const int on_places = plan.over_volumes ? DENOISE_ITEMS : DENOISE_COLUMNS; /* voxels at a time */
    for (int row0 = 0; row0 < plan.rows; row0 += DENOISE_ITEMS)
        for (int s0 = 0; s0 < signal; s0 += DENOISE_TERMS) {
            E sum[DENOISE_TERMS];
#pragma unroll
            for (int s = 0; s < DENOISE_TERMS; s++)
                sum[s] = zero;
            for (int c0 = 0; c0 < n; c0 += DENOISE_COLUMNS) {
                __syncthreads();
                if (threadIdx.x < on_places) {
                    const int at = (plan.over_volumes ? row0 : c0) + threadIdx.x;
                    const int voxel = at < plan.voxels ? denoise_voxel(plan, corner, at) : -1;
                    places[threadIdx.x] = voxel >= 0 && plan.usable[voxel] ? (long long)voxel * plan.volumes : -1;
                }
                __syncthreads();
                for (int k = threadIdx.x; k < DENOISE_ITEMS * DENOISE_COLUMNS; k += DENOISE_ITEMS) {
                    const int r = plan.over_volumes ? k / DENOISE_COLUMNS : k % DENOISE_ITEMS,
                              c = plan.over_volumes ? k % DENOISE_COLUMNS : k / DENOISE_ITEMS;
                    const long long place = places[plan.over_volumes ? r : c];
                    samples[r][c] = place >= 0 && row0 + r < plan.rows && c0 + c < n
                                        ? signals[place + (plan.over_volumes ? c0 + c : row0 + r)] : zero;
                }
                for (int k = threadIdx.x; k < DENOISE_COLUMNS * DENOISE_TERMS; k += DENOISE_ITEMS) {
                    const int c = plan.over_volumes ? k % DENOISE_COLUMNS : k / DENOISE_TERMS,
                              s = plan.over_volumes ? k / DENOISE_COLUMNS : k % DENOISE_TERMS;
                    basis[c][s] =
                        c0 + c < n && s0 + s < signal ? *denoise_basis<E>(plan, w, signal, s0 + s, c0 + c) : zero;
                }
                __syncthreads();
                for (int c = 0; c < DENOISE_COLUMNS; c++) {
                    const E x = samples[row][c];
#pragma unroll
                    for (int q = 0; q < DENOISE_TERMS; q += 4)
                        if (s0 + q < signal)
#pragma unroll
                            for (int s = q; s < q + 4; s++)
                                sum[s] = denoise_add_conj(sum[s], basis[c][s], x);
                }
            }
            if (row0 + row < plan.rows)
#pragma unroll
                for (int s = 0; s < DENOISE_TERMS; s++)
                    if (s0 + s < signal) {
                        if (plan.over_volumes)
                            ((E *)plan.weights)[(size_t)w * plan.voxels * denoise_pitch(n) +
                                                (size_t)(row0 + row) * denoise_pitch(signal) + s0 + s] = sum[s];
                        else
                            ((E *)plan.patterns)[((size_t)w * n + s0 + s) * plan.stride + row0 + row] = sum[s];
                    }
        }
}

/* The places along an axis whose windows hold voxels of low ... high. */
__device__ __forceinline__ void denoise_covering(int low, int high, int size, int window, int step, int places,
                                                 int *first, int *last)
{
    const int from = low - window + step; /* rounded up */
    *first = from < step ? 0 : from / step;
    *first = *first < places - 1 ? *first : places - 1;
    *last = high >= size - window ? places - 1 : high / step;
}

/* Adds the batch's windows to the sums of slices k0 ... : in their order in the volume, whatever the batches and
 * slabs. A warp has four voxels along i, a lane two volumes. */
template <bool C>
__global__ void __launch_bounds__(DENOISE_SUM_THREADS)
    denoise_sum(const __grid_constant__ denoise_plan plan, int k0, int k1)
{
    typedef typename denoise_number<C>::type E;
    const int groups = (plan.size[0] + DENOISE_SUM_VOXELS - 1) / DENOISE_SUM_VOXELS, lane = threadIdx.x % 32;
    const long long at = (long long)blockIdx.x * (DENOISE_SUM_THREADS / 32) + threadIdx.x / 32;
    const int i0 = (int)(at % groups) * DENOISE_SUM_VOXELS, j = (int)(at / groups % plan.size[1]),
              k = k0 + (int)(at / groups / plan.size[1]);
    if (k >= k1)
        return;
    const int voxel = (k * plan.size[1] + j) * plan.size[0] + i0,
              out = voxel - plan.begin * plan.size[0] * plan.size[1];
    const int here = plan.size[0] - i0 < DENOISE_SUM_VOXELS ? plan.size[0] - i0 : DENOISE_SUM_VOXELS,
              volume = 64 * blockIdx.y + 2 * lane;
    bool wanted = false;
    for (int g = 0; g < here; g++)
        wanted |= plan.usable[voxel + g] && (!plan.mask || plan.mask[voxel + g]);
    if (!wanted)
        return;
    E sum[DENOISE_SUM_VOXELS][2], x[DENOISE_SUM_VOXELS][2];
    float variance[DENOISE_SUM_VOXELS];
    int windows[DENOISE_SUM_VOXELS], variances[DENOISE_SUM_VOXELS];
#pragma unroll
    for (int g = 0; g < DENOISE_SUM_VOXELS; g++) {
        const int to = out + (g < here ? g : 0);
        for (int v = 0; v < 2; v++) {
            const bool inside = volume + v < plan.volumes;
            sum[g][v] = inside ? ((const E *)plan.sums)[(size_t)to * plan.volumes + volume + v] : denoise_zero(E());
            x[g][v] = inside
                          ? ((const E *)plan.signals)[(size_t)(voxel + (g < here ? g : 0)) * plan.volumes + volume + v]
                          : denoise_zero(E());
        }
        variance[g] = plan.variance[to];
        windows[g] = plan.windows[to];
        variances[g] = plan.variances[to];
    }
    int first[3], last[3];
    denoise_covering(i0, i0 + here - 1, plan.size[0], plan.window[0], plan.step[0], plan.places[0], &first[0],
                     &last[0]);
    denoise_covering(j, j, plan.size[1], plan.window[1], plan.step[1], plan.places[1], &first[1], &last[1]);
    const int all = (plan.slices - plan.window[2] + plan.step[2] - 1) / plan.step[2] + 1;
    denoise_covering(k + plan.first, k + plan.first, plan.slices, plan.window[2], plan.step[2], all, &first[2],
                     &last[2]);
    const size_t weights = (size_t)plan.voxels * denoise_pitch(plan.n), patterns = (size_t)plan.n * plan.stride;
    const int end = plan.row + plan.count / plan.places[0];
    for (int pk = first[2]; pk <= last[2]; pk++)
        for (int pj = first[1]; pj <= last[1]; pj++) {
            const int row = pk * plan.places[1] + pj;
            if (row < plan.row || row >= end)
                continue;
            for (int pi = first[0]; pi <= last[0]; pi++) {
                const int w = (row - plan.row) * plan.places[0] + pi, signal = plan.signal[w];
                if (signal == DENOISE_UNWANTED)
                    continue;
                const denoise_corner corner = denoise_corner_at(plan, w);
                const int base = ((k - corner.k) * plan.window[1] + j - corner.j) * plan.window[0] + i0 - corner.i;
                const float level = plan.level[w];
                bool inside[DENOISE_SUM_VOXELS];
#pragma unroll
                for (int g = 0; g < DENOISE_SUM_VOXELS; g++) {
                    inside[g] = g < here && i0 + g >= corner.i && i0 + g < corner.i + plan.window[0];
                    if (!inside[g])
                        continue;
                    windows[g]++;
                    if (signal == plan.n) {
                        for (int v = 0; v < 2; v++)
                            sum[g][v] = denoise_plus(sum[g][v], x[g][v]);
                    } else {
                        variance[g] += level / plan.parts;
                        variances[g]++;
                    }
                }
                if (signal == plan.n)
                    continue;
                const int pitch = denoise_pitch(signal);
                const E *weight = (const E *)plan.weights + w * weights + (long long)base * pitch;
                const E *pattern = (const E *)plan.patterns + w * patterns + (volume < plan.volumes ? volume : 0);
                for (int s = 0; s < signal; s++, pattern += plan.stride) {
                    const E y0 = pattern[0], y1 = pattern[1];
#pragma unroll
                    for (int g = 0; g < DENOISE_SUM_VOXELS; g++)
                        if (inside[g]) {
                            const E f = weight[g * pitch + s];
                            sum[g][0] = denoise_add(sum[g][0], f, y0);
                            sum[g][1] = denoise_add(sum[g][1], f, y1);
                        }
                }
            }
        }
#pragma unroll
    for (int g = 0; g < DENOISE_SUM_VOXELS; g++) {
        if (g >= here)
            continue;
        for (int v = 0; v < 2; v++)
            if (volume + v < plan.volumes)
                ((E *)plan.sums)[(size_t)(out + g) * plan.volumes + volume + v] = sum[g][v];
        if (blockIdx.y == 0 && lane == 0) {
            plan.variance[out + g] = variance[g];
            plan.windows[out + g] = windows[g];
            plan.variances[out + g] = variances[g];
        }
    }
}

/* Sums become means, and what no window has touched becomes what it was; slices k0 ... k1 - 1. noise: of all that
 * are written. */
__global__ void hot_denoise_finish(const __grid_constant__ denoise_plan plan, int k0, int k1, float *noise)
{
    const size_t plane = (size_t)plan.size[0] * plan.size[1], width = (size_t)plan.volumes * plan.parts;
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, v = at % width, voxel = k0 * plane + at / width;
    if (voxel >= k1 * plane)
        return;
    const size_t out = voxel - plan.begin * plane;
    const bool inside = !plan.mask || plan.mask[voxel], usable = plan.usable[voxel];
    float *to = plan.sums + out * width + v;
    const bool summed = inside && usable && plan.windows[out] > 0;
    *to = summed ? *to * (1.0f / plan.windows[out]) : plan.signals[voxel * width + v];
    if (v == 0)
        noise[out] = summed && plan.variances[out] > 0 ? sqrtf(plan.variance[out] / plan.variances[out])
                                                       : inside ? NAN : 0;
}

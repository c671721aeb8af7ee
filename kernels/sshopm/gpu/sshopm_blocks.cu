/* SS-HOPM of orders 3 to 8 in 2 to 16 dimensions, by blocks: a thread block works on a tensor, a warp on a tile of it
 * (block_table.h), a lane on R starts. The unfolded tensor stays in shared memory, or in device memory if it is too
 * large. As starts converge, others take their places; when there are none left, the rest move together.
 *
 * (Blocked compact symmetric storage: Schatz, Low, van de Geijn, Kolda 2014.) */
#include <cuda_runtime.h>

#include "symtensor/block_product.cuh"
#include "common/device_memory.h"
#include "common/shared_memory.cuh"
#include "sshopm_device.cuh"

namespace {

/* Starts in progress: as many of each of 32 lanes as 16 bytes hold numbers. */
template <typename T> struct places_of {
    static constexpr int COUNT = 32 * 16 / (int)sizeof(T);
};

enum { NO_START = -1, PARTIAL = 2 }; /* PARTIAL: of a tile's sums, the squares and the trace */

/* Shared by a thread block, besides the unfolded tensor. */
template <typename T> struct block_state {
    T *x;      /* padded dimension x places */
    T *sums;   /* tiles x (2 block + PARTIAL) x places: block_tile_sums */
    T *before; /* places: lambda a step ago */
    int *steps, *start; /* places */
    int *from, *to;     /* places: of starts that move */
    int *counts;        /* starts in progress, the next start, moves */
};

template <typename T> __host__ __device__ size_t state_bytes(const hot_sshopm_cut &cut)
{
    const size_t values = (size_t)(cut.blocks * cut.block + cut.tiles * (2 * cut.block + PARTIAL) + 1);
    return places_of<T>::COUNT * (values * sizeof(T) + 4 * sizeof(int)) + 4 * sizeof(int);
}

template <typename T> __device__ block_state<T> state_at(void *memory, const hot_sshopm_cut &cut)
{
    constexpr int PLACES = places_of<T>::COUNT;
    block_state<T> state;
    state.x = (T *)memory;
    state.sums = state.x + cut.blocks * cut.block * PLACES;
    state.before = state.sums + cut.tiles * (2 * cut.block + PARTIAL) * PLACES;
    state.steps = (int *)(state.before + PLACES);
    state.start = state.steps + PLACES;
    state.from = state.start + PLACES;
    state.to = state.from + PLACES;
    state.counts = state.to + PLACES;
    return state;
}

/* The tensor unfolded, scaled and weighted, by all threads. */
template <typename T>
__device__ void unfold(const hot_sshopm_blocks &blocks, const T *from, const tensor_scale &scale, T *values)
{
    const uint32_t mask = (1u << HOT_BLOCK_PLACE_BITS) - 1;
    for (size_t i = threadIdx.x; i < blocks.values; i += blockDim.x) {
        const uint32_t code = blocks.code[i];
        const double weight = (double)(code >> HOT_BLOCK_PLACE_BITS);
        values[i] = (T)((double)from[code & mask] * scale.first * scale.second * weight);
    }
}

template <typename T>
__device__ void load_start(const hot_sshopm_args &args, block_state<T> &state, int place, int start)
{
    for (int d = 0; d < args.dim; d++)
        state.x[d * places_of<T>::COUNT + place] = ((const T *)args.start)[(size_t)start * (size_t)args.dim + d];
    state.start[place] = start;
    state.steps[place] = 0;
    state.before[place] = 0;
}

/* A start has ended: its place gets the next one. */
template <typename T> __device__ void next_start(const hot_sshopm_args &args, block_state<T> &state, int place)
{
    const int next = atomicAdd(&state.counts[1], 1);
    if ((size_t)next < args.starts) {
        load_start<T>(args, state, place, next);
    } else {
        state.start[place] = NO_START;
        atomicSub(&state.counts[0], 1);
    }
}

/* The sums of R starts in each lane over the tiles of a warp. */
template <typename T, int B, int R, bool TILES>
__device__ __forceinline__ void tile_sums(const hot_sshopm_blocks &blocks, const T *values, const block_state<T> &state)
{
    constexpr int PLACES = places_of<T>::COUNT, ROWS = TILES ? B * B : B * (B + 1) / 2, DIAGONAL = B * (B + 1) / 2;
    const hot_sshopm_cut &cut = blocks.cut;
    const int tile = TILES ? (int)threadIdx.x / 32 : 0, degree = cut.order - 2, place = (int)threadIdx.x % 32 * R;
    const int k = TILES ? cut.k[tile] : 0, l = TILES ? cut.l[tile] : 0;
    const T *u = values + (TILES ? blocks.first[tile] : 0), *x = state.x + place;
    T *to = state.sums + (size_t)(tile * (2 * B + PARTIAL) * PLACES + place);
    T h[ROWS][R];
    block_clear<T, ROWS, R>(h);
    if (!TILES || k == l) {
        block_product<T, DIAGONAL, R>(u, x, PLACES, blocks.prefix, cut.prefixes, degree, cut.dim, h);
        block_tile_sums<T, B, R, true>(h, x + k * B * PLACES, x + l * B * PLACES, PLACES, to);
    } else if (TILES) {
        block_product<T, ROWS, R>(u, x, PLACES, blocks.prefix, cut.prefixes, degree, cut.dim, h);
        block_tile_sums<T, B, R, false>(h, x + k * B * PLACES, x + l * B * PLACES, PLACES, to);
    }
}

/* A x^(m-1) at a place, from the tiles' sums; returns the adaptive shift, from the Hessian's (Samuelson's bound). */
template <typename T, int B, int N>
__device__ __forceinline__ T gather_sums(const hot_sshopm_cut &cut, const block_state<T> &state, int place, T margin,
                                         T *g)
{
    constexpr int PLACES = places_of<T>::COUNT, ROWS = 2 * B + PARTIAL;
    const T *sums = state.sums + place;
    T squares = 0, trace = 0;
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        g[d] = 0;
    if (N == B) { /* one tile */
        HOT_UNROLL
        for (int d = 0; d < N; d++)
            g[d] = sums[d * PLACES];
        squares = sums[2 * B * PLACES];
        trace = sums[(2 * B + 1) * PLACES];
    } else {
        for (int t = 0; t < cut.tiles; t++, sums += ROWS * PLACES) {
            const int k = cut.k[t], l = cut.l[t];
            squares += sums[2 * B * PLACES];
            trace += sums[(2 * B + 1) * PLACES];
            HOT_UNROLL
            for (int d = 0; d < N; d++) {
                if (d / B == k)
                    g[d] += sums[d % B * PLACES];
                if (d / B == l && k != l)
                    g[d] += sums[(B + d % B) * PLACES];
            }
        }
    }
    const T mean = trace / cut.dim, variance = squares / cut.dim - mean * mean;
    const T shift = margin - (mean - sqrt((variance > 0 ? variance : 0) * (cut.dim - 1))) * (cut.order - 1);
    return shift > 0 ? shift : 0;
}

/* The end of a step at a place: judged, and moved on unless it has converged. */
template <typename T, int B, int N>
__device__ __forceinline__ void end_step(const hot_sshopm_args &args, const hot_sshopm_cut &cut,
                                         const thread_item<T> &item, block_state<T> &state, int place)
{
    constexpr int PLACES = places_of<T>::COUNT;
    const int n = N == B ? N : args.dim;
    const T margin = (T)1e-6 * item.scale / args.order;
    T x[N], g[N], lambda, residual2, before = state.before[place];
    T shift = gather_sums<T, B, N>(cut, state, place, margin, g);
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        x[d] = d < n ? state.x[d * PLACES + place] : 0;
    const int k = state.steps[place], small = sshopm_judge<T, N>(args, item, n, k, x, g, &before, &lambda, &residual2);
    if (k == args.max_iterations || (small && !args.exact)) {
        store_result<T>(args, item, (size_t)state.start[place], state.x + place, PLACES, n, lambda, sqrt(residual2),
                        small ? k : -k);
        next_start<T>(args, state, place);
        return;
    }
    sshopm_move<T, N>(n, args.shift == HOT_SHIFT_ADAPTIVE ? shift : item.alpha, x, g);
    HOT_UNROLL
    for (int d = 0; d < N; d++)
        if (d < n)
            state.x[d * PLACES + place] = x[d];
    state.before[place] = before;
    state.steps[place] = k + 1;
}

/* The starts in progress, `live` of them, move to the first places. */
template <typename T>
__device__ void move_together(const hot_sshopm_args &args, block_state<T> &state, int places, int live)
{
    constexpr int PLACES = places_of<T>::COUNT;
    if (threadIdx.x < 32) {
        int holes = 0, moves = 0;
        for (int place = (int)threadIdx.x; place < places; place += 32) {
            const int has = state.start[place] != NO_START;
            const unsigned below = (1u << threadIdx.x) - 1, hole = __ballot_sync(~0u, place < live && !has),
                           move = __ballot_sync(~0u, place >= live && has);
            if (place < live && !has)
                state.to[holes + __popc(hole & below)] = place;
            if (place >= live && has)
                state.from[moves + __popc(move & below)] = place;
            holes += __popc(hole);
            moves += __popc(move);
        }
        if (threadIdx.x == 0)
            state.counts[2] = moves;
    }
    __syncthreads();
    for (int m = (int)threadIdx.x; m < state.counts[2]; m += (int)blockDim.x) {
        const int from = state.from[m], to = state.to[m];
        for (int d = 0; d < args.dim; d++)
            state.x[d * PLACES + to] = state.x[d * PLACES + from];
        state.start[to] = state.start[from];
        state.steps[to] = state.steps[from];
        state.before[to] = state.before[from];
        state.start[from] = NO_START;
    }
    __syncthreads();
}

/* Steps with R starts in each lane, until at most half as many are left. */
template <typename T, int B, int N, int R>
__device__ __forceinline__ void iterate(const hot_sshopm_args &args, const hot_sshopm_blocks &blocks,
                                        const thread_item<T> &item, block_state<T> &state, const T *values)
{
    for (int live = state.counts[0]; live > (R == 1 ? 0 : 16 * R);) {
        tile_sums<T, B, R, N != B>(blocks, values, state);
        __syncthreads();
        for (int place = (int)threadIdx.x; place < 32 * R; place += (int)blockDim.x)
            if (state.start[place] != NO_START)
                end_step<T, B, N>(args, blocks.cut, item, state, place);
        __syncthreads();
        live = state.counts[0];
    }
    if (R > 1 && state.counts[0])
        move_together<T>(args, state, 32 * R, state.counts[0]);
}

template <typename T, int B, int N, bool RESIDENT>
__global__ void __launch_bounds__(N == B ? 32 : B == 4 ? 320 : 192)
    sshopm_block_kernel(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ hot_sshopm_tables tables)
{
    extern __shared__ double shared_memory[];
    const hot_sshopm_blocks &blocks = tables.blocks;
    constexpr int PLACES = places_of<T>::COUNT;
    T *values = RESIDENT ? (T *)shared_memory : (T *)args.scratch + blockIdx.x * blocks.values;
    block_state<T> state = state_at<T>(RESIDENT ? (T *)shared_memory + blocks.values : (T *)shared_memory, blocks.cut);
    for (size_t tensor = blockIdx.x; tensor < args.count; tensor += gridDim.x) {
        thread_item<T> item;
        tensor_scale scale;
        const T *from = (const T *)args.tensors + tensor * args.stride;
        const int special = find_scale<T>(args, tables, from, tensor, &item, &scale);
        if (special) {
            for (size_t start = threadIdx.x; start < args.starts; start += blockDim.x)
                store_special<T>(args, special, tensor, start);
            continue;
        }
        unfold<T>(blocks, from, scale, values);
        for (int i = (int)threadIdx.x; i < blocks.cut.blocks * blocks.cut.block * PLACES; i += (int)blockDim.x)
            state.x[i] = 0;
        const int live = args.starts < (size_t)PLACES ? (int)args.starts : PLACES;
        if (threadIdx.x == 0)
            state.counts[0] = state.counts[1] = live;
        __syncthreads();
        for (int place = (int)threadIdx.x; place < PLACES; place += (int)blockDim.x) {
            state.start[place] = NO_START;
            if (place < live)
                load_start<T>(args, state, place, place);
        }
        __syncthreads();
        if constexpr (sizeof(T) == 4)
            iterate<T, B, N, 4>(args, blocks, item, state, values);
        iterate<T, B, N, 2>(args, blocks, item, state, values);
        iterate<T, B, N, 1>(args, blocks, item, state, values);
        __syncthreads();
    }
}

typedef void block_kernel(hot_sshopm_args, hot_sshopm_tables);

template <typename T> block_kernel *kernel_of(const hot_sshopm_cut &cut, int resident)
{
    switch (cut.blocks == 1 ? cut.block : 10 * cut.block + resident) {
    case 2: return sshopm_block_kernel<T, 2, 2, true>;
    case 3: return sshopm_block_kernel<T, 3, 3, true>;
    case 4: return sshopm_block_kernel<T, 4, 4, true>;
    case 5: return sshopm_block_kernel<T, 5, 5, true>;
    case 6: return sshopm_block_kernel<T, 6, 6, true>;
    case 7: return sshopm_block_kernel<T, 7, 7, true>;
    case 40: return sshopm_block_kernel<T, 4, 16, false>;
    case 41: return sshopm_block_kernel<T, 4, 16, true>;
    case 50: return sshopm_block_kernel<T, 5, 15, false>;
    default: return sshopm_block_kernel<T, 5, 15, true>;
    }
}

/* Bytes of an unfolded tensor; whether it fits a block's shared memory. */
size_t unfolded_bytes(const hot_sshopm_args &args, const hot_sshopm_cut &cut)
{
    return hot_sshopm_cut_values(&cut) * (args.f64 ? sizeof(double) : sizeof(float));
}

size_t state_bytes_of(const hot_sshopm_args &args, const hot_sshopm_cut &cut)
{
    return args.f64 ? state_bytes<double>(cut) : state_bytes<float>(cut);
}

int is_resident(const hot_sshopm_args &args, const hot_sshopm_cut &cut)
{
    int most = 0, device = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    return state_bytes_of(args, cut) + unfolded_bytes(args, cut) + 1024 <= (size_t)most;
}

} // namespace

size_t hot_sshopm_scratch(const hot_sshopm_args *args)
{
    const size_t most = (size_t)1 << 29;
    hot_sshopm_cut cut;
    int processors = 1, device = 0;
    if (!hot_sshopm_cut_make(args->order, args->dim, &cut) || is_resident(*args, cut))
        return 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const size_t one = unfolded_bytes(*args, cut);
    size_t tensors = most / one < 2 * (size_t)processors ? most / one : 2 * (size_t)processors;
    tensors = tensors < args->count ? tensors : args->count;
    return (tensors ? tensors : 1) * one;
}

hot_status hot_sshopm_blocks_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                                    void *stream)
{
    const hot_sshopm_cut &cut = tables->blocks.cut;
    const int resident = is_resident(*args, cut);
    const size_t one = unfolded_bytes(*args, cut), bytes = state_bytes_of(*args, cut) + (resident ? one : 0);
    size_t grid = args->count < 1u << 30 ? args->count : 1u << 30;
    block_kernel *kernel = args->f64 ? kernel_of<double>(cut, resident) : kernel_of<float>(cut, resident);
    if (!resident)
        grid = grid < args->scratch_bytes / one ? grid : args->scratch_bytes / one;
    const hot_status status = allow_shared_memory(context, kernel, bytes);
    if (status != HOT_OK)
        return status;
    kernel<<<(unsigned)grid, (unsigned)(32 * cut.tiles), bytes, (cudaStream_t)stream>>>(*args, *tables);
    return hot_cuda_status(context, cudaGetLastError(), "starting SS-HOPM");
}

/* SS-HOPM with the basin test on the GPU: the first kernel of every order, and the launch of both. */
#include <cuda_runtime.h>
#include <string.h>

#include "basin_launch.h"
#include "basin_maxima.cuh"
#include "basin_starts.cuh"
#include "common/shared_memory.cuh"

namespace {

size_t basin_blocks(size_t count, unsigned shift) { return (count + ((size_t)1 << shift) - 1) >> shift; }

/* How many tensors a block takes, as a power of two: of few tensors fewer, so that every multiprocessor has some. */
unsigned basin_shift(const hot_sshopm_args &args, unsigned processors)
{
    unsigned shift = args.count >= 128 * (size_t)processors ? 5 : args.count >= 32 * (size_t)processors ? 4 : 3;
    while (((args.starts + 3) / 4 * 4) << shift > BASIN_PAIRS)
        shift--;
    return shift;
}

size_t record_bytes(int order)
{
    return order == 4 ? sizeof(basin_record<4>) : order == 6 ? sizeof(basin_record<6>) : sizeof(basin_record<8>);
}

size_t leftover_bytes(const hot_sshopm_args &args, unsigned shift)
{
    const size_t starts = basin_blocks(args.count, shift) * BASIN_LAST;
    return (sizeof(basin_leftovers) + starts * sizeof(basin_start) + 255) / 256 * 256;
}

template <int ORDER>
static __global__ void __launch_bounds__(basin_tuning<ORDER>::THREADS, basin_tuning<ORDER>::RESIDENT)
    basin_kernel(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ basin_constants constants,
                 const __grid_constant__ scan_table<ORDER> table)
{
    using tuning = basin_tuning<ORDER>;
    using grid = scan_grid<ORDER>;
    extern __shared__ float4 shared_memory[];
    basin_block<ORDER> &block = *(basin_block<ORDER> *)shared_memory;
    const unsigned t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x << constants.shift, left = args.count - first;
    const unsigned tensors = 1u << constants.shift, count = left < tensors ? (unsigned)left : tensors;
    const unsigned stride = (unsigned)args.stride;
    if (t == 0)
        block.candidates = block.maxima = block.remaining = block.lasts = block.slow = block.taken[0] = block.taken[1] =
            0;
    if (t < grid::RING)
        block.coordinate[t] = table.coordinate[t];
    if (t < HOT_BASIN_DISTANCES)
        block.distance[t] = constants.distance[t];
    for (unsigned s = t; s < args.starts; s += tuning::THREADS)
        block.projected[s] = gnomonic_project(args, constants.gnomonic, s);
    const float *from = (const float *)args.tensors + first * args.stride;
    for (unsigned at = t; at < (count - 1) * stride + grid::TERMS; at += tuning::THREADS) {
        const unsigned tensor = at / stride, term = at - tensor * stride;
        if (term < grid::TERMS)
            block.row[tensor * basin_layout<ORDER>::ROW + term] = from[at];
    }
    __syncthreads();
    if (t < count)
        basin_scale<ORDER>(constants.gnomonic, block, t);
    __syncthreads();
#pragma unroll 1
    for (unsigned item = t; item < constants.bands * 3 << constants.shift; item += tuning::THREADS) {
        const unsigned tensor = item & (tensors - 1), band = item >> constants.shift, face = band / constants.bands;
        const int top = 1 + (int)((band - face * constants.bands) * constants.rows);
        if (tensor < count && block.state[tensor] == BASIN_LIVE)
            basin_scan<ORDER>(table, block, tensor, (int)face, top, top + (int)constants.rows - 1);
    }
    __syncthreads();
    const unsigned candidates = min(block.candidates, (unsigned)BASIN_PAIRS / 2);
#pragma unroll 1
    for (unsigned i = t; i < candidates; i += tuning::THREADS)
        basin_refine<ORDER>(constants, block, block.candidate[i]);
    basin_make_polynomials<ORDER>(constants.gnomonic, block,
                                  count); /* for the warps that have no candidate to begin with */
    __syncthreads();
    basin_choose_maxima<ORDER>(constants, block, count);
    __syncthreads();
    basin_measure_cones<ORDER>(args, block, first);
    __syncthreads();
    basin_first_steps<ORDER>(args, constants, block, first, count);
    __syncthreads();
    basin_remaining_steps<ORDER>(args, constants, block, first, 0);
    __syncthreads();
    if (constants.left) {
        basin_record_tensors<ORDER>(constants, block, first);
    } else {
        basin_remaining_steps<ORDER>(args, constants, block, first, 1);
        __syncthreads();
    }
    basin_store<ORDER>(args, constants, block, first, count);
}

template <int ORDER>
static cudaError_t basin_launch(const hot_sshopm_args &args, const basin_constants &given, cudaStream_t stream)
{
    using grid = scan_grid<ORDER>;
    basin_constants constants = given;
    scan_table<ORDER> table;
    scan_table_make<ORDER>(&table);
    constants.rows = constants.shift == 5 ? grid::SIDE / 2 : constants.shift == 4 && grid::SIDE % 4 != 2 ? 2 : 1;
    constants.bands = grid::SIDE / constants.rows;
    const size_t blocks = basin_blocks(args.count, constants.shift);
    const size_t bytes = sizeof(basin_block<ORDER>) + args.starts * sizeof(float2);
    cudaError_t error = raise_shared_memory((const void *)basin_kernel<ORDER>, bytes);
    if (error != cudaSuccess)
        return error;
    basin_kernel<ORDER><<<(unsigned)blocks, basin_tuning<ORDER>::THREADS, bytes, stream>>>(args, constants, table);
    if (constants.left) {
        cudaLaunchAttribute early;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(constants.processors * basin_tuning<ORDER>::LEFTOVER_RESIDENT);
        config.blockDim = dim3(BASIN_LEFTOVER_THREADS);
        config.stream = stream;
        config.attrs = &early;
        config.numAttrs = launch_early(&early, stream);
        error = cudaLaunchKernelEx(&config, basin_leftover_kernel<ORDER>, args, (const basin_constants)constants);
        if (error != cudaSuccess)
            return error;
    }
    return cudaGetLastError();
}

} // namespace

size_t hot_basin_workspace(const hot_sshopm_args *args, int processors)
{
    const unsigned shift = basin_shift(*args, (unsigned)processors);
    if (shift < 5 || args->count >= (size_t)1 << 32) /* small ones are done sooner without */
        return 0;
    return leftover_bytes(*args, shift) + args->count * record_bytes(args->order);
}

hot_status hot_basin_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                            void *stream)
{
    basin_constants constants;
    memset(&constants, 0, sizeof constants);
    constants.gnomonic = gnomonic_constants_make(args, tables);
    for (int k = 0; k < HOT_BASIN_DISTANCES; k++)
        constants.distance[k] = hot_basin_distance(k);
    constants.processors = (unsigned)tables->processors;
    constants.shift = basin_shift(*args, constants.processors);
    constants.pitch = ((unsigned)args->starts + 3) / 4 * 4;
    constants.parts = ((unsigned)args->starts + 63) / 64;
    constants.quads = args->starts % 4 == 0 && ((size_t)args->lambda | (size_t)args->x) % 16 == 0;
    const size_t bytes = hot_basin_workspace(args, tables->processors);
    if (bytes > 0 && bytes <= tables->workspace_bytes) {
        constants.left = (basin_leftovers *)tables->workspace;
        constants.records = (char *)tables->workspace + leftover_bytes(*args, constants.shift);
    }
    const cudaError_t error = args->order == 4   ? basin_launch<4>(*args, constants, (cudaStream_t)stream)
                              : args->order == 6 ? basin_launch<6>(*args, constants, (cudaStream_t)stream)
                                                 : basin_launch<8>(*args, constants, (cudaStream_t)stream);
    return hot_cuda_status(context, error, "starting SS-HOPM with the basin test");
}

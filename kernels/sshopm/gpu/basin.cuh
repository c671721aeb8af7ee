/* SS-HOPM by capture (basin.h) on the GPU: a template per order. A block takes up to 32 tensors from the first
 * value to the last result:
 *
 *   scan      thread = rows of a face of a tensor: candidates for maxima (directions/scan_cuda.h)
 *   refine    thread = candidate, Newton's method
 *   choose    four threads = a tensor: the highest, each once
 *   measure   eight threads = a maximum: its cone
 *   all       two starts a thread: two steps, and which cone they are in; the others are listed
 *   rest      thread = start from that list, lanes refilled as they are captured or converge by themselves
 *   write     four starts a thread: the results of their maxima
 *
 * The list holds a start's number, and of the first few hundred where they are; the others begin anew. Of the last the
 * warps give away what they hold, so that a block does not wait for the slowest: in large batches to a second kernel,
 * which takes those of all blocks, in small ones to as few warps of the block as will do. */
#include "directions/step.h"

#define THREADS HOT_JOIN(CAPTURE_THREADS_, HOT_ORDER)
#define SCAN_COLUMNS THREADS
#define PITCH (CAPTURE_TENSORS + 1)
#define LISTED HOT_JOIN(CAPTURE_LISTED_, HOT_ORDER)
#define KEPT HOT_JOIN(CAPTURE_KEPT_, HOT_ORDER)
#include "directions/gpu/scan_cuda.h"
#include "gnomonic_item.cuh"
#include "basin.h"

#define ROW ((TERMS + 3) / 4 * 4)

/* Shared memory of a block. What is needed at different times lies in the same place. */
struct HOT_CHART(block) {
    float4 coefficient[CAPTURE_TENSORS][HOT_QUADS];
    float4 cone[CAPTURE_TENSORS * KEPT];       /* a maximum in the chart's frame, and its cone's squared cosine */
    float4 end[CAPTURE_TENSORS * KEPT];        /* the same in the caller's frame, and lambda */
    float residual[CAPTURE_TENSORS * KEPT];
    union {
        float4 found[CAPTURE_TENSORS * (CAPTURE_FOUND + 1)]; /* refined: direction and value; odd rows, as above */
        float4 stage[THREADS / 32][96];
    };
    union {
        unsigned word[LISTED][THREADS];
        unsigned short rest[CAPTURE_PAIRS];    /* tensor x starts + start */
    };
    union {
        unsigned short candidate[CAPTURE_PAIRS / 2]; /* tensor and point */
        unsigned char ended[CAPTURE_PAIRS];    /* which maximum, or CAPTURE_OWN */
    };
    float form[TERMS * PITCH];                 /* scaled, times multiplicity: a column per tensor */
    union {
        float row[CAPTURE_TENSORS * ROW];      /* scaled tensors, for the chart's polynomials */
        float2 carried[CAPTURE_CARRIED];       /* where the first that are listed are, after two steps */
    };
    float2 last[CAPTURE_LAST];                 /* of the last: where they are, their steps, which they are */
    unsigned short last_steps[CAPTURE_LAST], last_rest[CAPTURE_LAST];
    float factor[CAPTURE_TENSORS], limit2[CAPTURE_TENSORS];
    unsigned short maximum[CAPTURE_TENSORS * KEPT]; /* all there are */
    unsigned found_count[CAPTURE_TENSORS];
    unsigned char state[CAPTURE_TENSORS], number[CAPTURE_TENSORS];
    unsigned candidates, maxima, rests, lasts, taken[2], slow; /* slow: bits of the tensors that leave starts over */
    float coordinate[RING], distance[HOT_CAPTURE_DISTANCES];
    float2 entrance[1];                        /* the starts in the chart: as many as there are */
};

/* What the starts that are left over need of their tensor, in the GPU's memory. */
struct HOT_CHART(record) {
    float4 coefficient[HOT_PADDED / 4], cone[KEPT], end[KEPT];
    float residual[KEPT], factor, limit2;
};

#include "basin_maxima.cuh"
#include "basin_starts.cuh"

static __global__ void __launch_bounds__(THREADS, HOT_JOIN(CAPTURE_RESIDENT_, HOT_ORDER))
    HOT_CHART(capture)(const __grid_constant__ hot_sshopm_args args,
                       const __grid_constant__ capture_constants constants,
                       const __grid_constant__ HOT_STEP(table) table)
{
    extern __shared__ float4 capture_memory[];
    struct HOT_CHART(block) &block = *(struct HOT_CHART(block) *)capture_memory;
    const unsigned t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x << constants.shift, left = args.count - first;
    const unsigned tensors = 1u << constants.shift, count = left < tensors ? (unsigned)left : tensors;
    const unsigned stride = (unsigned)args.stride;
    if (t == 0)
        block.candidates = block.maxima = block.rests = block.lasts = block.slow = block.taken[0] = block.taken[1] = 0;
    if (t < RING)
        block.coordinate[t] = table.coordinate[t];
    if (t < HOT_CAPTURE_DISTANCES)
        block.distance[t] = constants.distance[t];
    for (unsigned s = t; s < args.starts; s += THREADS)
        block.entrance[s] = chart_enter(args, constants.chart, s);
    const float *from = (const float *)args.tensors + first * args.stride;
    for (unsigned at = t; at < (count - 1) * stride + TERMS; at += THREADS) {
        const unsigned tensor = at / stride, term = at - tensor * stride;
        if (term < TERMS)
            block.row[tensor * ROW + term] = from[at];
    }
    __syncthreads();
    if (t < count)
        HOT_CHART(scale)(constants.chart, block, t);
    __syncthreads();
#pragma unroll 1
    for (unsigned item = t; item < constants.bands * 3 << constants.shift; item += THREADS) {
        const unsigned tensor = item & (tensors - 1), band = item >> constants.shift, face = band / constants.bands;
        const int top = 1 + (int)((band - face * constants.bands) * constants.rows);
        if (tensor < count && block.state[tensor] == CAPTURE_LIVE)
            HOT_CHART(search)(table, block, tensor, (int)face, top, top + (int)constants.rows - 1);
    }
    __syncthreads();
    const unsigned candidates = min(block.candidates, (unsigned)CAPTURE_PAIRS / 2);
#pragma unroll 1
    for (unsigned i = t; i < candidates; i += THREADS)
        HOT_CHART(refine)(constants, block, block.candidate[i]);
    HOT_CHART(expand)(constants.chart, block, count); /* for the warps that have no candidate to begin with */
    __syncthreads();
    HOT_CHART(choose)(constants, block, count);
    __syncthreads();
    HOT_CHART(measure)(args, block, first);
    __syncthreads();
    HOT_CHART(all)(args, constants, block, first, count);
    __syncthreads();
    HOT_CHART(rest)(args, constants, block, first, 0);
    __syncthreads();
    if (constants.left) {
        HOT_CHART(record_slow)(constants, block, first);
    } else {
        HOT_CHART(rest)(args, constants, block, first, 1);
        __syncthreads();
    }
    HOT_CHART(write)(args, constants, block, first, count);
}

static cudaError_t HOT_CHART(capture_launch)(const hot_sshopm_args &args, const capture_constants &given,
                                             cudaStream_t stream)
{
    capture_constants constants = given;
    HOT_STEP(table) table;
    HOT_STEP(table_make)(&table);
    constants.rows = constants.shift == 5 ? SIDE / 2 : constants.shift == 4 && SIDE % 4 != 2 ? 2 : 1;
    constants.bands = SIDE / constants.rows;
    const size_t blocks = capture_blocks(args.count, constants.shift);
    const size_t bytes = sizeof(struct HOT_CHART(block)) + args.starts * sizeof(float2);
    cudaError_t error =
        cudaFuncSetAttribute(HOT_CHART(capture), cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    HOT_CHART(capture)<<<(unsigned)blocks, THREADS, bytes, stream>>>(args, constants, table);
    if (constants.left) {
        cudaLaunchAttribute early;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(constants.processors * HOT_JOIN(CAPTURE_LEFT_RESIDENT_, HOT_ORDER));
        config.blockDim = dim3(CAPTURE_LEFT_THREADS);
        config.stream = stream;
        config.attrs = &early;
        config.numAttrs = launch_early(&early);
        error = cudaLaunchKernelEx(&config, HOT_CHART(capture_left), args, (const capture_constants)constants);
        if (error != cudaSuccess)
            return error;
    }
    return cudaGetLastError();
}

#undef THREADS
#undef SCAN_COLUMNS
#undef PITCH
#undef LISTED
#undef KEPT
#undef ROW
#undef SIDE
#undef RING
#undef TERMS
#undef POINT_BITS
#include "gnomonic_undef.cuh"

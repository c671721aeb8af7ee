/* Deduplication of the limits of many starts on the GPU: what SS-HOPM has left in device memory becomes directions.
 *
 *   load     four threads = a tensor: whether it is valid and not isotropic
 *   gather   warp = a tensor, EACH starts a lane: its different limits, each once, greedily in the order of the starts
 *   refine   thread = a limit: Newton's method to the maximum next to it (starts_step.h), in double
 *   cluster  thread = a tensor (cluster.h)
 *
 * A block takes TENSORS tensors; what it keeps of them is in shared memory (deduplicate_memory). */
#pragma once

#include <math.h>
#include <stdint.h>

#include "directions/cluster.h"
#include "directions/directions_starts.h"
#include "symtensor/form3.cuh"

namespace {

enum {
    TENSORS = 32, /* of a block */
    WARPS = 4,
    EACH = 4,    /* starts of a lane, side by side */
    LIMITS = 32, /* different limits of a tensor's starts, at most; of more: deduplicate_crowd */
    RESIDENT = 4 /* blocks per multiprocessor that registers must allow */
};
#define ALL 0xffffffffu

enum { TENSOR_NONE, TENSOR_LIVE, TENSOR_INVALID };

/* The call as the kernel sees it; pointers on the device. */
struct deduplicate_call {
    const float *tensors;
    const uint8_t *mask;
    const float *x;
    const int32_t *iterations;
    const double *wide, *multiplicity;
    float *directions;
    uint8_t *found;
    size_t count, stride;
    unsigned starts;
    int keep;
    float threshold, apart;
    double min_relative_range;
};

/* starts_step.h of an order: starts_form<ORDER>::settle. */
template <int ORDER> struct starts_form {
#define HOT_ORDER ORDER
#define HOT_STARTS(name) name
#define HOT_FORM(name) hot_form3<double, ORDER>::name
#include "directions/starts_step.h"
#undef HOT_ORDER
#undef HOT_STARTS
#undef HOT_FORM
};

template <int ORDER> struct deduplicate_memory {
    enum {
        TERMS = (ORDER + 1) * (ORDER + 2) / 2,
        PITCH = TERMS | 1 /* odd: neighbouring tensors' values are in different banks */
    };
    double tensor[TENSORS][PITCH];
    double scale[TENSORS];
    float maxima[TENSORS][4 * LIMITS + 1];             /* hot_maximum; odd, as above */
    unsigned short count[TENSORS], begin[TENSORS + 1]; /* how many limits; where they begin when numbered throughout */
    unsigned char state[TENSORS];
};

/* Separate functions, so that their registers are free elsewhere. */
template <int ORDER>
__device__ __noinline__ double deduplicate_value(const deduplicate_call &call, const double *tensor, unsigned start)
{
    const double *x = call.wide + 3 * (size_t)start;
    return hot_form3<double, ORDER>::value(tensor, x[0], x[1], x[2]);
}

/* The maximum next to the limit of a start; of value 0 when there is none that counts. */
template <int ORDER>
__device__ __noinline__ float4 deduplicate_refine(const double *tensor, double scale, float x, float y, float z)
{
    double point[3] = {x, y, z}, value;
    const bool good = starts_form<ORDER>::settle(tensor, scale, point, &value) && value > HOT_DIRECTIONS_ZERO * scale;
    return make_float4((float)point[0], (float)point[1], (float)point[2], good ? (float)value : 0.0f);
}

/* The block's tensors, and which of them have directions at all: four threads each. */
template <int ORDER>
__device__ __forceinline__ void deduplicate_load(const deduplicate_call &call, deduplicate_memory<ORDER> &memory,
                                                 size_t first, unsigned tensors)
{
    for (unsigned t = threadIdx.x / 32; t < tensors; t += WARPS)
        for (unsigned k = threadIdx.x % 32; k < deduplicate_memory<ORDER>::TERMS; k += 32)
            memory.tensor[t][k] = (double)call.tensors[(first + t) * call.stride + k];
    __syncthreads();
    const unsigned t = threadIdx.x / 4, quarter = threadIdx.x % 4;
    const bool here = t < tensors && (!call.mask || call.mask[first + t]);
    const double *tensor = memory.tensor[here ? t : 0];
    double scale = 0, bound = 0;
    bool finite = true;
    for (unsigned k = quarter; k < deduplicate_memory<ORDER>::TERMS; k += 4) {
        const double size = fabs(tensor[k]);
        finite &= size <= 3.402823466e38;
        scale = fmax(scale, size);
        bound += size * call.multiplicity[k];
    }
    for (int step = 1; step < 4; step *= 2) {
        finite &= __shfl_xor_sync(ALL, (int)finite, step) != 0;
        scale = fmax(scale, __shfl_xor_sync(ALL, scale, step));
        bound += __shfl_xor_sync(ALL, bound, step);
    }
    /* Whether its range is large enough (has_range in directions_starts.c): mostly four starts show it; else all, by
     * the whole warp. */
    const unsigned lane = threadIdx.x % 32;
    bool relief = call.starts < HOT_STARTS_RANGE;
    double high = deduplicate_value<ORDER>(call, tensor, min(quarter, call.starts - 1)), low = high;
    for (int step = 1; step < 4; step *= 2) {
        high = fmax(high, __shfl_xor_sync(ALL, high, step));
        low = fmin(low, __shfl_xor_sync(ALL, low, step));
    }
    relief |= high - low >= call.min_relative_range * bound;
    for (unsigned open = __ballot_sync(ALL, quarter == 0 && here && finite && !relief); open; open &= open - 1) {
        const unsigned whose = __ffs(open) - 1;
        const double *other = memory.tensor[(threadIdx.x - lane + whose) / 4];
        high = low = deduplicate_value<ORDER>(call, other, min(lane, call.starts - 1));
        for (unsigned s = lane + 32; s < call.starts; s += 32) {
            const double value = deduplicate_value<ORDER>(call, other, s);
            high = fmax(high, value);
            low = fmin(low, value);
        }
        for (int step = 16; step; step /= 2) {
            high = fmax(high, __shfl_xor_sync(ALL, high, step));
            low = fmin(low, __shfl_xor_sync(ALL, low, step));
        }
        if (lane == whose)
            relief = high - low >= call.min_relative_range * fabs(high);
    }
    if (quarter == 0 && t < tensors) {
        memory.scale[t] = scale;
        memory.count[t] = 0;
        memory.state[t] = !here ? TENSOR_NONE : !finite ? TENSOR_INVALID : relief ? TENSOR_LIVE : TENSOR_NONE;
    }
    __syncthreads();
}

/* All starts of a tensor that have more than LIMITS limits (a ridge as flat as a ring): by one warp, the
 * largest maximum again and again, every start refined each time. Leaves the kept ones in `maxima`, returns how
 * many. */
template <int ORDER>
__device__ __noinline__ unsigned deduplicate_crowd(const deduplicate_call &call, const double *tensor, double scale,
                                                   const float *x, const int32_t *iterations, float *maxima)
{
    const unsigned lane = threadIdx.x % 32;
    int found = 0;
    while (found < call.keep) {
        float4 best = make_float4(0, 0, 0, 0);
        unsigned from = ~0u;
        for (unsigned s = lane; s < call.starts; s += 32) {
            if (iterations[s] < 0)
                continue;
            const float *limit = x + 3 * (size_t)s;
            const float4 m = deduplicate_refine<ORDER>(tensor, scale, limit[0], limit[1], limit[2]);
            bool alone = m.w > best.w;
            for (int i = 0; i < found && alone; i++) {
                const float *kept = maxima + 4 * i;
                const float cosine = m.x * kept[1] + m.y * kept[2] + m.z * kept[3];
                alone = cosine * cosine <= call.apart;
            }
            if (alone) {
                best = m;
                from = s;
            }
        }
        float highest = best.w;
        unsigned first = from;
        for (int step = 16; step; step /= 2) {
            const float other = __shfl_xor_sync(ALL, highest, step);
            const unsigned others = __shfl_xor_sync(ALL, first, step);
            if (other > highest || (other == highest && others < first)) {
                highest = other;
                first = others;
            }
        }
        if (!(highest > 0) || (found > 0 && highest < call.threshold * maxima[0]))
            break;
        if (from == first) {
            maxima[4 * found] = best.w;
            maxima[4 * found + 1] = best.x;
            maxima[4 * found + 2] = best.y;
            maxima[4 * found + 3] = best.z;
        }
        found++;
        __syncwarp();
    }
    return (unsigned)found;
}

/* The limits of a lane's EACH starts from base on; a bit for each that has converged. */
template <int ORDER>
__device__ __forceinline__ unsigned deduplicate_fetch(const deduplicate_call &call, size_t tensor, unsigned base,
                                                      float x[EACH][3])
{
    const unsigned own = base + EACH * (threadIdx.x % 32);
    const float *from = call.x + 3 * (tensor * call.starts + own);
    const int32_t *iterations = call.iterations + tensor * call.starts + own;
    unsigned open = 0;
    if (call.starts % EACH == 0) { /* then all rows begin at 16 bytes */
        if (own < call.starts) {
            const float4 p = ((const float4 *)from)[0], q = ((const float4 *)from)[1], r = ((const float4 *)from)[2];
            const int4 steps = *(const int4 *)iterations;
            x[0][0] = p.x, x[0][1] = p.y, x[0][2] = p.z, x[1][0] = p.w, x[1][1] = q.x, x[1][2] = q.y;
            x[2][0] = q.z, x[2][1] = q.w, x[2][2] = r.x, x[3][0] = r.y, x[3][1] = r.z, x[3][2] = r.w;
            open = (steps.x >= 0) | (steps.y >= 0) << 1 | (steps.z >= 0) << 2 | (steps.w >= 0) << 3;
        }
        return open;
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        if (own + i < call.starts && iterations[i] >= 0) {
            open |= 1u << i;
            for (int d = 0; d < 3; d++)
                x[i][d] = from[3 * i + d];
        }
    return open;
}

/* The limits of each tensor's starts, each once, in the order of the starts: a warp takes a tensor, and reads the next
 * one's meanwhile. */
template <int ORDER>
__device__ __forceinline__ void deduplicate_gather(const deduplicate_call &call, deduplicate_memory<ORDER> &memory,
                                                   size_t first, unsigned tensors)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float next[EACH][3];
    unsigned next_open = 0;
    if (warp < tensors && memory.state[warp] == TENSOR_LIVE)
        next_open = deduplicate_fetch<ORDER>(call, first + warp, 0, next);
    for (unsigned t = warp; t < tensors; t += WARPS) {
        float x[EACH][3];
        float *maxima = memory.maxima[t];
        unsigned open = next_open, count = 0, base = 0;
#pragma unroll
        for (unsigned i = 0; i < EACH; i++)
            for (int d = 0; d < 3; d++)
                x[i][d] = next[i][d];
        next_open = 0;
        if (t + WARPS < tensors && memory.state[t + WARPS] == TENSOR_LIVE)
            next_open = deduplicate_fetch<ORDER>(call, first + t + WARPS, 0, next);
        if (memory.state[t] != TENSOR_LIVE)
            continue;
        for (;;) {
            for (unsigned known = 0; known < count; known++) { /* from the starts before these */
                const float *m = maxima + 4 * known + 1;
#pragma unroll
                for (unsigned i = 0; i < EACH; i++) {
                    const float cosine = x[i][0] * m[0] + x[i][1] * m[1] + x[i][2] * m[2];
                    open &= cosine * cosine > HOT_STARTS_SAME ? ~(1u << i) : ~0u;
                }
            }
            for (unsigned lanes; count <= LIMITS && (lanes = __ballot_sync(ALL, open != 0)) != 0; count++) {
                const int leader = __ffs(lanes) - 1;
                const unsigned which = __ffs(open) - 1;
                float m[3];
#pragma unroll
                for (int d = 0; d < 3; d++) {
                    m[d] = which == 0 ? x[0][d] : which == 1 ? x[1][d] : which == 2 ? x[2][d] : x[3][d];
                    m[d] = __shfl_sync(ALL, m[d], leader);
                }
                open = lane == leader ? open & (open - 1) : open;
#pragma unroll
                for (unsigned i = 0; i < EACH; i++) {
                    const float cosine = x[i][0] * m[0] + x[i][1] * m[1] + x[i][2] * m[2];
                    open &= cosine * cosine > HOT_STARTS_SAME ? ~(1u << i) : ~0u;
                }
                if (count < LIMITS && lane < 3)
                    maxima[4 * count + 1 + lane] = lane == 0 ? m[0] : lane == 1 ? m[1] : m[2];
            }
            __syncwarp();
            base += 32 * EACH;
            if (base >= call.starts || count > LIMITS)
                break;
            open = deduplicate_fetch<ORDER>(call, first + t, base, x);
        }
        if (count > LIMITS)
            count = deduplicate_crowd<ORDER>(call, memory.tensor[t], memory.scale[t],
                                             call.x + (first + t) * call.starts * 3,
                                             call.iterations + (first + t) * call.starts, maxima);
        if (lane == 0)
            memory.count[t] = (unsigned short)count;
    }
    __syncthreads();
}

template <int ORDER>
__global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    deduplicate_kernel(const __grid_constant__ deduplicate_call call)
{
    extern __shared__ __align__(16) unsigned char shared_memory[];
    deduplicate_memory<ORDER> &memory = *reinterpret_cast<deduplicate_memory<ORDER> *>(shared_memory);
    const size_t first = (size_t)blockIdx.x * TENSORS;
    const unsigned tensors = (unsigned)min((size_t)TENSORS, call.count - first);
    deduplicate_load<ORDER>(call, memory, first, tensors);
    deduplicate_gather<ORDER>(call, memory, first, tensors);
    if (threadIdx.x < 32) {
        const unsigned own = threadIdx.x < tensors ? memory.count[threadIdx.x] : 0;
        unsigned sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned before = __shfl_up_sync(ALL, sum, step);
            sum += threadIdx.x >= step ? before : 0;
        }
        memory.begin[threadIdx.x] = (unsigned short)(sum - own);
        if (threadIdx.x == 31)
            memory.begin[TENSORS] = (unsigned short)sum;
    }
    __syncthreads();
    /* Each limit to its maximum: a thread takes one. */
    const unsigned total = memory.begin[TENSORS];
    for (unsigned i = threadIdx.x; i < total; i += 32 * WARPS) {
        unsigned t = 0;
        for (unsigned step = TENSORS / 2; step; step /= 2)
            t += memory.begin[t + step] <= i ? step : 0;
        float *m = memory.maxima[t] + 4 * (i - memory.begin[t]);
        const float4 refined = deduplicate_refine<ORDER>(memory.tensor[t], memory.scale[t], m[1], m[2], m[3]);
        m[0] = refined.w;
        m[1] = refined.x;
        m[2] = refined.y;
        m[3] = refined.z;
    }
    __syncthreads();
    const unsigned t = threadIdx.x;
    if (t < tensors) {
        const int found = hot_cluster(call.keep, call.threshold, call.apart, (hot_maximum *)memory.maxima[t],
                                      memory.count[t], call.directions + (first + t) * 3 * call.keep);
        if (call.found)
            call.found[first + t] = (unsigned char)(memory.state[t] == TENSOR_INVALID ? HOT_DIRECTIONS_INVALID : found);
    }
}

} // namespace

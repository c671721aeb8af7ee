/* Directions of a block of tensors on the GPU by scanning, the same three steps with the same formulas and the same
 * candidates as the CPU's block.h:
 *
 *   scan      thread = tensor, coefficients of one face at a time and three rows of the grid in registers (scan.cuh)
 *   refine    thread = candidate, from a queue that the block shares; Newton's method (step.h)
 *   cluster   thread = tensor
 *
 * Shared memory, [..][BLOCK] with a column per tensor: the scaled form, the candidates' grid values with their points
 * in the low bits (words), and for those that are refined their place and value. */
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/shared_memory.cuh"
#include "directions/directions_args.h"
#include "scan.cuh"

namespace {

enum { BLOCK = 128 }; /* threads, and tensors, of a block */

/* Candidates that a tensor can list and refine (of those of noise that lists more, scan_shorten drops some), and blocks
 * per multiprocessor that registers must allow. */
template <int ORDER> struct directions_tuning;
template <> struct directions_tuning<4> {
    enum { LISTED = 12, REFINED = 10, RESIDENT = 6 };
};
template <> struct directions_tuning<6> {
    enum { LISTED = 16, REFINED = 12, RESIDENT = 5 };
};
template <> struct directions_tuning<8> {
    enum { LISTED = 18, REFINED = 14, RESIDENT = 4 };
};

/* Shared memory as scan.cuh sees it. */
template <int N> struct directions_layout {
    static constexpr int ORDER = N;
    static constexpr int COLUMNS = BLOCK;
    static constexpr int PITCH = BLOCK + 1; /* rows come in along the terms, too: no two of a warp may meet in a bank */
    static constexpr int LISTED = directions_tuning<N>::LISTED;
    static constexpr float ZERO = HOT_DIRECTIONS_ZERO;
};

/* A form whose coefficients stray this much further than min_relative_range from an isotropic one's may have too little
 * range: the sum of coefficients exceeds the form's largest value by no more than this. */
constexpr float RELIEF_BOUND = 2000.0f;

enum hot_item_state { HOT_ITEM_LIVE, HOT_ITEM_DOUBTFUL, HOT_ITEM_NONE, HOT_ITEM_INVALID };

/* The call as the kernels see it; pointers on the device. */
struct directions_call {
    const float *tensors;
    const uint8_t *mask;
    float *directions;
    uint8_t *found;
    size_t count, stride;
    int keep;
    float threshold, min_relative_range, apart;
};

template <int ORDER> struct directions_memory {
    float form[scan_grid<ORDER>::TERMS * directions_layout<ORDER>::PITCH];
    unsigned word[directions_tuning<ORDER>::LISTED][BLOCK];
    float u[directions_tuning<ORDER>::REFINED][BLOCK], v[directions_tuning<ORDER>::REFINED][BLOCK];
    unsigned short queue[directions_tuning<ORDER>::REFINED * BLOCK];
    unsigned char face[directions_tuning<ORDER>::REFINED][BLOCK];
    unsigned queued[4];
    float coordinate[scan_grid<ORDER>::RING];
};

/* Lists all candidates of one tensor. Returns how many there are. */
template <int ORDER>
__device__ __forceinline__ int directions_scan(const scan_table<ORDER> &table, const float *form, unsigned *list)
{
    const unsigned start = (unsigned)__cvta_generic_to_shared(list);
    unsigned to = start;
#pragma unroll 1
    for (int face = 0; face < 3; face++)
        to = scan_face<directions_layout<ORDER>>(table, form, face, 1, scan_grid<ORDER>::SIDE, list, start, to);
    return (int)((to - start) / (BLOCK * 4));
}

/* Rows first ... of the input, scaled, into the block's columns; what kind of tensor each is. */
template <int ORDER>
__device__ __forceinline__ hot_item_state directions_load(const directions_call &call, size_t first, int count,
                                                          float *form, float *scale)
{
    using grid = scan_grid<ORDER>;
    const int t = (int)threadIdx.x;
    const float *rows = call.tensors + first * call.stride;
    const int stride = (int)call.stride, end = (count - 1) * stride + grid::TERMS;
    int tensor = t / stride, term = t % stride;
    const int tensors_on = BLOCK / stride, terms_on = BLOCK % stride;
    /* Copied past the registers: so the few warps that fit have enough reads under way. */
#pragma unroll 5
    for (int at = t; at < end; at += BLOCK) {
        if (term < grid::TERMS)
            __pipeline_memcpy_async(form + term * directions_layout<ORDER>::PITCH + tensor, rows + at, sizeof(float));
        tensor += tensors_on;
        term += terms_on;
        if (term >= stride) {
            term -= stride;
            tensor++;
        }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    hot_item_state state = HOT_ITEM_NONE;
    *scale = 0;
    if (t < count && (!call.mask || call.mask[first + t])) {
        float a[grid::TERMS], largest = 0, odd = 0;
#pragma unroll
        for (int k = 0; k < grid::TERMS; k++) {
            a[k] = form[k * directions_layout<ORDER>::PITCH + t];
            largest = fmaxf(largest, fabsf(a[k]));
            odd = fmaf(a[k], 0.0f, odd);
        }
        const float lift = largest < 1e-30f ? 0x1p100f : 1.0f;
        const float factor = 1.0f / (largest * lift);
        *scale = largest;
        state = odd != 0 || isnan(odd) ? HOT_ITEM_INVALID : largest > 0 ? HOT_ITEM_LIVE : HOT_ITEM_NONE;
        float mean = 0, far = 0;
        const float own[5] = {1, 1, 3, 15, 105}, factorial[5] = {1, 1, 2, 6, 24};
        float whole = 1;
#pragma unroll
        for (int k = 3; k <= ORDER + 1; k += 2)
            whole *= (float)k;
        if (state == HOT_ITEM_LIVE) {
            scan_each_class<ORDER>([&](int s, int k, float multiplicity) {
                const int at = HOT_PACKED(s, k);
                a[at] = a[at] * lift * factor * multiplicity;
                if (!(s & 1) && !(k & 1))
                    mean = fmaf(own[(ORDER - s) / 2] * own[(s - k) / 2] * own[k / 2] / whole, a[at], mean);
            });
#pragma unroll
            for (int s = 0; s <= ORDER; s++)
#pragma unroll
                for (int k = 0; k <= s; k++) {
                    float difference = a[HOT_PACKED(s, k)];
                    if (!(s & 1) && !(k & 1))
                        difference -= mean * (factorial[ORDER / 2] /
                                              (factorial[(ORDER - s) / 2] * factorial[(s - k) / 2] * factorial[k / 2]));
                    far += fabsf(difference);
                }
            /* isotropic for certain, or nowhere above 0: nothing to look for */
            if (!(far + far >= call.min_relative_range * fabsf(mean)) || !(mean + far > HOT_DIRECTIONS_ZERO))
                state = HOT_ITEM_NONE;
            else if (far <
                     RELIEF_BOUND * call.min_relative_range * fabsf(mean)) /* perhaps isotropic: the grid decides */
                state = HOT_ITEM_DOUBTFUL;
#pragma unroll
            for (int k = 0; k < grid::TERMS; k++)
                form[k * directions_layout<ORDER>::PITCH + t] = a[k];
        }
    }
    return state;
}

/* Of a thread's list: drops what lies too far below its highest, queues the rest. Returns how many are queued; their
 * words move to the front. */
template <int ORDER>
__device__ __forceinline__ int directions_enqueue(const directions_call &call, directions_memory<ORDER> &memory,
                                                  int listed)
{
    const int t = (int)threadIdx.x;
    unsigned highest = 0;
    for (int i = 0; i < listed; i++)
        highest = max(highest, memory.word[i][t]);
    const unsigned min_kept =
        __float_as_uint(call.threshold * HOT_GRID_LOSS * __uint_as_float(highest & ~SCAN_POINT_BITS)) &
        ~SCAN_POINT_BITS;
    int n = 0;
    for (int i = 0; i < listed; i++)
        if (memory.word[i][t] >= min_kept)
            memory.word[n++][t] = memory.word[i][t];
    if (n > directions_tuning<ORDER>::REFINED)
        n = (int)scan_shorten<directions_layout<ORDER>>(memory.coordinate, &memory.word[0][t], (unsigned)n,
                                                        directions_tuning<ORDER>::REFINED);
    unsigned in_face[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        const int face =
            (int)(memory.word[i][t] & SCAN_POINT_BITS) / (scan_grid<ORDER>::RING * scan_grid<ORDER>::RING);
        memory.face[i][t] = (unsigned char)face;
        in_face[0] += face == 0;
        in_face[1] += face == 1;
        in_face[2] += face == 2;
    }
    unsigned at[3];
#pragma unroll
    for (int face = 0; face < 3; face++) /* candidates of one face stand together, so that a warp loads one face */
        at[face] = in_face[face] ? atomicAdd(&memory.queued[face], in_face[face]) : 0;
    __syncthreads();
    at[1] += memory.queued[0];
    at[2] += memory.queued[0] + memory.queued[1];
    for (int i = 0; i < n; i++) {
        const int face = memory.face[i][t];
        const unsigned to = face == 0 ? at[0]++ : face == 1 ? at[1]++ : at[2]++;
        memory.queue[to] = (unsigned short)(i * BLOCK + t);
    }
    __syncthreads();
    return n;
}

/* One candidate to its maximum; value 0 when there is none. */
template <int ORDER> __device__ __forceinline__ void directions_refine(directions_memory<ORDER> &memory, int candidate)
{
    using grid = scan_grid<ORDER>;
    const int slot = candidate / BLOCK, t = candidate % BLOCK;
    const int face = memory.face[slot][t];
    const int point = (int)(memory.word[slot][t] & SCAN_POINT_BITS) - face * grid::RING * grid::RING;
    float c[grid::TERMS];
    scan_coefficients<directions_layout<ORDER>>(memory.form + t, face, c);
    typename directions_form<ORDER>::state state;
    directions_form<ORDER>::newton(c, memory.coordinate[point % grid::RING], memory.coordinate[point / grid::RING],
                                   &state);
#pragma unroll 1
    for (int step = 1; step < HOT_STEPS; step++)
        if (!directions_form<ORDER>::climb(c, &state))
            break;
    const bool good = state.peaked && state.value > HOT_DIRECTIONS_ZERO && state.left < HOT_STEP_LOST;
    memory.u[slot][t] = state.u + state.du;
    memory.v[slot][t] = state.v + state.dv;
    memory.word[slot][t] = good ? __float_as_uint(state.value) : 0;
}

template <int ORDER>
__device__ __forceinline__ void directions_direction(const directions_memory<ORDER> &memory, int slot, int t,
                                                     float d[3])
{
    const float u = memory.u[slot][t], v = memory.v[slot][t];
    const float w = rsqrtf(fmaf(u, u, fmaf(v, v, 1.0f)));
    const int face = memory.face[slot][t];
    const float p = u * w, q = v * w;
    d[0] = face == 0 ? w : face == 1 ? q : p;
    d[1] = face == 0 ? p : face == 1 ? w : q;
    d[2] = face == 0 ? q : face == 1 ? p : w;
}

/* The tensor's maxima, greedily: the highest is kept, what is too near to it is dropped, and again. */
template <int ORDER>
__device__ __forceinline__ int directions_cluster(const directions_call &call, directions_memory<ORDER> &memory,
                                                  int count, float scale, float *out)
{
    const int t = (int)threadIdx.x;
    int found = 0;
    float limit = 0;
    while (found < call.keep) {
        float highest = limit;
        int best = -1;
        for (int i = 0; i < count; i++) {
            const float value = __uint_as_float(memory.word[i][t]);
            if (value > 0 && value >= highest) {
                best = value > highest || best < 0 ? i : best;
                highest = value;
            }
        }
        if (best < 0)
            break;
        if (found == 0)
            limit = call.threshold * highest;
        float d[3];
        directions_direction<ORDER>(memory, best, t, d);
        memory.word[best][t] = 0;
        for (int i = 0; i < count; i++) {
            if (memory.word[i][t] == 0)
                continue;
            float e[3];
            directions_direction<ORDER>(memory, i, t, e);
            const float cosine = fmaf(d[0], e[0], fmaf(d[1], e[1], d[2] * e[2]));
            if (cosine * cosine > call.apart)
                memory.word[i][t] = 0;
        }
        const float length = highest * scale;
        const float x = d[0] * length, y = d[1] * length, z = d[2] * length;
        const float sign = (z != 0 ? z < 0 : y != 0 ? y < 0 : x < 0) ? -1.0f : 1.0f;
        out[3 * found] = sign * x + 0.0f;
        out[3 * found + 1] = sign * y + 0.0f;
        out[3 * found + 2] = sign * z + 0.0f;
        found++;
    }
    for (int i = 3 * found; i < 3 * call.keep; i++)
        out[i] = 0;
    return found;
}

template <int ORDER>
__global__ void __launch_bounds__(BLOCK, directions_tuning<ORDER>::RESIDENT)
    directions_kernel(const directions_call call, const __grid_constant__ scan_table<ORDER> table)
{
    extern __shared__ __align__(16) unsigned char shared_memory[];
    directions_memory<ORDER> &memory = *reinterpret_cast<directions_memory<ORDER> *>(shared_memory);
    const int t = (int)threadIdx.x;
    const size_t first = (size_t)blockIdx.x * BLOCK;
    const int count = (int)min((size_t)BLOCK, call.count - first);
    if (t < 4)
        memory.queued[t] = 0;
    if (t < scan_grid<ORDER>::RING)
        memory.coordinate[t] = table.coordinate[t];
    float scale;
    hot_item_state state = directions_load<ORDER>(call, first, count, memory.form, &scale);
    if (state == HOT_ITEM_DOUBTFUL)
        state = scan_has_relief<directions_layout<ORDER>>(table, memory.form + t, call.min_relative_range)
                    ? HOT_ITEM_LIVE
                    : HOT_ITEM_NONE;
    const int listed = state == HOT_ITEM_LIVE ? directions_scan<ORDER>(table, memory.form + t, &memory.word[0][t]) : 0;
    const int queued = directions_enqueue<ORDER>(call, memory, listed);
    const int total = (int)(memory.queued[0] + memory.queued[1] + memory.queued[2]);
    for (int i = t; i < total; i += BLOCK)
        directions_refine<ORDER>(memory, memory.queue[i]);
    __syncthreads();
    const int row = 3 * call.keep;
    const bool staged =
        row * BLOCK <= scan_grid<ORDER>::TERMS * directions_layout<ORDER>::PITCH; /* the form is not needed any more */
    float *out = staged ? memory.form + t * row : call.directions + (first + t) * row;
    if (t < count) {
        const int found = directions_cluster<ORDER>(call, memory, queued, scale, out);
        if (call.found)
            call.found[first + t] = (unsigned char)(state == HOT_ITEM_INVALID ? HOT_DIRECTIONS_INVALID : found);
    }
    if (staged) {
        __syncthreads();
        for (int i = t; i < count * row; i += BLOCK)
            call.directions[first * row + i] = memory.form[i];
    }
}

template <int ORDER> cudaError_t directions_launch(const directions_call &call, cudaStream_t stream)
{
    scan_table<ORDER> table;
    scan_table_make<ORDER>(&table);
    const size_t blocks = (call.count + BLOCK - 1) / BLOCK, bytes = sizeof(directions_memory<ORDER>);
    cudaError_t error = raise_shared_memory((const void *)directions_kernel<ORDER>, bytes);
    if (error == cudaSuccess) {
        directions_kernel<ORDER><<<(unsigned)blocks, BLOCK, bytes, stream>>>(call, table);
        error = cudaGetLastError();
    }
    return error;
}

} // namespace

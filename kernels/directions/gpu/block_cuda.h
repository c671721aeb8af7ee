/* Directions of a block of tensors on the GPU: a template, included once per order by directions_cuda.cu. The same
 * three steps with the same formulas and the same candidates as the CPU's block.h:
 *
 *   scan     thread = tensor, coefficients of one face at a time and three rows of the grid in registers
 *   refine   thread = candidate, from a queue that the block shares
 *   cluster  thread = tensor
 *
 * Shared memory, [..][BLOCK] with a column per tensor: the scaled form, the candidates' grid values with their points
 * in the low bits (words), and for those that are refined their place and value. */

#include "directions/step.h"

#define SCAN_COLUMNS BLOCK
#define PITCH (BLOCK + 1) /* odd: rows come in along the terms, and no two of a warp may meet in a bank */
/* Candidates a tensor can list and refine. Noise lists no more; of what does, the highest are taken. */
#define LISTED HOT_JOIN(LISTED_, HOT_ORDER)
#define REFINED HOT_JOIN(REFINED_, HOT_ORDER)
#include "scan_cuda.h"

typedef struct HOT_STEP(memory) {
    float form[TERMS * PITCH];
    unsigned word[LISTED][BLOCK];
    float u[REFINED][BLOCK], v[REFINED][BLOCK];
    unsigned short queue[REFINED * BLOCK];
    unsigned char face[REFINED][BLOCK];
    unsigned queued[4];
    float coordinate[RING];
} HOT_STEP(memory);

/* Lists all candidates of one tensor. Returns how many there are. */
__device__ __forceinline__ int HOT_STEP(scan)(const HOT_STEP(table) &table, const float *form, unsigned *list)
{
    const unsigned start = (unsigned)__cvta_generic_to_shared(list);
    unsigned to = start;
#pragma unroll 1
    for (int face = 0; face < 3; face++)
        to = HOT_STEP(scan_face)(table, form, face, 1, SIDE, list, start, to);
    return (int)((to - start) / (BLOCK * 4));
}

/* Rows first ... of the input, scaled, into the block's columns; what kind of tensor each is. */
__device__ __forceinline__ hot_item_state HOT_STEP(load)(const job &job, size_t first, int count, float *form,
                                                         float *scale)
{
    const int t = (int)threadIdx.x;
    const float *rows = job.tensors + first * job.stride;
    const int stride = (int)job.stride, end = (count - 1) * stride + TERMS;
    int tensor = t / stride, term = t % stride;
    const int tensors_on = BLOCK / stride, terms_on = BLOCK % stride;
    /* Copied past the registers: as few warps as there is room for then have enough reads under way. */
#pragma unroll 5
    for (int at = t; at < end; at += BLOCK) {
        if (term < TERMS)
            __pipeline_memcpy_async(form + term * PITCH + tensor, rows + at, sizeof(float));
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
    if (t < count && (!job.mask || job.mask[first + t])) {
        float a[TERMS], largest = 0, odd = 0;
#pragma unroll
        for (int k = 0; k < TERMS; k++) {
            a[k] = form[k * PITCH + t];
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
        for (int k = 3; k <= HOT_ORDER + 1; k += 2)
            whole *= (float)k;
        if (state == HOT_ITEM_LIVE) {
#pragma unroll
            for (int s = 0; s <= HOT_ORDER; s++) {
                float outer = 1, inner = 1;
#pragma unroll
                for (int i = 0; i < s; i++)
                    outer = outer * (float)(HOT_ORDER - i) / (float)(i + 1);
#pragma unroll
                for (int k = 0; k <= s; k++) {
                    const int at = HOT_PACKED(s, k);
                    a[at] = a[at] * lift * factor * (outer * inner);
                    if (!(s & 1) && !(k & 1))
                        mean = fmaf(own[(HOT_ORDER - s) / 2] * own[(s - k) / 2] * own[k / 2] / whole, a[at], mean);
                    inner = inner * (float)(s - k) / (float)(k + 1);
                }
            }
#pragma unroll
            for (int s = 0; s <= HOT_ORDER; s++)
#pragma unroll
                for (int k = 0; k <= s; k++) {
                    float difference = a[HOT_PACKED(s, k)];
                    if (!(s & 1) && !(k & 1))
                        difference -= mean * (factorial[HOT_ORDER / 2] / (factorial[(HOT_ORDER - s) / 2] *
                                                                          factorial[(s - k) / 2] * factorial[k / 2]));
                    far += fabsf(difference);
                }
            /* isotropic for certain, or nowhere above 0: nothing to look for */
            if (!(far + far >= job.min_relative_range * fabsf(mean)) || !(mean + far > HOT_DIRECTIONS_ZERO))
                state = HOT_ITEM_NONE;
            else if (far < RELIEF_BOUND * job.min_relative_range * fabsf(mean)) /* perhaps isotropic: look */
                state = HOT_ITEM_DOUBTFUL;
#pragma unroll
            for (int k = 0; k < TERMS; k++)
                form[k * PITCH + t] = a[k];
        }
    }
    return state;
}

/* Of a thread's list: drops what lies too far below its highest, queues the rest. Returns how many are queued; their
 * words move to the front. */
__device__ __forceinline__ int HOT_STEP(enqueue)(const job &job, HOT_STEP(memory) &memory, int listed)
{
    const int t = (int)threadIdx.x;
    unsigned highest = 0;
    for (int i = 0; i < listed; i++)
        highest = max(highest, memory.word[i][t]);
    const unsigned cut =
        __float_as_uint(job.threshold * HOT_GRID_LOSS * __uint_as_float(highest & ~POINT_BITS)) & ~POINT_BITS;
    unsigned kept = 0; /* bits */
    for (int i = 0; i < listed; i++)
        kept |= (memory.word[i][t] >= cut ? 1u : 0u) << i;
    while (__popc(kept) > REFINED) { /* more than can be refined: without the lowest */
        unsigned least = ~0u;
        int which = 0;
        for (int i = 0; i < listed; i++)
            if ((kept >> i & 1) && memory.word[i][t] < least) {
                least = memory.word[i][t];
                which = i;
            }
        kept &= ~(1u << which);
    }
    int n = 0;
    unsigned in_face[3] = {0, 0, 0};
    while (kept) {
        const int i = __ffs((int)kept) - 1;
        kept &= kept - 1;
        const unsigned word = memory.word[i][t];
        const int face = (int)(word & POINT_BITS) / (RING * RING);
        memory.word[n][t] = word;
        memory.face[n++][t] = (unsigned char)face;
        in_face[0] += face == 0;
        in_face[1] += face == 1;
        in_face[2] += face == 2;
    }
    unsigned at[3];
#pragma unroll
    for (int face = 0; face < 3; face++) /* candidates of one face stand together, so that a warp loads one chart */
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
__device__ __forceinline__ void HOT_STEP(refine)(HOT_STEP(memory) &memory, int candidate)
{
    const int slot = candidate / BLOCK, t = candidate % BLOCK;
    const int face = memory.face[slot][t];
    const int point = (int)(memory.word[slot][t] & POINT_BITS) - face * RING * RING;
    float c[TERMS];
    HOT_STEP(chart_of)(memory.form + t, face, c);
    HOT_STEP(state) state;
    HOT_STEP(newton)(c, memory.coordinate[point % RING], memory.coordinate[point / RING], &state);
#pragma unroll 1
    for (int step = 1; step < HOT_STEPS; step++)
        if (!HOT_STEP(climb)(c, &state))
            break;
    const bool good = state.peaked && state.value > HOT_DIRECTIONS_ZERO && state.left < HOT_STEP_LOST;
    memory.u[slot][t] = state.u + state.du;
    memory.v[slot][t] = state.v + state.dv;
    memory.word[slot][t] = good ? __float_as_uint(state.value) : 0;
}

__device__ __forceinline__ void HOT_STEP(direction)(const HOT_STEP(memory) &memory, int slot, int t, float d[3])
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
__device__ __forceinline__ int HOT_STEP(cluster)(const job &job, HOT_STEP(memory) &memory, int count, float scale,
                                                 float *out)
{
    const int t = (int)threadIdx.x;
    int found = 0;
    float limit = 0;
    while (found < job.keep) {
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
            limit = job.threshold * highest;
        float d[3];
        HOT_STEP(direction)(memory, best, t, d);
        memory.word[best][t] = 0;
        for (int i = 0; i < count; i++) {
            if (memory.word[i][t] == 0)
                continue;
            float e[3];
            HOT_STEP(direction)(memory, i, t, e);
            const float cosine = fmaf(d[0], e[0], fmaf(d[1], e[1], d[2] * e[2]));
            if (cosine * cosine > job.apart)
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
    for (int i = 3 * found; i < 3 * job.keep; i++)
        out[i] = 0;
    return found;
}

__global__ void __launch_bounds__(BLOCK, HOT_JOIN(RESIDENT_, HOT_ORDER))
    HOT_STEP(directions_kernel)(const job job, const __grid_constant__ HOT_STEP(table) table)
{
    extern __shared__ __align__(16) unsigned char shared_memory[];
    HOT_STEP(memory) &memory = *reinterpret_cast<HOT_STEP(memory) *>(shared_memory);
    const int t = (int)threadIdx.x;
    const size_t first = (size_t)blockIdx.x * BLOCK;
    const int count = (int)min((size_t)BLOCK, job.count - first);
    if (t < 4)
        memory.queued[t] = 0;
    if (t < RING)
        memory.coordinate[t] = table.coordinate[t];
    float scale;
    hot_item_state state = HOT_STEP(load)(job, first, count, memory.form, &scale);
    if (state == HOT_ITEM_DOUBTFUL)
        state = HOT_STEP(has_relief)(table, memory.form + t, job.min_relative_range) ? HOT_ITEM_LIVE : HOT_ITEM_NONE;
    const int listed = state == HOT_ITEM_LIVE ? HOT_STEP(scan)(table, memory.form + t, &memory.word[0][t]) : 0;
    const int queued = HOT_STEP(enqueue)(job, memory, listed);
    const int total = (int)(memory.queued[0] + memory.queued[1] + memory.queued[2]);
    for (int i = t; i < total; i += BLOCK)
        HOT_STEP(refine)(memory, memory.queue[i]);
    __syncthreads();
    const int row = 3 * job.keep;
    const bool staged = row * BLOCK <= TERMS * PITCH; /* the form is not needed any more */
    float *out = staged ? memory.form + t * row : job.directions + (first + t) * row;
    if (t < count) {
        const int found = HOT_STEP(cluster)(job, memory, queued, scale, out);
        if (job.found)
            job.found[first + t] = (unsigned char)(state == HOT_ITEM_INVALID ? HOT_DIRECTIONS_INVALID : found);
    }
    if (staged) {
        __syncthreads();
        for (int i = t; i < count * row; i += BLOCK)
            job.directions[first * row + i] = memory.form[i];
    }
}

static cudaError_t HOT_STEP(launch)(const job &job, cudaStream_t stream)
{
    HOT_STEP(table) table;
    HOT_STEP(table_make)(&table);
    const size_t blocks = (job.count + BLOCK - 1) / BLOCK, bytes = sizeof(HOT_STEP(memory));
    cudaError_t error = cudaFuncSetAttribute(HOT_STEP(directions_kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)bytes);
    if (error == cudaSuccess) {
        HOT_STEP(directions_kernel)<<<(unsigned)blocks, BLOCK, bytes, stream>>>(job, table);
        error = cudaGetLastError();
    }
    return error;
}

#undef SCAN_COLUMNS
#undef SIDE
#undef RING
#undef TERMS
#undef PITCH
#undef LISTED
#undef REFINED
#undef POINT_BITS

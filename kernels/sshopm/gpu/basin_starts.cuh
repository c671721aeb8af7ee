/* The basin test on the GPU, from the starts to their results: see basin_block.cuh. */
#ifndef HOT_SSHOPM_BASIN_STARTS_CUH
#define HOT_SSHOPM_BASIN_STARTS_CUH

#include "basin_block.cuh"

/* Which of a tensor's cones (every so many of an array) (u, v) is in; BASIN_NONE: none. */
template <int ORDER>
static __device__ __forceinline__ unsigned basin_find_cone(const float4 *cones, unsigned every, float u, float v)
{
    const float q = fmaf(u, u, fmaf(v, v, 1.0f));
    unsigned in = BASIN_NONE;
    HOT_UNROLL
    for (unsigned k = 0; k < basin_tuning<ORDER>::KEPT; k++) {
        const float4 one = cones[every * k];
        in = basin<ORDER>::inside(u, v, q, one.x, one.y, one.z, one.w) ? k : in;
    }
    return in;
}

/* Two steps from every start; those that are in no cone then are listed. */
template <int ORDER>
static __device__ __forceinline__ void basin_first_steps(const hot_sshopm_args &args, const basin_constants &constants,
                                                         basin_block<ORDER> &block, size_t first, unsigned count)
{
    using G = gnomonic<ORDER>;
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1, starts = (unsigned)args.starts;
    const unsigned items = count * constants.parts;
#pragma unroll 1
    for (unsigned item = threadIdx.x / 32; item < items; item += basin_tuning<ORDER>::THREADS / 32) {
        const unsigned tensor = constants.parts == 2 ? item >> 1 : item / constants.parts;
        const unsigned start = (item - tensor * constants.parts) * 64 + lane, number = block.number[tensor];
        if (number == BASIN_NONE)
            continue;
        float c[G::PADDED], u[2], v[2];
        gnomonic_load<ORDER>(block.coefficient[tensor], c);
        HOT_UNROLL
        for (int k = 0; k < 2; k++) {
            const float2 from = block.projected[min(start + 32 * k, starts - 1)];
            u[k] = from.x;
            v[k] = from.y;
        }
        HOT_UNROLL
        for (int step = 0; step < 2; step++) {
            float gx[2], gy[2], gz[2];
            G::polynomial_pair(c + 2 * G::PART, u, v, gz);
            const float inverse0 = approximate_reciprocal(gz[0]), inverse1 = approximate_reciprocal(gz[1]);
            G::polynomial_pair(c, u, v, gx);
            G::polynomial_pair(c + G::PART, u, v, gy);
            u[0] = gx[0] * inverse0, u[1] = gx[1] * inverse1;
            v[0] = gy[0] * inverse0, v[1] = gy[1] * inverse1;
        }
        const float q0 = fmaf(u[0], u[0], fmaf(v[0], v[0], 1.0f)), q1 = fmaf(u[1], u[1], fmaf(v[1], v[1], 1.0f));
        unsigned in0 = BASIN_NONE, in1 = BASIN_NONE;
        const float4 *cone = block.cone + tensor * basin_tuning<ORDER>::KEPT;
#pragma unroll 1
        for (unsigned k = 0; k < number; k++) {
            const float4 one = cone[k];
            if (basin<ORDER>::inside(u[0], v[0], q0, one.x, one.y, one.z, one.w))
                in0 = k;
            if (basin<ORDER>::inside(u[1], v[1], q1, one.x, one.y, one.z, one.w))
                in1 = k;
        }
        const unsigned tag = tensor * constants.pitch + start;
        if (start < starts)
            block.limit_of[tag] = (unsigned char)in0;
        if (start + 32 < starts)
            block.limit_of[tag + 32] = (unsigned char)in1;
        if (args.iterations) {
            int32_t *to = args.iterations + (first + tensor) * args.starts + start;
            if (start < starts)
                to[0] = 2;
            if (start + 32 < starts)
                to[32] = 2;
        }
        const unsigned left0 = __ballot_sync(0xffffffffu, in0 == BASIN_NONE && start < starts);
        const unsigned left1 = __ballot_sync(0xffffffffu, in1 == BASIN_NONE && start + 32 < starts);
        if (!(left0 | left1))
            continue;
        unsigned at = lane == 0 ? atomicAdd(&block.remaining, (unsigned)(__popc(left0) + __popc(left1))) : 0;
        at = __shfl_sync(0xffffffffu, at, 0);
        if (left0 >> lane & 1) {
            const unsigned to = at + __popc(left0 & before);
            block.remaining_list[to] = (unsigned short)tag;
            if (to < BASIN_CARRIED)
                block.carried[to] = make_float2(u[0], v[0]);
        }
        if (left1 >> lane & 1) {
            const unsigned to = at + __popc(left0) + __popc(left1 & before);
            block.remaining_list[to] = (unsigned short)(tag + 32);
            if (to < BASIN_CARRIED)
                block.carried[to] = make_float2(u[1], v[1]);
        }
    }
}

/* A start that has ended by itself: its own result. */
template <int ORDER>
static __device__ __noinline__ void basin_finish(const hot_sshopm_args &args, const gnomonic_constants &constants,
                                                 const float4 *coefficient, size_t tensor, size_t start, float u,
                                                 float v, float factor, float limit2, int steps)
{
    float c[gnomonic<ORDER>::PADDED];
    gnomonic_load<ORDER>(coefficient, c);
    gnomonic_finish<ORDER>(args, constants, tensor, start, c, u, v, factor, limit2, steps, NULL);
}

/* The listed starts, lanes refilled; the second time, the last of them. */
template <int ORDER>
static __device__ __forceinline__ void basin_remaining_steps(const hot_sshopm_args &args,
                                                             const basin_constants &constants,
                                                             basin_block<ORDER> &block, size_t first, int last)
{
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1, length = last ? block.lasts : block.remaining;
    unsigned tag = 0, tensor = 0;
    int active = 0, drained = 0, steps = 0;
    float c[gnomonic<ORDER>::PADDED], u = 0, v = 0;
    HOT_UNROLL
    for (int k = 0; k < gnomonic<ORDER>::PADDED; k++)
        c[k] = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(0xffffffffu, !active), busy = 32 - __popc(idle);
        if (!drained && (32 - busy >= (unsigned)constants.gnomonic.refill || busy == 0)) {
            unsigned item = lane == 0 ? atomicAdd(&block.taken[last], 32 - busy) : 0;
            item = __shfl_sync(0xffffffffu, item, 0);
            drained = item + 32 - busy >= length;
            item += __popc(idle & before);
            if (!active && item < length) {
                float2 from;
                if (last) {
                    tag = block.last_rest[item];
                    steps = block.last_steps[item];
                    from = block.last[item];
                } else {
                    tag = block.remaining_list[item];
                    steps = item < BASIN_CARRIED ? 2 : 0;
                }
                tensor = tag / constants.pitch;
                if (!last)
                    from = item < BASIN_CARRIED ? block.carried[item] : block.projected[tag - tensor * constants.pitch];
                gnomonic_load<ORDER>(block.coefficient[tensor], c);
                u = from.x;
                v = from.y;
                active = 1;
            }
        } else if (busy == 0) {
            break;
        } else if (!last && busy <= BASIN_FEW) {
            if (constants.left) {
                unsigned to = lane == 0 ? atomicAdd(&constants.left->count, busy) : 0;
                to = __shfl_sync(0xffffffffu, to, 0) + __popc(~idle & before);
                if (active) {
                    constants.left->start[to] = basin_start{u, v, (unsigned)first + tensor,
                                                            (tag - tensor * constants.pitch) << 8 | (unsigned)steps};
                    atomicOr(&block.slow, 1u << tensor);
                    block.limit_of[tag] = 0; /* for now */
                }
            } else if (active) { /* at most so many of each warp: there is capacity */
                const unsigned to = atomicAdd(&block.lasts, 1u);
                block.last[to] = make_float2(u, v);
                block.last_steps[to] = (unsigned short)steps;
                block.last_rest[to] = (unsigned short)tag;
            }
            break;
        }
        steps += 2;
        const int state = basin<ORDER>::iterate(c, &u, &v, steps, block.limit2[tensor]);
        const unsigned in = basin_find_cone<ORDER>(block.cone + tensor * basin_tuning<ORDER>::KEPT, 1, u, v);
        const unsigned start = tag - tensor * constants.pitch;
        const int alone = active & (in == BASIN_NONE) & ((state != HOT_BASIN_GOES_ON) | (steps >= args.max_iterations));
        if (active && in != BASIN_NONE) {
            active = 0;
            block.limit_of[tag] = (unsigned char)in;
            if (args.iterations)
                args.iterations[(first + tensor) * args.starts + start] = steps;
        }
        if (__any_sync(0xffffffffu, alone)) { /* seldom; the coefficients need not live through it */
            if (alone) {
                active = 0;
                basin_finish<ORDER>(args, constants.gnomonic, block.coefficient[tensor], first + tensor, start, u, v,
                                    block.factor[tensor], block.limit2[tensor], steps);
            }
            gnomonic_load<ORDER>(block.coefficient[tensor], c);
        }
    }
}

/* The records of the tensors that leave starts over. */
template <int ORDER>
static __device__ __forceinline__ void basin_record_tensors(const basin_constants &constants,
                                                            const basin_block<ORDER> &block, size_t first)
{
    using tuning = basin_tuning<ORDER>;
    const unsigned lane = threadIdx.x % 32;
    for (unsigned tensor = threadIdx.x / 32; tensor < BASIN_TENSORS; tensor += tuning::THREADS / 32) {
        if (!(block.slow >> tensor & 1))
            continue;
        basin_record<ORDER> *record = (basin_record<ORDER> *)constants.records + first + tensor;
        for (unsigned k = lane; k < gnomonic<ORDER>::PADDED / 4; k += 32)
            record->coefficient[k] = block.coefficient[tensor][k];
        if (lane < tuning::KEPT) {
            record->cone[lane] = block.cone[tensor * tuning::KEPT + lane];
            record->limit[lane] = block.limit[tensor * tuning::KEPT + lane];
            record->residual[lane] = block.residual[tensor * tuning::KEPT + lane];
        }
        if (lane == 0) {
            record->factor = block.factor[tensor];
            record->limit2 = block.limit2[tensor];
        }
    }
}

/* The starts that the blocks have left over, lanes refilled. What a lane needs of its tensor lies in registers and in
 * shared memory: a wait for the GPU's memory in the loop would be a wait of all lanes. */
template <int ORDER>
static __global__ void __launch_bounds__(BASIN_LEFTOVER_THREADS, basin_tuning<ORDER>::LEFTOVER_RESIDENT)
    basin_leftover_kernel(const __grid_constant__ hot_sshopm_args args,
                          const __grid_constant__ basin_constants constants)
{
    using tuning = basin_tuning<ORDER>;
    __shared__ float4 cones[BASIN_LEFTOVER_THREADS / 32][tuning::KEPT][32],
        all_limits[BASIN_LEFTOVER_THREADS / 32][tuning::KEPT][32];
    float4(*const cone)[32] = cones[threadIdx.x / 32], (*const limit)[32] = all_limits[threadIdx.x / 32];
    basin_leftovers *leftovers = constants.left;
    cudaGridDependencySynchronize(); /* what the first kernel has left over is all there */
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1, length = *(volatile unsigned *)&leftovers->count;
    size_t tensor = 0, start = 0;
    int active = 0, drained = length == 0, steps = 0;
    float c[gnomonic<ORDER>::PADDED], u = 0, v = 0, limit2 = 0, factor = 0;
    HOT_UNROLL
    for (int k = 0; k < gnomonic<ORDER>::PADDED; k++)
        c[k] = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(0xffffffffu, !active), busy = 32 - __popc(idle);
        if (!drained && (32 - busy >= (unsigned)constants.gnomonic.refill || busy == 0)) {
            unsigned item = lane == 0 ? atomicAdd(&leftovers->taken, 32 - busy) : 0;
            item = __shfl_sync(0xffffffffu, item, 0);
            drained = item + 32 - busy >= length;
            item += __popc(idle & before);
            if (!active && item < length) {
                const basin_start from = leftovers->start[item];
                tensor = from.tensor;
                start = from.start >> 8;
                steps = from.start & 255;
                u = from.u;
                v = from.v;
                const basin_record<ORDER> *record = (const basin_record<ORDER> *)constants.records + tensor;
                gnomonic_load<ORDER>(record->coefficient, c);
                limit2 = record->limit2;
                factor = record->factor;
                HOT_UNROLL
                for (int k = 0; k < tuning::KEPT; k++) {
                    cone[k][lane] = record->cone[k];
                    limit[k][lane] = record->limit[k];
                }
                active = 1;
            }
        } else if (busy == 0) {
            break;
        }
        steps += 2;
        const int state = basin<ORDER>::iterate(c, &u, &v, steps, limit2);
        const unsigned in = basin_find_cone<ORDER>(&cone[0][lane], 32, u, v);
        const int alone = active & (in == BASIN_NONE) & ((state != HOT_BASIN_GOES_ON) | (steps >= args.max_iterations));
        if (active && in != BASIN_NONE) {
            const size_t at = tensor * args.starts + start;
            const float4 one = limit[in][lane];
            active = 0;
            if (args.lambda)
                ((float *)args.lambda)[at] = one.w;
            if (args.x) {
                float *x = (float *)args.x + 3 * at;
                x[0] = one.x;
                x[1] = one.y;
                x[2] = one.z;
            }
            if (args.residual)
                ((float *)args.residual)[at] = ((const basin_record<ORDER> *)constants.records)[tensor].residual[in];
            if (args.iterations)
                args.iterations[at] = steps;
        }
        if (alone) {
            active = 0;
            gnomonic_finish<ORDER>(args, constants.gnomonic, tensor, start, c, u, v, factor, limit2, steps, NULL);
        }
    }
    /* The last warp of all leaves the list as the next call must find it: empty. */
    __syncwarp();
    if (lane == 0 && atomicAdd(&leftovers->done, 1u) + 1 == gridDim.x * (BASIN_LEFTOVER_THREADS / 32))
        leftovers->count = leftovers->taken = leftovers->done = 0;
}

/* The results of the starts in a basin, and of all starts of tensors that are not in float's range. */
template <int ORDER>
static __device__ __forceinline__ void basin_store(const hot_sshopm_args &args, const basin_constants &constants,
                                                   basin_block<ORDER> &block, size_t first, unsigned count)
{
    using tuning = basin_tuning<ORDER>;
    const unsigned lane = threadIdx.x % 32, starts = (unsigned)args.starts;
    float4 *stage = block.stage[threadIdx.x / 32];
#pragma unroll 1
    for (unsigned tensor = threadIdx.x / 32; tensor < count; tensor += tuning::THREADS / 32) {
        const size_t row = (first + tensor) * args.starts;
        const int kind = block.state[tensor];
        if (kind != BASIN_LIVE) {
            for (unsigned start = lane; start < starts; start += 32) {
                if (kind == BASIN_EXTREME)
                    gnomonic_fallback<ORDER>(args, constants.gnomonic, first + tensor, start, block.factor[tensor]);
                else
                    store_special<float>(args, kind == BASIN_ZERO ? 1 : 2, first + tensor, start);
            }
            continue;
        }
        const unsigned char *limit_of = block.limit_of + tensor * constants.pitch;
        const float4 *limit = block.limit + tensor * tuning::KEPT;
        unsigned own = 0;
        for (unsigned base = 4 * lane; base < starts; base += 128)
            own |= *(const unsigned *)(limit_of + base);
        if (constants.quads && !__any_sync(0xffffffffu, (own & 0x80808080u) != 0)) {
            for (unsigned base = 0; base < starts; base += 128) {
                const unsigned here = min(starts - base, 128u), four = *(const unsigned *)(limit_of + base + 4 * lane);
                if (4 * lane < here) {
                    const float4 a = limit[four & 255u], b = limit[four >> 8 & 255u], c = limit[four >> 16 & 255u],
                                 d = limit[four >> 24];
                    if (args.lambda)
                        ((float4 *)((float *)args.lambda + row + base))[lane] = make_float4(a.w, b.w, c.w, d.w);
                    stage[3 * lane] = make_float4(a.x, a.y, a.z, b.x);
                    stage[3 * lane + 1] = make_float4(b.y, b.z, c.x, c.y);
                    stage[3 * lane + 2] = make_float4(c.z, d.x, d.y, d.z);
                }
                __syncwarp();
                if (args.x)
                    for (unsigned k = lane; 4 * k < 3 * here; k += 32)
                        ((float4 *)((float *)args.x + 3 * (row + base)))[k] = stage[k];
                __syncwarp();
            }
            if (!args.residual)
                continue;
            for (unsigned start = lane; start < starts; start += 32)
                ((float *)args.residual)[row + start] = block.residual[tensor * tuning::KEPT + limit_of[start]];
            continue;
        }
        for (unsigned start = lane; start < starts; start += 32) {
            const unsigned which = limit_of[start];
            if (which == BASIN_NONE)
                continue;
            const float4 one = limit[which];
            if (args.lambda)
                ((float *)args.lambda)[row + start] = one.w;
            if (args.x) {
                float *x = (float *)args.x + 3 * (row + start);
                x[0] = one.x;
                x[1] = one.y;
                x[2] = one.z;
            }
            if (args.residual)
                ((float *)args.residual)[row + start] = block.residual[tensor * tuning::KEPT + which];
        }
    }
}

#endif

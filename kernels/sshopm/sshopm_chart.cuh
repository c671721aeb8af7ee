/* SS-HOPM without a shift in a chart (sshopm_chart.h): a template per order. A warp takes a handful of tensors, lays their
 * polynomials in shared memory, and its lanes draw starts from one queue over all of them: a lane whose start has
 * converged stores it and takes the next, so that nobody waits for the slowest start but at the queue's end.
 *
 * To convergence every fourth step is looked at: the last two displacements give the residual, and, where they are in
 * line, the rate of the geometric series they belong to, whose sum is added at once (Aitken); the start goes on being
 * iterated from there, and only a true step decides that it has converged. */
#include "sshopm_chart_item.cuh"

/* What a warp keeps of its tensors. */
struct HOT_CHART(slots) {
    float4 coefficient[CHART_SLOTS][HOT_QUADS];
    float limit2[CHART_SLOTS];    /* square of tolerance * scale, in the scaled tensor's units */
    float factor[CHART_SLOTS];    /* the power of two it was scaled with, times 2^10 */
    uint32_t place[CHART_SLOTS];  /* which of the warp's tensors */
};

/* The tensors of a warp, from the first: those that can be iterated into slots, the others' results at once. Returns how
 * many slots there are. */
static __device__ __forceinline__ int HOT_CHART(prepare)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                         const chart_share &share, struct HOT_CHART(slots) *slots)
{
    const size_t first = share.first;
    const int lane = threadIdx.x % 32;
    int used = 0;
    for (uint32_t place = 0; place < share.tensors; place++) {
        const float *from = (const float *)plan.tensors + (first + place) * plan.stride;
        float a[(HOT_UNIQUE + 31) / 32], largest = 0;
        int finite = 1;
        HOT_UNROLL
        for (int r = 0; r < (HOT_UNIQUE + 31) / 32; r++) {
            int i = lane + 32 * r;
            a[r] = i < HOT_UNIQUE ? from[i] : 0;
            finite &= fabsf(a[r]) <= 3.402823466e38f;
            largest = fmaxf(largest, i < HOT_UNIQUE ? fabsf(a[r]) * 0x1p-10f * (float)constants.multiplicity[i] : 0);
        }
        finite = __all_sync(0xffffffffu, finite);
        HOT_UNROLL
        for (int step = 16; step; step /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
        /* Zero, not finite, or at the ends of float's range. */
        if (!finite || !(largest > 0x1p-120f) || !(largest < 0x1p120f)) {
            int zero = 1;
            HOT_UNROLL
            for (int r = 0; r < (HOT_UNIQUE + 31) / 32; r++)
                zero &= a[r] == 0;
            zero = __all_sync(0xffffffffu, zero);
            for (size_t start = share.start + lane; start < share.start + share.starts; start += 32) {
                if (!finite || zero)
                    store_special<float>(plan, finite ? 1 : 2, first + place, start);
                else
                    HOT_CHART(plain)(plan, constants, first + place, start, largest > 1 ? 0x1p-120f : 0x1p126f);
            }
            continue;
        }
        float factor = __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u)); /* largest in [1, 2) */
        float sums[(HOT_TERMS + 31) / 32];
        HOT_UNROLL
        for (int r = 0; r < (HOT_TERMS + 31) / 32; r++)
            sums[r] = 0;
        for (int i = 0; i < HOT_UNIQUE; i++) {
            float value = __shfl_sync(0xffffffffu, HOT_UNIQUE > 32 && i >= 32 ? a[HOT_UNIQUE > 32] : a[0], i % 32) * factor * 0x1p-10f;
            HOT_UNROLL
            for (int r = 0; r < (HOT_TERMS + 31) / 32; r++)
                if (lane + 32 * r < HOT_TERMS)
                    sums[r] = fmaf(value, constants.matrix[i * HOT_TERMS + lane + 32 * r], sums[r]);
        }
        float *to = (float *)slots->coefficient[used];
        HOT_UNROLL
        for (int r = 0; r < (HOT_TERMS + 31) / 32; r++)
            if (lane + 32 * r < HOT_PADDED)
                to[lane + 32 * r] = sums[r];
        if (lane == 0) {
            float limit = constants.tolerance * largest * factor;
            slots->limit2[used] = limit * limit;
            slots->factor[used] = factor;
            slots->place[used] = place;
        }
        used++;
    }
    __syncwarp();
    return used;
}

static __global__ void __launch_bounds__(128, HOT_ORDER == 4 ? 7 : HOT_ORDER == 6 ? 4 : 3)
    HOT_CHART(converge)(const __grid_constant__ hot_sshopm_plan plan, const __grid_constant__ chart_constants constants)
{
    extern __shared__ float4 shared_floats[];
    float2 *entrance = (float2 *)shared_floats; /* the starts in the chart, for the whole block */
    for (unsigned s = threadIdx.x; s < constants.entrance; s += blockDim.x)
        entrance[s] = chart_enter(plan, constants, s < plan.starts ? s : 0);
    __syncthreads();
    /* Of each warp: tensors, and where their starts have ended. */
    char *own = (char *)(entrance + constants.entrance) +
                (threadIdx.x / 32) * chart_bytes(sizeof(struct HOT_CHART(slots)), constants);
    struct HOT_CHART(slots) *slots = (struct HOT_CHART(slots) *)own;
    float2 *ends = (float2 *)(slots + 1);
    float *stage = (float *)(ends + CHART_SLOTS * constants.part);
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
    chart_share share;
    for (size_t turn = 0; chart_take(plan, constants, turn, &share); turn++) {
        __syncwarp();
        const unsigned length = (unsigned)HOT_CHART(prepare)(plan, constants, share, slots) * share.starts;
        unsigned next = 0, mine = 0;
        int active = 0, steps = 0;
        float c[HOT_PADDED], u = 0, v = 0, limit2 = 0;
        HOT_UNROLL
        for (int k = 0; k < HOT_PADDED; k++)
            c[k] = 0;
        for (;;) {
            const unsigned idle = __ballot_sync(0xffffffffu, !active);
            if (next < length && (__popc(idle) >= constants.refill || idle == 0xffffffffu)) {
                const unsigned item = next + __popc(idle & before);
                if (!active && item < length) {
                    const unsigned slot = item / share.starts;
                    mine = item;
                    HOT_CHART(load)(slots->coefficient[slot], c);
                    limit2 = slots->limit2[slot];
                    const size_t start = share.start + item - slot * share.starts;
                    const float2 from = constants.entrance ? entrance[start] : chart_enter(plan, constants, start);
                    u = from.x;
                    v = from.y;
                    steps = 0;
                    active = 1;
                }
                next += __popc(idle);
            } else if (idle == 0xffffffffu) {
                break;
            }
            float gz, u2, v2, u3, v3;
            HOT_CHART(step)(c, &u, &v, &gz);
            HOT_CHART(step)(c, &u, &v, &gz);
            u2 = u, v2 = v;
            HOT_CHART(step)(c, &u, &v, &gz);
            u3 = u, v3 = v;
            HOT_CHART(step)(c, &u, &v, &gz);
            steps += 4;
            /* The step just made turned x by |x3 cross x4| / |x3|^2, and that is residual over lambda. */
            const float du = u - u3, dv = v - v3, eu = u3 - u2, ev = v3 - v2;
            const float q = fmaf(u3, u3, fmaf(v3, v3, 1.0f)), inverse2 = chart_reciprocal(q);
            const float twist = u3 * dv - v3 * du, n2 = fmaf(du, du, dv * dv);
            const float lambda = HOT_CHART(normalised)(gz * fmaf(u3, u, fmaf(v3, v, 1.0f)), inverse2);
            const float turn2 = fmaf(twist, twist, n2) * inverse2 * inverse2;
            /* Without a shift a start may go on for ever: in a cycle of two points (x4 is x2 again), or in longer ones,
             * where after steps that together are more than a right angle it still makes large ones. */
            const float back = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
            const int cycles = (steps >= 40 && back <= 1e-6f * n2) || (steps >= 160 && turn2 > 1e-4f);
            /* Converged; or as near as float can tell; or (a comparison with NaN) lost, which the end sees to. */
            if (active && (!(turn2 * lambda * lambda > limit2 && turn2 > 1e-13f) || cycles || steps >= plan.max_iterations)) {
                active = 0;
                ends[mine] = make_float2(u, v);
                if (plan.iterations) { /* the end takes it from there, and gives it a sign */
                    const unsigned slot = mine / share.starts;
                    plan.iterations[(share.first + slots->place[slot]) * plan.starts + share.start + mine -
                                    slot * share.starts] = steps;
                }
            }
            const float along = fmaf(du, eu, dv * ev), rate = along * chart_reciprocal(fmaf(eu, eu, ev * ev));
            /* In line, and a series that converges: its sum, but no farther than .05, nor than the noise in the rate
             * allows; where the steps alternate, only when they are small. */
            if (fabsf(rate) > 0.05f && rate > -0.99f && rate < 0.9999f && n2 - rate * along <= 0.01f * n2 &&
                turn2 > 1e-12f && (rate > 0 || turn2 < 1e-3f)) {
                const float rest = fminf(rate * chart_reciprocal(1.0f - rate), fminf(0.05f * rsqrtf(turn2), 1e13f * turn2));
                u = fmaf(rest, du, u);
                v = fmaf(rest, dv, v);
            }
        }
        __syncwarp();
        /* The results, all lanes together. */
        for (unsigned base = 0; base < length; base += 32) {
            const unsigned item = base + lane < length ? base + lane : length - 1, slot = item / share.starts;
            const float2 end = ends[item];
            HOT_CHART(load)(slots->coefficient[slot], c);
            const size_t tensor = share.first + slots->place[slot], start = share.start + item - slot * share.starts;
            if (base + lane < length)
                HOT_CHART(finish)(plan, constants, tensor, start, c, end.x, end.y, slots->factor[slot], slots->limit2[slot],
                                  plan.iterations ? plan.iterations[tensor * plan.starts + start] : 1,
                                  share.starts % 32 == 0 ? stage : NULL);
        }
    }
}

/* plan.max_iterations steps, exactly; two starts per lane share the coefficients' way through the registers. */
static __global__ void __launch_bounds__(128, HOT_ORDER == 4 ? 5 : HOT_ORDER == 6 ? 4 : 3)
    HOT_CHART(repeat)(const __grid_constant__ hot_sshopm_plan plan, const __grid_constant__ chart_constants constants)
{
    __shared__ struct HOT_CHART(slots) all[4];
    __shared__ float stages[4][96];
    struct HOT_CHART(slots) *slots = &all[threadIdx.x / 32];
    float *stage = stages[threadIdx.x / 32];
    const unsigned lane = threadIdx.x % 32;
    chart_share share;
    for (size_t turn = 0; chart_take(plan, constants, turn, &share); turn++) {
        __syncwarp();
        const int used = HOT_CHART(prepare)(plan, constants, share, slots);
        const size_t end = share.start + share.starts;
        for (int slot = 0; slot < used; slot++) {
            float c[HOT_PADDED];
            HOT_CHART(load)(slots->coefficient[slot], c);
            for (size_t base = share.start; base < end; base += 64) {
                const size_t start = base + lane, other = start + 32;
                float u[2], v[2], gx[2], gy[2], gz[2];
                const float2 one = chart_enter(plan, constants, start < end ? start : end - 1);
                const float2 two = chart_enter(plan, constants, other < end ? other : end - 1);
                u[0] = one.x, v[0] = one.y, u[1] = two.x, v[1] = two.y;
#pragma unroll 5
                for (int k = 0; k < plan.max_iterations; k++) {
                    HOT_CHART(polynomial_pair)(c + 2 * HOT_PART, u, v, gz);
                    const float inverse0 = chart_reciprocal(gz[0]), inverse1 = chart_reciprocal(gz[1]);
                    HOT_CHART(polynomial_pair)(c, u, v, gx);
                    HOT_CHART(polynomial_pair)(c + HOT_PART, u, v, gy);
                    u[0] = gx[0] * inverse0, u[1] = gx[1] * inverse1;
                    v[0] = gy[0] * inverse0, v[1] = gy[1] * inverse1;
                }
                const size_t tensor = share.first + slots->place[slot];
                if (start < end)
                    HOT_CHART(finish)(plan, constants, tensor, start, c, u[0], v[0], slots->factor[slot],
                                      slots->limit2[slot], plan.max_iterations, base + 32 <= end ? stage : NULL);
                if (other < end)
                    HOT_CHART(finish)(plan, constants, tensor, other, c, u[1], v[1], slots->factor[slot],
                                      slots->limit2[slot], plan.max_iterations, base + 64 <= end ? stage : NULL);
            }
        }
    }
}

#include "sshopm_chart_end.cuh"

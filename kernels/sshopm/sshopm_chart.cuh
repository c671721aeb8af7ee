/* SS-HOPM without a shift in a chart (sshopm_chart.h): a template per order. A warp takes a handful of tensors, lays
 * their polynomials in shared memory, and its lanes draw starts from one queue over all of them: a lane whose start has
 * converged stores it and takes the next, so that nobody waits for the slowest start but at the queue's end.
 *
 * To convergence every start makes some steps, all lanes together, and those that are not there yet are listed and
 * drawn from the list. Every fourth step is looked at: the last two displacements give the residual, and, where they
 * are in line, the rate of the geometric series they belong to, whose sum is added at once (Aitken); the start goes on
 * being iterated from there, and only a true step decides that it has converged.
 *
 * The steps stand in a loop that is not unrolled. Of an instruction's three operands two can be read from the registers
 * in time, so what counts is that u or v is still at hand from the instruction before; the compiler sees to that in a
 * short loop (37 cycles a step at order 4, counted in its code, and measured), and not in an unrolled one (48). */
#include "sshopm_chart_item.cuh"

/* What a warp keeps of its tensors. */
struct HOT_CHART(slots) {
    float4 coefficient[CHART_SLOTS][HOT_QUADS];
    float4 tensor[(HOT_UNIQUE + 3) / 4]; /* the one that is being prepared */
    float limit2[CHART_SLOTS];    /* square of tolerance * scale, in the scaled tensor's units */
    float factor[CHART_SLOTS];    /* the power of two it was scaled with, times 2^10 */
    uint32_t place[CHART_SLOTS];  /* which of the warp's tensors */
};

/* The tensors of a warp, from the first: those that can be iterated into slots, the others' results at once. Returns
 * how many slots there are. */
static __device__ __forceinline__ int HOT_CHART(prepare)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                         const chart_share &share, struct HOT_CHART(slots) *slots,
                                                         int exact)
{
    enum { KEEPS = HOT_ORDER == 4 }; /* whether a lane's column of the matrix has room in the registers */
    const size_t first = share.first;
    const int lane = threadIdx.x % 32;
    int used = 0;
    const float *multiplicity = constants.matrix + HOT_UNIQUE * HOT_TERMS;
    float times[(HOT_UNIQUE + 31) / 32];
    HOT_UNROLL
    for (int r = 0; r < (HOT_UNIQUE + 31) / 32; r++)
        times[r] = lane + 32 * r < HOT_UNIQUE ? multiplicity[lane + 32 * r] : 0;
    float column[KEEPS ? HOT_UNIQUE : 1];
    HOT_UNROLL
    for (int i = 0; KEEPS && exact && i < HOT_UNIQUE; i++)
        column[KEEPS ? i : 0] = lane < HOT_TERMS ? constants.matrix[i * HOT_TERMS + lane] : 0;
    for (uint32_t place = 0; place < share.tensors; place++) {
        const float *from = (const float *)plan.tensors + (first + place) * plan.stride;
        float a[(HOT_UNIQUE + 31) / 32], largest = 0;
        int finite = 1;
        HOT_UNROLL
        for (int r = 0; r < (HOT_UNIQUE + 31) / 32; r++) {
            int i = lane + 32 * r;
            a[r] = i < HOT_UNIQUE ? from[i] : 0;
            finite &= fabsf(a[r]) <= 3.402823466e38f;
            largest = fmaxf(largest, fabsf(a[r]) * 0x1p-10f * times[r]);
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
        __syncwarp(); /* the tensor before has been read */
        HOT_UNROLL
        for (int r = 0; r < (HOT_UNIQUE + 31) / 32; r++)
            if (lane + 32 * r < HOT_UNIQUE)
                ((float *)slots->tensor)[lane + 32 * r] = a[r] * factor * 0x1p-10f;
        __syncwarp();
        HOT_UNROLL
        for (int i = 0; KEEPS && exact && i < HOT_UNIQUE; i++)
            sums[0] = fmaf(((const float *)slots->tensor)[i], column[KEEPS ? i : 0], sums[0]);
#pragma unroll 15
        for (int i = 0; !(KEEPS && exact) && i < HOT_UNIQUE; i++) {
            const float value = ((const float *)slots->tensor)[i];
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

/* (u, v) as a unit vector, on the side of `near`. */
static __device__ __forceinline__ void HOT_CHART(unit)(float u, float v, const float *near, float *x)
{
    const float inverse = chart_rsqrt(fmaf(u, u, fmaf(v, v, 1.0f)));
    const float sign = near && fmaf(u, near[0], fmaf(v, near[1], near[2])) < 0 ? -inverse : inverse;
    x[0] = u * sign;
    x[1] = v * sign;
    x[2] = sign;
}

static __device__ __forceinline__ float HOT_CHART(determinant)(const float *a, const float *b, const float *c)
{
    return fmaf(a[0], b[1] * c[2] - b[2] * c[1],
                fmaf(a[1], b[2] * c[0] - b[0] * c[2], a[2] * (b[0] * c[1] - b[1] * c[0])));
}

/* A slow start, which the last step brought from (u3, v3) to (u, v): two steps more, and on to where the last three
 * displacements f, e, d lead. In the tangent plane they obey d = a e + b f, whatever the two rates of convergence; the
 * sum of what would follow is added. On the sphere, since a chart stretches what lies near its horizon. */
static __device__ __forceinline__ void HOT_CHART(ahead)(const float *c, float u3, float v3, float *to_u, float *to_v)
{
    float u = *to_u, v = *to_v, gz, x[3], y[3], f[3], e[3], d[3];
    HOT_CHART(unit)(u3, v3, NULL, x);
    HOT_CHART(unit)(u, v, x, y);
    HOT_UNROLL
    for (int k = 0; k < 3; k++)
        e[k] = d[k] = y[k] - x[k];
#pragma unroll 1
    for (int step = 0; step < 2; step++) {
        HOT_CHART(step)(c, &u, &v, &gz);
        HOT_UNROLL
        for (int k = 0; k < 3; k++) {
            x[k] = y[k];
            f[k] = e[k];
            e[k] = d[k];
        }
        HOT_CHART(unit)(u, v, x, y);
        HOT_UNROLL
        for (int k = 0; k < 3; k++)
            d[k] = y[k] - x[k];
    }
    const float ff = fmaf(f[0], f[0], fmaf(f[1], f[1], f[2] * f[2])),
                ee = fmaf(e[0], e[0], fmaf(e[1], e[1], e[2] * e[2]));
    const float dd = fmaf(d[0], d[0], fmaf(d[1], d[1], d[2] * d[2])),
                de = fmaf(d[0], e[0], fmaf(d[1], e[1], d[2] * e[2]));
    const float area = HOT_CHART(determinant)(y, f, e), rate = de * chart_reciprocal(ee);
    float by_d = 0, by_e = 0;
    if (area * area > 1e-4f * ff * ee) {
        const float a = HOT_CHART(determinant)(y, f, d) * chart_reciprocal(area);
        const float b = HOT_CHART(determinant)(y, d, e) * chart_reciprocal(area);
        if (fabsf(b) < 1 && fabsf(a) < 1 - b) { /* both rates are below 1 */
            by_d = (a + b) * chart_reciprocal(1 - a - b);
            by_e = b * chart_reciprocal(1 - a - b);
        }
    } else if (fabsf(rate) < 0.9985f && dd - rate * de <= 1e-3f * dd) { /* in line */
        by_d = rate * chart_reciprocal(1 - rate);
    }
    *to_u = u;
    *to_v = v;
    HOT_UNROLL
    for (int k = 0; k < 3; k++)
        d[k] = fmaf(by_d, d[k], by_e * e[k]);
    const float length2 = fmaf(d[0], d[0], fmaf(d[1], d[1], d[2] * d[2]));
    if (dd > 1e-12f && dd < 1e-3f && length2 > 0) {
        const float part = fminf(1.0f, 0.1f * chart_rsqrt(length2)), inverse = chart_reciprocal(fmaf(part, d[2], y[2]));
        *to_u = fmaf(part, d[0], y[0]) * inverse;
        *to_v = fmaf(part, d[1], y[1]) * inverse;
    }
}

/* `count` steps (two or more) from (u, v), and whether that is the end; if not, the start may have been taken ahead.
 * `steps` is how many have been made with them. */
static __device__ __forceinline__ int HOT_CHART(round)(const float *c, float *to_u, float *to_v, int count,
                                                       float limit2, int *steps, int most, int may_be_slow)
{
    float u = *to_u, v = *to_v, gz, u2, v2, u3, v3;
#pragma unroll 1
    for (int k = 2; k < count; k++)
        HOT_CHART(step)(c, &u, &v, &gz);
    u2 = u, v2 = v;
    HOT_CHART(step)(c, &u, &v, &gz);
    u3 = u, v3 = v;
    HOT_CHART(step)(c, &u, &v, &gz);
    *steps += max(count, 2);
    /* The step just made turned x by |x3 cross x4| / |x3|^2, and that is residual over lambda. */
    const float du = u - u3, dv = v - v3, eu = u3 - u2, ev = v3 - v2;
    const float q = fmaf(u3, u3, fmaf(v3, v3, 1.0f)), inverse2 = chart_reciprocal(q);
    const float twist = u3 * dv - v3 * du, n2 = fmaf(du, du, dv * dv);
    const float lambda = HOT_CHART(normalised)(gz * fmaf(u3, u, fmaf(v3, v, 1.0f)), inverse2);
    const float turn2 = fmaf(twist, twist, n2) * inverse2 * inverse2;
    const float along = fmaf(du, eu, dv * ev), rate = along * chart_reciprocal(fmaf(eu, eu, ev * ev));
    /* Without a shift a start may go on for ever: in a cycle of two points (x4 is x2 again, or leaves it, the step
     * having turned over and grown), or in longer ones, where after steps that together are more than a right angle it
     * still makes large ones. */
    const float back = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
    const int cycles = (*steps >= CHART_CYCLE && back <= (rate < -1 ? 1e-3f : 1e-6f) * n2) ||
                       (*steps >= CHART_ENOUGH && turn2 > 1e-4f);
    *to_u = u;
    *to_v = v;
    /* Converged; or as near as float can tell; or (a comparison with NaN) lost, which the end sees to. */
    if (!(turn2 * lambda * lambda > limit2 && turn2 > 1e-13f) || cycles || *steps >= most)
        return 1;
    if (may_be_slow && *steps >= CHART_SLOW && *steps + 2 < most) {
        *steps += 2;
        HOT_CHART(ahead)(c, u3, v3, to_u, to_v);
        return 0;
    }
    /* In line, and a series that converges: its sum, but no farther than .05, nor than the noise in the rate allows;
     * where the steps alternate, only when they are small. */
    if (fabsf(rate) > 0.05f && rate > -0.99f && rate < 0.9999f && n2 - rate * along <= 0.01f * n2 && turn2 > 1e-12f &&
        (rate > 0 || turn2 < 1e-3f)) {
        const float rest =
            fminf(rate * chart_reciprocal(1.0f - rate), fminf(0.05f * chart_rsqrt(turn2), 1e13f * turn2));
        *to_u = fmaf(rest, du, u);
        *to_v = fmaf(rest, dv, v);
    } else if (rate >= 0.9999f && rate < 3.0f && n2 - rate * along <= 0.001f * n2) {
        /* In line and not getting slower: away from a saddle, or through the narrow place where a maximum and a saddle
         * have almost met. */
        const float rest = fminf(16.0f, 0.05f * chart_rsqrt(turn2));
        *to_u = fmaf(rest, du, u);
        *to_v = fmaf(rest, dv, v);
    }
    return 0;
}

/* Where the items of a warp's share lie in shared memory; item = slot x starts + start. */
struct HOT_CHART(memory) {
    const float2 *entrance;               /* the starts in the chart, of the block; NULL: too many */
    struct HOT_CHART(slots) *slots;
    float2 *ends;                         /* where an item is, or has ended */
    float *stage;                         /* a row of x */
    unsigned short *list;                 /* items that go on */
};

static __device__ __forceinline__ struct HOT_CHART(memory)
    HOT_CHART(divide)(const hot_sshopm_plan &plan, const chart_constants &constants, float4 *all)
{
    float2 *entrance = (float2 *)all;
    for (unsigned s = threadIdx.x; s < constants.entrance; s += blockDim.x)
        entrance[s] = chart_enter(plan, constants, s < plan.starts ? s : 0);
    struct HOT_CHART(memory) memory;
    memory.entrance = constants.entrance ? entrance : NULL;
    memory.slots =
        (struct HOT_CHART(slots) *)((char *)(entrance + constants.entrance) +
                                    threadIdx.x / 32 * chart_bytes(sizeof(struct HOT_CHART(slots)), constants));
    memory.ends = (float2 *)(memory.slots + 1);
    memory.stage = (float *)(memory.ends + constants.per_warp * constants.part);
    memory.list = (unsigned short *)(memory.stage + 96);
    return memory;
}

/* The first steps of every start of a share, as many as make it worth looking; those that have not converged are
 * listed. Returns how many are. */
static __device__ __forceinline__ unsigned HOT_CHART(all)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                          const chart_share &share,
                                                          const struct HOT_CHART(memory) &memory, unsigned length)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned listed = 0, slot = 0, start = lane;
    for (unsigned base = 0; base < length; base += 32) {
        while (start >= share.starts) {
            start -= share.starts;
            slot++;
        }
        const unsigned item = base + lane, from_slot = item < length ? slot : 0,
                       number = share.start + (item < length ? start : 0);
        float c[HOT_PADDED];
        HOT_CHART(load)(memory.slots->coefficient[from_slot], c);
        const float2 from = memory.entrance ? memory.entrance[number] : chart_enter(plan, constants, number);
        float u = from.x, v = from.y;
        int steps = 0;
        const int done = HOT_CHART(round)(c, &u, &v, constants.plain, memory.slots->limit2[from_slot], &steps,
                                          plan.max_iterations, 0);
        const int open = !done && item < length;
        const unsigned others = __ballot_sync(0xffffffffu, open);
        if (item < length)
            memory.ends[item] = make_float2(u, v);
        if (open)
            memory.list[listed + __popc(others & ((1u << lane) - 1))] = (unsigned short)item;
        else if (plan.iterations && item < length) /* the end takes it from there, and gives it a sign */
            plan.iterations[(share.first + memory.slots->place[from_slot]) * plan.starts + number] = steps;
        listed += __popc(others);
        start += 32;
    }
    __syncwarp();
    return listed;
}

/* constants.plain steps of every start of a share, exactly, and the results. */
static __device__ __forceinline__ void HOT_CHART(fixed)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                        const chart_share &share,
                                                        const struct HOT_CHART(memory) &memory, unsigned length)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned slot = 0, start = lane, loaded = ~0u;
    float *stage = share.starts % 32 == 0 ? memory.stage : NULL;
    float c[HOT_PADDED];
#pragma unroll 1
    for (unsigned base = 0; base < length; base += 32) {
        while (start >= share.starts) {
            start -= share.starts;
            slot++;
        }
        if (base + lane >= length) /* idle */
            slot = start = 0;
        const unsigned number = share.start + start;
        if (HOT_ORDER > 4 || slot != loaded) /* more than those of order 4 do not stay in the registers */
            HOT_CHART(load)(memory.slots->coefficient[slot], c);
        loaded = slot;
        const float2 from = memory.entrance ? memory.entrance[number] : chart_enter(plan, constants, number);
        float u = from.x, v = from.y, gz;
#pragma unroll 1
        for (int k = constants.plain; k > 0; k--)
            HOT_CHART(step)(c, &u, &v, &gz);
        if (base + lane < length)
            HOT_CHART(finish)(plan, constants, share.first + memory.slots->place[slot], number, c, u, v,
                              memory.slots->factor[slot], memory.slots->limit2[slot], plan.max_iterations, stage);
        start += 32;
    }
}

/* The listed ones, to their ends. */
static __device__ __forceinline__ void HOT_CHART(rest)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                       const chart_share &share, const struct HOT_CHART(memory) &memory,
                                                       unsigned listed)
{
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
    unsigned next = 0, mine = 0;
    int active = 0, steps = 0;
    float c[HOT_PADDED], u = 0, v = 0, limit2 = 0;
    HOT_UNROLL
    for (int k = 0; k < HOT_PADDED; k++)
        c[k] = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(0xffffffffu, !active);
        const unsigned free = __popc(idle), left = listed - next;
        if (left > 0 && (free >= constants.refill || free >= left || free == 32)) {
            const unsigned at = next + __popc(idle & before);
            if (!active && at < listed) {
                mine = memory.list[at];
                const unsigned slot = mine / share.starts;
                HOT_CHART(load)(memory.slots->coefficient[slot], c);
                limit2 = memory.slots->limit2[slot];
                u = memory.ends[mine].x;
                v = memory.ends[mine].y;
                steps = constants.plain;
                active = 1;
            }
            next += min(free, left);
        } else if (free == 32) {
            break;
        }
        const int count = min(steps < CHART_SLOW ? CHART_ROUND : CHART_LONG, plan.max_iterations - steps);
        const int done = HOT_CHART(round)(c, &u, &v, count, limit2, &steps, plan.max_iterations, 1);
        if (active && done) {
            active = 0;
            memory.ends[mine] = make_float2(u, v);
            if (plan.iterations) {
                const unsigned slot = mine / share.starts;
                plan.iterations[(share.first + memory.slots->place[slot]) * plan.starts + share.start + mine -
                                slot * share.starts] = steps;
            }
        }
    }
    __syncwarp();
}

/* The results, all lanes together. */
static __device__ __forceinline__ void HOT_CHART(results)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                          const chart_share &share,
                                                          const struct HOT_CHART(memory) &memory, unsigned length)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned slot = 0, start = lane;
    float *stage = share.starts % 32 == 0 ? memory.stage : NULL;
    for (unsigned base = 0; base < length; base += 32) {
        while (start >= share.starts) {
            start -= share.starts;
            slot++;
        }
        if (base + lane < length) {
            float c[HOT_PADDED];
            const float2 end = memory.ends[base + lane];
            HOT_CHART(load)(memory.slots->coefficient[slot], c);
            const size_t tensor = share.first + memory.slots->place[slot], number = share.start + start;
            const int steps = plan.iterations ? plan.iterations[tensor * plan.starts + number] : 1;
            HOT_CHART(finish)(plan, constants, tensor, number, c, end.x, end.y, memory.slots->factor[slot],
                              memory.slots->limit2[slot], steps, stage);
        }
        start += 32;
    }
}

template <bool EXACT>
static __device__ __forceinline__ void HOT_CHART(shares)(const hot_sshopm_plan &plan, const chart_constants &constants)
{
    extern __shared__ float4 shared_floats[];
    const struct HOT_CHART(memory) memory = HOT_CHART(divide)(plan, constants, shared_floats);
    chart_share share;
    for (size_t turn = 0;; turn++) {
        const int more = chart_take(plan, constants, turn, &share);
        unsigned length = 0;
        __syncwarp();
        if (more)
            length = HOT_CHART(prepare)(plan, constants, share, memory.slots, EXACT) * share.starts;
        if (turn == 0) /* for the entrance */
            __syncthreads();
        if (!more)
            break;
        if (EXACT) {
            HOT_CHART(fixed)(plan, constants, share, memory, length);
            continue;
        }
        const unsigned listed = HOT_CHART(all)(plan, constants, share, memory, length);
        HOT_CHART(rest)(plan, constants, share, memory, listed);
        HOT_CHART(results)(plan, constants, share, memory, length);
    }
}

static __global__ void __launch_bounds__(128, HOT_JOIN(CHART_CONVERGE_, HOT_ORDER))
    HOT_CHART(converge)(const __grid_constant__ hot_sshopm_plan plan, const __grid_constant__ chart_constants constants)
{
    HOT_CHART(shares)<false>(plan, constants);
}

/* constants.plain steps, exactly. */
static __global__ void __launch_bounds__(128, HOT_JOIN(CHART_REPEAT_, HOT_ORDER))
    HOT_CHART(repeat)(const __grid_constant__ hot_sshopm_plan plan, const __grid_constant__ chart_constants constants)
{
    HOT_CHART(shares)<true>(plan, constants);
}

#include "sshopm_chart_end.cuh"

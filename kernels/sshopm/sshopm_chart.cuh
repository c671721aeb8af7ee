/* SS-HOPM without a shift in a chart (sshopm_chart.h): a template per order. A warp takes a handful of tensors, lays their
 * polynomials in shared memory, and its lanes draw starts from one queue over all of them: a lane whose start has
 * converged stores it and takes the next, so that nobody waits for the slowest start but at the queue's end.
 *
 * To convergence every fourth step is looked at: the last two displacements give the residual, and, where they are in
 * line, the rate of the geometric series they belong to, whose sum is added at once (Aitken); the start goes on being
 * iterated from there, and only a true step decides that it has converged. */
#include "sshopm_chart.h"

#define HOT_TERMS (3 * HOT_ORDER * (HOT_ORDER + 1) / 2)
#define HOT_PART (HOT_TERMS / 3)
#define HOT_PADDED ((HOT_TERMS + 3) / 4 * 4)
#define HOT_UNIQUE ((HOT_ORDER + 1) * (HOT_ORDER + 2) / 2)
#define HOT_FORM(name) HOT_CHART(form_##name)
#define HOT_SCALAR float
#define HOT_REAL float
#define HOT_COEF float
#include "../symtensor/form3.h"

/* What a warp keeps of its tensors. */
struct HOT_CHART(slots) {
    float4 coefficient[CHART_SLOTS][HOT_PADDED / 4];
    float limit2[CHART_SLOTS];    /* square of tolerance * scale, in the scaled tensor's units */
    float factor[CHART_SLOTS];    /* the power of two it was scaled with, times 2^10 */
    uint32_t place[CHART_SLOTS];  /* which of the warp's tensors */
};

/* lambda = form / |p|^m, |p|^2 = 1 / inverse2. */
static __device__ __forceinline__ float HOT_CHART(normalised)(float form, float inverse2)
{
    HOT_UNROLL
    for (int k = 0; k < HOT_ORDER / 2; k++)
        form *= inverse2;
    return form;
}

/* One step from (u, v); gz is the last component there. */
static __device__ __forceinline__ void HOT_CHART(step)(const float *c, float *u, float *v, float *gz)
{
    float gx = HOT_CHART(polynomial)(c, *u, *v), gy = HOT_CHART(polynomial)(c + HOT_PART, *u, *v);
    *gz = HOT_CHART(polynomial)(c + 2 * HOT_PART, *u, *v);
    float inverse = chart_reciprocal(*gz);
    *u = gx * inverse;
    *v = gy * inverse;
}

/* Where the chart fails (a point on its horizon, a tensor at the end of float's range): the start is iterated again in
 * the caller's frame, normalised in every step. */
static __device__ __noinline__ void HOT_CHART(plain)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                     size_t tensor, size_t start, float factor)
{
    const float *from = (const float *)plan.tensors + tensor * plan.stride;
    const size_t at = tensor * plan.starts + start;
    float a[HOT_UNIQUE], x[3], g[3], lambda, squares, scale = 0;
    for (int i = 0; i < HOT_UNIQUE; i++) {
        a[i] = from[i] * factor * 0x1p-10f;
        scale = fmaxf(scale, fabsf(a[i]) * (float)constants.multiplicity[i]);
    }
    for (int d = 0; d < 3; d++)
        x[d] = ((const float *)plan.start)[start * 3 + d];
    int k = 0, small;
    for (;; k++) {
        HOT_FORM(gradient)(a, x[0], x[1], x[2], g);
        lambda = x[0] * g[0] + x[1] * g[1] + x[2] * g[2];
        squares = 0;
        for (int d = 0; d < 3; d++)
            squares += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
        small = squares <= constants.tolerance * constants.tolerance * scale * scale;
        if (k == plan.max_iterations || (small && !plan.exact))
            break;
        float largest = fmaxf(fmaxf(fabsf(g[0]), fabsf(g[1])), fabsf(g[2]));
        if (!(largest > 0))
            continue;
        for (int d = 0; d < 3; d++)
            g[d] /= largest;
        float inverse = rsqrtf(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int d = 0; d < 3; d++)
            x[d] = g[d] * inverse;
    }
    if (plan.lambda)
        ((float *)plan.lambda)[at] = lambda / factor * 0x1p10f;
    if (plan.residual)
        ((float *)plan.residual)[at] = sqrtf(squares) / factor * 0x1p10f;
    if (plan.iterations)
        plan.iterations[at] = small ? k : -k;
    for (int d = 0; d < 3 && plan.x; d++)
        ((float *)plan.x)[at * 3 + d] = x[d];
}

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

/* The result at (u, v): x in the caller's frame, lambda, and the true residual when it is asked for. `stage`: 96 floats
 * of a warp whose lanes store consecutive starts; NULL when they do not. */
static __device__ __forceinline__ void HOT_CHART(store)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                        size_t tensor, size_t start, float u, float v, float lambda,
                                                        float factor, int iterations, float *stage)
{
    const size_t at = tensor * plan.starts + start;
    float inverse = rsqrtf(fmaf(u, u, fmaf(v, v, 1.0f))), p = u * inverse, q = v * inverse, x[3];
    HOT_UNROLL
    for (int d = 0; d < 3; d++)
        x[d] = fmaf(constants.frame[0][d], p, fmaf(constants.frame[1][d], q, constants.frame[2][d] * inverse));
    /* back from the scaled units: 2^10 and the power of two of the tensor */
    float back = __uint_as_float((254u << 23) - __float_as_uint(factor));
    if (plan.lambda)
        ((float *)plan.lambda)[at] = lambda * back * 0x1p10f;
    if (plan.x && stage) { /* the warp's 96 values in three whole rows instead of every third value thrice */
        const unsigned lane = threadIdx.x % 32;
        __syncwarp();
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            stage[3 * lane + d] = x[d];
        __syncwarp();
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            ((float *)plan.x)[(at - lane) * 3 + lane + 32 * d] = stage[lane + 32 * d];
    } else if (plan.x) {
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            ((float *)plan.x)[at * 3 + d] = x[d];
    }
    if (plan.residual) {
        float a[HOT_UNIQUE], g[3], value = 0, squares = 0;
        const float *from = (const float *)plan.tensors + tensor * plan.stride;
        HOT_UNROLL
        for (int i = 0; i < HOT_UNIQUE; i++)
            a[i] = from[i] * factor * 0x1p-10f;
        HOT_FORM(gradient)(a, x[0], x[1], x[2], g);
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            value += g[d] * x[d];
        HOT_UNROLL
        for (int d = 0; d < 3; d++)
            squares += (g[d] - value * x[d]) * (g[d] - value * x[d]);
        ((float *)plan.residual)[at] = sqrtf(squares) * back * 0x1p10f;
    }
    if (plan.iterations)
        plan.iterations[at] = iterations;
}

static __device__ __forceinline__ void HOT_CHART(load)(const float4 *from, float *c)
{
    HOT_UNROLL
    for (int k = 0; k < HOT_PADDED / 4; k++) {
        float4 four = from[k];
        c[4 * k] = four.x;
        c[4 * k + 1] = four.y;
        c[4 * k + 2] = four.z;
        c[4 * k + 3] = four.w;
    }
}

/* lambda and whether the residual is small at (u, v), by one more evaluation; then everything is stored. For a warp whose
 * lanes hold consecutive starts of one tensor (stage not NULL), or for any lanes. */
static __device__ __forceinline__ void HOT_CHART(finish)(const hot_sshopm_plan &plan, const chart_constants &constants,
                                                         size_t tensor, size_t start, const float *c, float u, float v,
                                                         float factor, float limit2, int steps, float *stage)
{
    float gz, nu = u, nv = v;
    HOT_CHART(step)(c, &nu, &nv, &gz);
    const float q = fmaf(u, u, fmaf(v, v, 1.0f)), inverse2 = chart_reciprocal(q);
    const float lambda = HOT_CHART(normalised)(gz * fmaf(u, nu, fmaf(v, nv, 1.0f)), inverse2);
    const float du = nu - u, dv = nv - v, twist = u * dv - v * du;
    const float turn2 = fmaf(twist, twist, fmaf(du, du, dv * dv)) * inverse2 * inverse2;
    const int small = turn2 * lambda * lambda <= limit2, lost = !(q < 1e24f) || !(fabsf(lambda) < 1e30f);
    HOT_CHART(store)(plan, constants, tensor, start, u, v, lambda, factor, small ? steps : -steps, stage);
    if (stage) /* other lanes write x for this one */
        __syncwarp();
    if (lost)
        HOT_CHART(plain)(plan, constants, tensor, start, factor);
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

#undef HOT_TERMS
#undef HOT_PART
#undef HOT_PADDED
#undef HOT_UNIQUE
#undef HOT_FORM
#undef HOT_SCALAR
#undef HOT_REAL
#undef HOT_COEF

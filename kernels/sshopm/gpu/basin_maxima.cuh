/* The basin test on the GPU, from the tensors as they come to the cones of their maxima: see basin_block.cuh. */
#ifndef HOT_SSHOPM_BASIN_MAXIMA_CUH
#define HOT_SSHOPM_BASIN_MAXIMA_CUH

#include "basin_block.cuh"

/* Scales a tensor: its row, its column of the form, and what kind it is. */
template <int ORDER>
static __device__ __forceinline__ void basin_scale(const gnomonic_constants &constants, basin_block<ORDER> &block,
                                                   unsigned t)
{
    float *row = block.row + t * basin_layout<ORDER>::ROW;
    float largest = 0, odd = 0, any = 0;
    scan_each_class<ORDER>([&](int s, int k, float multiplicity) {
        const float value = row[HOT_PACKED(s, k)];
        odd = fmaf(value, 0.0f, odd);
        any = fmaxf(any, fabsf(value));
        largest = fmaxf(largest, fabsf(value) * 0x1p-10f * multiplicity);
    });
    block.number[t] = BASIN_NONE; /* until it is known to be in float's range */
    block.found_count[t] = 0;
    if (!(odd == 0)) {
        block.state[t] = BASIN_INVALID;
    } else if (!(largest > 0x1p-120f) || !(largest < 0x1p120f)) {
        block.state[t] = any > 0 ? BASIN_EXTREME : BASIN_ZERO;
        block.factor[t] = largest > 1 ? 0x1p-120f : 0x1p126f;
    } else {
        const float factor = __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u)),
                    by = factor * 0x1p-10f;
        const float limit = constants.tolerance * largest * factor;
        block.state[t] = BASIN_LIVE;
        block.number[t] = 0;
        block.factor[t] = factor;
        block.limit2[t] = limit * limit;
        scan_each_class<ORDER>([&](int s, int k, float multiplicity) {
            const float value = row[HOT_PACKED(s, k)] * by;
            row[HOT_PACKED(s, k)] = value;
            block.form[HOT_PACKED(s, k) * basin_layout<ORDER>::PITCH + t] = value * multiplicity;
        });
    }
}

/* The polynomials (gnomonic.h) of the block's tensors: a warp takes every so many of them, a lane a coefficient of
 * each. */
template <int ORDER>
static __device__ __forceinline__ void basin_make_polynomials(const gnomonic_constants &constants,
                                                              basin_block<ORDER> &block, unsigned count)
{
    enum { WARPS = basin_tuning<ORDER>::THREADS / 32, EACH = (BASIN_TENSORS + WARPS - 1) / WARPS };
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
    for (unsigned j = lane; j < gnomonic<ORDER>::TERMS; j += 32) {
        float sum[EACH];
        HOT_UNROLL
        for (int e = 0; e < EACH; e++)
            sum[e] = 0;
#pragma unroll 4
        for (int i = 0; i < scan_grid<ORDER>::TERMS; i++) {
            const float by = constants.matrix[i * gnomonic<ORDER>::TERMS + j];
            HOT_UNROLL
            for (int e = 0; e < EACH; e++)
                if (warp + e * WARPS < BASIN_TENSORS)
                    sum[e] = fmaf(block.row[(warp + e * WARPS) * basin_layout<ORDER>::ROW + i], by, sum[e]);
        }
        HOT_UNROLL
        for (int e = 0; e < EACH; e++)
            if (warp + e * WARPS < count)
                ((float *)block.coefficient[warp + e * WARPS])[j] = sum[e];
    }
}

/* The candidates of one band of rows, listed for the block. */
template <int ORDER>
static __device__ __forceinline__ void basin_scan(const scan_table<ORDER> &table, basin_block<ORDER> &block,
                                                  unsigned tensor, int face, int first, int last)
{
    unsigned *list = &block.word[0][threadIdx.x];
    const unsigned start = (unsigned)__cvta_generic_to_shared(list);
    const unsigned end =
        scan_face<basin_layout<ORDER>>(table, block.form + tensor, face, first, last, list, start, start);
    const unsigned listed = (end - start) / (basin_tuning<ORDER>::THREADS * 4);
    if (listed == 0)
        return;
    const unsigned at = atomicAdd(&block.candidates, listed);
    for (unsigned i = 0; i < listed && at + i < BASIN_PAIRS / 2; i++)
        block.candidate[at + i] =
            (unsigned short)(tensor << 9 | (list[i * basin_tuning<ORDER>::THREADS] & SCAN_POINT_BITS));
}

/* One candidate to its maximum. */
template <int ORDER>
static __device__ __forceinline__ void basin_refine(const basin_constants &constants, basin_block<ORDER> &block,
                                                    unsigned candidate)
{
    using form = directions_form<ORDER>;
    using grid = scan_grid<ORDER>;
    const unsigned tensor = candidate >> 9, point = candidate & SCAN_POINT_BITS;
    const int face = (int)(point / (grid::RING * grid::RING)), place = (int)(point % (grid::RING * grid::RING));
    float c[grid::TERMS];
    scan_coefficients<basin_layout<ORDER>>(block.form + tensor, face, c);
    typename form::state state;
    form::newton(c, block.coordinate[place % grid::RING], block.coordinate[place / grid::RING], &state);
#pragma unroll 1
    for (int step = 1; step < BASIN_STEPS; step++)
        if (!form::climb(c, &state))
            break;
    if (!(state.peaked && state.value > BASIN_NOTHING && state.left < HOT_STEP_LOST))
        return;
    const unsigned at = atomicAdd(&block.found_count[tensor], 1u),
                   capacity = BASIN_FOUND * BASIN_TENSORS >> constants.shift;
    if (at >= capacity)
        return;
    const float u = state.u + state.du, v = state.v + state.dv, w = rsqrtf(fmaf(u, u, fmaf(v, v, 1.0f)));
    const float p = u * w, q = v * w;
    block.found[tensor * (capacity + 1) + at] = face == 0   ? make_float4(w, p, q, state.value)
                                                : face == 1 ? make_float4(q, w, p, state.value)
                                                            : make_float4(p, q, w, state.value);
}

/* The higher of two found maxima; of equal ones always the same. */
template <int ORDER> static __device__ __forceinline__ float4 basin_higher(float4 a, float4 b)
{
    return b.w > a.w || (b.w == a.w && (b.x > a.x || (b.x == a.x && (b.y > a.y || (b.y == a.y && b.z > a.z))))) ? b : a;
}

/* The highest maxima of each tensor, each once, by four threads. Which they are does not depend on the order in which
 * they were found: a tensor of which more were found than there is capacity for has none. */
template <int ORDER>
static __device__ __forceinline__ void basin_choose_maxima(const basin_constants &constants, basin_block<ORDER> &block,
                                                           unsigned tensors)
{
    using tuning = basin_tuning<ORDER>;
    enum { SIDE_BY_SIDE = 32 / BASIN_CHOOSERS }; /* tensors of a warp */
    const unsigned capacity = BASIN_FOUND * BASIN_TENSORS >> constants.shift, group = threadIdx.x / BASIN_CHOOSERS;
    const unsigned own = threadIdx.x % BASIN_CHOOSERS;
#pragma unroll 1
    for (unsigned base = group / SIDE_BY_SIDE * SIDE_BY_SIDE; base < tensors;
         base += tuning::THREADS / BASIN_CHOOSERS) {
        const unsigned t = base + group % SIDE_BY_SIDE;
        const int live = t < tensors && block.state[t] == BASIN_LIVE;
        unsigned count = live ? block.found_count[t] : 0, kept = 0;
        if (count > capacity || block.candidates > BASIN_PAIRS / 2)
            count = 0;
        float4 *found = block.found + t * (capacity + 1);
        const float back = live ? __uint_as_float((254u << 23) - __float_as_uint(block.factor[t])) : 0;
#pragma unroll 1
        for (unsigned k = 0; k < tuning::KEPT; k++) {
            float4 best = make_float4(0, 0, 0, 0);
            for (unsigned i = own; i < count; i += BASIN_CHOOSERS)
                best = basin_higher<ORDER>(best, found[i]);
            HOT_UNROLL
            for (int step = 1; step < BASIN_CHOOSERS; step *= 2) {
                const float4 other =
                    make_float4(__shfl_xor_sync(0xffffffffu, best.x, step), __shfl_xor_sync(0xffffffffu, best.y, step),
                                __shfl_xor_sync(0xffffffffu, best.z, step), __shfl_xor_sync(0xffffffffu, best.w, step));
                best = basin_higher<ORDER>(best, other);
            }
            if (!__any_sync(0xffffffffu, best.w > 0))
                break;
            if (!(best.w > 0))
                continue;
            for (unsigned i = own; i < count; i += BASIN_CHOOSERS) {
                const float4 one = found[i];
                const float cosine = fmaf(best.x, one.x, fmaf(best.y, one.y, best.z * one.z));
                if (cosine * cosine > BASIN_SAME)
                    found[i].w = 0;
            }
            if (own == 0) {
                float m[3];
                HOT_UNROLL
                for (int d = 0; d < 3; d++)
                    m[d] = fmaf(constants.gnomonic.frame[d][0], best.x,
                                fmaf(constants.gnomonic.frame[d][1], best.y, constants.gnomonic.frame[d][2] * best.z));
                block.cone[t * tuning::KEPT + kept] = make_float4(m[0], m[1], m[2], 2.0f);
                block.limit[t * tuning::KEPT + kept] = make_float4(best.x, best.y, best.z, best.w * back * 0x1p10f);
            }
            kept++;
        }
        for (unsigned k = kept + own; t < tensors && k < tuning::KEPT; k += BASIN_CHOOSERS)
            block.cone[t * tuning::KEPT + k] = make_float4(0, 0, 0, 2.0f); /* no point is in it */
        if (own == 0 && live) {
            block.number[t] = (unsigned char)kept;
            const unsigned at = kept ? atomicAdd(&block.maxima, kept) : 0;
            for (unsigned k = 0; k < kept; k++)
                block.maximum[at + k] = (unsigned short)(t * tuning::KEPT + k);
        }
    }
}

/* The cones of the block's maxima. */
template <int ORDER>
static __device__ __forceinline__ void basin_measure_cones(const hot_sshopm_args &args, basin_block<ORDER> &block,
                                                           size_t first)
{
    using tuning = basin_tuning<ORDER>;
    const int way = (int)(threadIdx.x % HOT_BASIN_DIRECTIONS);
    const unsigned lane = threadIdx.x % 32, group = threadIdx.x / HOT_BASIN_DIRECTIONS;
#pragma unroll 1
    for (unsigned base = group / 4 * 4; base < block.maxima; base += tuning::THREADS / HOT_BASIN_DIRECTIONS) {
        const unsigned i = base + group % 4, which = block.maximum[i < block.maxima ? i : base];
        const float4 cone = block.cone[which];
        const float m[3] = {cone.x, cone.y, cone.z};
        float c[gnomonic<ORDER>::PADDED], d[3], cosine, sine;
        gnomonic_load<ORDER>(block.coefficient[which / tuning::KEPT], c);
        basin<ORDER>::tangent_direction(m, way, d, &cosine, &sine);
        const float close = basin<ORDER>::stretch2(c, m, d, HOT_BASIN_CLOSE);
        float sum = close, cosines = close * cosine, sines = close * sine;
        HOT_UNROLL
        for (int step = 1; step < HOT_BASIN_DIRECTIONS; step *= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
            cosines += __shfl_xor_sync(0xffffffffu, cosines, step);
            sines += __shfl_xor_sync(0xffffffffu, sines, step);
        }
        const float rest = 1.0f - basin<ORDER>::rho(sum, cosines, sines), nearer = 1.0f - HOT_BASIN_MARGIN * rest;
        float nearest = -1.0f; /* the cosine */
        for (unsigned k = which / tuning::KEPT * tuning::KEPT;
             k < which / tuning::KEPT * tuning::KEPT + block.number[which / tuning::KEPT]; k++) {
            const float4 other = block.cone[k];
            if (k != which)
                nearest = fmaxf(nearest, fabsf(fmaf(m[0], other.x, fmaf(m[1], other.y, m[2] * other.z))));
        }
        const float halfway = nearest < 0 ? INFINITY : basin<ORDER>::halfway(nearest);
        int low = -1, high = HOT_BASIN_DISTANCES; /* the widest that passed, the narrowest that did not */
#pragma unroll 1
        for (int step = 0; step < HOT_BASIN_BISECTIONS; step++) {
            const int middle = (low + high) / 2;
            const float distance = block.distance[middle];
            const int passes = distance < halfway && basin<ORDER>::stretch2(c, m, d, distance) <= nearer * nearer;
            if ((__ballot_sync(0xffffffffu, passes) >> (lane & 24u) & 255u) == 255u)
                low = middle;
            else
                high = middle;
        }
        if (way == 0 && i < block.maxima) {
            const float narrow = HOT_BASIN_NARROW * rest;
            block.cone[which].w = basin<ORDER>::cosine2(!(rest > 0) ? 0
                                                        : low < 0   ? narrow
                                                                    : HOT_BASIN_INNER * block.distance[low]);
            if (args.residual) {
                const float4 limit = block.limit[which];
                block.residual[which] = gnomonic_residual<ORDER>(args, first + which / tuning::KEPT, limit.x, limit.y,
                                                                 limit.z, block.factor[which / tuning::KEPT]);
            }
        }
    }
}

#endif

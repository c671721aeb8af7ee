/* Capture on the GPU, from the tensors as they come to the cones of their maxima: a part of basin.cuh. */

/* Scales a tensor: its row, its column of the form, and what kind it is. */
static __device__ __forceinline__ void HOT_CHART(scale)(const chart_constants &constants,
                                                        struct HOT_CHART(block) &block, unsigned t)
{
    float *row = block.row + t * ROW;
    float largest = 0, odd = 0, any = 0;
    HOT_UNROLL
    for (int s = 0; s <= HOT_ORDER; s++) {
        float outer = 1, inner = 1;
        HOT_UNROLL
        for (int i = 0; i < s; i++)
            outer = outer * (float)(HOT_ORDER - i) / (float)(i + 1);
        HOT_UNROLL
        for (int k = 0; k <= s; k++) {
            const float value = row[HOT_PACKED(s, k)];
            odd = fmaf(value, 0.0f, odd);
            any = fmaxf(any, fabsf(value));
            largest = fmaxf(largest, fabsf(value) * 0x1p-10f * (outer * inner));
            inner = inner * (float)(s - k) / (float)(k + 1);
        }
    }
    block.number[t] = CAPTURE_OWN; /* until it is known to be a case for the chart */
    block.found_count[t] = 0;
    if (!(odd == 0)) {
        block.state[t] = CAPTURE_INVALID;
    } else if (!(largest > 0x1p-120f) || !(largest < 0x1p120f)) {
        block.state[t] = any > 0 ? CAPTURE_EXTREME : CAPTURE_ZERO;
        block.factor[t] = largest > 1 ? 0x1p-120f : 0x1p126f;
    } else {
        const float factor = __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u)),
                    by = factor * 0x1p-10f;
        const float limit = constants.tolerance * largest * factor;
        block.state[t] = CAPTURE_LIVE;
        block.number[t] = 0;
        block.factor[t] = factor;
        block.limit2[t] = limit * limit;
        HOT_UNROLL
        for (int s = 0; s <= HOT_ORDER; s++) {
            float outer = 1, inner = 1;
            HOT_UNROLL
            for (int i = 0; i < s; i++)
                outer = outer * (float)(HOT_ORDER - i) / (float)(i + 1);
            HOT_UNROLL
            for (int k = 0; k <= s; k++) {
                const float value = row[HOT_PACKED(s, k)] * by;
                row[HOT_PACKED(s, k)] = value;
                block.form[HOT_PACKED(s, k) * PITCH + t] = value * (outer * inner);
                inner = inner * (float)(s - k) / (float)(k + 1);
            }
        }
    }
}

/* The chart's polynomials of the block's tensors: a warp takes every so many of them, a lane a coefficient of each. */
static __device__ __forceinline__ void HOT_CHART(expand)(const chart_constants &constants,
                                                         struct HOT_CHART(block) &block, unsigned count)
{
    enum { WARPS = THREADS / 32, EACH = (CAPTURE_TENSORS + WARPS - 1) / WARPS };
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
    for (unsigned j = lane; j < HOT_TERMS; j += 32) {
        float sum[EACH];
        HOT_UNROLL
        for (int e = 0; e < EACH; e++)
            sum[e] = 0;
#pragma unroll 4
        for (int i = 0; i < TERMS; i++) {
            const float by = constants.matrix[i * HOT_TERMS + j];
            HOT_UNROLL
            for (int e = 0; e < EACH; e++)
                if (warp + e * WARPS < CAPTURE_TENSORS)
                    sum[e] = fmaf(block.row[(warp + e * WARPS) * ROW + i], by, sum[e]);
        }
        HOT_UNROLL
        for (int e = 0; e < EACH; e++)
            if (warp + e * WARPS < count)
                ((float *)block.coefficient[warp + e * WARPS])[j] = sum[e];
    }
}

/* The candidates of one band of rows, listed for the block. */
static __device__ __forceinline__ void HOT_CHART(search)(const HOT_STEP(table) &table, struct HOT_CHART(block) &block,
                                                         unsigned tensor, int face, int first, int last)
{
    unsigned *list = &block.word[0][threadIdx.x];
    const unsigned start = (unsigned)__cvta_generic_to_shared(list);
    const unsigned end = HOT_STEP(scan_face)(table, block.form + tensor, face, first, last, list, start, start);
    const unsigned listed = (end - start) / (THREADS * 4);
    if (listed == 0)
        return;
    const unsigned at = atomicAdd(&block.candidates, listed);
    for (unsigned i = 0; i < listed && at + i < CAPTURE_PAIRS / 2; i++)
        block.candidate[at + i] = (unsigned short)(tensor << 9 | (list[i * THREADS] & POINT_BITS));
}

/* One candidate to its maximum. */
static __device__ __forceinline__ void HOT_CHART(refine)(const capture_constants &constants,
                                                         struct HOT_CHART(block) &block, unsigned candidate)
{
    const unsigned tensor = candidate >> 9, point = candidate & POINT_BITS;
    const int face = (int)(point / (RING * RING)), place = (int)(point % (RING * RING));
    float c[TERMS];
    HOT_STEP(chart_of)(block.form + tensor, face, c);
    HOT_STEP(state) state;
    HOT_STEP(newton)(c, block.coordinate[place % RING], block.coordinate[place / RING], &state);
#pragma unroll 1
    for (int step = 1; step < CAPTURE_STEPS; step++)
        if (!HOT_STEP(climb)(c, &state))
            break;
    if (!(state.peaked && state.value > CAPTURE_NOTHING && state.left < HOT_STEP_LOST))
        return;
    const unsigned at = atomicAdd(&block.found_count[tensor], 1u),
                   room = CAPTURE_FOUND * CAPTURE_TENSORS >> constants.shift;
    if (at >= room)
        return;
    const float u = state.u + state.du, v = state.v + state.dv, w = rsqrtf(fmaf(u, u, fmaf(v, v, 1.0f)));
    const float p = u * w, q = v * w;
    block.found[tensor * (room + 1) + at] = face == 0   ? make_float4(w, p, q, state.value)
                                            : face == 1 ? make_float4(q, w, p, state.value)
                                                        : make_float4(p, q, w, state.value);
}

/* The higher of two found maxima; of equal ones always the same. */
static __device__ __forceinline__ float4 HOT_CHART(higher)(float4 a, float4 b)
{
    return b.w > a.w || (b.w == a.w && (b.x > a.x || (b.x == a.x && (b.y > a.y || (b.y == a.y && b.z > a.z))))) ? b : a;
}

/* The highest maxima of each tensor, each once, by four threads. Which they are does not depend on the order in which
 * they were found: a tensor of which more were found than there is room for has none. */
static __device__ __forceinline__ void HOT_CHART(choose)(const capture_constants &constants,
                                                         struct HOT_CHART(block) &block, unsigned tensors)
{
    enum { SIDE_BY_SIDE = 32 / CAPTURE_CHOOSERS }; /* tensors of a warp */
    const unsigned room = CAPTURE_FOUND * CAPTURE_TENSORS >> constants.shift, group = threadIdx.x / CAPTURE_CHOOSERS;
    const unsigned own = threadIdx.x % CAPTURE_CHOOSERS;
#pragma unroll 1
    for (unsigned base = group / SIDE_BY_SIDE * SIDE_BY_SIDE; base < tensors; base += THREADS / CAPTURE_CHOOSERS) {
        const unsigned t = base + group % SIDE_BY_SIDE;
        const int live = t < tensors && block.state[t] == CAPTURE_LIVE;
        unsigned count = live ? block.found_count[t] : 0, kept = 0;
        if (count > room || block.candidates > CAPTURE_PAIRS / 2)
            count = 0;
        float4 *found = block.found + t * (room + 1);
        const float back = live ? __uint_as_float((254u << 23) - __float_as_uint(block.factor[t])) : 0;
#pragma unroll 1
        for (unsigned k = 0; k < KEPT; k++) {
            float4 best = make_float4(0, 0, 0, 0);
            for (unsigned i = own; i < count; i += CAPTURE_CHOOSERS)
                best = HOT_CHART(higher)(best, found[i]);
            HOT_UNROLL
            for (int step = 1; step < CAPTURE_CHOOSERS; step *= 2) {
                const float4 other =
                    make_float4(__shfl_xor_sync(0xffffffffu, best.x, step), __shfl_xor_sync(0xffffffffu, best.y, step),
                                __shfl_xor_sync(0xffffffffu, best.z, step), __shfl_xor_sync(0xffffffffu, best.w, step));
                best = HOT_CHART(higher)(best, other);
            }
            if (!__any_sync(0xffffffffu, best.w > 0))
                break;
            if (!(best.w > 0))
                continue;
            for (unsigned i = own; i < count; i += CAPTURE_CHOOSERS) {
                const float4 one = found[i];
                const float cosine = fmaf(best.x, one.x, fmaf(best.y, one.y, best.z * one.z));
                if (cosine * cosine > CAPTURE_SAME)
                    found[i].w = 0;
            }
            if (own == 0) {
                float m[3];
                HOT_UNROLL
                for (int d = 0; d < 3; d++)
                    m[d] = fmaf(constants.chart.frame[d][0], best.x, fmaf(constants.chart.frame[d][1], best.y,
                                                                          constants.chart.frame[d][2] * best.z));
                block.cone[t * KEPT + kept] = make_float4(m[0], m[1], m[2], 2.0f);
                block.end[t * KEPT + kept] = make_float4(best.x, best.y, best.z, best.w * back * 0x1p10f);
            }
            kept++;
        }
        for (unsigned k = kept + own; t < tensors && k < KEPT; k += CAPTURE_CHOOSERS)
            block.cone[t * KEPT + k] = make_float4(0, 0, 0, 2.0f); /* no point is in it */
        if (own == 0 && live) {
            block.number[t] = (unsigned char)kept;
            const unsigned at = kept ? atomicAdd(&block.maxima, kept) : 0;
            for (unsigned k = 0; k < kept; k++)
                block.maximum[at + k] = (unsigned short)(t * KEPT + k);
        }
    }
}

/* The cones of the block's maxima. */
static __device__ __forceinline__ void HOT_CHART(measure)(const hot_sshopm_args &args, struct HOT_CHART(block) &block,
                                                          size_t first)
{
    const int way = (int)(threadIdx.x % HOT_CAPTURE_WAYS);
    const unsigned lane = threadIdx.x % 32, group = threadIdx.x / HOT_CAPTURE_WAYS;
#pragma unroll 1
    for (unsigned base = group / 4 * 4; base < block.maxima; base += THREADS / HOT_CAPTURE_WAYS) {
        const unsigned i = base + group % 4, which = block.maximum[i < block.maxima ? i : base];
        const float4 cone = block.cone[which];
        const float m[3] = {cone.x, cone.y, cone.z};
        float c[HOT_PADDED], d[3], cosine, sine;
        HOT_CHART(load)(block.coefficient[which / KEPT], c);
        HOT_CHART(way)(m, way, d, &cosine, &sine);
        const float close = HOT_CHART(stretch2)(c, m, d, HOT_CAPTURE_CLOSE);
        float sum = close, cosines = close * cosine, sines = close * sine;
        HOT_UNROLL
        for (int step = 1; step < HOT_CAPTURE_WAYS; step *= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
            cosines += __shfl_xor_sync(0xffffffffu, cosines, step);
            sines += __shfl_xor_sync(0xffffffffu, sines, step);
        }
        const float rest = 1.0f - HOT_CHART(rho)(sum, cosines, sines), nearer = 1.0f - HOT_CAPTURE_MARGIN * rest;
        float nearest = -1.0f; /* the cosine */
        for (unsigned k = which / KEPT * KEPT; k < which / KEPT * KEPT + block.number[which / KEPT]; k++) {
            const float4 other = block.cone[k];
            if (k != which)
                nearest = fmaxf(nearest, fabsf(fmaf(m[0], other.x, fmaf(m[1], other.y, m[2] * other.z))));
        }
        const float halfway = nearest < 0 ? INFINITY : HOT_CHART(halfway)(nearest);
        int low = -1, high = HOT_CAPTURE_DISTANCES; /* the widest that passed, the narrowest that did not */
#pragma unroll 1
        for (int step = 0; step < HOT_CAPTURE_BISECTIONS; step++) {
            const int middle = (low + high) / 2;
            const float distance = block.distance[middle];
            const int passes = distance < halfway && HOT_CHART(stretch2)(c, m, d, distance) <= nearer * nearer;
            if ((__ballot_sync(0xffffffffu, passes) >> (lane & 24u) & 255u) == 255u)
                low = middle;
            else
                high = middle;
        }
        if (way == 0 && i < block.maxima) {
            const float narrow = HOT_CAPTURE_NARROW * rest;
            block.cone[which].w = HOT_CHART(cosine2)(!(rest > 0) ? 0
                                                     : low < 0   ? narrow
                                                                 : HOT_CAPTURE_INNER * block.distance[low]);
            if (args.residual) {
                const float4 end = block.end[which];
                block.residual[which] = HOT_CHART(residual)(args, first + which / KEPT, end.x, end.y, end.z,
                                                            block.factor[which / KEPT]);
            }
        }
    }
}

/* Merging the ends of many starts on the GPU: a template per order, after starts_step.h of the same order. */

#define TERMS ((HOT_ORDER + 1) * (HOT_ORDER + 2) / 2)
#define PITCH (TERMS | 1) /* odd: neighbouring tensors' values lie in different banks */

struct HOT_STARTS(memory) {
    double tensor[TENSORS][PITCH];
    double scale[TENSORS];
    float maxima[TENSORS][4 * ENDS + 1]; /* hot_maximum; odd, as above */
    unsigned short count[TENSORS], begin[TENSORS + 1]; /* how many ends; where they begin when numbered throughout */
    unsigned char state[TENSORS];
};

/* Functions of their own: what they keep in registers is kept nowhere else. */
static __device__ __noinline__ double HOT_STARTS(value)(const merge_job &job, const double *tensor, unsigned start)
{
    const double *x = job.wide + 3 * (size_t)start;
    return HOT_JOIN(HOT_JOIN(hot_form_value_, HOT_ORDER), _f64)(tensor, x[0], x[1], x[2]);
}

/* Where a start has ended, and the maximum there; of value 0 when there is none that counts. */
static __device__ __noinline__ float4 HOT_STARTS(refine)(const double *tensor, double scale, float x, float y, float z)
{
    double point[3] = {x, y, z}, value;
    const bool good = HOT_STARTS(settle)(tensor, scale, point, &value) && value > HOT_DIRECTIONS_ZERO * scale;
    return make_float4((float)point[0], (float)point[1], (float)point[2], good ? (float)value : 0.0f);
}

/* The block's tensors, and which of them need to be looked at: four threads each. */
static __device__ __forceinline__ void HOT_STARTS(load)(const merge_job &job, HOT_STARTS(memory) &memory, size_t first,
                                                        unsigned tensors)
{
    for (unsigned t = threadIdx.x / 32; t < tensors; t += WARPS)
        for (unsigned k = threadIdx.x % 32; k < TERMS; k += 32)
            memory.tensor[t][k] = (double)job.tensors[(first + t) * job.stride + k];
    __syncthreads();
    const unsigned t = threadIdx.x / 4, quarter = threadIdx.x % 4;
    const bool here = t < tensors && (!job.mask || job.mask[first + t]);
    const double *tensor = memory.tensor[here ? t : 0];
    double scale = 0, bound = 0;
    bool finite = true;
    for (unsigned k = quarter; k < TERMS; k += 4) {
        const double size = fabs(tensor[k]);
        finite &= size <= 3.402823466e38;
        scale = fmax(scale, size);
        bound += size * job.multiplicity[k];
    }
    for (int step = 1; step < 4; step *= 2) {
        finite &= __shfl_xor_sync(ALL, (int)finite, step) != 0;
        scale = fmax(scale, __shfl_xor_sync(ALL, scale, step));
        bound += __shfl_xor_sync(ALL, bound, step);
    }
    /* Whether it has relief (has_relief in directions_starts.c): mostly four starts are enough; else all, by the whole
     * warp. */
    const unsigned lane = threadIdx.x % 32;
    bool relief = job.starts < HOT_STARTS_RELIEF;
    double high = HOT_STARTS(value)(job, tensor, min(quarter, job.starts - 1)), low = high;
    for (int step = 1; step < 4; step *= 2) {
        high = fmax(high, __shfl_xor_sync(ALL, high, step));
        low = fmin(low, __shfl_xor_sync(ALL, low, step));
    }
    relief |= high - low >= job.min_relative_range * bound;
    for (unsigned open = __ballot_sync(ALL, quarter == 0 && here && finite && !relief); open; open &= open - 1) {
        const unsigned whose = __ffs(open) - 1;
        const double *other = memory.tensor[(threadIdx.x - lane + whose) / 4];
        high = low = HOT_STARTS(value)(job, other, min(lane, job.starts - 1));
        for (unsigned s = lane + 32; s < job.starts; s += 32) {
            const double value = HOT_STARTS(value)(job, other, s);
            high = fmax(high, value);
            low = fmin(low, value);
        }
        for (int step = 16; step; step /= 2) {
            high = fmax(high, __shfl_xor_sync(ALL, high, step));
            low = fmin(low, __shfl_xor_sync(ALL, low, step));
        }
        if (lane == whose)
            relief = high - low >= job.min_relative_range * fabs(high);
    }
    if (quarter == 0 && t < tensors) {
        memory.scale[t] = scale;
        memory.count[t] = 0;
        memory.state[t] = !here ? MERGE_NONE : !finite ? MERGE_INVALID : relief ? MERGE_LIVE : MERGE_NONE;
    }
    __syncthreads();
}

/* All starts of a tensor that ends in more places than there is room for (a ridge as flat as a ring): by one warp, the
 * largest maximum again and again, every start refined each time. Leaves the kept ones in `maxima`, returns how
 * many. */
static __device__ __noinline__ unsigned HOT_STARTS(crowd)(const merge_job &job, const double *tensor, double scale,
                                                          const float *x, const int32_t *iterations, float *maxima)
{
    const unsigned lane = threadIdx.x % 32;
    int found = 0;
    while (found < job.keep) {
        float4 best = make_float4(0, 0, 0, 0);
        unsigned from = ~0u;
        for (unsigned s = lane; s < job.starts; s += 32) {
            if (iterations[s] < 0)
                continue;
            const float *end = x + 3 * (size_t)s;
            const float4 m = HOT_STARTS(refine)(tensor, scale, end[0], end[1], end[2]);
            bool alone = m.w > best.w;
            for (int i = 0; i < found && alone; i++) {
                const float *kept = maxima + 4 * i;
                const float cosine = m.x * kept[1] + m.y * kept[2] + m.z * kept[3];
                alone = cosine * cosine <= job.apart;
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
        if (!(highest > 0) || (found > 0 && highest < job.threshold * maxima[0]))
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

/* Where a lane's EACH starts from base on end; a bit for each that has converged. */
static __device__ __forceinline__ unsigned HOT_STARTS(fetch)(const merge_job &job, size_t tensor, unsigned base,
                                                             float x[EACH][3])
{
    const unsigned own = base + EACH * (threadIdx.x % 32);
    const float *from = job.x + 3 * (tensor * job.starts + own);
    const int32_t *iterations = job.iterations + tensor * job.starts + own;
    unsigned open = 0;
    if (job.starts % EACH == 0) { /* then all rows begin at 16 bytes */
        if (own < job.starts) {
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
        if (own + i < job.starts && iterations[i] >= 0) {
            open |= 1u << i;
            for (int d = 0; d < 3; d++)
                x[i][d] = from[3 * i + d];
        }
    return open;
}

/* Where the starts of each tensor end, every place once, in the order of the starts: a warp takes a tensor, and reads
 * the next one's meanwhile. */
static __device__ __forceinline__ void HOT_STARTS(gather)(const merge_job &job, HOT_STARTS(memory) &memory,
                                                          size_t first, unsigned tensors)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float next[EACH][3];
    unsigned next_open = 0;
    if (warp < tensors && memory.state[warp] == MERGE_LIVE)
        next_open = HOT_STARTS(fetch)(job, first + warp, 0, next);
    for (unsigned t = warp; t < tensors; t += WARPS) {
        float x[EACH][3];
        float *maxima = memory.maxima[t];
        unsigned open = next_open, count = 0, base = 0;
#pragma unroll
        for (unsigned i = 0; i < EACH; i++)
            for (int d = 0; d < 3; d++)
                x[i][d] = next[i][d];
        next_open = 0;
        if (t + WARPS < tensors && memory.state[t + WARPS] == MERGE_LIVE)
            next_open = HOT_STARTS(fetch)(job, first + t + WARPS, 0, next);
        if (memory.state[t] != MERGE_LIVE)
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
            for (unsigned lanes; count <= ENDS && (lanes = __ballot_sync(ALL, open != 0)) != 0; count++) {
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
                if (count < ENDS && lane < 3)
                    maxima[4 * count + 1 + lane] = lane == 0 ? m[0] : lane == 1 ? m[1] : m[2];
            }
            __syncwarp();
            base += 32 * EACH;
            if (base >= job.starts || count > ENDS)
                break;
            open = HOT_STARTS(fetch)(job, first + t, base, x);
        }
        if (count > ENDS)
            count = HOT_STARTS(crowd)(job, memory.tensor[t], memory.scale[t], job.x + (first + t) * job.starts * 3,
                                      job.iterations + (first + t) * job.starts, maxima);
        if (lane == 0)
            memory.count[t] = (unsigned short)count;
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(32 * WARPS, MERGE_RESIDENT)
    HOT_STARTS(merge_kernel)(const __grid_constant__ merge_job job)
{
    extern __shared__ __align__(16) unsigned char shared_memory[];
    HOT_STARTS(memory) &memory = *reinterpret_cast<HOT_STARTS(memory) *>(shared_memory);
    const size_t first = (size_t)blockIdx.x * TENSORS;
    const unsigned tensors = (unsigned)min((size_t)TENSORS, job.count - first);
    HOT_STARTS(load)(job, memory, first, tensors);
    HOT_STARTS(gather)(job, memory, first, tensors);
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
    /* Each end to its maximum: a thread takes one. */
    const unsigned total = memory.begin[TENSORS];
    for (unsigned i = threadIdx.x; i < total; i += 32 * WARPS) {
        unsigned t = 0;
        for (unsigned step = TENSORS / 2; step; step /= 2)
            t += memory.begin[t + step] <= i ? step : 0;
        float *m = memory.maxima[t] + 4 * (i - memory.begin[t]);
        const float4 refined = HOT_STARTS(refine)(memory.tensor[t], memory.scale[t], m[1], m[2], m[3]);
        m[0] = refined.w;
        m[1] = refined.x;
        m[2] = refined.y;
        m[3] = refined.z;
    }
    __syncthreads();
    const unsigned t = threadIdx.x;
    if (t < tensors) {
        const int found = hot_cluster(job.keep, job.threshold, job.apart, (hot_maximum *)memory.maxima[t],
                                      memory.count[t], job.directions + (first + t) * 3 * job.keep);
        if (job.found)
            job.found[first + t] = (unsigned char)(memory.state[t] == MERGE_INVALID ? HOT_DIRECTIONS_INVALID : found);
    }
}

#undef TERMS
#undef PITCH

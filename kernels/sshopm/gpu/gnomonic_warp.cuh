/* SS-HOPM without a shift in a chart (gnomonic.h): a template per order. A warp takes a handful of tensors, lays
 * their polynomials in shared memory, and its lanes draw starts from one queue over all of them: a lane whose start has
 * converged stores it and takes the next, so that nobody waits for the slowest start but at the queue's end.
 *
 * To convergence every start makes some steps, all lanes together, and those that are not there yet are listed and
 * drawn from the list; every fourth step is looked at (gnomonic_round.cuh). Of few tensors a block takes one
 * (gnomonic_block.cuh).
 *
 * The steps stand in a loop that is not unrolled. Of an instruction's three operands two can be read from the registers
 * in time, so what counts is that u or v is still at hand from the instruction before; the compiler sees to that in a
 * short loop (37 cycles a step at order 4, counted in its code, and measured), and not in an unrolled one (48). */
#include "gnomonic_item.cuh"
#include "gnomonic_round.cuh"

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
static __device__ __forceinline__ int HOT_CHART(prepare)(const hot_sshopm_args &args, const chart_constants &constants,
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
        const float *from = (const float *)args.tensors + (first + place) * args.stride;
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
                    store_special<float>(args, finite ? 1 : 2, first + place, start);
                else
                    HOT_CHART(plain)(args, constants, first + place, start, largest > 1 ? 0x1p-120f : 0x1p126f);
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

/* Where the items of a warp's share lie in shared memory; item = slot x starts + start. */
struct HOT_CHART(memory) {
    const float2 *entrance;               /* the starts in the chart, of the block; NULL: too many */
    struct HOT_CHART(slots) *slots;
    float2 *ends;                         /* where an item is, or has ended */
    float *stage;                         /* a row of x */
    unsigned short *list;                 /* items that go on */
};

static __device__ __forceinline__ struct HOT_CHART(memory)
    HOT_CHART(divide)(const hot_sshopm_args &args, const chart_constants &constants, float4 *all)
{
    float2 *entrance = (float2 *)all;
    for (unsigned s = threadIdx.x; s < constants.entrance; s += blockDim.x)
        entrance[s] = chart_enter(args, constants, s < args.starts ? s : 0);
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
static __device__ __forceinline__ unsigned HOT_CHART(all)(const hot_sshopm_args &args, const chart_constants &constants,
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
        float2 at = memory.entrance ? memory.entrance[number] : chart_enter(args, constants, number);
        int steps = 0;
        const int done = HOT_CHART(round)(c, &at, constants.plain, memory.slots->limit2[from_slot], &steps,
                                          args.max_iterations, 1);
        const int open = !done && item < length;
        const unsigned others = __ballot_sync(0xffffffffu, open);
        if (item < length)
            memory.ends[item] = at;
        if (open)
            memory.list[listed + __popc(others & ((1u << lane) - 1))] = (unsigned short)item;
        else if (args.iterations && item < length) /* the end takes it from there, and gives it a sign */
            args.iterations[(share.first + memory.slots->place[from_slot]) * args.starts + number] = steps;
        listed += __popc(others);
        start += 32;
    }
    __syncwarp();
    return listed;
}

/* The results, all lanes together. */
static __device__ __forceinline__ void HOT_CHART(results)(const hot_sshopm_args &args, const chart_constants &constants,
                                                          const chart_share &share,
                                                          const struct HOT_CHART(memory) &memory, unsigned length,
                                                          int exact)
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
            const int steps = exact             ? args.max_iterations
                              : args.iterations ? args.iterations[tensor * args.starts + number]
                                                : 1;
            HOT_CHART(finish)(args, constants, tensor, number, c, end.x, end.y, memory.slots->factor[slot],
                              memory.slots->limit2[slot], steps, stage);
        }
        start += 32;
    }
}

/* constants.plain steps of every start of a share, exactly, and the results. */
static __device__ __forceinline__ void HOT_CHART(fixed)(const hot_sshopm_args &args, const chart_constants &constants,
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
        const float2 from = memory.entrance ? memory.entrance[number] : chart_enter(args, constants, number);
        float u = from.x, v = from.y, gz;
#pragma unroll 1
        for (int k = constants.plain; k > 0; k--)
            HOT_CHART(step)(c, &u, &v, &gz);
        if (base + lane < length)
            HOT_CHART(finish)(args, constants, share.first + memory.slots->place[slot], number, c, u, v,
                              memory.slots->factor[slot], memory.slots->limit2[slot], args.max_iterations, stage);
        start += 32;
    }
}

/* The same; the results come when all steps have been made. Beside what it takes to store them, those of order 8 are a
 * sixth slower. */
static __device__ __forceinline__ void HOT_CHART(fixed_first)(const hot_sshopm_args &args,
                                                              const chart_constants &constants,
                                                              const chart_share &share,
                                                              const struct HOT_CHART(memory) &memory, unsigned length)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned slot = 0, start = lane;
    for (unsigned base = 0; base < length; base += 32) {
        while (start >= share.starts) {
            start -= share.starts;
            slot++;
        }
        const unsigned item = base + lane, from_slot = item < length ? slot : 0,
                       number = share.start + (item < length ? start : 0);
        float c[HOT_PADDED], gz;
        HOT_CHART(load)(memory.slots->coefficient[from_slot], c);
        const float2 from = memory.entrance ? memory.entrance[number] : chart_enter(args, constants, number);
        float u = from.x, v = from.y;
#pragma unroll 1
        for (int k = constants.plain; k > 0; k--)
            HOT_CHART(step)(c, &u, &v, &gz);
        if (item < length)
            memory.ends[item] = make_float2(u, v);
        start += 32;
    }
    __syncwarp();
    HOT_CHART(results)(args, constants, share, memory, length, 1);
}

/* The listed ones, to their ends. */
static __device__ __forceinline__ void HOT_CHART(rest)(const hot_sshopm_args &args, const chart_constants &constants,
                                                       const chart_share &share, const struct HOT_CHART(memory) &memory,
                                                       unsigned listed)
{
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
    unsigned next = 0, mine = 0;
    int active = 0, steps = 0;
    float c[HOT_PADDED], limit2 = 0;
    float2 at = make_float2(0, 0);
    HOT_UNROLL
    for (int k = 0; k < HOT_PADDED; k++)
        c[k] = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(0xffffffffu, !active);
        const unsigned free = __popc(idle), left = listed - next;
        if (left > 0 && (free >= constants.refill || free >= left || free == 32)) {
            const unsigned item = next + __popc(idle & before);
            if (!active && item < listed) {
                mine = memory.list[item];
                const unsigned slot = mine / share.starts;
                HOT_CHART(load)(memory.slots->coefficient[slot], c);
                limit2 = memory.slots->limit2[slot];
                at = memory.ends[mine];
                steps = constants.plain;
                active = 1;
            }
            next += min(free, left);
        } else if (free == 32) {
            break;
        }
        const int count = min(CHART_ROUND, args.max_iterations - steps);
        const int done = HOT_CHART(round)(c, &at, count, limit2, &steps, args.max_iterations, 0);
        if (active && done) {
            active = 0;
            memory.ends[mine] = at;
            if (args.iterations) {
                const unsigned slot = mine / share.starts;
                args.iterations[(share.first + memory.slots->place[slot]) * args.starts + share.start + mine -
                                slot * share.starts] = steps;
            }
        }
    }
    __syncwarp();
}

template <bool EXACT>
static __device__ __forceinline__ void HOT_CHART(shares)(const hot_sshopm_args &args, const chart_constants &constants)
{
    extern __shared__ float4 shared_floats[];
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize(); /* it may have been launched while the kernel before it still ran */
    const struct HOT_CHART(memory) memory = HOT_CHART(divide)(args, constants, shared_floats);
    chart_share share;
    for (size_t turn = 0;; turn++) {
        const int more = chart_take(args, constants, turn, &share);
        unsigned length = 0;
        __syncwarp();
        if (more)
            length = HOT_CHART(prepare)(args, constants, share, memory.slots, EXACT) * share.starts;
        if (turn == 0) /* for the entrance */
            __syncthreads();
        if (!more)
            break;
        if (EXACT) {
            if (HOT_ORDER == 8)
                HOT_CHART(fixed_first)(args, constants, share, memory, length);
            else
                HOT_CHART(fixed)(args, constants, share, memory, length);
            continue;
        }
        const unsigned listed = HOT_CHART(all)(args, constants, share, memory, length);
        HOT_CHART(rest)(args, constants, share, memory, listed);
        HOT_CHART(results)(args, constants, share, memory, length, 0);
    }
}

static __global__ void __launch_bounds__(128, HOT_JOIN(CHART_CONVERGE_, HOT_ORDER))
    HOT_CHART(converge)(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ chart_constants constants)
{
    HOT_CHART(shares)<false>(args, constants);
}

/* constants.plain steps, exactly. */
static __global__ void __launch_bounds__(128, HOT_JOIN(CHART_REPEAT_, HOT_ORDER))
    HOT_CHART(repeat)(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ chart_constants constants)
{
    HOT_CHART(shares)<true>(args, constants);
}

#include "gnomonic_block.cuh"
#include "gnomonic_undef.cuh"

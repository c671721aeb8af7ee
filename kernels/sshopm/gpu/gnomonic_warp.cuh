/* SS-HOPM in the gnomonic projection (gnomonic_step.cuh), without a shift or with one for each tensor, for
 * many tensors, a warp per handful of them.
 *
 * A warp takes up to GNOMONIC_SLOTS tensors, or a part of the starts of fewer (its share), and lays their polynomials
 * in shared memory. Of the starts each lane has one at a time:
 *
 *   gnomonic_converge   every start makes the first steps, all lanes together; those that have not converged then are
 *                       listed, and lanes draw from the list: a lane whose start has converged takes the next, so that
 *                       none waits for the slowest but at the list's end. Every fourth step is followed by a
 *                       convergence check.
 *   gnomonic_repeat     every start makes the same number of steps.
 *
 * Few tensors are for gnomonic_block.cuh. The step itself: gnomonic_step, gnomonic_step.cuh.
 *
 * The loop over steps is not unrolled. Of an instruction's three operands two can be read from the registers in time,
 * so that u or v should be reused from the instruction before; the compiler arranges that in a short loop (37 cycles a
 * step at order 4, counted in its code, and measured), but not in an unrolled loop (48). */
#pragma once

#include "gnomonic_item.cuh"
#include "gnomonic_step.cuh"

enum {
    GNOMONIC_SLOTS = 5,      /* tensors of a warp, at most */
    GNOMONIC_PART = 256,     /* starts of a tensor in a warp's share, at most */
    GNOMONIC_PROJECTED = 512 /* starts whose (u, v) a block keeps, at most */
};

/* Blocks per multiprocessor that registers must allow. More, and the operands of the steps meet in the same bank. */
template <int ORDER> struct gnomonic_tuning;
template <> struct gnomonic_tuning<4> {
    enum { CONVERGE = 6, REPEAT = 4, FEW = 8 };
};
template <> struct gnomonic_tuning<6> {
    enum { CONVERGE = 4, REPEAT = 4, FEW = 4 };
};
template <> struct gnomonic_tuning<8> {
    enum { CONVERGE = 3, REPEAT = 3, FEW = 3 };
};

/* A warp's share of the work: tensors first ... and of each the starts start ... */
struct gnomonic_share {
    size_t first, start;
    unsigned tensors, starts;
};

/* The turn-th share of this warp; 0 when there is none. */
static __device__ __forceinline__ int gnomonic_next_share(const hot_sshopm_args &args,
                                                          const gnomonic_constants &constants, size_t turn,
                                                          gnomonic_share *share)
{
    const size_t index = (turn * gridDim.x + blockIdx.x) * 4 + threadIdx.x / 32, group = index / constants.parts;
    share->first = group * constants.per_warp;
    share->start = (index - group * constants.parts) * constants.part;
    if (share->first >= args.count)
        return 0;
    const size_t left = args.count - share->first, starts = args.starts - share->start;
    share->tensors = left < constants.per_warp ? (unsigned)left : constants.per_warp;
    share->starts = starts < constants.part ? (unsigned)starts : constants.part;
    return 1;
}

/* Shared memory of a warp: the tensors, a limit and a place in the list per start, and a row of x for three-way stores;
 * whole float4s, so that the next warp's begins with one. */
static __host__ __device__ __forceinline__ size_t gnomonic_bytes(size_t slots, const gnomonic_constants &constants)
{
    const size_t starts = constants.per_warp * constants.part;
    return (slots + starts * (sizeof(float2) + sizeof(unsigned short)) + 96 * sizeof(float) + 15) / 16 * 16;
}

/* A warp's tensors. */
template <int ORDER> struct gnomonic_slots {
    float4 coefficient[GNOMONIC_SLOTS][gnomonic<ORDER>::QUADS];
    float4 tensor[(gnomonic<ORDER>::UNIQUE + 3) / 4]; /* the one that is being prepared */
    float limit2[GNOMONIC_SLOTS];                     /* square of tolerance * scale, in the scaled tensor's units */
    float factor[GNOMONIC_SLOTS];                     /* the power of two it was scaled with, times 2^10 */
    uint32_t place[GNOMONIC_SLOTS];                   /* which of the warp's tensors */
};

/* The results of a warp's starts on a tensor that is not iterated in the projection. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ void
gnomonic_store_odd(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                   size_t tensor, int finite, int zero, float largest)
{
    const int lane = threadIdx.x % 32;
    for (size_t start = share.start + lane; start < share.start + share.starts; start += 32) {
        if (!finite || zero)
            store_special<float>(args, finite ? 1 : 2, tensor, start);
        else
            gnomonic_fallback<ORDER, SHIFTED>(args, constants, tensor, start, largest > 1 ? 0x1p-120f : 0x1p126f);
    }
}

/* The coefficients of a tensor's polynomials, those of the lane in sums: the scaled tensor times the matrix. column:
 * the lane's column of the matrix, if it is kept in registers (`keeps`). */
template <int ORDER>
static __device__ __forceinline__ void gnomonic_coefficients(const gnomonic_constants &constants, const float *tensor,
                                                             const float *column, bool keeps, float *sums)
{
    using G = gnomonic<ORDER>;
    enum { KEEPS = ORDER == 4 };
    const int lane = threadIdx.x % 32;
    HOT_UNROLL
    for (int i = 0; keeps && i < G::UNIQUE; i++)
        sums[0] = fmaf(tensor[i], column[KEEPS ? i : 0], sums[0]);
#pragma unroll 15
    for (int i = 0; !keeps && i < G::UNIQUE; i++) {
        const float value = tensor[i];
        HOT_UNROLL
        for (int r = 0; r < (G::TERMS + 31) / 32; r++)
            if (lane + 32 * r < G::TERMS)
                sums[r] = fmaf(value, constants.matrix[i * G::TERMS + lane + 32 * r], sums[r]);
    }
}

/* The tensors of a warp: those that can be iterated into slots, the others' results at once. Returns how many slots
 * there are. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ int gnomonic_prepare(const hot_sshopm_args &args, const gnomonic_constants &constants,
                                                       const gnomonic_share &share, gnomonic_slots<ORDER> *slots,
                                                       int exact)
{
    using G = gnomonic<ORDER>;
    enum { KEEPS = ORDER == 4 }; /* whether a lane's column of the matrix has room in the registers */
    const size_t first = share.first;
    const int lane = threadIdx.x % 32;
    int used = 0;
    const float *multiplicity = constants.matrix + G::UNIQUE * G::TERMS;
    float times[(G::UNIQUE + 31) / 32];
    HOT_UNROLL
    for (int r = 0; r < (G::UNIQUE + 31) / 32; r++)
        times[r] = lane + 32 * r < G::UNIQUE ? multiplicity[lane + 32 * r] : 0;
    float column[KEEPS ? G::UNIQUE : 1];
    HOT_UNROLL
    for (int i = 0; KEEPS && exact && i < G::UNIQUE; i++)
        column[KEEPS ? i : 0] = lane < G::TERMS ? constants.matrix[i * G::TERMS + lane] : 0;
    for (uint32_t place = 0; place < share.tensors; place++) {
        const float *from = (const float *)args.tensors + (first + place) * args.stride;
        float a[(G::UNIQUE + 31) / 32], largest;
        const int finite = gnomonic_read<ORDER>(from, times, a, &largest);
        if (gnomonic_is_odd(finite, largest)) {
            gnomonic_store_odd<ORDER, SHIFTED>(args, constants, share, first + place, finite,
                                               gnomonic_is_zero<ORDER>(a), largest);
            continue;
        }
        float factor = __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u)); /* largest in [1, 2) */
        float sums[(G::TERMS + 31) / 32];
        HOT_UNROLL
        for (int r = 0; r < (G::TERMS + 31) / 32; r++)
            sums[r] = 0;
        __syncwarp(); /* the tensor before has been read */
        HOT_UNROLL
        for (int r = 0; r < (G::UNIQUE + 31) / 32; r++)
            if (lane + 32 * r < G::UNIQUE)
                ((float *)slots->tensor)[lane + 32 * r] = a[r] * factor * 0x1p-10f;
        __syncwarp();
        if (SHIFTED) {
            const float shift = gnomonic_shift<ORDER>(constants, (const float *)slots->tensor);
            __syncwarp(); /* all have read it */
            HOT_UNROLL
            for (int r = 0; r < (G::UNIQUE + 31) / 32; r++)
                if (lane + 32 * r < G::UNIQUE)
                    ((float *)slots->tensor)[lane + 32 * r] =
                        fmaf(shift, multiplicity[G::UNIQUE + lane + 32 * r], a[r] * factor * 0x1p-10f);
            __syncwarp();
        }
        gnomonic_coefficients<ORDER>(constants, (const float *)slots->tensor, column, KEEPS && exact, sums);
        float *to = (float *)slots->coefficient[used];
        HOT_UNROLL
        for (int r = 0; r < (G::TERMS + 31) / 32; r++)
            if (lane + 32 * r < G::PADDED)
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

/* The layout of a warp's share in shared memory; item = slot x starts + start. */
template <int ORDER> struct gnomonic_memory {
    const float2 *projected; /* (u, v) of the starts, of the block; NULL: too many */
    gnomonic_slots<ORDER> *slots;
    float2 *limits;       /* where an item is, or has ended */
    float *stage;         /* a row of x */
    unsigned short *list; /* items that continue */
};

template <int ORDER>
static __device__ __forceinline__ gnomonic_memory<ORDER>
gnomonic_partition(const hot_sshopm_args &args, const gnomonic_constants &constants, float4 *all)
{
    float2 *projected = (float2 *)all;
    for (unsigned s = threadIdx.x; s < constants.projected; s += blockDim.x)
        projected[s] = gnomonic_project(args, constants, s < args.starts ? s : 0);
    gnomonic_memory<ORDER> memory;
    memory.projected = constants.projected ? projected : NULL;
    memory.slots =
        (gnomonic_slots<ORDER> *)((char *)(projected + constants.projected) +
                                  threadIdx.x / 32 * gnomonic_bytes(sizeof(gnomonic_slots<ORDER>), constants));
    memory.limits = (float2 *)(memory.slots + 1);
    memory.stage = (float *)(memory.limits + constants.per_warp * constants.part);
    memory.list = (unsigned short *)(memory.stage + 96);
    return memory;
}

/* The first steps of every start of a share, up to the first convergence check; those that have not converged are
 * listed. Returns how many are. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ unsigned
gnomonic_first_steps(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                     const gnomonic_memory<ORDER> &memory, unsigned length)
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
        float c[gnomonic<ORDER>::PADDED];
        gnomonic_load<ORDER>(memory.slots->coefficient[from_slot], c);
        float2 at = memory.projected ? memory.projected[number] : gnomonic_project(args, constants, number);
        int steps = 0;
        const int done = gnomonic_iterate<ORDER, SHIFTED>(c, &at, constants.first_steps,
                                                          memory.slots->limit2[from_slot], &steps,
                                                          gnomonic_most_steps<SHIFTED>(args), 1);
        const int open = !done && item < length;
        const unsigned others = __ballot_sync(0xffffffffu, open);
        if (item < length)
            memory.limits[item] = at;
        if (open)
            memory.list[listed + __popc(others & ((1u << lane) - 1))] = (unsigned short)item;
        else if (args.iterations && item < length) /* gnomonic_finish takes it from there, and gives it a sign */
            args.iterations[(share.first + memory.slots->place[from_slot]) * args.starts + number] = steps;
        listed += __popc(others);
        start += 32;
    }
    __syncwarp();
    return listed;
}

/* The results, all lanes together. `exact`: after args.max_iterations steps. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ void
gnomonic_store_limits(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                      const gnomonic_memory<ORDER> &memory, unsigned length, int exact)
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
            float c[gnomonic<ORDER>::PADDED];
            const float2 limit = memory.limits[base + lane];
            gnomonic_load<ORDER>(memory.slots->coefficient[slot], c);
            const size_t tensor = share.first + memory.slots->place[slot], number = share.start + start;
            const int steps = exact             ? args.max_iterations
                              : args.iterations ? args.iterations[tensor * args.starts + number]
                                                : 1;
            gnomonic_finish<ORDER, SHIFTED>(args, constants, tensor, number, c, limit.x, limit.y,
                                            memory.slots->factor[slot], memory.slots->limit2[slot], steps, stage);
        }
        start += 32;
    }
}

/* constants.first_steps steps of every start of a share, and the results. */
template <int ORDER>
static __device__ __forceinline__ void
gnomonic_fixed_steps(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                     const gnomonic_memory<ORDER> &memory, unsigned length)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned slot = 0, start = lane, loaded = ~0u;
    float *stage = share.starts % 32 == 0 ? memory.stage : NULL;
    float c[gnomonic<ORDER>::PADDED];
#pragma unroll 1
    for (unsigned base = 0; base < length; base += 32) {
        while (start >= share.starts) {
            start -= share.starts;
            slot++;
        }
        if (base + lane >= length) /* idle */
            slot = start = 0;
        const unsigned number = share.start + start;
        if (ORDER > 4 || slot != loaded) /* more than those of order 4 do not stay in the registers */
            gnomonic_load<ORDER>(memory.slots->coefficient[slot], c);
        loaded = slot;
        const float2 from = memory.projected ? memory.projected[number] : gnomonic_project(args, constants, number);
        float u = from.x, v = from.y, gz;
#pragma unroll 1
        for (int k = constants.first_steps; k > 0; k--)
            gnomonic_step<ORDER>(c, &u, &v, &gz);
        if (base + lane < length)
            gnomonic_finish<ORDER>(args, constants, share.first + memory.slots->place[slot], number, c, u, v,
                                   memory.slots->factor[slot], memory.slots->limit2[slot], args.max_iterations, stage);
        start += 32;
    }
}

/* The same; results are stored when all starts have made their steps. Beside what it takes to store them, the steps of
 * order 8 are a sixth slower. */
template <int ORDER>
static __device__ __forceinline__ void
gnomonic_fixed_steps_kept(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                          const gnomonic_memory<ORDER> &memory, unsigned length)
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
        float c[gnomonic<ORDER>::PADDED], gz;
        gnomonic_load<ORDER>(memory.slots->coefficient[from_slot], c);
        const float2 from = memory.projected ? memory.projected[number] : gnomonic_project(args, constants, number);
        float u = from.x, v = from.y;
#pragma unroll 1
        for (int k = constants.first_steps; k > 0; k--)
            gnomonic_step<ORDER>(c, &u, &v, &gz);
        if (item < length)
            memory.limits[item] = make_float2(u, v);
        start += 32;
    }
    __syncwarp();
    gnomonic_store_limits<ORDER, false>(args, constants, share, memory, length, 1);
}

/* The listed starts, to convergence: lanes refilled from the list. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ void
gnomonic_remaining_steps(const hot_sshopm_args &args, const gnomonic_constants &constants, const gnomonic_share &share,
                         const gnomonic_memory<ORDER> &memory, unsigned listed)
{
    const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
    const int most = gnomonic_most_steps<SHIFTED>(args);
    unsigned next = 0, mine = 0;
    int active = 0, steps = 0;
    float c[gnomonic<ORDER>::PADDED], limit2 = 0;
    float2 at = make_float2(0, 0);
    HOT_UNROLL
    for (int k = 0; k < gnomonic<ORDER>::PADDED; k++)
        c[k] = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(0xffffffffu, !active);
        const unsigned free = __popc(idle), left = listed - next;
        if (left > 0 && (free >= constants.refill || free >= left || free == 32)) {
            const unsigned item = next + __popc(idle & before);
            if (!active && item < listed) {
                mine = memory.list[item];
                const unsigned slot = mine / share.starts;
                gnomonic_load<ORDER>(memory.slots->coefficient[slot], c);
                limit2 = memory.slots->limit2[slot];
                at = memory.limits[mine];
                steps = constants.first_steps;
                active = 1;
            }
            next += min(free, left);
        } else if (free == 32) {
            break;
        }
        const int count = min(GNOMONIC_STEPS_PER_CHECK, most - steps);
        const int done = gnomonic_iterate<ORDER, SHIFTED>(c, &at, count, limit2, &steps, most, 0);
        if (active && done) {
            active = 0;
            memory.limits[mine] = gnomonic_end<SHIFTED>(at, steps);
            if (args.iterations) {
                const unsigned slot = mine / share.starts;
                args.iterations[(share.first + memory.slots->place[slot]) * args.starts + share.start + mine -
                                slot * share.starts] = steps;
            }
        }
    }
    __syncwarp();
}

template <int ORDER, bool EXACT, bool SHIFTED>
static __device__ __forceinline__ void gnomonic_shares(const hot_sshopm_args &args, const gnomonic_constants &constants)
{
    extern __shared__ float4 shared_floats[];
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize(); /* it may have been launched while the kernel before it still ran */
    const gnomonic_memory<ORDER> memory = gnomonic_partition<ORDER>(args, constants, shared_floats);
    gnomonic_share share;
    for (size_t turn = 0;; turn++) {
        const int more = gnomonic_next_share(args, constants, turn, &share);
        unsigned length = 0;
        __syncwarp();
        if (more)
            length = gnomonic_prepare<ORDER, SHIFTED>(args, constants, share, memory.slots, EXACT) * share.starts;
        if (turn == 0) /* for the projected starts */
            __syncthreads();
        if (!more)
            break;
        if (EXACT) {
            if (ORDER == 8)
                gnomonic_fixed_steps_kept<ORDER>(args, constants, share, memory, length);
            else
                gnomonic_fixed_steps<ORDER>(args, constants, share, memory, length);
            continue;
        }
        const unsigned listed = gnomonic_first_steps<ORDER, SHIFTED>(args, constants, share, memory, length);
        gnomonic_remaining_steps<ORDER, SHIFTED>(args, constants, share, memory, listed);
        gnomonic_store_limits<ORDER, SHIFTED>(args, constants, share, memory, length, 0);
    }
}

template <int ORDER, bool SHIFTED>
static __global__ void __launch_bounds__(128, gnomonic_tuning<ORDER>::CONVERGE)
    gnomonic_converge(const __grid_constant__ hot_sshopm_args args,
                      const __grid_constant__ gnomonic_constants constants)
{
    gnomonic_shares<ORDER, false, SHIFTED>(args, constants);
}

/* Every start makes constants.first_steps steps. */
template <int ORDER>
static __global__ void __launch_bounds__(128, gnomonic_tuning<ORDER>::REPEAT)
    gnomonic_repeat(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ gnomonic_constants constants)
{
    gnomonic_shares<ORDER, true, false>(args, constants);
}

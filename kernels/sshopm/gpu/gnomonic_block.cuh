/* SS-HOPM in the gnomonic projection (gnomonic_step.cuh), without a shift or with one for each tensor, for
 * few tensors: a block takes one tensor and up to 128 of its starts, one per thread.
 *
 * All make the first steps together; the starts that have not converged are listed and dealt out once more, so that few
 * warps have them, each of which runs until its slowest start has converged. How long that takes decides: a barrier
 * more for a denser list costs more than it saves. */
#pragma once

#include "gnomonic_warp.cuh"

template <int ORDER, bool SHIFTED>
static __global__ void __launch_bounds__(128, gnomonic_tuning<ORDER>::FEW)
    gnomonic_few(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ gnomonic_constants constants)
{
    using G = gnomonic<ORDER>;
    /* warps that make coefficients; values of each of their lanes */
    enum { OWNERS = (G::TERMS + 31) / 32, ROWS = (G::UNIQUE + 31) / 32 };
    __shared__ float4 coefficient[G::QUADS], stage[4][24];
    __shared__ float values[OWNERS][ROWS * 32], factor, limit2;
    __shared__ float2 limits[128];
    __shared__ int steps_of[128], special; /* 1 zero, 2 not finite, 3 at the ends of float's range */
    __shared__ unsigned char list[128];
    __shared__ unsigned listed;
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    const size_t tensor = blockIdx.x / constants.parts;
    const unsigned first = (blockIdx.x - (unsigned)tensor * constants.parts) * 128;
    const unsigned starts = min((unsigned)args.starts - first, 128u);
    /* The tables are older than any kernel that may still run; all else is read after it. */
    float column[G::UNIQUE], times[ROWS], sphere[ROWS];
    HOT_UNROLL
    for (int i = 0; i < G::UNIQUE; i++)
        column[i] = t < G::TERMS ? constants.matrix[i * G::TERMS + t] : 0;
    HOT_UNROLL
    for (int r = 0; r < ROWS; r++)
        times[r] = lane + 32 * r < G::UNIQUE ? constants.matrix[G::UNIQUE * G::TERMS + lane + 32 * r] : 0;
    HOT_UNROLL
    for (int r = 0; r < ROWS; r++)
        sphere[r] =
            SHIFTED && lane + 32 * r < G::UNIQUE ? constants.matrix[G::UNIQUE * (G::TERMS + 1) + lane + 32 * r] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    if (t == 0)
        listed = 0;
    if (warp < OWNERS) {
        const float *from = (const float *)args.tensors + tensor * args.stride;
        float a[ROWS], largest = 0, sum = 0;
        int finite = 1, zero = 1;
        HOT_UNROLL
        for (int r = 0; r < ROWS; r++) {
            a[r] = lane + 32 * r < G::UNIQUE ? from[lane + 32 * r] : 0;
            finite &= fabsf(a[r]) <= 3.402823466e38f;
            zero &= a[r] == 0;
            largest = fmaxf(largest, fabsf(a[r]) * 0x1p-10f * times[r]);
        }
        finite = __all_sync(0xffffffffu, finite);
        zero = __all_sync(0xffffffffu, zero);
        HOT_UNROLL
        for (int step = 16; step; step /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
        const int odd = !finite || !(largest > 0x1p-120f) || !(largest < 0x1p120f);
        const float to_one = __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u));
        HOT_UNROLL
        for (int r = 0; r < ROWS; r++)
            values[warp][lane + 32 * r] = a[r] * to_one * 0x1p-10f;
        __syncwarp();
        if (SHIFTED) {
            const float shift = gnomonic_shift<ORDER>(constants, values[warp]);
            __syncwarp(); /* all have read it */
            HOT_UNROLL
            for (int r = 0; r < ROWS; r++)
                values[warp][lane + 32 * r] = fmaf(shift, sphere[r], a[r] * to_one * 0x1p-10f);
            __syncwarp();
        }
        HOT_UNROLL
        for (int i = 0; i < G::UNIQUE; i++)
            sum = fmaf(values[warp][i], column[i], sum);
        if (t < G::PADDED)
            ((float *)coefficient)[t] = sum;
        if (t == 0) {
            const float limit = constants.tolerance * largest * to_one;
            special = !odd ? 0 : !finite ? 2 : zero ? 1 : 3;
            factor = !odd ? to_one : largest > 1 ? 0x1p-120f : 0x1p126f;
            limit2 = limit * limit;
        }
    }
    float2 at = t < starts ? gnomonic_project(args, constants, first + t) : make_float2(0, 0);
    __syncthreads();
    if (special) {
        if (t < starts && special == 3)
            gnomonic_fallback<ORDER, SHIFTED>(args, constants, tensor, first + t, factor);
        else if (t < starts)
            store_special<float>(args, special, tensor, first + t);
        return;
    }
    float c[G::PADDED];
    gnomonic_load<ORDER>(coefficient, c);
    const int most = gnomonic_most_steps<SHIFTED>(args);
    int steps = 0;
    int open =
        !gnomonic_iterate<ORDER, SHIFTED>(c, &at, constants.first_steps, limit2, &steps, most, 1) & (t < starts);
    limits[t] = at;
    steps_of[t] = steps;
    const unsigned others = __ballot_sync(0xffffffffu, open);
    unsigned place = lane == 0 ? atomicAdd(&listed, (unsigned)__popc(others)) : 0;
    place = __shfl_sync(0xffffffffu, place, 0) + __popc(others & ((1u << lane) - 1));
    if (open)
        list[place] = (unsigned char)t;
    __syncthreads();
    if (warp * 32 < listed) {
        open = t < listed;
        const unsigned mine = open ? list[t] : 0;
        if (open)
            at = limits[mine];
        do {
            const int count = min(GNOMONIC_STEPS_PER_CHECK, most - steps);
            const int done = gnomonic_iterate<ORDER, SHIFTED>(c, &at, count, limit2, &steps, most, 0);
            if (open & done) {
                limits[mine] = gnomonic_end<SHIFTED>(at, steps);
                steps_of[mine] = steps;
                open = 0;
            }
        } while (__any_sync(0xffffffffu, open));
    }
    __syncthreads();
    if (t < starts) {
        gnomonic_load<ORDER>(coefficient, c);
        gnomonic_finish<ORDER, SHIFTED>(args, constants, tensor, first + t, c, limits[t].x, limits[t].y, factor, limit2,
                                        steps_of[t], starts % 32 == 0 ? (float *)stage[warp] : NULL);
    }
}

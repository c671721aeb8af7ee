/* Few tensors: a part of gnomonic_warp.cuh. A block takes one tensor and up to 128 of its starts, one for each thread.
 * All make the first steps together; those that are not there yet are listed and dealt out once more, so that few warps
 * have them, each of which goes on to the end of its slowest. How long that takes decides: a barrier more for a denser
 * list costs more than it saves. */
static __global__ void __launch_bounds__(128, HOT_JOIN(CHART_FEW_, HOT_ORDER))
    HOT_CHART(few)(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ chart_constants constants)
{
    enum { OWNERS = (HOT_TERMS + 31) / 32, ROWS = (HOT_UNIQUE + 31) / 32 }; /* warps that make coefficients; values */
    __shared__ float4 coefficient[HOT_QUADS], stage[4][24];
    __shared__ float values[OWNERS][ROWS * 32], factor, limit2;
    __shared__ float2 ends[128];
    __shared__ int steps_of[128], special; /* 1 zero, 2 not finite, 3 at the ends of float's range */
    __shared__ unsigned char list[128];
    __shared__ unsigned listed;
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    const size_t tensor = blockIdx.x / constants.parts;
    const unsigned first = (blockIdx.x - (unsigned)tensor * constants.parts) * 128;
    const unsigned starts = min((unsigned)args.starts - first, 128u);
    /* The tables are older than any kernel that may still run; all else is read after it. */
    float column[HOT_UNIQUE], times[ROWS];
    HOT_UNROLL
    for (int i = 0; i < HOT_UNIQUE; i++)
        column[i] = t < HOT_TERMS ? constants.matrix[i * HOT_TERMS + t] : 0;
    HOT_UNROLL
    for (int r = 0; r < ROWS; r++)
        times[r] = lane + 32 * r < HOT_UNIQUE ? constants.matrix[HOT_UNIQUE * HOT_TERMS + lane + 32 * r] : 0;
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
            a[r] = lane + 32 * r < HOT_UNIQUE ? from[lane + 32 * r] : 0;
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
        HOT_UNROLL
        for (int i = 0; i < HOT_UNIQUE; i++)
            sum = fmaf(values[warp][i], column[i], sum);
        if (t < HOT_PADDED)
            ((float *)coefficient)[t] = sum;
        if (t == 0) {
            const float limit = constants.tolerance * largest * to_one;
            special = !odd ? 0 : !finite ? 2 : zero ? 1 : 3;
            factor = !odd ? to_one : largest > 1 ? 0x1p-120f : 0x1p126f;
            limit2 = limit * limit;
        }
    }
    float2 at = t < starts ? chart_enter(args, constants, first + t) : make_float2(0, 0);
    __syncthreads();
    if (special) {
        if (t < starts && special == 3)
            HOT_CHART(plain)(args, constants, tensor, first + t, factor);
        else if (t < starts)
            store_special<float>(args, special, tensor, first + t);
        return;
    }
    float c[HOT_PADDED];
    HOT_CHART(load)(coefficient, c);
    int steps = 0;
    int open = !HOT_CHART(round)(c, &at, constants.plain, limit2, &steps, args.max_iterations, 1) & (t < starts);
    ends[t] = at;
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
            at = ends[mine];
        do {
            const int count = min(CHART_ROUND, args.max_iterations - steps);
            const int done = HOT_CHART(round)(c, &at, count, limit2, &steps, args.max_iterations, 0);
            if (open & done) {
                ends[mine] = at;
                steps_of[mine] = steps;
                open = 0;
            }
        } while (__any_sync(0xffffffffu, open));
    }
    __syncthreads();
    if (t < starts) {
        HOT_CHART(load)(coefficient, c);
        HOT_CHART(finish)(args, constants, tensor, first + t, c, ends[t].x, ends[t].y, factor, limit2, steps_of[t],
                          starts % 32 == 0 ? (float *)stage[warp] : NULL);
    }
}

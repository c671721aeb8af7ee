/* Common code of a pass's kernels: weighting a thread's part of T[v], and adding the sums of all warpgroups of a block.
 * d and sum are a thread's part of the result of a warpgroup product of 64 x N: two rows, and of every eight columns
 * the two from 2 (lane % 4) on. (pass_product_sm90a.cu does not use these functions: the compiler would generate other
 * code.) */
#pragma once

#include "wgmma.cuh"

namespace {

/* sum += w d; weight: the thread's first two columns of a row of w. */
template <int HALF>
__device__ __forceinline__ void add_weighted(const float2 *weight, const float (&d)[HALF], float (&sum)[HALF])
{
#pragma unroll
    for (int i = 0; i < HALF / 4; i++) {
        const float2 both = __ldg(weight + 4 * i);
        sum[4 * i] += both.x * d[4 * i], sum[4 * i + 1] += both.y * d[4 * i + 1];
        sum[4 * i + 2] += both.x * d[4 * i + 2], sum[4 * i + 3] += both.y * d[4 * i + 3];
    }
}

/* The first warpgroup's sum becomes that of all, added in their order; through `fold` in shared memory. */
template <int GROUPS, int HALF>
__device__ __forceinline__ void add_groups(int barrier, int group, int thread, float *fold, float (&sum)[HALF])
{
    group_sync(barrier, GROUPS * 128);
    if (group)
#pragma unroll
        for (int i = 0; i < HALF; i++)
            fold[((group - 1) * HALF + i) * 128 + thread] = sum[i];
    group_sync(barrier, GROUPS * 128);
    if (group == 0)
#pragma unroll
        for (int i = 0; i < HALF; i++)
#pragma unroll
            for (int o = 1; o < GROUPS; o++)
                sum[i] += fold[((o - 1) * HALF + i) * 128 + thread];
}

} // namespace

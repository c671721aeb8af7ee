/* Input and output of a voxel: whether it is usable, and its results. Scalar code, the same on CPU and GPU. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "common/portable.h"
#include "signal_plan.h"
#include "symtensor/sphere.h"

/* The flags of a voxel (0: usable) and its b=0 signal. signal: all volumes in the order of the data; given: its b=0
 * signal or NaN for the mean of the b=0 volumes. */
HOT_FN unsigned signal_check_voxel(const signal_plan *plan, const size_t *order, const float *signal, float sigma,
                                   float given, float *s0)
{
    const int weighted = plan->scheme.volumes;
    float high = 0, low = INFINITY, sum_b0 = 0, test = 0;
    int zeros = 0;
    for (int j = 0; j < weighted; j++) {
        float y = signal[order[j]];
        test += y - y; /* NaN if any is NaN or Inf */
        high = y > high ? y : high;
        low = y < low ? y : low;
        zeros += y == 0;
    }
    for (size_t j = (size_t)weighted; j < plan->all_volumes; j++) {
        float y = signal[order[j]];
        test += y - y;
        high = y > high ? y : high;
        low = y < low ? y : low;
        sum_b0 += y;
    }
    *s0 = given == given ? given : sum_b0 / (float)plan->b0_volumes;
    if (!(test == 0) || !(*s0 - *s0 == 0))
        return HOT_VOXEL_NOT_FINITE;
    if (!(*s0 > 0))
        return HOT_VOXEL_NO_B0;
    if (high >= plan->ceiling || zeros == weighted || (low == high && plan->b0_volumes > 0))
        return HOT_VOXEL_CLIPPED;
    if (!(*s0 >= 3 * sigma))
        return HOT_VOXEL_NOISE;
    return 0;
}

/* Zero for a voxel without an answer. */
HOT_FN void signal_write_nothing(const hot_signal_result *result, int max_fibers, size_t voxel, unsigned flags)
{
    for (int i = 0; i < 3 * max_fibers; i++)
        result->directions[voxel * 3 * (size_t)max_fibers + (size_t)i] = 0;
    if (result->found)
        result->found[voxel] = 0;
    if (result->probability)
        for (int k = 0; k < 4; k++)
            result->probability[4 * voxel + (size_t)k] = 0;
    if (result->margin)
        result->margin[voxel] = 0;
    if (result->residual)
        result->residual[voxel] = 0;
    if (result->width)
        result->width[voxel] = 0;
    if (result->flags)
        result->flags[voxel] = (uint8_t)flags;
}

/* The answer of one lane, into the voxel's place. */
HOT_FN void signal_write(const hot_signal_result *result, int max_fibers, int volumes, const signal_result *answer,
                         int lane, size_t voxel)
{
    const int k = answer->k[lane];
    float *out = result->directions + voxel * 3 * (size_t)max_fibers;
    float best = answer->cost[k][lane], next = 1e30f, sum = 0, p[4];
    signal_write_nothing(result, max_fibers, voxel, 0);
    /* largest weight first: how many are larger, ties by place */
    for (int i = 0; i < k; i++) {
        int rank = 0;
        for (int j = 0; j < k; j++)
            rank += answer->w[j][lane] > answer->w[i][lane] || (answer->w[j][lane] == answer->w[i][lane] && j < i);
        float x = answer->v[i][0][lane], y = answer->v[i][1][lane], z = answer->v[i][2][lane];
        float scale = hot_sphere_upper(x, y, z) ? answer->w[i][lane] : -answer->w[i][lane];
        out[3 * rank] = scale * x;
        out[3 * rank + 1] = scale * y;
        out[3 * rank + 2] = scale * z;
    }
    for (int i = 0; i < 4; i++) {
        p[i] = expf(0.5f * (best - answer->cost[i][lane]));
        sum += p[i];
        if (i != k && answer->cost[i][lane] < next)
            next = answer->cost[i][lane];
    }
    if (result->found)
        result->found[voxel] = (uint8_t)k;
    if (result->probability)
        for (int i = 0; i < 4; i++)
            result->probability[4 * voxel + (size_t)i] = p[i] / sum;
    if (result->margin)
        result->margin[voxel] = fminf(0.21714724f * (next - best), 99);
    if (result->residual)
        result->residual[voxel] = sqrtf(answer->chi[lane] / (float)volumes);
    if (result->width)
        result->width[voxel] = answer->tau[lane];
}

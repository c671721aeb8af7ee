/* Best non-negative rank-k of packed tensors: what the backends share. */
#pragma once

#include <hotfiber/lowrank.h>

#include "common/portable.h"
#include "signal/signal_plan.h"
#include "symtensor/sphere.h"

HOT_C_BEGIN

enum { LOWRANK_UNIQUE_MAX = 45 };

typedef struct lowrank_plan {
    int order, unique, max_rank, exact_rank;
    float drop, floor, min_ratio, max_cos;
    double progress[2];
    float multiplicity[LOWRANK_UNIQUE_MAX];
    signal_grid grid;   /* filter: SIGNAL_GRID x unique, multiplicity times monomials; gram: (v_d . v_e)^order */
    float *block;   /* what grid points into */
    size_t block_size;
} lowrank_plan;

/* The results of a few tensors, a lane each: the chosen k, and its terms. */
typedef struct lowrank_answer {
    float v[3][3][SIGNAL_MAX_LANES], w[3][SIGNAL_MAX_LANES], residual[SIGNAL_MAX_LANES];
    int k[SIGNAL_MAX_LANES];
} lowrank_answer;

typedef struct hot_lowrank_args {
    const lowrank_plan *plan;
    size_t count, stride;
    const float *tensors;
    const uint8_t *mask;
    float *directions;
    uint8_t *found;
    float *residual;
    int order;                          /* as given, for the reference, which takes nothing from the plan */
    const hot_lowrank_options *options; /* may be NULL */
} hot_lowrank_args;

/* One block of tensors of unit norm: tensor[i * lanes + lane]; scratch SIGNAL_GRID * lanes floats; 64-byte aligned. */
typedef void hot_lowrank_fn(const lowrank_plan *plan, const float *tensor, float *scratch, lowrank_answer *answer);
hot_lowrank_fn hot_lowrank_baseline, hot_lowrank_avx2, hot_lowrank_avx512;

hot_status hot_lowrank_cpu(hot_context *context, void *args);
hot_status hot_lowrank_ref(hot_context *context, void *args);
hot_status hot_lowrank_cuda(hot_context *context, void *args);

/* The norm of a packed tensor (Frobenius, over all n^m entries); NaN or Inf when a value is. */
double hot_lowrank_norm(const lowrank_plan *plan, const float *tensor);
/* Writes an answer of lane `lane`, times the tensor's norm. */
void hot_lowrank_write(const hot_lowrank_args *args, const lowrank_answer *answer, int lane, double norm, size_t item);
/* Zeros, with found = `found`. */
void hot_lowrank_write_nothing(const hot_lowrank_args *args, size_t item, uint8_t found);

/* Up to three terms w v, times `norm`, to `out` (9 or fewer zeros so far), largest first, on one hemisphere; returns
 * how many have a weight above 0. */
HOT_FN int lowrank_place(int k, const float v[3][3], const float w[3], double norm, float *out)
{
    int used = 0;
    for (int i = 0; i < k; i++) {
        int rank = 0;
        if (!(w[i] > 0))
            continue;
        for (int j = 0; j < k; j++)
            rank += w[j] > w[i] || (w[j] == w[i] && j < i);
        const float x = v[i][0], y = v[i][1], z = v[i][2];
        const float scale = (float)((hot_sphere_upper(x, y, z) ? (double)w[i] : -(double)w[i]) * norm);
        out[3 * rank] = scale * x;
        out[3 * rank + 1] = scale * y;
        out[3 * rank + 2] = scale * z;
        used++;
    }
    return used;
}

HOT_C_END

/* Best non-negative rank-k of packed tensors: what the backends share. */
#ifndef HOT_LOWRANK_TENSOR_H
#define HOT_LOWRANK_TENSOR_H

#include "common/portable.h"
#include "lowrank_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LT_UNIQUE_MAX = 45 };

typedef struct lt_plan {
    int order, unique, max_rank, exact_rank;
    float drop, floor, min_ratio, max_cos;
    float multiplicity[LT_UNIQUE_MAX];
    lr_grid grid;   /* filter: LR_GRID x unique, multiplicity times monomials; gram: (v_d . v_e)^order */
    float *block;   /* what grid points into */
    size_t block_size;
} lt_plan;

/* What comes of a few tensors, a lane each: the k chosen, and its terms. */
typedef struct lt_answer {
    float v[3][3][LR_MAX_LANES], w[3][LR_MAX_LANES], residual[LR_MAX_LANES];
    int k[LR_MAX_LANES];
} lt_answer;

typedef struct hot_lowrank_job {
    const lt_plan *plan;
    size_t count, stride;
    const float *tensors;
    const uint8_t *skip;
    float *directions;
    uint8_t *found;
    float *residual;
} hot_lowrank_job;

/* One block of tensors of unit norm: tensor[i * lanes + lane]; scratch LR_GRID * lanes floats; 64-byte aligned. */
typedef void hot_lowrank_tensor_fn(const lt_plan *plan, const float *tensor, float *scratch, lt_answer *answer);
hot_lowrank_tensor_fn hot_lowrank_tensor_base, hot_lowrank_tensor_avx2, hot_lowrank_tensor_avx512;

hot_status hot_lowrank_tensors_cpu(hot_context *context, void *job);
hot_status hot_lowrank_tensors_ref(hot_context *context, void *job);
hot_status hot_lowrank_tensors_cuda(hot_context *context, void *job);

/* The norm of a packed tensor (Frobenius, over all n^m entries); NaN or Inf when a value is. */
double hot_lowrank_norm(const lt_plan *plan, const float *tensor);
/* Writes an answer of lane `lane`, times the tensor's norm. */
void hot_lowrank_write(const hot_lowrank_job *job, const lt_answer *answer, int lane, double norm, size_t item);
/* Zeros, with found = `found`. */
void hot_lowrank_write_nothing(const hot_lowrank_job *job, size_t item, uint8_t found);

/* Up to three terms w v, times `norm`, to `out` (9 or fewer zeros so far), largest first, on one hemisphere; returns
 * how many have a weight above 0. */
HOT_FN int lt_place(int k, const float v[3][3], const float w[3], double norm, float *out)
{
    int used = 0;
    for (int i = 0; i < k; i++) {
        int rank = 0;
        if (!(w[i] > 0))
            continue;
        for (int j = 0; j < k; j++)
            rank += w[j] > w[i] || (w[j] == w[i] && j < i);
        const float x = v[i][0], y = v[i][1], z = v[i][2];
        const int up = z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0)));
        const float scale = (float)((up ? (double)w[i] : -(double)w[i]) * norm);
        out[3 * rank] = scale * x;
        out[3 * rank + 1] = scale * y;
        out[3 * rank + 2] = scale * z;
        used++;
    }
    return used;
}

#ifdef __cplusplus
}
#endif

#endif

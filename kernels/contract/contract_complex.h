/* Complex contractions as real ones: every operand gets a last axis of size 2 for real and imaginary part, and B a
 * second one, (p, r), in which alpha b stands as the matrix of multiplication by it:
 *
 *   C[i, j, r] = sum over s, p of A[i, s, p] B'[s, p, j, r],    B'[s, :, j, :] = [ re  im ; -im  re ]
 *
 * so that one real contraction makes the 8 operations of each complex multiply-add and no others. Conjugating A changes
 * the sign of B''s second row, conjugating B that of im. */
#pragma once

#include "contract_plan.h"

HOT_C_BEGIN

/* B' of a finished complex plan (groups in complex values): one item after another, each with the sum's index slowest,
 * then p, the column, r. */
typedef struct hot_complex_args {
    int f64;
    double alpha[2], beta[2];
    int conjugate;             /* of the finished plan's A and B */
    hot_contract_group column, sum, item; /* strides of B; items: the axes that B has */
    const void *b;
    void *expanded;
} hot_complex_args;

/* Products that are not fused with a sum, so that host and GPU give the same bits. */
HOT_FN double hot_times_f64(double x, double y)
{
#if defined(__CUDA_ARCH__)
    return __dmul_rn(x, y);
#else
    return x * y;
#endif
}

HOT_FN float hot_times_f32(float x, float y)
{
#if defined(__CUDA_ARCH__)
    return __fmul_rn(x, y);
#else
    return x * y;
#endif
}

/* Writes the four values of element `index` of B, counted by column, sum, item. */
#define HOT_COMPLEX_EXPAND(NAME, T, TIMES)                                                                       \
    HOT_FN void NAME(const hot_complex_args *args, size_t index)                                          \
    {                                                                                                     \
        const size_t column = index % args->column.total, rest = index / args->column.total,              \
                     sum = rest % args->sum.total, item = rest / args->sum.total;                         \
        const T *const b = (const T *)args->b +                                                           \
            2 * (hot_group_offset(&args->column, HOT_OPERAND_B, column) +                                 \
                 hot_group_offset(&args->sum, HOT_OPERAND_B, sum) +                                       \
                 hot_group_offset(&args->item, HOT_OPERAND_B, item));                                     \
        T *const out = (T *)args->expanded + 4 * rest * args->column.total + 2 * column;                  \
        const T x = b[0], y = args->conjugate & HOT_CONJUGATE_B ? -b[1] : b[1];                           \
        const T u = (T)args->alpha[0], v = (T)args->alpha[1];                                             \
        const T re = v == 0 ? TIMES(u, x) : TIMES(u, x) - TIMES(v, y),                                      \
                im = v == 0 ? TIMES(u, y) : TIMES(u, y) + TIMES(v, x);                                      \
        const int turned = (args->conjugate & HOT_CONJUGATE_A) != 0;                                      \
        out[0] = re, out[1] = im;                                                                         \
        out[2 * args->column.total] = turned ? im : -im, out[2 * args->column.total + 1] = turned ? -re : re; \
    }
HOT_COMPLEX_EXPAND(hot_complex_expand_f64, double, hot_times_f64)
HOT_COMPLEX_EXPAND(hot_complex_expand_f32, float, hot_times_f32)

/* Element `index` of C, counted by column, row, item of a finished complex plan, times beta. */
#define HOT_COMPLEX_SCALE(NAME, T, TIMES)                                                                        \
    HOT_FN void NAME(const hot_contract_plan *plan, const double beta[2], size_t index)                   \
    {                                                                                                     \
        const size_t column = index % plan->column.total, rest = index / plan->column.total;              \
        T *const c = (T *)plan->c +                                                                       \
            2 * (hot_group_offset(&plan->column, HOT_OPERAND_C, column) +                                 \
                 hot_group_offset(&plan->row, HOT_OPERAND_C, rest % plan->row.total) +                    \
                 hot_group_offset(&plan->item, HOT_OPERAND_C, rest / plan->row.total));                   \
        const T x = c[0], y = c[1], u = (T)beta[0], v = (T)beta[1];                                       \
        c[0] = TIMES(u, x) - TIMES(v, y), c[1] = TIMES(u, y) + TIMES(v, x);                                 \
    }
HOT_COMPLEX_SCALE(hot_complex_scale_f64, double, hot_times_f64)
HOT_COMPLEX_SCALE(hot_complex_scale_f32, float, hot_times_f32)

/* The same for all elements of arrays in the GPU's memory, on the context's stream; name: of B, for messages. *expanded
 * is the caller's to release (hot_device_release). */
hot_status hot_complex_expand_cuda(hot_context *context, hot_complex_args *args, const char *name, size_t count,
                                   void **expanded);
hot_status hot_complex_scale_cuda(hot_context *context, const hot_contract_plan *plan, const double beta[2],
                                  size_t count);

HOT_C_END

/* A contraction as the backends see it: whatever the spec says is a batch of matrix products whose row, column, sum and
 * batch indices may each be made of several axes. */
#pragma once

#include <hotfiber/contract.h>

#include "common/backend.h"
#include "common/portable.h"

HOT_C_BEGIN

enum { HOT_GROUP_AXES = HOT_CONTRACT_AXES + 1 };
enum { HOT_OPERAND_A = 0, HOT_OPERAND_B, HOT_OPERAND_C };

/* Axes that run together as one index, the first the fastest. Strides per operand, 0 where it does not have the axis.
 * hot_contract_plan_finish drops axes of size 1 and merges axes that are contiguous in every operand. */
typedef struct hot_contract_group {
    int axes;
    size_t total; /* product of the sizes; 1 without axes */
    size_t size[HOT_GROUP_AXES];
    size_t stride[3][HOT_GROUP_AXES];
} hot_contract_group;

/* C[i, j] = alpha sum_s A[i, s] B[s, j] + beta C[i, j] for every item: row = i, column = j, sum = s, item. */
typedef struct hot_contract_plan {
    int f64;
    double alpha, beta;
    const void *a, *b;
    void *c;
    const void *const *list[3]; /* the address of each item of A, B and C; NULL: a, b and c with the group `item` */
    hot_contract_group row, column, sum, item;
    int exchanged;       /* by hot_contract_plan_finish: A and B, rows and columns */
    const void *working; /* this operand is the library's memory on the GPU, not the caller's */
    const hot_contract_tuning *tuning;
} hot_contract_plan;

/* The offset of a group's index-th element in an operand. */
HOT_FN size_t hot_group_offset(const hot_contract_group *group, int operand, size_t index)
{
    size_t offset = 0;
    for (int a = 0; a + 1 < group->axes; a++) { /* divisions are slow, and most groups are one axis */
        offset += index % group->size[a] * group->stride[operand][a];
        index /= group->size[a];
    }
    return group->axes ? offset + index * group->stride[operand][group->axes - 1] : 0;
}

/* The stride of a group that is at most one axis. */
HOT_FN size_t hot_group_stride(const hot_contract_group *group, int operand)
{
    return group->axes ? group->stride[operand][0] : 0;
}

/* Where an item of an operand begins. bytes: of a value. */
HOT_FN const char *hot_contract_item(const hot_contract_plan *plan, int operand, size_t item, size_t bytes)
{
    const void *const base = operand == HOT_OPERAND_A ? plan->a : operand == HOT_OPERAND_B ? plan->b : plan->c;
    return plan->list[operand] ? (const char *)plan->list[operand][item]
                               : (const char *)base + hot_group_offset(&plan->item, operand, item) * bytes;
}

/* Adds an axis (fields `total` and order are set by finish). */
void hot_group_add(hot_contract_group *group, size_t size, size_t a, size_t b, size_t c);

/* Merges and orders axes, exchanges A and B where that makes the columns of C contiguous, checks that C does not meet
 * itself and that nothing overflows. */
hot_status hot_contract_plan_finish(hot_context *context, hot_contract_plan *plan);

/* The groups of a spec (hot_contract_f64); not finished. */
hot_status hot_contract_plan_spec(hot_context *context, const char *spec, size_t batch, const hot_contract_layout *a,
                                  const hot_contract_layout *b, const hot_contract_layout *c, hot_contract_plan *plan);
/* Finishes a plan, checks its operands and runs it on the context's backend. With lists item.total is their length. */
hot_status hot_contract_run(hot_context *context, const hot_contract_options *options, hot_contract_plan *plan);

/* How far an operand extends: values from its first to its last, 0 when there are none. */
size_t hot_contract_extent(const hot_contract_plan *plan, int operand);

hot_backend_fn hot_contract_ref, hot_contract_cpu, hot_contract_cuda; /* of a finished hot_contract_plan */

HOT_C_END

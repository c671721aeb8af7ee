/* Groups of products whose matrices lie anywhere: a plan with lists of addresses. The CPU multiplies host arrays in
 * place; for a GPU they are gathered into dense arrays first. */
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "common/device_memory.h"
#include "contract_plan.h"

/* A group of either precision. */
typedef struct group_args {
    int f64;
    size_t m, n, k, count;
    double alpha, beta;
    const void *const *list[3]; /* addresses of A, B, C */
    const size_t *stride[3];
    size_t number; /* of the group, for messages */
} group_args;

static int reads(const group_args *g, int operand)
{
    return operand == HOT_OPERAND_C || (g->alpha != 0 && g->k != 0);
}

static hot_status check_lists(hot_context *context, const group_args *g, int there)
{
    static const char *const names[3] = {"a", "b", "c"};
    for (int o = 0; o < 3; o++) {
        if (!reads(g, o))
            continue;
        if (!g->list[o])
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "group", "group %zu: its list %s is NULL",
                                              g->number, names[o]);
        for (size_t i = 0; i < g->count && !there; i++)
            if (!g->list[o][i])
                return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "group", "group %zu: %s[%zu] is NULL",
                                                  g->number, names[o], i);
    }
    return HOT_OK;
}

/* Dense copies of a list's matrices, or the matrices of dense copies. */
static void move(const group_args *g, int operand, char *dense, int back)
{
    const size_t rows = operand == HOT_OPERAND_B ? g->k : g->m, columns = operand == HOT_OPERAND_A ? g->k : g->n,
                 size = g->f64 ? sizeof(double) : sizeof(float), *const stride = g->stride[operand];
    for (size_t i = 0; i < g->count; i++)
        for (size_t r = 0; r < rows; r++)
            for (size_t q = 0; q < columns; q++, dense += size) {
                char *const at = (char *)g->list[operand][i] + (r * stride[0] + q * stride[1]) * size;
                memcpy(back ? at : dense, back ? dense : at, size);
            }
}

static hot_status gathered(hot_context *context, const hot_contract_options *options, const group_args *g)
{
    const size_t values[3] = {g->m * g->k, g->k * g->n, g->m * g->n}, size = g->f64 ? sizeof(double) : sizeof(float),
                 a[3] = {g->k, 1, values[0]}, b[3] = {g->n, 1, values[1]}, c[3] = {g->n, 1, values[2]};
    char *dense[3] = {NULL, NULL, NULL};
    hot_status status = HOT_OK;
    for (int o = 0; o < 3 && status == HOT_OK; o++) {
        if (!reads(g, o))
            continue;
        dense[o] = hot_context_alloc(context, g->count, (values[o] ? values[o] : 1) * size);
        status = dense[o] ? HOT_OK : HOT_ERROR_MEMORY;
        if (dense[o] && (o != HOT_OPERAND_C || g->beta != 0))
            move(g, o, dense[o], 0);
    }
    if (status == HOT_OK)
        status = g->f64 ? hot_contract_matrices_f64(context, options, g->m, g->n, g->k, g->count, g->alpha,
                                                    (const double *)(void *)dense[0], a,
                                                    (const double *)(void *)dense[1], b, g->beta,
                                                    (double *)(void *)dense[2], c)
                        : hot_contract_matrices_f32(context, options, g->m, g->n, g->k, g->count, (float)g->alpha,
                                                    (const float *)(void *)dense[0], a,
                                                    (const float *)(void *)dense[1], b, (float)g->beta,
                                                    (float *)(void *)dense[2], c);
    if (status == HOT_OK)
        move(g, HOT_OPERAND_C, dense[HOT_OPERAND_C], 1);
    for (int o = 0; o < 3; o++)
        hot_context_free(context, dense[o]);
    return status;
}

static hot_status run_group(hot_context *context, const hot_contract_options *options, const group_args *g)
{
    const int there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    if (g->count == 0 || g->m == 0 || g->n == 0)
        return HOT_OK;
    HOT_TRY(check_lists(context, g, there));
    if ((g->m > 1 && g->stride[2][0] == 0) || (g->n > 1 && g->stride[2][1] == 0))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "group",
                                          "group %zu: C has a stride of 0: its values would overlap", g->number);
    if (!there && hot_context_device(context) == HOT_DEVICE_CUDA)
        return gathered(context, options, g);
    hot_contract_plan plan = {.f64 = g->f64, .alpha = g->k ? g->alpha : 0, .beta = g->beta};
    hot_group_add(&plan.row, g->m, g->stride[0][0], 0, g->stride[2][0]);
    hot_group_add(&plan.column, g->n, 0, g->stride[1][1], g->stride[2][1]);
    hot_group_add(&plan.sum, g->k, g->stride[0][1], g->stride[1][0], 0);
    plan.item.total = g->count;
    for (int o = 0; o < 3; o++) /* addresses are computed from lists that are not read, too */
        plan.list[o] = reads(g, o) ? g->list[o] : g->list[HOT_OPERAND_C];
    return hot_contract_run(context, options, &plan);
}

hot_status hot_contract_groups_f64(hot_context *context, const hot_contract_options *options, size_t groups,
                                   const hot_contract_group_f64 *group)
{
    HOT_ENTRY(context);
    hot_status status = HOT_OK;
    if (groups)
        HOT_NEED(context, group);
    for (size_t i = 0; i < groups && status == HOT_OK; i++) {
        const hot_contract_group_f64 *const g = &group[i];
        const group_args args = {1, g->m, g->n, g->k, g->count, g->alpha, g->beta,
                                 {(const void *const *)g->a, (const void *const *)g->b, (const void *const *)g->c},
                                 {g->a_stride, g->b_stride, g->c_stride}, i};
        status = run_group(context, options, &args);
    }
    return status;
}

hot_status hot_contract_groups_f32(hot_context *context, const hot_contract_options *options, size_t groups,
                                   const hot_contract_group_f32 *group)
{
    HOT_ENTRY(context);
    hot_status status = HOT_OK;
    if (groups)
        HOT_NEED(context, group);
    for (size_t i = 0; i < groups && status == HOT_OK; i++) {
        const hot_contract_group_f32 *const g = &group[i];
        const group_args args = {0, g->m, g->n, g->k, g->count, g->alpha, g->beta,
                                 {(const void *const *)g->a, (const void *const *)g->b, (const void *const *)g->c},
                                 {g->a_stride, g->b_stride, g->c_stride}, i};
        status = run_group(context, options, &args);
    }
    return status;
}

/* Complex contractions: see contract_complex.h. */
#include "contract_complex.h"

#include "common/arguments.h"
#include "common/device_memory.h"
#include "common/entry.h"

static void double_strides(hot_contract_group *group)
{
    for (int a = 0; a < group->axes; a++)
        for (int o = 0; o < 3; o++)
            group->stride[o][a] *= 2;
}

/* A new first axis of size 2. */
static void prepend(hot_contract_group *group, size_t a, size_t b, size_t c)
{
    for (int at = group->axes++; at > 0; at--) {
        group->size[at] = group->size[at - 1];
        for (int o = 0; o < 3; o++)
            group->stride[o][at] = group->stride[o][at - 1];
    }
    group->size[0] = 2;
    group->stride[HOT_OPERAND_A][0] = a, group->stride[HOT_OPERAND_B][0] = b, group->stride[HOT_OPERAND_C][0] = c;
}

/* The strides of B' along a group's axes: dense, from `stride` on; an axis that B does not have keeps 0. */
static size_t lay_out(hot_contract_group *group, size_t stride)
{
    for (int a = 0; a < group->axes; a++)
        if (group->stride[HOT_OPERAND_B][a]) {
            group->stride[HOT_OPERAND_B][a] = stride;
            stride *= group->size[a];
        }
    return stride;
}

/* Items of B: without the axes that it does not have. */
static hot_contract_group items_of_b(const hot_contract_group *item)
{
    hot_contract_group out = {.total = 1};
    for (int a = 0; a < item->axes; a++)
        if (item->stride[HOT_OPERAND_B][a]) {
            hot_group_add(&out, item->size[a], 0, item->stride[HOT_OPERAND_B][a], 0);
            out.total *= item->size[a];
        }
    return out;
}

/* The real plan: all but B'. Every axis of columns and sums is laid out, also where B repeats values along it. */
static void make_real(const hot_contract_plan *plan, hot_contract_plan *real)
{
    *real = *plan;
    real->alpha = plan->alpha, real->beta = plan->beta;
    const size_t columns = plan->column.total;
    double_strides(&real->row);
    double_strides(&real->column);
    double_strides(&real->sum);
    double_strides(&real->item);
    size_t stride = 2;
    for (int a = 0; a < real->column.axes; stride *= real->column.size[a++])
        real->column.stride[HOT_OPERAND_B][a] = stride;
    prepend(&real->column, 0, 1, 1);
    stride = 4 * columns;
    for (int a = 0; a < real->sum.axes; stride *= real->sum.size[a++])
        real->sum.stride[HOT_OPERAND_B][a] = stride;
    prepend(&real->sum, 1, 2 * columns, 0);
    lay_out(&real->item, 4 * columns * plan->sum.total);
}

static void expand_all(hot_context *context, const hot_complex_args *args, size_t count)
{
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static) if (count > 4096)
    for (size_t i = 0; i < count; i++)
        if (args->f64)
            hot_complex_expand_f64(args, i);
        else
            hot_complex_expand_f32(args, i);
}

static void scale_all(hot_context *context, const hot_contract_plan *plan, const double beta[2], size_t count)
{
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static) if (count > 4096)
    for (size_t i = 0; i < count; i++)
        if (plan->f64)
            hot_complex_scale_f64(plan, beta, i);
        else
            hot_complex_scale_f32(plan, beta, i);
}

static hot_status expand(hot_context *context, hot_complex_args *args, const char *name, size_t count, int there)
{
    const size_t size = args->f64 ? sizeof(double) : sizeof(float);
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (there)
        return hot_complex_expand_cuda(context, args, name, count, &args->expanded);
#else
    (void)there, (void)name;
#endif
    args->expanded = count > SIZE_MAX / 4 ? NULL : hot_context_alloc(context, 4 * count, size);
    if (!args->expanded)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for %zu complex values of an operand", count);
    expand_all(context, args, count);
    return HOT_OK;
}

static void release(hot_context *context, void *expanded, int there)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (there) {
        hot_device_release(context, expanded);
        return;
    }
#else
    (void)there;
#endif
    hot_context_free(context, expanded);
}

static hot_status scale(hot_context *context, const hot_contract_plan *plan, const double beta[2], int there)
{
    const size_t count = plan->item.total * plan->row.total * plan->column.total;
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (there)
        return hot_complex_scale_cuda(context, plan, beta, count);
#else
    (void)there;
#endif
    scale_all(context, plan, beta, count);
    return HOT_OK;
}

/* plan: the groups of a spec in complex values, its alpha and beta whether those are not 0. */
static hot_status run_complex(hot_context *context, const hot_contract_options *options, int conjugate,
                              const double alpha[2], const double beta[2], hot_contract_plan *plan)
{
    hot_contract_plan real;
    hot_status status = hot_contract_plan_finish(context, plan);
    if (status != HOT_OK || plan->item.total == 0 || plan->row.total == 0 || plan->column.total == 0)
        return status;
    const int reads = plan->sum.total && plan->alpha != 0;
    const int there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    if (reads && (!plan->a || !plan->b))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, !plan->a == !plan->exchanged ? "a" : "b",
                                          "operand %c is NULL", !plan->a == !plan->exchanged ? 'A' : 'B');
    if (!plan->c)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "c", "operand C is NULL");
    hot_complex_args args = {.f64 = plan->f64, .column = plan->column, .sum = plan->sum,
                             .item = items_of_b(&plan->item), .b = plan->b};
    const int turned = plan->exchanged ? (conjugate & 1) << 1 | conjugate >> 1 : conjugate;
    args.conjugate = turned;
    args.alpha[0] = alpha[0], args.alpha[1] = alpha[1];
    make_real(plan, &real);
    if (reads)
        status = expand(context, &args, plan->exchanged ? "operand A" : "operand B",
                        args.item.total * args.sum.total * args.column.total, there);
    if (status == HOT_OK && plan->beta != 0 && beta[1] != 0)
        status = scale(context, plan, beta, there);
    real.alpha = reads;
    real.beta = plan->beta == 0 ? 0 : beta[1] != 0 ? 1 : beta[0];
    real.b = args.expanded;
    real.working = there ? args.expanded : NULL;
    if (status == HOT_OK)
        status = hot_contract_run(context, options, &real);
    release(context, args.expanded, there);
    return status;
}

static hot_status check_conjugate(hot_context *context, int conjugate)
{
    if (conjugate < 0 || conjugate > (HOT_CONJUGATE_A | HOT_CONJUGATE_B))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "conjugate",
                                          "conjugate is %d, not 0 to 3 (HOT_CONJUGATE_A, HOT_CONJUGATE_B)", conjugate);
    return HOT_OK;
}

hot_status hot_contract_c128(hot_context *context, const hot_contract_options *options, const char *spec, int conjugate,
                             size_t batch, const double alpha[2], const double *a, const hot_contract_layout *a_layout,
                             const double *b, const hot_contract_layout *b_layout, const double beta[2], double *c,
                             const hot_contract_layout *c_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, alpha, a_layout, b_layout, beta, c_layout);
    hot_contract_plan plan = {.f64 = 1, .alpha = alpha[0] != 0 || alpha[1] != 0, .beta = beta[0] != 0 || beta[1] != 0,
                              .a = a, .b = b, .c = c};
    hot_status status = check_conjugate(context, conjugate);
    if (status == HOT_OK)
        status = hot_contract_plan_spec(context, spec, batch, a_layout, b_layout, c_layout, &plan);
    return status == HOT_OK ? run_complex(context, options, conjugate, alpha, beta, &plan) : status;
}

hot_status hot_contract_c64(hot_context *context, const hot_contract_options *options, const char *spec, int conjugate,
                            size_t batch, const float alpha[2], const float *a, const hot_contract_layout *a_layout,
                            const float *b, const hot_contract_layout *b_layout, const float beta[2], float *c,
                            const hot_contract_layout *c_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, alpha, a_layout, b_layout, beta, c_layout);
    const double wide_alpha[2] = {alpha[0], alpha[1]}, wide_beta[2] = {beta[0], beta[1]};
    hot_contract_plan plan = {.f64 = 0, .alpha = alpha[0] != 0 || alpha[1] != 0, .beta = beta[0] != 0 || beta[1] != 0,
                              .a = a, .b = b, .c = c};
    hot_status status = check_conjugate(context, conjugate);
    if (status == HOT_OK)
        status = hot_contract_plan_spec(context, spec, batch, a_layout, b_layout, c_layout, &plan);
    return status == HOT_OK ? run_complex(context, options, conjugate, wide_alpha, wide_beta, &plan) : status;
}

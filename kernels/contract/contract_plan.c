/* See contract_plan.h. */
#include "contract_plan.h"
#include "common/flow.h"

void hot_group_add(hot_contract_group *group, size_t size, size_t a, size_t b, size_t c)
{
    const int at = group->axes++;
    group->size[at] = size;
    group->stride[HOT_OPERAND_A][at] = a;
    group->stride[HOT_OPERAND_B][at] = b;
    group->stride[HOT_OPERAND_C][at] = c;
}

static void swap(size_t *x, size_t *y)
{
    const size_t kept = *x;
    *x = *y;
    *y = kept;
}

static void swap_axes(hot_contract_group *group, int x, int y)
{
    swap(&group->size[x], &group->size[y]);
    for (int o = 0; o < 3; o++)
        swap(&group->stride[o][x], &group->stride[o][y]);
}

/* Axes of size 1 dropped, the rest by rising stride in `key`, contiguous neighbours merged. */
static hot_status tidy(hot_context *context, hot_contract_group *group, int key)
{
    int kept = 0;
    group->total = 1;
    for (int a = 0; a < group->axes; a++)
        group->total = group->size[a] == 0 ? 0 : group->total;
    for (int a = 0; a < group->axes; a++) {
        if (group->total && group->size[a] > SIZE_MAX / 2 / group->total)
            return hot_context_fail(context, HOT_ERROR_MEMORY,
                                    "an index of more than %zu values is more than memory can hold", SIZE_MAX / 2);
        group->total *= group->size[a];
        if (group->size[a] != 1)
            swap_axes(group, kept++, a);
    }
    group->axes = kept;
    for (int a = 1; a < group->axes; a++)
        for (int b = a; b > 0 && group->stride[key][b] < group->stride[key][b - 1]; b--)
            swap_axes(group, b, b - 1);
    for (int a = 1; a < group->axes;) {
        int behind = 1;
        for (int o = 0; o < 3; o++)
            behind &= group->stride[o][a] == group->stride[o][a - 1] * group->size[a - 1];
        if (!behind) {
            a++;
            continue;
        }
        group->size[a - 1] *= group->size[a];
        for (int b = a; b + 1 < group->axes; b++)
            swap_axes(group, b, b + 1);
        group->axes--;
    }
    return HOT_OK;
}

/* The largest offset in an operand, or SIZE_MAX when it overflows. */
static size_t last_offset(const hot_contract_plan *plan, int operand)
{
    const hot_contract_group *groups[4] = {&plan->row, &plan->column, &plan->sum, &plan->item};
    size_t offset = 0;
    for (int g = 0; g < 4; g++)
        for (int a = 0; a < groups[g]->axes; a++) {
            const size_t steps = groups[g]->size[a] - 1, stride = groups[g]->stride[operand][a];
            if (stride && steps > (SIZE_MAX / 32 - offset) / stride)
                return SIZE_MAX;
            offset += steps * stride;
        }
    return offset;
}

static int holds_values(const hot_contract_plan *plan, int operand)
{
    const size_t rows = plan->row.total, columns = plan->column.total, sums = plan->sum.total;
    return plan->item.total && (operand == HOT_OPERAND_A ? rows && sums : operand == HOT_OPERAND_B ? columns && sums
                                                                                              : rows && columns);
}

size_t hot_contract_extent(const hot_contract_plan *plan, int operand)
{
    return holds_values(plan, operand) ? last_offset(plan, operand) + 1 : 0;
}

/* An axis of C with stride 0 would be written many times. */
static int meets_itself(const hot_contract_group *group)
{
    for (int a = 0; a < group->axes; a++)
        if (group->stride[HOT_OPERAND_C][a] == 0)
            return 1;
    return 0;
}

/* C^T = B^T A^T. */
static void exchange(hot_contract_plan *plan)
{
    const hot_contract_group row = plan->row;
    const void *a = plan->a;
    plan->row = plan->column;
    plan->column = row;
    plan->a = plan->b;
    plan->b = a;
    const void *const *const list = plan->list[HOT_OPERAND_A];
    plan->list[HOT_OPERAND_A] = plan->list[HOT_OPERAND_B];
    plan->list[HOT_OPERAND_B] = list;
    plan->exchanged = !plan->exchanged;
    hot_contract_group *groups[4] = {&plan->row, &plan->column, &plan->sum, &plan->item};
    for (int g = 0; g < 4; g++)
        for (int x = 0; x < groups[g]->axes; x++)
            swap(&groups[g]->stride[HOT_OPERAND_A][x], &groups[g]->stride[HOT_OPERAND_B][x]);
}

static int starts_contiguous(const hot_contract_group *group)
{
    return group->axes > 0 && group->stride[HOT_OPERAND_C][0] == 1;
}

hot_status hot_contract_plan_finish(hot_context *context, hot_contract_plan *plan)
{
    HOT_TRY(tidy(context, &plan->row, HOT_OPERAND_C));
    HOT_TRY(tidy(context, &plan->column, HOT_OPERAND_C));
    HOT_TRY(tidy(context, &plan->sum, HOT_OPERAND_A));
    HOT_TRY(tidy(context, &plan->item, HOT_OPERAND_C));
    if (plan->item.total == 0 || plan->row.total == 0 || plan->column.total == 0)
        return HOT_OK; /* nothing to do, whatever the strides */
    for (int o = 0; o < 3; o++)
        if (holds_values(plan, o) && last_offset(plan, o) == SIZE_MAX)
            return hot_context_fail(context, HOT_ERROR_MEMORY,
                                    "operand %c: its sizes and strides are more than memory can "
                                    "hold",
                                    'A' + o);
    if (meets_itself(&plan->row) || meets_itself(&plan->column) || meets_itself(&plan->item))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "C has a stride of 0: its values would overlap");
    /* The kernels run along contiguous columns. A column vector (no columns) is a row vector of the exchanged
     * product, but where that would run across the other matrix. */
    const int single = plan->column.axes == 0 && plan->row.stride[HOT_OPERAND_A][0] != 1;
    if (starts_contiguous(&plan->row) && !starts_contiguous(&plan->column) && !single)
        exchange(plan);
    return HOT_OK;
}

/* The reference: every index of every item, sums in long double. */
#include "contract_plan.h"

hot_status hot_contract_ref(hot_context *context, void *plan_pointer)
{
    const hot_contract_plan *plan = plan_pointer;
    (void)context;
    const size_t bytes = plan->f64 ? sizeof(double) : sizeof(float);
    for (size_t item = 0; item < plan->item.total; item++) {
        const void *const first = hot_contract_item(plan, HOT_OPERAND_A, item, bytes),
                   *const second = hot_contract_item(plan, HOT_OPERAND_B, item, bytes);
        void *const to = (void *)hot_contract_item(plan, HOT_OPERAND_C, item, bytes);
        for (size_t row = 0; row < plan->row.total; row++)
            for (size_t column = 0; column < plan->column.total; column++) {
                long double sum = 0;
                for (size_t s = 0; s < plan->sum.total && plan->alpha != 0; s++) {
                    const size_t a = hot_group_offset(&plan->row, HOT_OPERAND_A, row) +
                                     hot_group_offset(&plan->sum, HOT_OPERAND_A, s);
                    const size_t b = hot_group_offset(&plan->column, HOT_OPERAND_B, column) +
                                     hot_group_offset(&plan->sum, HOT_OPERAND_B, s);
                    if (plan->f64)
                        sum += (long double)((const double *)first)[a] * ((const double *)second)[b];
                    else
                        sum += (long double)((const float *)first)[a] * ((const float *)second)[b];
                }
                const size_t c = hot_group_offset(&plan->row, HOT_OPERAND_C, row) +
                                 hot_group_offset(&plan->column, HOT_OPERAND_C, column);
                sum *= plan->alpha;
                if (plan->f64)
                    ((double *)to)[c] =
                        (double)(plan->beta == 0 ? sum : sum + (long double)plan->beta * ((double *)to)[c]);
                else
                    ((float *)to)[c] =
                        (float)(plan->beta == 0 ? sum : sum + (long double)plan->beta * ((float *)to)[c]);
            }
    }
    return HOT_OK;
}

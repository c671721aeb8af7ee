/* The reference: every index of every item, sums in long double. */
#include "contract_plan.h"

hot_status hot_contract_ref(hot_context *context, void *plan_pointer)
{
    const hot_contract_plan *plan = plan_pointer;
    (void)context;
    for (size_t item = 0; item < plan->item.total; item++)
        for (size_t row = 0; row < plan->row.total; row++)
            for (size_t column = 0; column < plan->column.total; column++) {
                long double sum = 0;
                for (size_t s = 0; s < plan->sum.total && plan->alpha != 0; s++) {
                    const size_t a = hot_group_offset(&plan->item, HOT_OPERAND_A, item) +
                                     hot_group_offset(&plan->row, HOT_OPERAND_A, row) +
                                     hot_group_offset(&plan->sum, HOT_OPERAND_A, s);
                    const size_t b = hot_group_offset(&plan->item, HOT_OPERAND_B, item) +
                                     hot_group_offset(&plan->column, HOT_OPERAND_B, column) +
                                     hot_group_offset(&plan->sum, HOT_OPERAND_B, s);
                    if (plan->f64)
                        sum += (long double)((const double *)plan->a)[a] * ((const double *)plan->b)[b];
                    else
                        sum += (long double)((const float *)plan->a)[a] * ((const float *)plan->b)[b];
                }
                const size_t c = hot_group_offset(&plan->item, HOT_OPERAND_C, item) +
                                 hot_group_offset(&plan->row, HOT_OPERAND_C, row) +
                                 hot_group_offset(&plan->column, HOT_OPERAND_C, column);
                sum *= plan->alpha;
                if (plan->f64)
                    ((double *)plan->c)[c] =
                        (double)(plan->beta == 0 ? sum : sum + (long double)plan->beta * ((double *)plan->c)[c]);
                else
                    ((float *)plan->c)[c] =
                        (float)(plan->beta == 0 ? sum : sum + (long double)plan->beta * ((float *)plan->c)[c]);
            }
    return HOT_OK;
}

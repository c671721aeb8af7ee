/* The reference: one sum over the tensor per result, in long double. */
#include "cpd_plan.h"

static long double value(int f64, const void *array, size_t at)
{
    return f64 ? ((const double *)array)[at] : ((const float *)array)[at];
}

hot_status hot_mttkrp_ref(hot_context *context, void *plan_pointer)
{
    const hot_mttkrp_plan *plan = plan_pointer;
    const int first = plan->mode == 0 ? 1 : 0, second = plan->mode == 2 ? 1 : 2; /* the modes that are summed over */
    const size_t step[3] = {1, plan->n[0], plan->n[0] * plan->n[1]};
    (void)context;
    for (size_t r = 0; r < plan->rank; r++)
        for (size_t o = 0; o < plan->n[plan->mode]; o++) {
            long double sum = 0;
            for (size_t p = 0; p < plan->n[first]; p++)
                for (size_t q = 0; q < plan->n[second]; q++)
                    sum += value(plan->f64, plan->x, o * step[plan->mode] + p * step[first] + q * step[second]) *
                           value(plan->f64, plan->factor[first], p + plan->n[first] * r) *
                           value(plan->f64, plan->factor[second], q + plan->n[second] * r);
            if (plan->f64)
                ((double *)plan->out)[o + plan->n[plan->mode] * r] = (double)sum;
            else
                ((float *)plan->out)[o + plan->n[plan->mode] * r] = (float)sum;
        }
    return HOT_OK;
}

/* The reference: one sum over the tensor per result, in long double. */
#include "cpd_args.h"

static long double value(int f64, const void *array, size_t at)
{
    return f64 ? ((const double *)array)[at] : ((const float *)array)[at];
}

hot_status hot_mttkrp_ref(hot_context *context, void *args_pointer)
{
    const hot_mttkrp_args *args = args_pointer;
    const int first = args->mode == 0 ? 1 : 0, second = args->mode == 2 ? 1 : 2; /* the modes that are summed over */
    const size_t step[3] = {1, args->n[0], args->n[0] * args->n[1]};
    (void)context;
    for (size_t r = 0; r < args->rank; r++)
        for (size_t o = 0; o < args->n[args->mode]; o++) {
            long double sum = 0;
            for (size_t p = 0; p < args->n[first]; p++)
                for (size_t q = 0; q < args->n[second]; q++)
                    sum += value(args->f64, args->x, o * step[args->mode] + p * step[first] + q * step[second]) *
                           value(args->f64, args->factor[first], p + args->n[first] * r) *
                           value(args->f64, args->factor[second], q + args->n[second] * r);
            if (args->f64)
                ((double *)args->out)[o + args->n[args->mode] * r] = (double)sum;
            else
                ((float *)args->out)[o + args->n[args->mode] * r] = (float)sum;
        }
    return HOT_OK;
}

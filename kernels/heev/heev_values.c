/* Matrices that are not finite: how they are recognised, and their results. */
#include "heev.h"

#include <math.h>

int hot_heev_finite(const hot_heev_args *args, size_t i)
{
    const size_t parts = args->is_complex ? 2 : 1;
    for (size_t column = 0; column < args->n; column++)
        for (size_t row = column; row < args->n; row++)
            for (size_t part = 0; part < (row == column ? 1 : parts); part++) {
                const size_t at = hot_heev_place(args, i, row, column) * parts + part;
                if (!isfinite(args->f64 ? ((const double *)args->matrices)[at]
                                        : (double)((const float *)args->matrices)[at]))
                    return 0;
            }
    return 1;
}

static void fill_nan(int f64, void *values, size_t from, size_t count)
{
    for (size_t k = from; k < from + count; k++) {
        if (f64)
            ((double *)values)[k] = NAN;
        else
            ((float *)values)[k] = NAN;
    }
}

void hot_heev_refuse(const hot_heev_args *args, size_t i)
{
    const size_t vector = args->kept * args->n * (args->is_complex ? 2 : 1);
    args->flags[i] = 1;
    fill_nan(args->f64, args->values, i * args->kept, args->kept);
    if (args->vectors)
        fill_nan(args->f64, args->vectors, i * vector, vector);
}

/* Reading and writing the arrays of a call. */
#include "tridiag.h"

#include <math.h>

double hot_tridiag_a(const hot_tridiag_args *args, size_t i, size_t at)
{
    size_t place = i * args->stride + at;
    return args->f64 ? ((const double *)args->diagonal)[place] : (double)((const float *)args->diagonal)[place];
}

double hot_tridiag_b(const hot_tridiag_args *args, size_t i, size_t at)
{
    size_t place = i * args->stride + at;
    return args->f64 ? ((const double *)args->off)[place] : (double)((const float *)args->off)[place];
}

int hot_tridiag_finite(const hot_tridiag_args *args, size_t i)
{
    for (size_t k = 0; k < args->n; k++)
        if (!isfinite(hot_tridiag_a(args, i, k)) || (k + 1 < args->n && !isfinite(hot_tridiag_b(args, i, k))))
            return 0;
    return 1;
}

void hot_tridiag_blank(const hot_tridiag_args *args, size_t i, size_t from)
{
    for (size_t k = from; k < args->width; k++) {
        if (args->f64)
            ((double *)args->values)[i * args->width + k] = NAN;
        else
            ((float *)args->values)[i * args->width + k] = NAN;
    }
}

/* Neighbours may have met the tolerance in the wrong order. */
void hot_tridiag_ascend(const hot_tridiag_args *args, size_t i, size_t many)
{
    double *wide = (double *)args->values + i * args->width;
    float *narrow = (float *)args->values + i * args->width;
    for (size_t k = 1; k < many; k++) {
        if (args->f64)
            wide[k] = fmax(wide[k], wide[k - 1]);
        else
            narrow[k] = fmaxf(narrow[k], narrow[k - 1]);
    }
}

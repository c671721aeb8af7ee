/* Reading and writing the arrays of a call for eigenvectors of tridiagonal matrices. */
#include "heev_tridiagonal.h"

#include <math.h>

#include "tridiag/tridiag_bound.h"

int hot_tridiagonal_values(const hot_tridiagonal_args *args, size_t i, double *d, double *e)
{
    const size_t row = i * args->stride, n = args->n;
    double largest = 0;
    int exponent = 0;
    for (size_t k = 0; k < n; k++) {
        d[k] = tridiag_value_at(args->diagonal, args->f64, row + k);
        e[k] = k + 1 < n ? tridiag_value_at(args->off, args->f64, row + k) : 0;
        largest = fmax(largest, fmax(fabs(d[k]), fabs(e[k])));
    }
    if (largest > 0)
        frexp(largest, &exponent);
    for (size_t k = 0; k < n; k++)
        d[k] = ldexp(d[k], -exponent), e[k] = ldexp(e[k], -exponent);
    return exponent;
}

size_t hot_tridiagonal_first(const hot_tridiagonal_args *args, size_t i)
{
    const hot_tridiag_options *options = args->options;
    if (!options || options->range == HOT_TRIDIAG_ALL)
        return 0;
    if (options->range == HOT_TRIDIAG_INDEX)
        return options->first;
    const size_t row = i * args->stride * (args->f64 ? sizeof(double) : sizeof(float));
    const hot_tridiag_given given = {args->n, args->f64, (const char *)args->diagonal + row,
                                     args->n > 1 ? (const char *)args->off + row : NULL};
    return (size_t)tridiag_below(&given, options->low);
}

void hot_tridiagonal_store(const hot_tridiagonal_args *args, size_t i, size_t from, size_t to, const double *vectors)
{
    const size_t n = args->n, at = (i * args->width + from) * n;
    for (size_t k = 0; k < (to - from) * n; k++) {
        const double value = vectors ? vectors[k] : NAN;
        if (args->f64)
            ((double *)args->vectors)[at + k] = value;
        else
            ((float *)args->vectors)[at + k] = (float)value;
    }
}

void hot_tridiagonal_refuse(const hot_tridiagonal_args *args, size_t i)
{
    args->found[i] = -1;
    hot_tridiagonal_store(args, i, 0, args->width, NULL);
    for (size_t k = i * args->width; k < (i + 1) * args->width; k++) {
        if (args->f64)
            ((double *)args->values)[k] = NAN;
        else
            ((float *)args->values)[k] = NAN;
    }
}

/* Reference: bisection of Gerschgorin's interval for each eigenvalue separately, in long double, to its last places. */
#include <float.h>
#include <math.h>

#include "tridiag.h"

/* How many pivots of LDL^T = T - x are negative: eigenvalues below x. One that is 0 to rounding is followed by an
 * infinite one of the other sign; at the end x is an eigenvalue, and not below itself. */
static size_t count_below(const hot_tridiag_args *args, size_t i, long double scale, long double x)
{
    size_t below = 0;
    long double pivot = 1;
    for (size_t k = 0; k < args->n; k++) {
        const long double b = k ? scale * (long double)hot_tridiag_b(args, i, k - 1) : 0;
        const long double t = scale * (long double)hot_tridiag_a(args, i, k) - x, q = b != 0 ? b * b / pivot : 0;
        pivot = t - q;
        if (fabsl(pivot) <= 4 * LDBL_EPSILON * (fabsl(t) + fabsl(q)) && !isinf(q))
            pivot = 0;
        below += pivot < 0;
    }
    return below;
}

hot_status hot_tridiag_ref(hot_context *context, void *argument)
{
    const hot_tridiag_args *args = argument;
    const hot_tridiag_options *options = &args->options;
    (void)context;
    for (size_t i = 0; i < args->count; i++) {
        if (!hot_tridiag_finite(args, i)) {
            args->found[i] = -1;
            hot_tridiag_blank(args, i, 0);
            continue;
        }
        long double largest = 0;
        for (size_t k = 0; k < args->n; k++) {
            long double row = fabsl((long double)hot_tridiag_a(args, i, k));
            row += k ? fabsl((long double)hot_tridiag_b(args, i, k - 1)) : 0;
            row += k + 1 < args->n ? fabsl((long double)hot_tridiag_b(args, i, k)) : 0;
            largest = row > largest ? row : largest;
        }
        int exponent;
        frexpl(largest, &exponent); /* a power of two, so that nothing is rounded */
        const long double scale = ldexpl(1, -exponent), end = 1.0001L;
        size_t first = options->range == HOT_TRIDIAG_INDEX ? options->first : 0;
        size_t last = options->range == HOT_TRIDIAG_INDEX ? options->last + 1 : args->n;
        if (options->range == HOT_TRIDIAG_VALUE) {
            const long double low = scale * (long double)options->low, high = scale * (long double)options->high;
            first = count_below(args, i, scale, fminl(fmaxl(low, -end), end));
            last = count_below(args, i, scale, fminl(fmaxl(high, -end), end));
        }
        for (size_t k = first; k < last; k++) {
            long double low = -end, high = end;
            for (;;) {
                long double middle = low + (high - low) / 2;
                if (!(middle > low && middle < high))
                    break;
                if (count_below(args, i, scale, middle) > k)
                    high = middle;
                else
                    low = middle;
                if (high - low < 1e-19L * fminl(fabsl(low), fabsl(high)) || high - low < 1e-60L)
                    break;
            }
            long double value = largest > 0 ? (low + (high - low) / 2) / scale : 0;
            if (options->range == HOT_TRIDIAG_VALUE)
                value = fmaxl(fminl(value, nextafter(options->high, -INFINITY)), options->low);
            size_t at = i * args->width + k - first;
            if (args->f64)
                ((double *)args->values)[at] = (double)value;
            else
                ((float *)args->values)[at] = (float)value;
        }
        args->found[i] = (int64_t)(last - first);
        hot_tridiag_blank(args, i, last - first);
    }
    return HOT_OK;
}

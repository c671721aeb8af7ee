/* How many eigenvalues of a symmetric tridiagonal matrix are below a bound: low <= lambda < high must hold if an
 * eigenvalue equals the bound, which is common with diagonal matrices, graphs and other matrices of small integers.
 *
 * The pivots d_k = (a_k - x) - b_k^2 / d_(k-1) have the signs of the eigenvalues of T - x. They are computed in double
 * with a bound of their error (a running error analysis: Higham, Accuracy and Stability of Numerical Algorithms,
 * section 3.3). If a pivot is not larger than that, its sign is not known, and all is done again in pairs of doubles,
 * about 100 bits (Dekker 1971); there a pivot within its error of 0 counts as 0. A last pivot of 0 is an eigenvalue
 * equal to the bound, and not below it. Off-diagonals of 0 divide the matrix. The CPU and the GPU count alike. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/portable.h"

/* A matrix as the caller gave it: n and n - 1 values, float or double. */
typedef struct hot_tridiag_given {
    size_t n;
    int f64;
    const void *a, *b;
} hot_tridiag_given;

/* hi + lo, |lo| at most half a unit in the last place of hi. */
typedef struct hot_pair {
    double hi, lo;
} hot_pair;

HOT_FN double tridiag_value_at(const void *values, int f64, size_t at)
{
    return f64 ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

/* a + b, without error */
HOT_FN hot_pair pair_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    const hot_pair result = {sum, (a - (sum - part)) + (b - part)};
    return result;
}

HOT_FN hot_pair pair_minus(hot_pair x, hot_pair y)
{
    hot_pair high = pair_sum(x.hi, -y.hi), low = pair_sum(x.lo, -y.lo);
    high = pair_sum(high.hi, high.lo + low.hi);
    return pair_sum(high.hi, high.lo + low.lo);
}

HOT_FN hot_pair pair_times(hot_pair x, double y)
{
    const double high = x.hi * y;
    return pair_sum(high, fma(x.hi, y, -high) + x.lo * y);
}

/* b / d: two steps of long division, and a third for the last bits */
HOT_FN hot_pair pair_quotient(double b, hot_pair d)
{
    const hot_pair whole = {b, 0};
    const double first = b / d.hi;
    hot_pair rest = pair_minus(whole, pair_times(d, first));
    const double second = rest.hi / d.hi;
    rest = pair_minus(rest, pair_times(d, second));
    hot_pair result = pair_sum(first, second);
    return pair_sum(result.hi, result.lo + rest.hi / d.hi);
}

/* In double; -1 where a sign is not certain. */
HOT_FN int64_t tridiag_below_quickly(const hot_tridiag_given *matrix, double x)
{
    int64_t below = 0;
    double d = 1, error = 0;
    for (size_t k = 0; k < matrix->n; k++) {
        const double t = tridiag_value_at(matrix->a, matrix->f64, k) - x;
        const double b = k ? tridiag_value_at(matrix->b, matrix->f64, k - 1) : 0;
        if (b == 0) { /* the sign of a difference is right */
            d = t;
            error = 0x1p-51 * fabs(t);
        } else {
            const double q = b / d * b, growth = fabs(q / d);
            d = t - q;
            error = 0x1p-51 * (fabs(t) + fabs(q)) + growth * error;
            if (!(fabs(d) > error))
                return -1;
        }
        below += d < 0;
    }
    return below;
}

/* In pairs of doubles. */
HOT_FN int64_t tridiag_below_carefully(const hot_tridiag_given *matrix, double x)
{
    int64_t below = 0;
    double largest = fabs(x), error = 0;
    int exponent = 0;
    for (size_t k = 0; k < matrix->n; k++) {
        largest = fmax(largest, fabs(tridiag_value_at(matrix->a, matrix->f64, k)));
        if (k + 1 < matrix->n)
            largest = fmax(largest, fabs(tridiag_value_at(matrix->b, matrix->f64, k)));
    }
    if (largest > 0x1p300 || largest < 0x1p-300) /* else nothing that counts over- or underflows */
        frexp(largest, &exponent);
    x = ldexp(x, -exponent);
    hot_pair d = {1, 0};
    for (size_t k = 0; k < matrix->n; k++) {
        const hot_pair t = pair_sum(ldexp(tridiag_value_at(matrix->a, matrix->f64, k), -exponent), -x);
        const double b = k ? ldexp(tridiag_value_at(matrix->b, matrix->f64, k - 1), -exponent) : 0;
        if (b == 0 || isinf(d.hi)) {
            d = t;
            error = 0;
        } else if (d.hi == 0) { /* a pair of pivots, one of them negative */
            d.hi = -INFINITY;
            d.lo = error = 0;
        } else {
            const hot_pair q = pair_times(pair_quotient(b, d), b);
            if (isfinite(q.hi)) {
                const double growth = fabs(q.hi / d.hi);
                d = pair_minus(t, q);
                error = 0x1p-98 * (fabs(t.hi) + fabs(q.hi)) + growth * error;
            } else { /* as good as a pivot of 0 */
                d.hi = d.hi > 0 ? -INFINITY : INFINITY;
                d.lo = error = 0;
            }
            if (fabs(d.hi) <= error)
                d.hi = d.lo = error = 0;
        }
        below += d.hi < 0;
    }
    return below;
}

/* How many eigenvalues are below x, which may be infinite. The matrix holds finite values. */
HOT_FN int64_t tridiag_below(const hot_tridiag_given *matrix, double x)
{
    if (isinf(x))
        return x > 0 ? (int64_t)matrix->n : 0;
    const int64_t below = tridiag_below_quickly(matrix, x);
    return below >= 0 ? below : tridiag_below_carefully(matrix, x);
}

/* The numbers next to a finite one (nextafter is the host's alone). */
HOT_FN double tridiag_just_below(double x)
{
    int64_t bits;
    if (x == 0)
        return -4.9406564584124654e-324;
    memcpy(&bits, &x, sizeof bits);
    bits += x > 0 ? -1 : 1;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

HOT_FN float tridiag_beside_f32(float x, int above)
{
    int32_t bits;
    if (x == 0)
        return above ? 1.4012984643e-45f : -1.4012984643e-45f;
    memcpy(&bits, &x, sizeof bits);
    bits += (x > 0) == (above != 0) ? 1 : -1;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* An eigenvalue of low <= lambda < high, which its tolerance may have moved out. */
HOT_FN double tridiag_within(double value, double low, double high)
{
    return fmax(value >= high ? tridiag_just_below(high) : value, low) + 0.0; /* no zero has a sign */
}

HOT_FN float tridiag_within_f32(float value, double low, double high)
{
    if ((double)value >= high)
        value = (double)(float)high < high ? (float)high : tridiag_beside_f32((float)high, 0);
    if ((double)value < low)
        value = (double)(float)low >= low ? (float)low : tridiag_beside_f32((float)low, 1);
    return value + 0.0f;
}

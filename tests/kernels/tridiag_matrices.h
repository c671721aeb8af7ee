/* Tridiagonal matrices of all kinds, for the families tridiag and tridiag_vectors. */
#pragma once

#include "values.h"

#include <hotfiber/tridiag.h>

/* A matrix of size n into diagonal and off-diagonal. */
typedef void maker(uint64_t *seed, size_t n, double *a, double *b);

static inline void make_random(uint64_t *seed, size_t n, double *a, double *b)
{
    for (size_t i = 0; i < n; i++)
        a[i] = check_random_normal(seed), b[i] = check_random_normal(seed);
}
/* W+: m ... 1 0 1 ... m and ones: its largest eigenvalues are pairs that agree to many digits */
static inline void make_wilkinson(uint64_t *seed, size_t n, double *a, double *b)
{
    (void)seed;
    for (size_t i = 0; i < n; i++)
        a[i] = fabs((double)i - (double)(n - 1) / 2), b[i] = 1;
}
/* copies of W21+ hanging together by almost nothing: clusters of many */
static inline void make_glued(uint64_t *seed, size_t n, double *a, double *b)
{
    make_wilkinson(seed, 21, a, b);
    for (size_t i = 0; i < n; i++)
        a[i] = fabs((double)(i % 21) - 10), b[i] = i % 21 == 20 ? 1e-9 : 1;
}
static inline void make_toeplitz(uint64_t *seed, size_t n, double *a, double *b)
{
    (void)seed;
    for (size_t i = 0; i < n; i++)
        a[i] = 2, b[i] = 1;
}
static inline void make_broken(uint64_t *seed, size_t n, double *a, double *b)
{
    make_random(seed, n, a, b);
    for (size_t i = 0; i < n; i++) {
        b[i] = i % 3 == 1 ? 0 : b[i];
        a[i] = i % 5 == 0 ? 1 : a[i];
    }
}
static inline void make_diagonal(uint64_t *seed, size_t n, double *a, double *b)
{
    make_random(seed, n, a, b);
    for (size_t i = 0; i < n; i++)
        b[i] = 0, a[i] = i % 4 == 2 ? -1.5 : a[i];
}
static inline void make_zero(uint64_t *seed, size_t n, double *a, double *b)
{
    (void)seed;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = 0;
}
/* every second pivot at the shift 0 is zero */
static inline void make_antidiagonal(uint64_t *seed, size_t n, double *a, double *b)
{
    make_random(seed, n, a, b);
    for (size_t i = 0; i < n; i++)
        a[i] = 0;
}
static inline void make_huge(uint64_t *seed, size_t n, double *a, double *b)
{
    make_random(seed, n, a, b);
    for (size_t i = 0; i < n; i++)
        a[i] *= 1e30, b[i] *= 1e30;
}
static inline void make_tiny(uint64_t *seed, size_t n, double *a, double *b)
{
    make_random(seed, n, a, b);
    for (size_t i = 0; i < n; i++)
        a[i] *= 1e-30, b[i] *= 1e-30;
}
/* entries fall off steeply, off-diagonals stay small compared with the diagonal: every eigenvalue is known to its last
 * digits */
static inline void make_graded(uint64_t *seed, size_t n, double *a, double *b)
{
    double base = n > 20 ? pow(10, -25.0 / (double)n) : 0.1;
    for (size_t i = 0; i < n; i++)
        a[i] = pow(base, (double)i) * (1 + check_random(seed));
    for (size_t i = 0; i + 1 < n; i++)
        b[i] = 0.2 * sqrt(a[i] * a[i + 1]);
    b[n - 1] = 0;
}

static inline double norm_of(size_t n, const double *a, const double *b)
{
    double norm = 0;
    for (size_t i = 0; i < n; i++)
        norm = fmax(norm, fabs(a[i]) + (i ? fabs(b[i - 1]) : 0) + (i + 1 < n ? fabs(b[i]) : 0));
    return norm;
}

static inline hot_status compute(hot_context *context, const hot_tridiag_options *options, int f64, size_t n,
                                 size_t count, const void *a, const void *b, size_t stride, void *values, size_t width,
                                 int64_t *found)
{
    return f64 ? hot_tridiag_f64(context, options, n, count, a, b, stride, values, width, found)
               : hot_tridiag_f32(context, options, n, count, a, b, stride, values, width, found);
}

/* count matrices in rows of n + 3, as float or double; what the backend sees. */
static inline void *make_rows(int f64, size_t n, size_t count, const double *values)
{
    size_t stride = n + 3;
    void *rows = calloc(count * stride + 1, sizeof(double));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < stride; k++) {
            double value = k < n ? values[i * n + k] : NAN; /* not to be read */
            if (f64)
                ((double *)rows)[i * stride + k] = value;
            else
                ((float *)rows)[i * stride + k] = (float)value;
        }
    return rows;
}

static const struct { const char *name; maker *make;
} kinds[] = {{"random", make_random},
             {"Wilkinson", make_wilkinson},
             {"glued Wilkinson", make_glued},
             {"Toeplitz", make_toeplitz},
             {"zero off-diagonals", make_broken},
             {"diagonal", make_diagonal},
             {"zero", make_zero},
             {"zero diagonal", make_antidiagonal},
             {"huge", make_huge},
             {"tiny", make_tiny},
             {"graded", make_graded}};

/* See cpd_factors.h. */
#include "cpd_factors.h"
#include "common/entry.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64 }; /* rows that are solved together */

void hot_cpd_gram(size_t n, size_t rank, const double *f, double *gram, int threads)
{
    const hot_context *context = hot_entry_context();
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(rank * rank * n > 100000 ? threads : 1))
    for (size_t r = 0; r < rank; r++)
        for (size_t s = 0; s <= r && !(s == 0 && context && hot_context_cancelled(context)); s++) {
            const double *x = f + n * r, *y = f + n * s;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
            gram[r * rank + s] = gram[s * rank + r] = sum;
        }
}

void hot_cpd_hadamard(size_t rank, const double *x, const double *y, double *product)
{
    for (size_t i = 0; i < rank * rank; i++)
        product[i] = x[i] * y[i];
}

/* False when a pivot is lost in rounding. */
static int cholesky(size_t rank, double *matrix, double least)
{
    for (size_t r = 0; r < rank; r++) {
        double *row = matrix + r * rank;
        if (r % 64 == 63 && hot_entry_cancelled())
            return 1; /* nobody uses it */
        for (size_t s = 0; s <= r; s++) {
            const double *other = matrix + s * rank;
            double sum = row[s];
            for (size_t t = 0; t < s; t++)
                sum -= row[t] * other[t];
            if (s < r) {
                row[s] = sum / other[s];
            } else {
                if (!(sum > least))
                    return 0;
                row[s] = sqrt(sum);
            }
        }
    }
    return 1;
}

double hot_cpd_factorise(size_t rank, double *matrix, double *kept, double eps)
{
    double largest = 0, added = 0;
    for (size_t r = 0; r < rank; r++)
        largest = fmax(largest, matrix[r * rank + r]);
    if (!(largest > 0))
        largest = 1; /* all zero: the solution is that of the unit matrix, and m is zero too */
    memcpy(kept, matrix, rank * rank * sizeof *kept);
    for (int raised = 0; !cholesky(rank, matrix, eps * largest) && raised < 60; raised++) {
        added = added == 0 ? 2 * eps * largest : 4 * added;
        memcpy(matrix, kept, rank * rank * sizeof *kept);
        for (size_t r = 0; r < rank; r++)
            matrix[r * rank + r] += added;
    }
    return added;
}

void hot_cpd_solve(size_t n, size_t rank, const double *factor, double *m, int threads)
{
    const hot_context *context = hot_entry_context();
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(n * rank * rank > 100000 ? threads : 1))
    for (size_t first = 0; first < n; first += ROWS) {
        if (context && hot_context_cancelled(context))
            continue;
        const size_t rows = n - first < ROWS ? n - first : ROWS;
        for (size_t r = 0; r < rank; r++) {
            double *y = m + n * r + first;
            for (size_t s = 0; s < r; s++) {
                const double *x = m + n * s + first, weight = factor[r * rank + s];
                for (size_t i = 0; i < rows; i++)
                    y[i] -= weight * x[i];
            }
            for (size_t i = 0; i < rows; i++)
                y[i] /= factor[r * rank + r];
        }
        for (size_t r = rank; r-- > 0;) {
            double *y = m + n * r + first;
            for (size_t s = r + 1; s < rank; s++) {
                const double *x = m + n * s + first, weight = factor[s * rank + r];
                for (size_t i = 0; i < rows; i++)
                    y[i] -= weight * x[i];
            }
            for (size_t i = 0; i < rows; i++)
                y[i] /= factor[r * rank + r];
        }
    }
}

void hot_cpd_solve_non_negative(size_t n, size_t rank, const double *v, const double *m, double *f, int threads)
{
    enum { SWEEPS = 8 };
    const hot_context *context = hot_entry_context();
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(n * rank * rank > 10000 ? threads : 1))
    for (size_t first = 0; first < n; first += ROWS) {
        if (context && hot_context_cancelled(context))
            continue;
        const size_t rows = n - first < ROWS ? n - first : ROWS;
        for (int sweep = 0; sweep < SWEEPS; sweep++)
            for (size_t r = 0; r < rank; r++) {
                double rest[ROWS], *y = f + n * r + first;
                if (!(v[r * rank + r] > 0))
                    continue;
                memcpy(rest, m + n * r + first, rows * sizeof *rest);
                for (size_t s = 0; s < rank; s++) {
                    const double *x = f + n * s + first, weight = s == r ? 0 : v[r * rank + s];
                    for (size_t i = 0; i < rows; i++)
                        rest[i] -= weight * x[i];
                }
                for (size_t i = 0; i < rows; i++)
                    y[i] = rest[i] > 0 ? rest[i] / v[r * rank + r] : 0;
            }
    }
}

void hot_cpd_normalise(size_t n, size_t rank, double *f, const double *before, double *lambda)
{
    for (size_t r = 0; r < rank; r++) {
        double largest = 0, sum = 0, *column = f + n * r;
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(column[i]));
        for (size_t i = 0; i < n && largest > 0; i++)
            sum += column[i] / largest * (column[i] / largest);
        const double norm = largest * sqrt(sum);
        if (norm > 0 && isfinite(norm)) {
            for (size_t i = 0; i < n; i++)
                column[i] /= norm;
            lambda[r] = norm;
        } else {
            memcpy(column, before + n * r, n * sizeof *column);
            lambda[r] = 0;
        }
    }
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

void hot_cpd_orthonormalise(size_t n, size_t rank, double *f, uint64_t *random)
{
    for (size_t r = 0; r < rank; r++) {
        double *column = f + n * r;
        int drawn = r >= n;
        const double before = sqrt(dot(n, column, column));
        for (int pass = 0; pass < 2 && !drawn; pass++)
            for (size_t s = 0; s < r; s++) {
                const double along = dot(n, f + n * s, column);
                for (size_t i = 0; i < n; i++)
                    column[i] -= along * f[n * s + i];
            }
        double norm = sqrt(dot(n, column, column));
        drawn |= !(norm > 1e-10 * before);
        if (drawn) {
            for (size_t i = 0; i < n; i++)
                column[i] = hot_cpd_normal(random);
            norm = sqrt(dot(n, column, column));
        }
        for (size_t i = 0; i < n; i++)
            column[i] /= norm;
    }
}

/* splitmix64: the same numbers on every machine */
double hot_cpd_uniform(uint64_t *random)
{
    uint64_t z = (*random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double hot_cpd_normal(uint64_t *random)
{
    const double u = 1 - hot_cpd_uniform(random), v = hot_cpd_uniform(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

uint64_t hot_cpd_seed(const hot_context *context)
{
    return hot_context_seed(context) * 0x9e3779b97f4a7c15u + 0x243f6a8885a308d3u;
}

void hot_cpd_first(const hot_cpd_args *args, int mode, uint64_t *random, double *f)
{
    const hot_cpd_options *options = &args->options;
    for (size_t i = 0; i < args->n[mode] * args->rank; i++) {
        if (options->start == HOT_CPD_GIVEN)
            f[i] = args->f64 ? ((const double *)args->factor[mode])[i] : (double)((const float *)args->factor[mode])[i];
        else
            f[i] = options->non_negative && options->start == HOT_CPD_RANDOM ? hot_cpd_uniform(random)
                                                                             : hot_cpd_normal(random);
    }
}

void hot_cpd_first_end(const hot_cpd_args *args, int mode, double *f, double *spare, double *lambda)
{
    const size_t count = args->n[mode] * args->rank;
    for (size_t i = 0; i < count; i++) {
        f[i] = args->options.non_negative ? fabs(f[i]) : f[i];
        /* A given column of zeros becomes one of equal values: least squares could never move it. */
        spare[i] = 1 / sqrt((double)args->n[mode]);
    }
    hot_cpd_normalise(args->n[mode], args->rank, f, spare, lambda);
}

/* Small dense systems in double precision: Cholesky, elimination, eigenvalues. Matrices are row-major. Inline, because
 * the plugin's shared library cannot call what the kernels' library does not export. */
#pragma once

#include <math.h>
#include <stddef.h>

/* Overwrites the lower triangle of the symmetric a (rows `stride` values apart; the upper triangle is not read) with
 * its Cholesky factor. Returns n, or the index of the first pivot that is not above `tolerance` times its diagonal
 * element: the leading block of that size is then factored. */
static inline size_t hot_cholesky_factor(size_t n, size_t stride, double *a, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * stride + j];
            const double least = tolerance > 0 ? tolerance * sum : 0;
            for (size_t k = 0; k < j; k++)
                sum -= a[i * stride + k] * a[j * stride + k];
            if (i == j && !(sum > least))
                return i;
            a[i * stride + j] = i == j ? sqrt(sum) : sum / a[j * stride + j];
        }
    return n;
}

/* b becomes L^-1 b for a factor L. */
static inline void hot_cholesky_forward(size_t n, size_t stride, const double *factor, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= factor[i * stride + k] * b[k];
        b[i] /= factor[i * stride + i];
    }
}

/* b becomes L^-T b. */
static inline void hot_cholesky_backward(size_t n, size_t stride, const double *factor, double *b)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= factor[k * stride + i] * b[k];
        b[i] /= factor[i * stride + i];
    }
}

static inline void hot_linear_swap(double *x, double *y)
{
    const double kept = *x;
    *x = *y;
    *y = kept;
}

/* Solves a x = b by elimination with partial pivoting: b becomes x, a (n x n) is destroyed. Returns 0 if a is
 * singular. */
static inline int hot_eliminate(int n, double *a, double *b)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c]))
                pivot = r;
        if (!(fabs(a[pivot * n + c]) > 1e-300))
            return 0;
        if (pivot != c) {
            for (int k = c; k < n; k++)
                hot_linear_swap(&a[c * n + k], &a[pivot * n + k]);
            hot_linear_swap(&b[c], &b[pivot]);
        }
        for (int r = c + 1; r < n; r++) {
            const double factor = a[r * n + c] / a[c * n + c];
            for (int k = c; k < n; k++)
                a[r * n + k] -= factor * a[c * n + k];
            b[r] -= factor * b[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++)
            b[r] -= a[r * n + k] * b[k];
        b[r] /= a[r * n + r];
    }
    return 1;
}

static inline void hot_linear_rotate(double *x, double *y, double c, double s)
{
    const double kept = *x;
    *x = c * kept - s * *y;
    *y = s * kept + c * *y;
}

/* Jacobi's method for a symmetric matrix (n x n, destroyed): values ascending, vectors[i * n ...] the unit eigenvector
 * of values[i] (vectors may be NULL). */
static inline void hot_symmetric_eigen(int n, double *a, double *values, double *vectors)
{
    for (int i = 0; vectors && i < n; i++)
        for (int j = 0; j < n; j++)
            vectors[i * n + j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (int p = 0; p < n; p++) {
            on += a[p * n + p] * a[p * n + p];
            for (int q = p + 1; q < n; q++)
                off += a[p * n + q] * a[p * n + q];
        }
        if (!(off > 1e-32 * on))
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double pivot = a[p * n + q];
                if (pivot == 0)
                    continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * pivot);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++)
                    hot_linear_rotate(&a[k * n + p], &a[k * n + q], c, s);
                for (int k = 0; k < n; k++)
                    hot_linear_rotate(&a[p * n + k], &a[q * n + k], c, s);
                for (int k = 0; vectors && k < n; k++)
                    hot_linear_rotate(&vectors[p * n + k], &vectors[q * n + k], c, s);
            }
    }
    for (int i = 0; i < n; i++)
        values[i] = a[i * n + i];
    for (int i = 0; i < n; i++) { /* ascending, by selection: n is small */
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least])
                least = j;
        hot_linear_swap(&values[i], &values[least]);
        for (int k = 0; vectors && least != i && k < n; k++)
            hot_linear_swap(&vectors[i * n + k], &vectors[least * n + k]);
    }
}

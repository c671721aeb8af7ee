/* An alternating least squares as textbooks have it, with unfoldings, Khatri-Rao products and Gaussian elimination:
 * what the family cpd compares with. */
#pragma once

#include "values.h"

/* sum of lambda a b c; lambda NULL: ones */
static inline void compose(const size_t n[3], size_t rank, const double *lambda, const double *const f[3], double *x)
{
    memset(x, 0, n[0] * n[1] * n[2] * sizeof *x);
    for (size_t r = 0; r < rank; r++)
        for (size_t k = 0; k < n[2]; k++)
            for (size_t j = 0; j < n[1]; j++) {
                const double weight = (lambda ? lambda[r] : 1) * f[1][j + n[1] * r] * f[2][k + n[2] * r];
                for (size_t i = 0; i < n[0]; i++)
                    x[i + n[0] * (j + n[1] * k)] += weight * f[0][i + n[0] * r];
            }
}

/* Gaussian elimination with pivoting: matrix (n x n) times solution = right (n). */
static inline void eliminate(size_t n, double *matrix, double *right)
{
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(matrix[r * n + c]) > fabs(matrix[best * n + c]))
                best = r;
        for (size_t q = 0; q < n; q++) {
            const double kept = matrix[c * n + q];
            matrix[c * n + q] = matrix[best * n + q];
            matrix[best * n + q] = kept;
        }
        const double kept = right[c];
        right[c] = right[best];
        right[best] = kept;
        for (size_t r = c + 1; r < n; r++) {
            const double factor = matrix[r * n + c] / matrix[c * n + c];
            for (size_t q = c; q < n; q++)
                matrix[r * n + q] -= factor * matrix[c * n + q];
            right[r] -= factor * right[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        for (size_t q = c + 1; q < n; q++)
            right[c] -= matrix[c * n + q] * right[q];
        right[c] /= matrix[c * n + c];
    }
}

/* Alternating least squares row by row on the normal equations of the Khatri-Rao product; returns the fit. */
static inline double plain_als(const size_t n[3], size_t rank, const double *x, double *const f[3], int iterations)
{
    const size_t step[3] = {1, n[0], n[0] * n[1]}, total = n[0] * n[1] * n[2];
    double norm = 0, rest = 0, *copy = malloc(total * sizeof *copy);
    for (int iteration = 0; iteration < iterations; iteration++)
        for (int mode = 0; mode < 3; mode++) {
            const int one = mode == 0 ? 1 : 0, other = mode == 2 ? 1 : 2;
            const size_t columns = n[one] * n[other];
            double *khatri_rao = malloc(columns * rank * sizeof *khatri_rao), normal[64], matrix[64], right[8];
            memset(normal, 0, sizeof normal);
            for (size_t c = 0; c < columns; c++) {
                for (size_t r = 0; r < rank; r++)
                    khatri_rao[c * rank + r] = f[one][c % n[one] + n[one] * r] * f[other][c / n[one] + n[other] * r];
                for (size_t r = 0; r < rank; r++)
                    for (size_t q = 0; q < rank; q++)
                        normal[r * rank + q] += khatri_rao[c * rank + r] * khatri_rao[c * rank + q];
            }
            for (size_t row = 0; row < n[mode]; row++) {
                memset(right, 0, sizeof right);
                for (size_t c = 0; c < columns; c++)
                    for (size_t r = 0; r < rank; r++)
                        right[r] += x[row * step[mode] + c % n[one] * step[one] + c / n[one] * step[other]] *
                                    khatri_rao[c * rank + r];
                memcpy(matrix, normal, sizeof matrix);
                eliminate(rank, matrix, right);
                for (size_t r = 0; r < rank; r++)
                    f[mode][row + n[mode] * r] = right[r];
            }
            free(khatri_rao);
        }
    const double *const factors[3] = {f[0], f[1], f[2]};
    compose(n, rank, NULL, factors, copy);
    for (size_t i = 0; i < total; i++) {
        norm += x[i] * x[i];
        rest += (x[i] - copy[i]) * (x[i] - copy[i]);
    }
    free(copy);
    return 1 - sqrt(rest / norm);
}

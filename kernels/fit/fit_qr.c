/* Householder QR, and the pseudo-inverse of a design matrix. Small sizes: once per data set, not per voxel.
 * (Golub, Van Loan, Matrix Computations, sections 5.1, 5.2; one-sided Jacobi: section 8.6.) */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "fit.h"
#include "common/entry.h"
#include "common/free.h"

void hot_fit_qr(size_t rows, size_t columns, double *a, double *diagonal)
{
    for (size_t k = 0; k < columns; k++) {
        double largest = 0, sum = 0;
        if (k % 4 == 3 && hot_entry_cancelled())
            return;
        for (size_t i = k; i < rows; i++)
            largest = fmax(largest, fabs(a[i * columns + k]));
        diagonal[k] = 0;
        if (largest == 0)
            continue;
        for (size_t i = k; i < rows; i++) {
            const double t = a[i * columns + k] / largest;
            sum += t * t;
        }
        /* v = x + sign(x_k) |x| e_k, scaled so that v_k = 1 + |x_k| / |x|: then v v^T / v_k is the reflector */
        const double norm = copysign(largest * sqrt(sum), a[k * columns + k]);
        for (size_t i = k; i < rows; i++)
            a[i * columns + k] /= norm;
        a[k * columns + k] += 1;
        for (size_t j = k + 1; j < columns; j++) {
            double dot = 0;
            for (size_t i = k; i < rows; i++)
                dot += a[i * columns + k] * a[i * columns + j];
            dot /= a[k * columns + k];
            for (size_t i = k; i < rows; i++)
                a[i * columns + j] -= dot * a[i * columns + k];
        }
        diagonal[k] = -norm;
    }
}

static void reflect(size_t rows, size_t columns, const double *a, size_t k, double *vector)
{
    double dot = 0;
    for (size_t i = k; i < rows; i++)
        dot += a[i * columns + k] * vector[i];
    dot /= a[k * columns + k];
    for (size_t i = k; i < rows; i++)
        vector[i] -= dot * a[i * columns + k];
}

void hot_fit_qr_transposed(size_t rows, size_t columns, const double *a, const double *diagonal, double *vector)
{
    for (size_t k = 0; k < columns; k++)
        if (diagonal[k] != 0)
            reflect(rows, columns, a, k, vector);
}

/* x <- R^-1 right (first `columns` values of right) */
static void back_substitute(size_t columns, const double *a, const double *diagonal, const double *right, double *x)
{
    for (size_t i = columns; i-- > 0;) {
        double sum = right[i];
        for (size_t j = i + 1; j < columns; j++)
            sum -= a[i * columns + j] * x[j];
        x[i] = sum / diagonal[i];
    }
}

int hot_fit_qr_solve(size_t rows, size_t columns, double *a, double *right, double tolerance, double *x,
                     double *scratch)
{
    double largest = 0, smallest = INFINITY;
    if (rows < columns)
        return 0;
    hot_fit_qr(rows, columns, a, scratch);
    for (size_t k = 0; k < columns; k++) {
        largest = fmax(largest, fabs(scratch[k]));
        smallest = fmin(smallest, fabs(scratch[k]));
    }
    if (!(smallest > tolerance * largest))
        return 0;
    hot_fit_qr_transposed(rows, columns, a, scratch, right);
    back_substitute(columns, a, scratch, right, x);
    return 1;
}

/* The largest and smallest singular value of the n x n matrix whose columns are turned orthogonal in place. */
static void singular_range(size_t n, double *u, double *largest, double *smallest)
{
    int stopped = 0;
    for (int sweep = 0; sweep < 60 && !stopped; sweep++) {
        int turned = 0;
        for (size_t p = 0; p + 1 < n && !stopped; stopped = p % 4 == 3 && hot_entry_cancelled(), p++)
            for (size_t q = p + 1; q < n; q++) {
                double pp = 0, qq = 0, pq = 0;
                for (size_t i = 0; i < n; i++) {
                    const double x = u[i * n + p], y = u[i * n + q];
                    pp += x * x, qq += y * y, pq += x * y;
                }
                if (!(fabs(pq) > 1e-15 * sqrt(pp * qq)))
                    continue;
                turned = 1;
                const double zeta = (qq - pp) / (2 * pq);
                const double t = copysign(1 / (fabs(zeta) + hypot(1, zeta)), zeta);
                const double c = 1 / sqrt(1 + t * t), s = c * t;
                for (size_t i = 0; i < n; i++) {
                    const double x = u[i * n + p], y = u[i * n + q];
                    u[i * n + p] = c * x - s * y;
                    u[i * n + q] = s * x + c * y;
                }
            }
        if (!turned)
            break;
    }
    *largest = 0, *smallest = INFINITY;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += u[i * n + j] * u[i * n + j];
        *largest = fmax(*largest, sqrt(sum));
        *smallest = fmin(*smallest, sqrt(sum));
    }
}

/* R into `u` (n x n), its columns divided by `scale` (NULL = by 1). */
static void copy_triangle(size_t n, const double *a, const double *diagonal, const double *scale, double *u)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double value = j > i ? a[i * n + j] : j == i ? diagonal[i] : 0;
            u[i * n + j] = scale ? value / scale[j] : value;
        }
}

/* Divides by a power of two where squares might overflow or vanish; returns its exponent. */
static int take_scale(size_t count, double *a)
{
    double largest = 0;
    int exponent = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i]));
    frexp(largest, &exponent);
    if (exponent > -300 && exponent < 300)
        return 0;
    for (size_t i = 0; i < count; i++)
        a[i] = ldexp(a[i], -exponent);
    return exponent;
}

static hot_status check_design(hot_context *context, size_t rows, size_t columns, const double *design,
                               const double *penalty, const double *inverse)
{
    if (columns == 0 || !design || !inverse || rows > SIZE_MAX / 2 - columns)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a pseudo-inverse needs a matrix, not %zu x %zu at %p",
                                rows, columns, (const void *)design);
    if (rows + (penalty ? columns : 0) < columns)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "%zu measurements do not determine %zu coefficients: at least %zu are needed", rows,
                                columns, columns);
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(design[i]))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "design matrix: row %zu, column %zu is %g",
                                    i / columns, i % columns, design[i]);
    for (size_t j = 0; penalty && j < columns; j++)
        if (!(penalty[j] >= 0) || isinf(penalty[j]))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "penalty %zu is %g; it must be 0 or more", j,
                                    penalty[j]);
    return HOT_OK;
}

/* Rank: of the matrix with columns of length 1, so that units of the coefficients do not matter. length (columns) and u
 * (columns x columns): workspace. *condition (NULL: not computed) is that of the matrix itself. */
static hot_status check_rank(hot_context *context, size_t rows, size_t columns, const double *a, const double *diagonal,
                             double *length, double *u, double *condition)
{
    double largest, smallest;
    for (size_t j = 0; j < columns; j++) {
        double sum = diagonal[j] * diagonal[j];
        for (size_t i = 0; i < j; i++)
            sum += a[i * columns + j] * a[i * columns + j];
        length[j] = sum > 0 ? sqrt(sum) : 1;
    }
    copy_triangle(columns, a, diagonal, length, u);
    singular_range(columns, u, &largest, &smallest);
    HOT_TRY(hot_context_check(context, "inverting a matrix"));
    if (!(smallest > 1e-12 * largest))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "the %zu measurements do not determine the %zu coefficients (singular values from "
                                "%.3g down to %.3g)", rows, columns, largest, smallest);
    if (condition) {
        copy_triangle(columns, a, diagonal, NULL, u);
        singular_range(columns, u, &largest, &smallest);
        *condition = largest / smallest;
    }
    return HOT_OK;
}

hot_status hot_fit_pseudo_inverse(hot_context *context, size_t rows, size_t columns, const double *design,
                                  const double *penalty, double *inverse, double *condition)
{
    HOT_ENTRY(context);
    HOT_NEED(context, design, inverse);
    hot_status status = check_design(context, rows, columns, design, penalty, inverse);
    if (status != HOT_OK)
        return status;
    const size_t stacked = rows + (penalty ? columns : 0);
    double *a = NULL, *diagonal = NULL, *vector = NULL, *u = NULL;
    a = hot_context_calloc(context, stacked, columns * sizeof *a);
    u = hot_context_alloc(context, columns, columns * sizeof *u);
    vector = hot_context_alloc(context, stacked + columns, sizeof *vector);
    diagonal = hot_context_alloc(context, columns, sizeof *diagonal);
    if (!a || !u || !vector || !diagonal) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    if (rows)
        memcpy(a, design, rows * columns * sizeof *a);
    for (size_t j = 0; penalty && j < columns; j++)
        a[(rows + j) * columns + j] = sqrt(penalty[j]);
    const int exponent = take_scale(stacked * columns, a);
    hot_fit_qr(stacked, columns, a, diagonal);
    status = check_rank(context, rows, columns, a, diagonal, vector, u, condition);
    if (status != HOT_OK)
        goto cleanup;
    /* Column r of the result is R^-1 times the first part of Q^T e_r. */
    for (size_t r = 0; r < rows; r++) {
        double *x = vector + stacked;
        if (r % 8 == 7 && (status = hot_context_check(context, "inverting a matrix")) != HOT_OK)
            break;
        memset(vector, 0, stacked * sizeof *vector);
        vector[r] = 1;
        hot_fit_qr_transposed(stacked, columns, a, diagonal, vector);
        back_substitute(columns, a, diagonal, vector, x);
        for (size_t j = 0; j < columns; j++)
            inverse[j * rows + r] = exponent ? ldexp(x[j], -exponent) : x[j];
    }
cleanup:
    HOT_FREE(context, diagonal, vector, u, a);
    return status;
}

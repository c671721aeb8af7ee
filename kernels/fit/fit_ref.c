/* References of the fit family: long double, no blocking, no threads; nothing shared with the fast code. */
#include <math.h>
#include <string.h>

#include "common/free.h"
#include "fit.h"

void hot_fit_linear_f32_ref(size_t rows, size_t columns, const double *matrix, size_t count, const float *input,
                            size_t input_stride, float *output, size_t output_stride)
{
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < rows; r++) {
            long double sum = 0;
            for (size_t c = 0; c < columns; c++)
                sum += (long double)matrix[r * columns + c] * (long double)input[i * input_stride + c];
            output[i * output_stride + r] = (float)sum;
        }
}

/* Gram-Schmidt with every projection done twice: columns of q (rows x columns) become orthonormal, r upper triangular.
 * 0 when a column vanishes against what it was. */
static int orthonormalise(size_t rows, size_t columns, long double *q, long double *r)
{
    memset(r, 0, columns * columns * sizeof *r);
    for (size_t j = 0; j < columns; j++) {
        long double before = 0, after = 0;
        for (size_t i = 0; i < rows; i++)
            before += q[i * columns + j] * q[i * columns + j];
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                long double dot = 0;
                for (size_t i = 0; i < rows; i++)
                    dot += q[i * columns + k] * q[i * columns + j];
                r[k * columns + j] += dot;
                for (size_t i = 0; i < rows; i++)
                    q[i * columns + j] -= dot * q[i * columns + k];
            }
        for (size_t i = 0; i < rows; i++)
            after += q[i * columns + j] * q[i * columns + j];
        if (!(after > 1e-20L * before) || !(after > 0))
            return 0;
        r[j * columns + j] = sqrtl(after);
        for (size_t i = 0; i < rows; i++)
            q[i * columns + j] /= r[j * columns + j];
    }
    return 1;
}

/* x <- R^-1 Q^T right */
static void solve(size_t rows, size_t columns, const long double *q, const long double *r, const long double *right,
                  long double *x)
{
    for (size_t j = columns; j-- > 0;) {
        long double sum = 0;
        for (size_t i = 0; i < rows; i++)
            sum += q[i * columns + j] * right[i];
        for (size_t k = j + 1; k < columns; k++)
            sum -= r[j * columns + k] * x[k];
        x[j] = sum / r[j * columns + j];
    }
}

hot_status hot_fit_weighted_f32_ref(hot_context *context, size_t rows, size_t columns, const double *design,
                                    size_t count, const float *input, const float *weight, float *coefficients,
                                    size_t output_stride, uint8_t *flags)
{
    hot_status status = HOT_OK;
    long double *q = hot_context_alloc(context, rows, columns * sizeof *q);
    long double *r = hot_context_alloc(context, columns, columns * sizeof *r);
    long double *right = hot_context_alloc(context, rows + columns, sizeof *right);
    if (!q || !r || !right) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t v = 0; v < count; v++) {
        long double *x = right + rows;
        int good = 1;
        for (size_t i = 0; i < rows; i++) {
            const long double w = weight[v * rows + i], y = input[v * rows + i];
            if (!(w >= 0) || isinf(w) || !isfinite(y))
                good = 0;
            right[i] = good ? sqrtl(w) * y : 0;
            for (size_t c = 0; c < columns; c++)
                q[i * columns + c] = good ? sqrtl(w) * (long double)design[i * columns + c] : 0;
        }
        good = good && rows >= columns && orthonormalise(rows, columns, q, r);
        if (good)
            solve(rows, columns, q, r, right, x);
        for (size_t c = 0; c < columns; c++)
            coefficients[v * output_stride + c] = good ? (float)x[c] : 0;
        if (flags)
            flags[v] = (uint8_t)!good;
    }
cleanup:
    HOT_FREE(context, right, r, q);
    return status;
}

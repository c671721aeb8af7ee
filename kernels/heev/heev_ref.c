/* Reference: Jacobi's rotations in long double on the whole matrix, cyclic, until nothing is left off the diagonal. */
#include <complex.h>
#include <float.h>
#include <math.h>

#include "heev.h"

typedef long double complex entry;

/* C11's CMPLXL, which the C library's header has for gcc alone. */
static entry complex_of(long double re, long double im)
{
    const union { long double part[2]; entry whole; } made = {{re, im}};
    return made.whole;
}

static void load(const hot_heev_args *args, size_t i, entry *a)
{
    const size_t n = args->n, parts = args->is_complex ? 2 : 1;
    for (size_t c = 0; c < n; c++)
        for (size_t r = c; r < n; r++) {
            size_t at = hot_heev_place(args, i, r, c) * parts;
            long double re = args->f64 ? ((const double *)args->matrices)[at] : ((const float *)args->matrices)[at],
                        im = 0;
            if (args->is_complex && r != c)
                im = args->f64 ? ((const double *)args->matrices)[at + 1] : ((const float *)args->matrices)[at + 1];
            im = args->upper ? -im : im;
            a[c * n + r] = complex_of(re, im);
            a[r * n + c] = complex_of(re, -im);
        }
}

/* Columns p and q of a matrix of n rows: (p, q) <- (c p - s conj(phase) q, s phase p + c q). */
static void rotate_columns(size_t n, entry *a, size_t p, size_t q, long double c, long double s, entry phase)
{
    for (size_t r = 0; r < n; r++) {
        entry x = a[p * n + r], y = a[q * n + r];
        a[p * n + r] = c * x - s * conjl(phase) * y;
        a[q * n + r] = s * phase * x + c * y;
    }
}

static void rotate_rows(size_t n, entry *a, size_t p, size_t q, long double c, long double s, entry phase)
{
    for (size_t k = 0; k < n; k++) {
        entry x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * phase * y;
        a[k * n + q] = s * conjl(phase) * x + c * y;
    }
}

static void diagonalise(size_t n, entry *a, entry *v)
{
    for (size_t k = 0; k < n * n; k++)
        v[k] = k % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        int rotated = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                entry b = a[q * n + p]; /* row p, column q */
                long double size = cabsl(b), x = creall(a[p * n + p]), y = creall(a[q * n + q]);
                if (size <= LDBL_EPSILON / 4 * sqrtl(fabsl(x)) * sqrtl(fabsl(y)) || size < 1e-4900L)
                    continue;
                rotated = 1;
                long double theta = (y - x) / (2 * size);
                long double t = 1 / (fabsl(theta) + hypotl(theta, 1));
                t = theta < 0 ? -t : t;
                long double c = 1 / hypotl(t, 1), s = t * c;
                entry phase = b / size;
                rotate_columns(n, a, p, q, c, s, phase);
                rotate_rows(n, a, p, q, c, s, phase);
                rotate_columns(n, v, p, q, c, s, phase);
                a[q * n + p] = a[p * n + q] = 0;
            }
        if (!rotated)
            break;
    }
}

static void store(const hot_heev_args *args, size_t i, const entry *a, const entry *v, size_t *order)
{
    const size_t n = args->n, kept = args->kept, parts = args->is_complex ? 2 : 1;
    for (size_t k = 0; k < n; k++) {
        size_t at = k;
        for (; at > 0 && creall(a[order[at - 1] * (n + 1)]) > creall(a[k * (n + 1)]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (size_t k = 0; k < kept; k++) {
        size_t from = order[n - kept + k];
        long double value = creall(a[from * (n + 1)]);
        if (args->f64)
            ((double *)args->values)[i * kept + k] = (double)value;
        else
            ((float *)args->values)[i * kept + k] = (float)value;
        for (size_t r = 0; args->vectors && r < n; r++)
            for (size_t part = 0; part < parts; part++) {
                long double x = part ? cimagl(v[from * n + r]) : creall(v[from * n + r]);
                size_t at = ((i * kept + k) * n + r) * parts + part;
                if (args->f64)
                    ((double *)args->vectors)[at] = (double)x;
                else
                    ((float *)args->vectors)[at] = (float)x;
            }
    }
}

hot_status hot_heev_ref(hot_context *context, void *argument)
{
    const hot_heev_args *args = argument;
    const size_t n = args->n;
    entry *a = hot_context_alloc(context, n * n, 2 * sizeof *a);
    size_t *order = hot_context_alloc(context, n, sizeof *order);
    hot_status status = a && order ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < args->count && status == HOT_OK; i++) {
        if (!hot_heev_finite(args, i)) {
            hot_heev_refuse(args, i);
            continue;
        }
        load(args, i, a);
        diagonalise(n, a, a + n * n);
        store(args, i, a, a + n * n, order);
        status = hot_context_progress(context, "finding eigenvectors", (double)(i + 1) / (double)args->count);
    }
    hot_context_free(context, a);
    hot_context_free(context, order);
    return status;
}

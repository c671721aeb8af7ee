/* One Hermitian matrix without LAPACK: Householder's reduction to a real tridiagonal matrix, implicit QL, and back. For
 * builds that have no LAPACK, in double precision. */
#include <math.h>
#include <string.h>

#include "heev/heev.h"
#include "heev/heev_ql.h"

typedef struct complex_number {
    double re, im;
} complex_number;

/* sum conj(x) y */
static complex_number dot(size_t n, const complex_number *x, const complex_number *y)
{
    double re = 0, im = 0;
    for (size_t i = 0; i < n; i++) {
        re += x[i].re * y[i].re + x[i].im * y[i].im;
        im += x[i].re * y[i].im - x[i].im * y[i].re;
    }
    return (complex_number){re, im};
}

/* y += f x */
static void add(size_t n, complex_number f, const complex_number *x, complex_number *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i].re += f.re * x[i].re - f.im * x[i].im;
        y[i].im += f.re * x[i].im + f.im * x[i].re;
    }
}

/* H = 1 - tau v v^H with H^H x = beta e_last; x (length m) becomes v with v_last = 1. Returns beta. */
static double reflector(size_t m, complex_number *x, complex_number *tau)
{
    complex_number alpha = x[m - 1];
    double rest = 0;
    for (size_t i = 0; i + 1 < m; i++)
        rest += x[i].re * x[i].re + x[i].im * x[i].im;
    x[m - 1] = (complex_number){1, 0};
    *tau = (complex_number){0, 0};
    if (rest + alpha.re * alpha.re + alpha.im * alpha.im <
        1e-270) { /* negligible against a norm near 1, and squares vanish */
        for (size_t i = 0; i + 1 < m; i++)
            x[i] = (complex_number){0, 0};
        return 0;
    }
    if (rest == 0 && alpha.im == 0)
        return alpha.re;
    const double beta = -copysign(sqrt(rest + alpha.re * alpha.re + alpha.im * alpha.im), alpha.re);
    *tau = (complex_number){(beta - alpha.re) / beta, -alpha.im / beta};
    const complex_number d = {alpha.re - beta, alpha.im};
    const double size = d.re * d.re + d.im * d.im;
    const complex_number scale = {d.re / size, -d.im / size};
    for (size_t i = 0; i + 1 < m; i++)
        x[i] = (complex_number){scale.re * x[i].re - scale.im * x[i].im, scale.re * x[i].im + scale.im * x[i].re};
    return beta;
}

static int is_cancelled(const hot_context *context) { return context && hot_context_cancelled(context); }

/* The upper triangle of a becomes reflectors, one per column; d and e (n - 1) the tridiagonal matrix. */
static void reduce(const hot_context *context, size_t n, complex_number *a, double *d, double *e,
                   complex_number *tau, complex_number *w)
{
    for (size_t column = n - 1; column > 0 && !is_cancelled(context); column--) {
        complex_number *v = a + column * n;
        const size_t m = column; /* rows 0 ... m - 1 are above the diagonal */
        d[column] = v[m].re;
        e[m - 1] = reflector(m, v, &tau[column]);
        const complex_number t = tau[column];
        if (t.re == 0 && t.im == 0)
            continue;
        /* w = tau A v on the leading m x m, of which the upper triangle is kept */
        memset(w, 0, m * sizeof *w);
        for (size_t c = 0; c < m; c++) {
            const complex_number *ac = a + c * n, sum = dot(c, ac, v);
            add(c, v[c], ac, w);
            w[c].re += sum.re + ac[c].re * v[c].re;
            w[c].im += sum.im + ac[c].re * v[c].im;
        }
        for (size_t i = 0; i < m; i++)
            w[i] = (complex_number){t.re * w[i].re - t.im * w[i].im, t.re * w[i].im + t.im * w[i].re};
        /* w -= tau / 2 (w^H v) v, and A -= v w^H + w v^H */
        const complex_number s = dot(m, w, v);
        add(m, (complex_number){-.5 * (t.re * s.re - t.im * s.im), -.5 * (t.re * s.im + t.im * s.re)}, v, w);
        for (size_t c = 0; c < m; c++) {
            complex_number *ac = a + c * n;
            add(c + 1, (complex_number){-w[c].re, w[c].im}, v, ac);
            add(c + 1, (complex_number){-v[c].re, v[c].im}, w, ac);
            ac[c].im = 0;
        }
    }
    d[0] = a[0].re;
}

/* 0 also when it is cancelled. */
static int by_ql(const hot_context *context, size_t n, double *d, double *e, double *z, double *workspace)
{
    heev_sweep sweep = {0};
    int more = 0;
    e[n - 1] = 0;
    while (!is_cancelled(context) && (more = heev_sweep_next(&sweep, (int)n, d, e, workspace, workspace + n)) == 1)
        for (int i = sweep.end - 1; z && i >= sweep.begin; i--) {
            const double c = workspace[i], s = workspace[n + (size_t)i];
            double *x = z + (size_t)i * n, *y = x + n;
            for (size_t k = 0; k < n; k++) {
                const double old = y[k];
                y[k] = s * x[k] + c * old;
                x[k] = c * x[k] - s * old;
            }
        }
    return more == 0 && !is_cancelled(context);
}

int hot_heev_ql(size_t n, double *d, double *e, double *z, double *workspace)
{
    return by_ql(NULL, n, d, e, z, workspace);
}

/* In order e (n), z (n x n), d (n), tau (n), w (2 n), and the vectors; the last three complex. */
size_t hot_heev_own_doubles(size_t n) { return 3 * n * n + 8 * n; }

int hot_heev_own(const hot_context *context, size_t n, int vectors, double *matrix, double *values, void *workspace)
{
    complex_number *a = (complex_number *)(void *)matrix;
    double *e = workspace, *z = e + n, *d = z + n * n;
    complex_number *tau = (complex_number *)(void *)(d + n), *w = tau + n;
    double largest = 0;
    for (size_t c = 0; c < n; c++) /* the lower triangle, mirrored: the upper is worked on by columns */
        for (size_t r = c; r < n; r++) {
            complex_number x = a[c * n + r];
            x.im = r == c ? 0 : x.im;
            a[r * n + c] = (complex_number){x.re, -x.im};
            largest = fmax(largest, fmax(fabs(x.re), fabs(x.im)));
        }
    int exponent = 0;
    if (largest > 0)
        frexp(largest, &exponent);
    for (size_t k = 0; k < n * n; k++)
        a[k] = (complex_number){ldexp(a[k].re, -exponent), ldexp(a[k].im, -exponent)};
    reduce(context, n, a, d, e, tau, w);
    for (size_t k = 0; vectors && k < n * n; k++)
        z[k] = k % (n + 1) == 0;
    if (!by_ql(context, n, d, e, vectors ? z : NULL, (double *)(void *)w)) /* w is not needed any more */
        return 0;
    int *order = (int *)(void *)w;
    heev_order((int)n, d, order);
    for (size_t k = 0; k < n; k++)
        values[k] = ldexp(d[order[k]], exponent);
    if (!vectors)
        return 1;
    /* V = Q Z, Q = H_(n-1) ... H_1: applied to one vector after the other, each in a row, over all reflectors. */
    complex_number *out = (complex_number *)(void *)((double *)(void *)(tau + 2 * n));
    for (size_t k = 0; k < n && !is_cancelled(context); k++) {
        complex_number *x = out + k * n;
        for (size_t i = 0; i < n; i++)
            x[i] = (complex_number){z[(size_t)order[k] * n + i], 0};
        for (size_t m = 1; m < n; m++) {
            const complex_number s = dot(m, a + m * n, x), t = tau[m];
            if (t.re != 0 || t.im != 0)
                add(m, (complex_number){-(t.re * s.re - t.im * s.im), -(t.re * s.im + t.im * s.re)}, a + m * n, x);
        }
    }
    memcpy(a, out, n * n * sizeof *a);
    return !is_cancelled(context);
}

/* Forms of one order in three dimensions, unrolled: a template, included once per order and type.
 *
 *   #define HOT_ORDER 4        the order m, >= 2
 *   #define HOT_SCALAR float   the type of the arithmetic
 *   #define HOT_REAL float     the same, or a GCC vector of it (one lane per point)
 *   #define HOT_COEF float     the tensor's values: HOT_SCALAR (one tensor for all lanes) or HOT_REAL (one per lane)
 *   #define HOT_FORM(name)     the names made: name##_4_f32, say
 *
 * The class of x^(m-s) y^(s-t) z^t has index s(s+1)/2 + t; its neighbours one order up, with one more x, y or z, have
 * the same index, (s+1)(s+2)/2 + t and one more. So A x^(m-1) is one pass over the monomials of order m-1, each
 * weighted with its multiplicity once and used three times, on the packed tensor itself (no scaled copy): the shared
 * monomials of the Ballard paper's section V-D ("common subexpression elimination"). */
#include "common/portable.h"

/* The monomials of `degree` (< HOT_ORDER), times their multiplicities, in lexicographic order. */
HOT_FN void HOT_FORM(monomials)(int degree, HOT_REAL x, HOT_REAL y, HOT_REAL z, HOT_REAL *monomial)
{
    /* By rows of Pascal's triangle: w(s) = the monomials in y and z of degree s with binomial weights, times
     * C(degree, s) x^(degree - s). */
    HOT_REAL power[HOT_ORDER + 1], row[HOT_ORDER + 1];
    power[0] = x * 0 + 1; /* used for degree 0 alone */
    HOT_UNROLL
    for (int k = 1; k < HOT_ORDER; k++)
        power[k] = k == 1 ? x : power[k - 1] * x;
    double outer = 1;
    HOT_UNROLL
    for (int s = 0; s < HOT_ORDER; s++) {
        if (s > degree)
            break;
        if (s == 1) {
            row[0] = y;
            row[1] = z;
        } else if (s > 1) {
            row[s] = row[s - 1] * z;
            HOT_UNROLL
            for (int t = 0; t < HOT_ORDER; t++)
                if (t < s)
                    row[t] = row[t] * y;
        }
        double inner = 1;
        HOT_UNROLL
        for (int t = 0; t <= HOT_ORDER; t++) {
            if (t > s)
                break;
            double weight = outer * inner;
            HOT_REAL value = s == 0 ? power[degree] : s == degree ? row[t] : power[degree - s] * row[t];
            monomial[s * (s + 1) / 2 + t] = weight == 1 ? value : value * (HOT_SCALAR)weight;
            inner = inner * (s - t) / (t + 1);
        }
        outer = outer * (degree - s) / (s + 1);
    }
}

/* A x^(m-1) into g[3]. */
HOT_FN void HOT_FORM(gradient)(const HOT_COEF *a, HOT_REAL x, HOT_REAL y, HOT_REAL z, HOT_REAL *g)
{
    HOT_REAL w[HOT_ORDER * (HOT_ORDER + 1) / 2];
    HOT_FORM(monomials)(HOT_ORDER - 1, x, y, z, w);
    g[0] = w[0] * a[0];
    g[1] = w[0] * a[1];
    g[2] = w[0] * a[2];
    HOT_UNROLL
    for (int s = 1; s < HOT_ORDER; s++) {
        HOT_UNROLL
        for (int t = 0; t <= s; t++) {
            const int i = s * (s + 1) / 2 + t, j = (s + 1) * (s + 2) / 2 + t;
            g[0] += w[i] * a[i];
            g[1] += w[i] * a[j];
            g[2] += w[i] * a[j + 1];
        }
    }
}

/* A x^(m-2) into h[6]: xx xy xz yy yz zz. */
HOT_FN void HOT_FORM(hessian)(const HOT_COEF *a, HOT_REAL x, HOT_REAL y, HOT_REAL z, HOT_REAL *h)
{
    HOT_REAL w[HOT_ORDER * (HOT_ORDER + 1) / 2];
    HOT_FORM(monomials)(HOT_ORDER - 2, x, y, z, w);
    HOT_UNROLL
    for (int k = 0; k < 6; k++)
        h[k] = w[0] * a[k];
    HOT_UNROLL
    for (int s = 1; s < HOT_ORDER - 1; s++) {
        HOT_UNROLL
        for (int t = 0; t <= s; t++) {
            const int i = s * (s + 1) / 2 + t, j = (s + 1) * (s + 2) / 2 + t, k = (s + 2) * (s + 3) / 2 + t;
            h[0] += w[i] * a[i];
            h[1] += w[i] * a[j];
            h[2] += w[i] * a[j + 1];
            h[3] += w[i] * a[k];
            h[4] += w[i] * a[k + 1];
            h[5] += w[i] * a[k + 2];
        }
    }
}

/* A x^m, by Euler: x . A x^(m-1) costs less than the monomials of degree m, and the gradient is there besides. */
HOT_FN HOT_REAL HOT_FORM(value)(const HOT_COEF *a, HOT_REAL x, HOT_REAL y, HOT_REAL z)
{
    HOT_REAL g[3];
    HOT_FORM(gradient)(a, x, y, z, g);
    return g[0] * x + g[1] * y + g[2] * z;
}

/* Both at once: g[3] and h[6], the gradient from the Hessian (A x^(m-1) = A x^(m-2) x). */
HOT_FN void HOT_FORM(derivatives)(const HOT_COEF *a, HOT_REAL x, HOT_REAL y, HOT_REAL z, HOT_REAL *g, HOT_REAL *h)
{
    HOT_FORM(hessian)(a, x, y, z, h);
    g[0] = h[0] * x + h[1] * y + h[2] * z;
    g[1] = h[1] * x + h[3] * y + h[4] * z;
    g[2] = h[2] * x + h[4] * y + h[5] * z;
}

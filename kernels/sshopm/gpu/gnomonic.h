/* SS-HOPM without a shift for three dimensions and even orders, in the gnomonic projection: x = (u, v, 1) up to its
 * length. The step x <- A x^(m-1) (Kolda, Mayo 2011, with alpha = 0) becomes
 *
 *   u <- g_x(u, v) / g_z(u, v),    v <- g_y(u, v) / g_z(u, v)
 *
 * with three polynomials of degree m - 1: by Horner's rule 27 fused multiply-adds for m = 4, one reciprocal, two
 * products. No root, no normalisation, half the operations of shared monomials (form3.h). All starts of a tensor use
 * one projection. Its frame is turned by one fixed rotation (gnomonic_table.h), so that no direction that data prefer
 * (an axis, a plane of symmetry) is on its horizon. A point near the horizon only has a large u or v; starts that
 * overflow are iterated again without the projection.
 *
 * A template: HOT_ORDER, HOT_GNOMONIC(name). Compiled as C11 for tests and by nvcc, where it makes the members of
 * gnomonic<ORDER> (gnomonic_item.cuh). */
#include "common/portable.h"

/* One of the three polynomials: c in lexicographic order (rows by falling power of u, in each row of v). */
HOT_FN float HOT_GNOMONIC(polynomial)(const float *c, float u, float v)
{
    float g = c[0];
    HOT_UNROLL
    for (int s = 1; s < HOT_ORDER; s++) {
        float row = c[s * (s + 1) / 2];
        HOT_UNROLL
        for (int t = 1; t <= s; t++)
            row = fmaf(row, v, c[s * (s + 1) / 2 + t]);
        g = fmaf(g, u, row);
    }
    return g;
}

/* The same at two points at once, so that a coefficient that is fetched for one serves the other. */
HOT_FN void HOT_GNOMONIC(polynomial_pair)(const float *c, const float *u, const float *v, float *g)
{
    float g0 = c[0], g1 = c[0];
    HOT_UNROLL
    for (int s = 1; s < HOT_ORDER; s++) {
        float row0 = c[s * (s + 1) / 2], row1 = row0;
        HOT_UNROLL
        for (int t = 1; t <= s; t++) {
            row0 = fmaf(row0, v[0], c[s * (s + 1) / 2 + t]);
            row1 = fmaf(row1, v[1], c[s * (s + 1) / 2 + t]);
        }
        g0 = fmaf(g0, u[0], row0);
        g1 = fmaf(g1, u[1], row1);
    }
    g[0] = g0;
    g[1] = g1;
}

/* SS-HOPM without a shift for three dimensions and even orders, in a chart of the projective plane: x = (u, v, 1) up to
 * its length. The step x <- A x^(m-1) becomes
 *
 *   u <- g_x(u, v) / g_z(u, v),    v <- g_y(u, v) / g_z(u, v)
 *
 * with three polynomials of degree m - 1, by Horner 27 fused multiply-adds for m = 4, one reciprocal, two products: no
 * root, no normalisation, half of what shared monomials cost. All starts of a tensor use one chart. So that no
 * direction that data prefer (an axis, a plane of symmetry) lies on the chart's horizon, it is laid in a frame that is
 * turned by one fixed rotation; a point that does come near the horizon is only a large u or v, which floating point
 * takes in its stride; what overflows is iterated again without a chart.
 *
 * A template: HOT_ORDER, HOT_CHART(name). Compiled as C11 for tests and by nvcc. */
#include "common/portable.h"

/* One of the three polynomials: c in lexicographic order (rows by falling power of u, in each row of v). */
HOT_FN float HOT_CHART(polynomial)(const float *c, float u, float v)
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

/* The same at two points in step, so that a coefficient fetched for one serves the other. */
HOT_FN void HOT_CHART(polynomial_pair)(const float *c, const float *u, const float *v, float *g)
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

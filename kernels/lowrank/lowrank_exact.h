/* The best fit with max_rank terms, whatever the tensor (exact_rank): what lowrank_find has found, improved by further
 * terms from the largest maximum of the residual's form. HOT_LANES_F32 tensors side by side.
 *
 * With the other terms fixed, the best term is that maximum v with the weight of its value: the squared norm falls by
 * the value's square. A term is removed and found anew, then all are fitted together; a fit that is no better is
 * dropped, so that the residual never grows. A weight of 0 has no derivative with respect to its direction:
 * Gauss-Newton never moves such a term, this does. */
#pragma once

#include "lowrank_step.h"

enum {
    LOWRANK_STARTS = 8,  /* grid points from which the maximum is sought */
    LOWRANK_CLIMBS = 24, /* steps from each; mostly 4 to 8 */
    LOWRANK_ROUNDS = 4   /* every term is found anew so many times, if it helps */
};
/* Values up to this fraction of the tensor's norm are rounding errors. */
#define LOWRANK_ZERO 1e-6f
/* Starts are this far apart, squared cosine: 18 degrees, less than maxima of a form of order 8. */
#define LOWRANK_APART 0.9045f

/* A x^(m-2): xx xy xz yy yz zz */
HOT_FN void lowrank_hessian(const int order, const vf *a, const vf x[3], vf h[6])
{
    if (order == 4)
        lowrank_form_hessian_4(a, x[0], x[1], x[2], h);
    else if (order == 6)
        lowrank_form_hessian_6(a, x[0], x[1], x[2], h);
    else
        lowrank_form_hessian_8(a, x[0], x[1], x[2], h);
}

/* The form at x, and the step in the tangent plane from there: Newton's, with the Hessian shifted to be negative
 * definite, so that it climbs. */
HOT_FN vf lowrank_newton(const int order, const vf *a, const vf x[3], vf step[3])
{
    const float m = (float)order;
    vf h[6], g[3], e[2][3], s[2], c[3] = {vset(0), vset(0), vset(0)};
    lowrank_hessian(order, a, x, h);
    g[0] = h[0] * x[0] + h[1] * x[1] + h[2] * x[2];
    g[1] = h[1] * x[0] + h[3] * x[1] + h[4] * x[2];
    g[2] = h[2] * x[0] + h[4] * x[1] + h[5] * x[2];
    const vf value = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
    signal_tangents(x, e[0], e[1]);
    for (int p = 0; p < 2; p++) {
        const vf he[3] = {h[0] * e[p][0] + h[1] * e[p][1] + h[2] * e[p][2],
                          h[1] * e[p][0] + h[3] * e[p][1] + h[4] * e[p][2],
                          h[2] * e[p][0] + h[4] * e[p][1] + h[5] * e[p][2]};
        s[p] = g[0] * e[p][0] + g[1] * e[p][1] + g[2] * e[p][2];
        for (int q = 0; q <= p; q++)
            c[p + q] = (m - 1) * (he[0] * e[q][0] + he[1] * e[q][1] + he[2] * e[q][2]) - (p == q ? value : vset(0));
    }
    const vf mean = 0.5f * (c[0] + c[2]), part = 0.5f * (c[0] - c[2]), spread = vsqrt(part * part + c[1] * c[1]);
    const vf top = mean + spread, size = vabs(mean) + spread;
    const vf shift = vsel(top < -1e-3f * size, vset(0), top + 0.05f * size);
    const vf c0 = c[0] - shift, c2 = c[2] - shift, inverse = 1 / vmax(c0 * c2 - c[1] * c[1], vset(1e-30f));
    const vf u = (c[1] * s[1] - c2 * s[0]) * inverse, v = (c[1] * s[0] - c0 * s[1]) * inverse;
    const vf scale = 0.25f / vmax(vsqrt(u * u + v * v), vset(0.25f));
    for (int d = 0; d < 3; d++)
        step[d] = scale * (u * e[0][d] + v * e[1][d]);
    return value;
}

/* Climbs from x (unit; replaced) to a maximum next to it and returns its value, never below that of the start. */
HOT_FN vf lowrank_climb(const int order, const vf *a, vf x[3])
{
    vf step[3], value = lowrank_newton(order, a, x, step);
    for (int it = 0; it < LOWRANK_CLIMBS; it++) {
        vf next[3], further[3], length = vset(0), left = vset(0);
        for (int d = 0; d < 3; d++) {
            next[d] = x[d] + step[d];
            length += next[d] * next[d];
            left += step[d] * step[d];
        }
        const vf scale = 1 / vsqrt(length);
        for (int d = 0; d < 3; d++)
            next[d] *= scale;
        const vf reached = lowrank_newton(order, a, next, further);
        const vm up = reached > value, moving = left > 1e-12f;
        for (int d = 0; d < 3; d++) {
            x[d] = vsel(up, next[d], x[d]);
            step[d] = vsel(up, further[d], 0.25f * step[d]);
        }
        value = vsel(up, reached, value);
        if (!vany(moving))
            break;
    }
    return value;
}

/* The largest maximum of the form of r, from the highest grid points that are apart. b: scratch. */
HOT_FN void lowrank_peak_here(const lowrank_plan *plan, const int order, const vf *r, vf *b, vf peak[3], vf *height)
{
    const signal_grid *grid = &plan->grid;
    vf top;
    vi at;
    lowrank_scan(grid, (order + 1) * (order + 2) / 2, r, b, &at, &top);
    *height = vset(-1e30f);
    for (int start = 0; start < LOWRANK_STARTS; start++) {
        vf from[3], x[3];
        signal_direction(grid, at, from);
        for (int d = 0; d < 3; d++)
            x[d] = from[d];
        const vf value = lowrank_climb(order, r, x);
        const vm better = value > *height;
        *height = vsel(better, value, *height);
        for (int d = 0; d < 3; d++)
            peak[d] = vsel(better, x[d], peak[d]);
        if (start == LOWRANK_STARTS - 1)
            break;
        top = vset(-2e30f);
        for (int d = 0; d < SIGNAL_GRID; d++) {
            const vf c = from[0] * grid->v[3 * d] + from[1] * grid->v[3 * d + 1] + from[2] * grid->v[3 * d + 2];
            b[d] = vsel(c * c > LOWRANK_APART, vset(-1e30f), b[d]);
            const vm higher = b[d] > top;
            top = vsel(higher, b[d], top);
            at = vseli(higher, vseti(d), at);
        }
    }
}

/* A function for each order (and rank), called and not inlined, as those of lowrank_step.h. */
#define LOWRANK_PEAK(order) \
    SIGNAL_CALLED void lowrank_peak_##order(const lowrank_plan *plan, const vf *r, vf *b, vf peak[3], vf *height) \
    { \
        lowrank_peak_here(plan, order, r, b, peak, height); \
    }
#define LOWRANK_DESCEND(order, k) \
    SIGNAL_CALLED void lowrank_descend_##order##_##k(const lowrank_plan *plan, const vf *a, lowrank_terms *f) \
    { \
        lowrank_descend(plan, order, k, a, f); \
    }
#define LOWRANK_EXACT(order) LOWRANK_PEAK(order) LOWRANK_DESCEND(order, 2) LOWRANK_DESCEND(order, 3)
LOWRANK_EXACT(4)
LOWRANK_EXACT(6)
LOWRANK_EXACT(8)

/* Replaces term i by the best term for the residual of the others, and fits all. A single term needs no fit: its weight
 * is the form's value. */
HOT_FN void lowrank_replace(const lowrank_plan *plan, const int order, const int k, const int i, const vf *a, vf *b,
                            lowrank_terms *f)
{
    vf r[LOWRANK_UNIQUE_MAX], height;
    f->w[i] = vset(0);
    lowrank_residual(plan, order, k, a, f, r);
    (order == 4 ? lowrank_peak_4 : order == 6 ? lowrank_peak_6 : lowrank_peak_8)(plan, r, b, f->v[i], &height);
    f->w[i] = vmax(height, vset(0));
    if (k == 1)
        lowrank_residual(plan, order, k, a, f, r);
    else if (order == 4)
        (k == 2 ? lowrank_descend_4_2 : lowrank_descend_4_3)(plan, a, f);
    else if (order == 6)
        (k == 2 ? lowrank_descend_6_2 : lowrank_descend_6_3)(plan, a, f);
    else
        (k == 2 ? lowrank_descend_8_2 : lowrank_descend_8_3)(plan, a, f);
}

/* Improves `best`, which has max_rank terms. */
HOT_FN void lowrank_improve(const lowrank_plan *plan, const int order, const vf *a, vf *b, lowrank_terms *best,
                            vi *chosen)
{
    const int rank = plan->max_rank;
    lowrank_terms f;
    f.e = vset(1);
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < 3; d++)
            f.v[i][d] = vset(d == 2);
        f.w[i] = vset(0);
    }
    for (int k = 1; k <= rank; k++) /* one term after the other */
        lowrank_replace(plan, order, k, k - 1, a, b, &f);
    lowrank_keep(rank, f.e < best->e, &f, best);
    for (int round = 0; round < LOWRANK_ROUNDS && rank > 1; round++) {
        vm any = vmask(0);
        for (int i = 0; i < rank; i++) {
            f = *best;
            lowrank_replace(plan, order, rank, i, a, b, &f);
            const vm better = (f.e < 0.9999f * best->e) & (best->e > 1e-12f);
            lowrank_keep(rank, better, &f, best);
            any = any | better;
        }
        if (!vany(any))
            break;
    }
    /* a term counts where the form that the others leave is above rounding errors */
    vf r[LOWRANK_UNIQUE_MAX], g[3];
    for (int i = 0; i < rank; i++) {
        lowrank_residual(plan, order, rank, a, best, r);
        lowrank_gradient(order, r, best->v[i], g);
        const vf w = best->w[i] + g[0] * best->v[i][0] + g[1] * best->v[i][1] + g[2] * best->v[i][2];
        best->w[i] = vsel(w > LOWRANK_ZERO, best->w[i], vset(0));
    }
    lowrank_residual(plan, order, rank, a, best, r);
    *chosen = vseti(rank);
}

#define LOWRANK_IMPROVE(order) \
    SIGNAL_CALLED void lowrank_improve_##order(const lowrank_plan *plan, const vf *a, vf *b, lowrank_terms *best, \
                                               vi *chosen) \
    { \
        lowrank_improve(plan, order, a, b, best, chosen); \
    }
LOWRANK_IMPROVE(4)
LOWRANK_IMPROVE(6)
LOWRANK_IMPROVE(8)

/* lowrank_find, and with exact_rank the above. */
HOT_FN void lowrank_find_best(const lowrank_plan *plan, const int order, const vf *a, vf *b, lowrank_terms *best,
                              vi *chosen)
{
    lowrank_find(plan, order, a, b, best, chosen);
    if (plan->exact_rank)
        (order == 4 ? lowrank_improve_4 : order == 6 ? lowrank_improve_6 : lowrank_improve_8)(plan, a, b, best, chosen);
}

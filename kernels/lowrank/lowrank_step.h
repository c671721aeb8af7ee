/* Best non-negative rank-k of a packed tensor, the arithmetic of HOT_LANES_F32 of them side by side:
 *
 *   min || A - sum_i w_i v_i^(x m) ||,  w_i >= 0, |v_i| = 1
 *
 * Starts from the best grid directions, pairs and triples; a few alternating sweeps, each a shifted power step
 * (SS-HOPM; Kolda, Mayo 2011) on the tensor less the other terms; then damped Gauss-Newton on all terms at once, whose
 * normal matrix needs only the angles between them: <v^m, u^m> = (v.u)^m and its derivatives. The residual is formed
 * entry by entry, so that exact sums are recovered to rounding. */
#pragma once

#include "signal/signal_search.h"
#include "lowrank.h"

#define HOT_SCALAR float
#define HOT_REAL vf
#define HOT_COEF vf
#define HOT_ORDER 4
#define HOT_FORM(name) lowrank_form_##name##_4
#include "symtensor/form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 6
#define HOT_FORM(name) lowrank_form_##name##_6
#include "symtensor/form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 8
#define HOT_FORM(name) lowrank_form_##name##_8
#include "symtensor/form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_SCALAR

typedef struct lowrank_terms {
    vf v[3][3], w[3];
    vf e; /* squared norm of the residual */
} lowrank_terms;

#define LOWRANK_UNKNOWNS 9

/* A x^(m-1) */
HOT_FN void lowrank_gradient(const int order, const vf *a, const vf x[3], vf g[3])
{
    if (order == 4)
        lowrank_form_gradient_4(a, x[0], x[1], x[2], g);
    else if (order == 6)
        lowrank_form_gradient_6(a, x[0], x[1], x[2], g);
    else
        lowrank_form_gradient_8(a, x[0], x[1], x[2], g);
}

HOT_FN vf lowrank_power(vf x, const int n)
{
    vf p = vset(1);
    HOT_UNROLL
    for (int i = 0; i < n; i++)
        p *= x;
    return p;
}

/* to += w v^(x m) */
HOT_FN void lowrank_add(const int order, vf w, const vf v[3], vf *to)
{
    vf px[9], py[9], pz[9];
    px[0] = py[0] = pz[0] = vset(1);
    HOT_UNROLL
    for (int i = 1; i <= order; i++) {
        px[i] = px[i - 1] * v[0];
        py[i] = py[i - 1] * v[1];
        pz[i] = pz[i - 1] * v[2];
    }
    HOT_UNROLL
    for (int s = 0; s <= order; s++) {
        vf left = w * px[order - s];
        HOT_UNROLL
        for (int t = 0; t <= s; t++)
            to[s * (s + 1) / 2 + t] += left * (py[s - t] * pz[t]);
    }
}

/* The residual and its squared norm. */
HOT_FN void lowrank_residual_here(const lowrank_plan *plan, const int order, const int k, const vf *a, lowrank_terms *f,
                                  vf *r)
{
    const int unique = (order + 1) * (order + 2) / 2;
    HOT_UNROLL
    for (int i = 0; i < unique; i++)
        r[i] = a[i];
    HOT_UNROLL
    for (int i = 0; i < k; i++)
        lowrank_add(order, -f->w[i], f->v[i], r);
    vf e = vset(0);
    HOT_UNROLL
    for (int i = 0; i < unique; i++)
        e += plan->multiplicity[i] * r[i] * r[i];
    f->e = e;
}

/* A function for each order and rank, called and not inlined: compilers would take minutes over the copies. */
#define LOWRANK_RESIDUAL(order, k) \
    SIGNAL_CALLED void lowrank_residual_##order##_##k(const lowrank_plan *plan, const vf *a, lowrank_terms *f, vf *r) \
    { \
        lowrank_residual_here(plan, order, k, a, f, r); \
    }
#define LOWRANK_RESIDUALS(order) LOWRANK_RESIDUAL(order, 1) LOWRANK_RESIDUAL(order, 2) LOWRANK_RESIDUAL(order, 3)
LOWRANK_RESIDUALS(4)
LOWRANK_RESIDUALS(6)
LOWRANK_RESIDUALS(8)

HOT_FN void lowrank_residual(const lowrank_plan *plan, const int order, const int k, const vf *a, lowrank_terms *f,
                             vf *r)
{
    if (order == 4)
        (k == 1 ? lowrank_residual_4_1 : k == 2 ? lowrank_residual_4_2 : lowrank_residual_4_3)(plan, a, f, r);
    else if (order == 6)
        (k == 1 ? lowrank_residual_6_1 : k == 2 ? lowrank_residual_6_2 : lowrank_residual_6_3)(plan, a, f, r);
    else
        (k == 1 ? lowrank_residual_8_1 : k == 2 ? lowrank_residual_8_2 : lowrank_residual_8_3)(plan, a, f, r);
}

/* One sweep of shifted power steps. */
HOT_FN void lowrank_sweep(const lowrank_plan *plan, const int order, const int k, const vf *a, lowrank_terms *f, vf *r)
{
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        vf g[3];
        lowrank_residual(plan, order, k, a, f, r);
        lowrank_gradient(order, r, f->v[i], g);
        /* the other terms gone: r + w v^m, whose form's gradient at v is g + w v; the shift keeps it climbing */
        vf shift = 1.5f * f->w[i] + 0.05f, length = vset(0);
        for (int d = 0; d < 3; d++) {
            g[d] += shift * f->v[i][d];
            length += g[d] * g[d];
        }
        vf scale = 1 / vsqrt(vmax(length, vset(1e-20f)));
        for (int d = 0; d < 3; d++)
            f->v[i][d] = g[d] * scale;
        lowrank_residual(plan, order, k, a, f, r);
        lowrank_gradient(order, r, f->v[i], g);
        f->w[i] = vmax(f->w[i] + g[0] * f->v[i][0] + g[1] * f->v[i][1] + g[2] * f->v[i][2], vset(1e-3f));
    }
}

/* Half gradient and half Gauss-Newton matrix: per term w and two turns. */
HOT_FN void lowrank_normal(const int order, const int k, const lowrank_terms *f, const vf *r, vf *H, vf *G)
{
    const float m = (float)order;
    vf e[3][2][3];
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        vf g[3];
        signal_tangents(f->v[i], e[i][0], e[i][1]);
        lowrank_gradient(order, r, f->v[i], g);
        G[3 * i] = -(g[0] * f->v[i][0] + g[1] * f->v[i][1] + g[2] * f->v[i][2]);
        for (int p = 0; p < 2; p++)
            G[3 * i + 1 + p] = -m * f->w[i] * (g[0] * e[i][p][0] + g[1] * e[i][p][1] + g[2] * e[i][p][2]);
    }
    HOT_UNROLL
    for (int i = 0; i < k; i++)
        HOT_UNROLL
        for (int j = 0; j <= i; j++) {
            vf c = f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2];
            vf c2 = lowrank_power(c, order - 2), c1 = c2 * c, c0 = c1 * c;
            vf vi_ej[2], ei_vj[2];
            for (int p = 0; p < 2; p++) {
                vi_ej[p] = f->v[i][0] * e[j][p][0] + f->v[i][1] * e[j][p][1] + f->v[i][2] * e[j][p][2];
                ei_vj[p] = e[i][p][0] * f->v[j][0] + e[i][p][1] * f->v[j][1] + e[i][p][2] * f->v[j][2];
            }
            H[SIGNAL_AT(3 * i, 3 * j)] = c0;
            for (int p = 0; p < 2; p++) {
                H[SIGNAL_AT(3 * i + 1 + p, 3 * j)] = m * f->w[i] * c1 * ei_vj[p];
                if (j < i)
                    H[SIGNAL_AT(3 * i, 3 * j + 1 + p)] = m * f->w[j] * c1 * vi_ej[p];
                for (int q = 0; q < 2; q++)
                    if (j < i || q <= p) {
                        vf ee = e[i][p][0] * e[j][q][0] + e[i][p][1] * e[j][q][1] + e[i][p][2] * e[j][q][2];
                        H[SIGNAL_AT(3 * i + 1 + p, 3 * j + 1 + q)] =
                            m * f->w[i] * f->w[j] * (c1 * ee + (m - 1) * c2 * vi_ej[q] * ei_vj[p]);
                    }
            }
        }
}

/* Gauss-Newton on all terms. */
HOT_FN void lowrank_descend(const lowrank_plan *plan, const int order, const int k, const vf *a, lowrank_terms *f)
{
    vf r[LOWRANK_UNIQUE_MAX], trial_r[LOWRANK_UNIQUE_MAX], H[SIGNAL_AT(LOWRANK_UNKNOWNS, 0)], G[LOWRANK_UNKNOWNS],
        step[LOWRANK_UNKNOWNS];
    lowrank_residual(plan, order, k, a, f, r);
    vf damping = vset(1e-3f), dampings[LOWRANK_UNKNOWNS];
    vm active = vmask(1);
    const int unique = (order + 1) * (order + 2) / 2;
    for (int it = 0; it < 30; it++) {
        lowrank_terms trial = *f;
        lowrank_normal(order, k, f, r, H, G);
        HOT_UNROLL
        for (int i = 0; i < 3 * k; i++)
            dampings[i] = damping;
        signal_solve(3 * k, H, G, dampings, 1e-12f, step);
        for (int i = 0; i < k; i++) {
            vf e1[3], e2[3];
            signal_tangents(f->v[i], e1, e2);
            vf p = vclamp(step[3 * i + 1], -0.4f, 0.4f), q = vclamp(step[3 * i + 2], -0.4f, 0.4f);
            vf scale = 1 / vsqrt(1 + p * p + q * q);
            for (int d = 0; d < 3; d++)
                trial.v[i][d] = (f->v[i][d] + p * e1[d] + q * e2[d]) * scale;
            trial.w[i] = vmax(f->w[i] + step[3 * i], vset(0));
        }
        lowrank_residual(plan, order, k, a, &trial, trial_r);
        vf fall = f->e - trial.e;
        vm better = (fall > 0.0f) & active;
        for (int i = 0; i < k; i++) {
            for (int d = 0; d < 3; d++)
                f->v[i][d] = vsel(better, trial.v[i][d], f->v[i][d]);
            f->w[i] = vsel(better, trial.w[i], f->w[i]);
        }
        active = active & (((fall > 1e-5f * f->e) & (f->e > 1e-13f)) | ((fall <= 0.0f) & (damping < 1e2f)));
        f->e = vsel(better, trial.e, f->e);
        for (int i = 0; i < unique; i++)
            r[i] = vsel(better, trial_r[i], r[i]);
        damping = vclamp(damping * vsel(better, vset(0.1f), vset(10)), 1e-6f, 1e4f);
        if (!vany(active))
            break;
    }
}

HOT_FN void lowrank_fit(const lowrank_plan *plan, const int order, const int k, const vf *a, lowrank_terms *f)
{
    vf r[LOWRANK_UNIQUE_MAX];
    for (int sweep = 0; sweep < 3; sweep++)
        lowrank_sweep(plan, order, k, a, f, r);
    lowrank_descend(plan, order, k, a, f);
}

HOT_FN void lowrank_keep(const int k, vm better, const lowrank_terms *from, lowrank_terms *to)
{
    for (int i = 0; i < k; i++) {
        for (int d = 0; d < 3; d++)
            to->v[i][d] = vsel(better, from->v[i][d], to->v[i][d]);
        to->w[i] = vsel(better, from->w[i], to->w[i]);
    }
    to->e = vsel(better, from->e, to->e);
}

/* Whether the fit's terms are far enough apart and not too unequal. */
HOT_FN vm lowrank_allowed(const lowrank_plan *plan, const int k, const lowrank_terms *f)
{
    vf low = f->w[0], high = f->w[0], near = vset(0);
    for (int i = 1; i < k; i++) {
        low = vmin(low, f->w[i]);
        high = vmax(high, f->w[i]);
        for (int j = 0; j < i; j++)
            near = vmax(near, vabs(f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2]));
    }
    return (near <= plan->max_cos) & (low >= plan->min_ratio * high);
}

/* The form's values on the grid, and the largest. */
HOT_FN void lowrank_scan(const signal_grid *grid, const int unique, const vf *a, vf *b, vi *at, vf *top)
{
    *top = vset(-1e30f);
    *at = vseti(0);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        const float *row = grid->filter + (size_t)d * (size_t)unique;
        vf sum = vset(0);
        for (int i = 0; i < unique; i++)
            sum += row[i] * a[i];
        b[d] = sum;
        vm better = sum > *top;
        *top = vsel(better, sum, *top);
        *at = vseli(better, vseti(d), *at);
    }
}

HOT_FN void lowrank_find(const lowrank_plan *plan, const int order, const vf *a, vf *b, lowrank_terms *best, vi *chosen)
{
    const int unique = (order + 1) * (order + 2) / 2;
    const signal_grid *grid = &plan->grid;
    vf top, w[3];
    vi at, first[SEPARATION_BINS], second[SEPARATION_BINS];
    lowrank_terms fits[3], f;
    lowrank_scan(grid, unique, a, b, &at, &top);
    signal_direction(grid, at, fits[0].v[0]);
    fits[0].w[0] = vmax(top, vset(1e-3f));
    lowrank_fit(plan, order, 1, a, &fits[0]);
    for (int c = 0; c < SEPARATION_BINS && plan->max_rank > 1; c++) {
        signal_best_pair(grid, c, b, &first[c], &second[c], w);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        f.w[0] = vmax(w[0], vset(1e-2f));
        f.w[1] = vmax(w[1], vset(1e-2f));
        lowrank_fit(plan, order, 2, a, &f);
        lowrank_keep(2, c == 0 ? vmask(1) : f.e < fits[1].e, &f, &fits[1]);
    }
    for (int c = 0; c < SEPARATION_BINS && plan->max_rank > 2; c++) {
        vi third;
        signal_best_third(grid, b, 1, first[c], second[c], &third, w);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        signal_direction(grid, third, f.v[2]);
        for (int i = 0; i < 3; i++)
            f.w[i] = vmax(w[i], vset(1e-2f));
        lowrank_fit(plan, order, 3, a, &f);
        lowrank_keep(3, c == 0 ? vmask(1) : f.e < fits[2].e, &f, &fits[2]);
    }
    if (plan->max_rank > 2) { /* and the best two, and the best term of their residual */
        vf r[LOWRANK_UNIQUE_MAX];
        f = fits[1];
        lowrank_residual(plan, order, 2, a, &f, r);
        lowrank_scan(grid, unique, r, b, &at, &top);
        signal_direction(grid, at, f.v[2]);
        f.w[2] = vmax(top, vset(1e-2f));
        lowrank_fit(plan, order, 3, a, &f);
        lowrank_keep(3, f.e < fits[2].e, &f, &fits[2]);
    }
    *best = fits[0];
    for (int i = 1; i < 3; i++) {
        for (int d = 0; d < 3; d++)
            best->v[i][d] = vset(0);
        best->w[i] = vset(0);
    }
    *chosen = vseli(fits[0].w[0] > 1e-3f, vseti(1), vseti(0));
    vf norm = vsqrt(fits[0].e);
    vm open = vmask(1);
    for (int k = 2; k <= plan->max_rank; k++) {
        vf next = vsqrt(fits[k - 1].e);
        vm accept;
        if (plan->exact_rank)
            accept = vmask(k == plan->max_rank);
        else
            /* a fit that is not allowed is passed over: three terms may be right where two are not */
            accept = (norm > plan->floor) & (next < plan->drop * norm) & open &
                     (k == 2 ? lowrank_allowed(plan, 2, &fits[1]) : lowrank_allowed(plan, 3, &fits[2]));
        if (k == 2)
            lowrank_keep(2, accept, &fits[1], best);
        else
            lowrank_keep(3, accept, &fits[2], best);
        *chosen = vseli(accept, vseti(k), *chosen);
        norm = vsel(accept, next, norm);
    }
}

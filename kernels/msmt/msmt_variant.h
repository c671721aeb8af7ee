/* A template: the interior-point method for one instruction set, a voxel per lane. Define HOT_VARIANT(name), then
 * include.
 *
 * min x^T N x / 2 - g^T x with s = A x >= 0 and its multipliers u >= 0: s stays A x, so that a step is
 *
 *   (N + A^T (u / s) A) dx = g - N x + A^T c,  ds = A dx,  du = c - u - u ds / s,  c = (sigma mu - ds du) / s
 *
 * where the last ds du are those of a first step with c = 0 (Mehrotra 1992). The rows of A are forms of order m, so
 * A^T w A has the moments sum_j w_j v_j^(2m) as its entries: a quarter of the sums. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include <math.h>

#include "msmt_algebra.h"
#include "msmt_semidefinite.h"

typedef struct lanes_state {
    vd *x, *step, *hessian, *moments, *gradient;
    vd *s, *u, *inverse, *ds, *du, *target; /* directions, then tissues */
    semidefinite matrix;
} lanes_state;

static vd *take(double **scratch, size_t count)
{
    vd *taken = (vd *)*scratch;
    *scratch += count * HOT_LANES_F64;
    return taken;
}

static vd smaller(vd a, vd b) { return vsel(a < b, a, b); }

/* ds = A dx */
static void rows_times(const msmt_plan *plan, const vd *dx, vd *ds)
{
    product_transposed(plan->terms, plan->directions, plan->directions, plan->across, dx, ds);
    for (size_t t = 0; t < plan->tissues; t++)
        ds[plan->directions + t] = dx[plan->terms + t];
}

/* sum += A^T w */
static void add_columns_times(const msmt_plan *plan, const vd *w, vd *scratch, vd *sum)
{
    product_transposed(plan->directions, plan->terms, plan->terms, plan->form, w, scratch);
    for (size_t t = 0; t < plan->terms; t++)
        sum[t] += scratch[t];
    for (size_t t = 0; t < plan->tissues; t++)
        sum[plan->terms + t] += w[plan->directions + t];
}

/* N + A^T w A */
static void make_hessian(const msmt_plan *plan, const vd *w, vd *moments, vd *hessian)
{
    const size_t n = plan->padded;
    product_transposed(plan->directions, plan->moments, plan->moments, plan->power, w, moments);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            hessian[i * n + j] = vsetd(plan->normal[i * n + j]);
    for (size_t i = 0; i < plan->terms; i++)
        for (size_t j = 0; j <= i; j++)
            hessian[i * n + j] += vsetd(plan->weight[i * plan->terms + j]) *
                                  moments[plan->moment[i * plan->terms + j]];
    for (size_t t = 0; t < plan->tissues; t++)
        hessian[(plan->terms + t) * (n + 1)] += w[plan->directions + t];
}

/* The longest step up to 1 that keeps s and u positive. */
static vd longest(size_t rows, const lanes_state *l)
{
    vd rate = vsetd(1);
    for (size_t j = 0; j < rows; j++) {
        rate = vmax(-l->ds[j] * l->inverse[j], rate);
        rate = vmax(-l->du[j] / l->u[j], rate);
    }
    return 1 / rate;
}

/* L^-1 of a right-hand side: |.| is the norm in which everything is measured. */
static vd whitened_square(const msmt_plan *plan, const vd *right)
{
    vd square = vsetd(0);
    for (size_t i = 0; i < plan->unknowns; i++) {
        vd sum = vsetd(0);
        for (size_t k = 0; k <= i; k++)
            sum += vsetd(plan->whiten[i * plan->padded + k]) * right[k];
        square += sum * sum;
    }
    return square;
}

/* gradient = g - N x */
static void make_gradient(const msmt_plan *plan, const vd *g, const vd *x, vd *gradient)
{
    product_transposed(plan->padded, plan->padded, plan->padded, plan->normal, x, gradient);
    for (size_t i = 0; i < plan->padded; i++)
        gradient[i] = g[i] - gradient[i];
}

/* x = N^-1 g */
static void unconstrained(const msmt_plan *plan, const vd *g, lanes_state *l)
{
    const size_t n = plan->padded;
    for (size_t i = 0; i < n; i++) {
        l->step[i] = vsetd(0);
        for (size_t k = 0; k <= i; k++)
            l->step[i] += vsetd(plan->whiten[i * n + k]) * g[k];
    }
    product_transposed(n, n, n, plan->whiten, l->step, l->x);
}

/* The first point is an isotropic tensor with tissues, all multipliers alike. */
static void begin(const msmt_plan *plan, size_t rows, vd size, lanes_state *l)
{
    vd sum = vsetd(0);
    for (size_t i = 0; i < plan->padded; i++)
        l->x[i] = vsetd(plan->inside[i]) * vsqrt(size);
    rows_times(plan, l->x, l->s);
    for (size_t j = 0; j < rows; j++)
        sum += l->s[j];
    if (plan->side > 0)
        set_matrix(plan, l->x, l->matrix.s);
    for (size_t p = 0; p < plan->side; p++)
        sum += l->matrix.s[p * (plan->side + 1)];
    for (size_t j = 0; j < rows; j++)
        l->u[j] = MSMT_FIRST_GAP * size / sum;
    for (size_t i = 0; i < plan->side * plan->side; i++)
        l->matrix.z[i] = i % (plan->side + 1) == 0 ? MSMT_FIRST_GAP * size / sum : vsetd(0);
}

/* The largest residual of the conditions of a minimum: stationarity, s < 0, and the gap. (The matrix is positive
 * definite by its factor.) */
static vd conditions(const msmt_plan *plan, const vd *g, size_t rows, vd size, lanes_state *l)
{
    vd gap = vsetd(0), least = vsetd(0), largest = vsetd(1e-300);
    rows_times(plan, l->x, l->s);
    for (size_t j = 0; j < rows; j++) {
        gap += vabs(l->s[j] * l->u[j]);
        least = smaller(least, l->s[j]);
        largest = vmax(l->s[j], largest);
    }
    if (plan->side > 0) {
        set_matrix(plan, l->x, l->matrix.s);
        gap += vabs(dot_lanes(plan->side * plan->side, l->matrix.s, l->matrix.z));
    }
    make_gradient(plan, g, l->x, l->gradient);
    add_columns_times(plan, l->u, l->moments, l->gradient);
    add_adjoint(plan, l->matrix.z, l->gradient);
    const vd still = vsqrt(whitened_square(plan, l->gradient) / size);
    return vmax(vmax(still, gap / size), -least / largest);
}

/* How much of the isotropic tensor makes up for rounding to float. */
static vd lift_of(const msmt_plan *plan, const vd *x)
{
    vd trace = vsetd(0);
    for (size_t p = 0; p < plan->side; p++)
        trace += plan->entry_scale[p * (plan->side + 1)] * x[plan->entry[p * (plan->side + 1)]];
    return trace * plan->rounding;
}

static void lay_out(const msmt_plan *plan, double *scratch, lanes_state *l)
{
    const size_t n = plan->padded, rows = plan->directions + plan->tissues;
    l->x = take(&scratch, n), l->step = take(&scratch, n), l->gradient = take(&scratch, n);
    l->moments = take(&scratch, MSMT_MOMENTS);
    l->hessian = take(&scratch, n * n);
    l->s = take(&scratch, rows), l->u = take(&scratch, rows), l->inverse = take(&scratch, rows);
    l->ds = take(&scratch, rows), l->du = take(&scratch, rows), l->target = take(&scratch, rows);
    vd **const matrices[] = {&l->matrix.s,       &l->matrix.z,      &l->matrix.ds, &l->matrix.dz,
                             &l->matrix.inverse, &l->matrix.target, &l->matrix.a,  &l->matrix.b};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = take(&scratch, plan->side * plan->side);
}

void HOT_VARIANT(hot_msmt)(const msmt_plan *plan, const double *right_in, double *scratch, double *x_out,
                           double *residual)
{
    const size_t n = plan->padded, rows = plan->directions + plan->tissues;
    const size_t side = plan->side, entries = side * side;
    lanes_state l;
    semidefinite *m = &l.matrix;
    lay_out(plan, scratch, &l);
    const vd *g = (const vd *)right_in, zero = vsetd(0), one = vsetd(1);
    vd left = one;
    if (plan->directions == 0 && plan->side == 0) {
        unconstrained(plan, g, &l);
        for (size_t i = 0; i < plan->unknowns; i++)
            vstore(x_out + i * HOT_LANES_F64, l.x[i]);
        vstore(residual, zero);
        return;
    }
    /* the unconstrained objective is the scale of everything */
    const vd size = vmax(whitened_square(plan, g), vsetd(1e-300));
    begin(plan, rows, size, &l);
    for (int iteration = 0; iteration < MSMT_ITERATIONS; iteration++) {
        vd gap = zero;
        for (size_t j = 0; j < rows; j++) {
            l.inverse[j] = 1 / l.s[j];
            gap += l.s[j] * l.u[j];
            l.target[j] = l.u[j] * l.inverse[j];
        }
        if (side > 0) {
            gap += dot_lanes(entries, m->s, m->z);
            invert(side, m->s, m->a, m->b, m->inverse);
        }
        const vl done = (gap < vsetd(MSMT_GAP) * size) & (left < vsetd(MSMT_LEFT));
        if (vall(done))
            break;
        make_hessian(plan, l.target, l.moments, l.hessian);
        add_curvature(plan, m, l.hessian);
        factorise(n, l.hessian, vsetd(MSMT_PIVOT));
        make_gradient(plan, g, l.x, l.gradient);
        for (size_t i = 0; i < n; i++)
            l.step[i] = l.gradient[i];
        solve(n, l.hessian, l.step);
        rows_times(plan, l.step, l.ds);
        for (size_t j = 0; j < rows; j++)
            l.du[j] = -l.u[j] - l.target[j] * l.ds[j];
        vd reach = longest(rows, &l), after = zero;
        if (side > 0) {
            set_matrix(plan, l.step, m->ds);
            set_multiplier_step(side, NULL, m);
            reach = longest_definite(side, m, reach, MSMT_FIRST_ROUNDS);
        }
        for (size_t j = 0; j < rows; j++)
            after += (l.s[j] + reach * l.ds[j]) * (l.u[j] + reach * l.du[j]);
        for (size_t i = 0; i < entries; i++)
            after += (m->s[i] + reach * m->ds[i]) * (m->z[i] + reach * m->dz[i]);
        const vd ratio = after / gap, center = ratio * ratio * ratio * gap / (double)(rows + side);
        /* the second-order term only as far as the first step reaches: whole, it can lead in circles */
        for (size_t j = 0; j < rows; j++)
            l.target[j] = (center - reach * l.ds[j] * l.du[j]) * l.inverse[j];
        for (size_t i = 0; i < n; i++)
            l.step[i] = l.gradient[i];
        add_columns_times(plan, l.target, l.moments, l.step);
        if (side > 0) {
            symmetric_product(side, m->dz, m->ds, m->inverse, m->a, m->b, m->target);
            for (size_t i = 0; i < entries; i++)
                m->target[i] = center * m->inverse[i] - reach * m->target[i];
            add_adjoint(plan, m->target, l.step);
        }
        solve(n, l.hessian, l.step);
        rows_times(plan, l.step, l.ds);
        for (size_t j = 0; j < rows; j++)
            l.du[j] = l.target[j] - l.u[j] - l.u[j] * l.inverse[j] * l.ds[j];
        vd most = longest(rows, &l);
        if (side > 0) {
            set_matrix(plan, l.step, m->ds);
            set_multiplier_step(side, m->target, m);
            most = longest_definite(side, m, most, MSMT_ROUNDS);
        }
        most = vsel(done, zero, 0.995 * most);
        for (size_t i = 0; i < plan->unknowns; i++)
            l.x[i] += most * l.step[i];
        for (size_t j = 0; j < rows; j++) {
            l.s[j] += most * l.ds[j];
            l.u[j] += most * l.du[j];
        }
        for (size_t i = 0; i < entries; i++) {
            m->s[i] += most * m->ds[i];
            m->z[i] += most * m->dz[i];
        }
        left *= one - most;
    }
    const vd lift = side > 0 ? lift_of(plan, l.x) : zero;
    for (size_t i = 0; i < plan->unknowns; i++)
        vstore(x_out + i * HOT_LANES_F64, l.x[i] + (i < plan->terms ? lift * plan->inside[i] : zero));
    vstore(residual, conditions(plan, g, rows, size, &l));
}

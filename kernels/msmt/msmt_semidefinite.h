/* The matrix of a tensor of order 2h, a voxel per lane: its entry (p, q) is the value of monomial p times monomial q of
 * degree h, times the roots of their multiplicities. Where it is positive semidefinite the form is a sum of squares.
 *
 * With S that matrix and Z its multiplier the step has (N + H) dx = g - N x + F*(C), H_ab = tr(F_a Z F_b S^-1), and
 * dZ = C - Z - sym(Z dS S^-1), C = sigma mu S^-1 - sym(dZ dS S^-1) (Helmberg et al. 1996, Kojima et al. 1997, Monteiro
 * 1997): with scalars it is that of the inequalities. Matrices are side x side, whole. */
#pragma once

#include "msmt_algebra.h"
#include "msmt_plan.h"

typedef struct semidefinite {
    vd *s, *z, *ds, *dz, *inverse, *target, *a, *b; /* side x side each; inverse: of s */
} semidefinite;

static inline void set_matrix(const msmt_plan *plan, const vd *x, vd *matrix)
{
    for (size_t i = 0; i < plan->side * plan->side; i++)
        matrix[i] = vsetd(plan->entry_scale[i]) * x[plan->entry[i]];
}

/* sum += F*(matrix) */
static inline void add_adjoint(const msmt_plan *plan, const vd *matrix, vd *sum)
{
    for (size_t i = 0; i < plan->side * plan->side; i++)
        sum[plan->entry[i]] += vsetd(plan->entry_scale[i]) * matrix[i];
}

static inline vd inner(size_t entries, const vd *a, const vd *b) { return dot_lanes(entries, a, b); }

/* out = a b, of which the upper triangle is not the lower's mirror */
static inline void multiply(size_t n, const vd *a, const vd *b, vd *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            vd sum = vsetd(0);
            for (size_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            out[i * n + j] = sum;
        }
}

/* Whether base + length step is positive definite, by Cholesky's factor, which is left in `factor`. */
static inline vl factor_positive(size_t n, const vd *base, const vd *step, vd length, vd *factor)
{
    vl positive = vsetd(0) < vsetd(1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            vd sum = base[i * n + j];
            if (step)
                sum += length * step[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= factor[i * n + k] * factor[j * n + k];
            if (i == j) {
                positive &= sum > vsetd(0);
                factor[i * n + i] = 1 / vsqrt(vmax(sum, vsetd(1e-300)));
            } else {
                factor[i * n + j] = sum * factor[j * n + j];
            }
        }
    return positive;
}

/* inverse = s^-1 */
static inline void invert(size_t n, const vd *s, vd *factor, vd *lower, vd *inverse)
{
    factor_positive(n, s, NULL, vsetd(0), factor);
    for (size_t c = 0; c < n; c++) {
        lower[c * n + c] = factor[c * n + c];
        for (size_t i = c + 1; i < n; i++) {
            vd sum = vsetd(0);
            for (size_t k = c; k < i; k++)
                sum -= factor[i * n + k] * lower[k * n + c];
            lower[i * n + c] = sum * factor[i * n + i];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            vd sum = vsetd(0);
            for (size_t k = i; k < n; k++)
                sum += lower[k * n + i] * lower[k * n + j];
            inverse[i * n + j] = inverse[j * n + i] = sum;
        }
}

/* hessian += H. The entries that hold an unknown are its pairs (p, q) with p <= q. */
static inline void add_curvature(const msmt_plan *plan, semidefinite *m, vd *hessian)
{
    const size_t h = plan->side;
    for (size_t i = 0; i < h * h; i++) { /* the entries' scale without the unknown's part of it */
        const vd roots = vsetd(plan->root[i / h] * plan->root[i % h]);
        m->a[i] = roots * m->z[i];
        m->b[i] = roots * m->inverse[i];
    }
    for (size_t i = 0; i < plan->terms; i++)
        for (size_t j = 0; j <= i; j++) {
            vd sum = vsetd(0);
            for (int f = plan->first_pair[i]; f < plan->first_pair[i + 1]; f++)
                for (int g = plan->first_pair[j]; g < plan->first_pair[j + 1]; g++) {
                    const size_t p = plan->pair[f][0], q = plan->pair[f][1], r = plan->pair[g][0], s = plan->pair[g][1];
                    const vd four = m->a[q * h + r] * m->b[s * h + p] + m->a[p * h + r] * m->b[s * h + q] +
                                    m->a[q * h + s] * m->b[r * h + p] + m->a[p * h + s] * m->b[r * h + q];
                    sum += (p == q ? 0.5 : 1) * (r == s ? 0.5 : 1) * four;
                }
            hessian[i * plan->padded + j] += vsetd(plan->scale[i] * plan->scale[j]) * sum;
        }
}

/* out = sym(a b inverse) */
static inline void symmetric_product(size_t n, const vd *a, const vd *b, const vd *inverse, vd *scratch, vd *other,
                                     vd *out)
{
    multiply(n, a, b, scratch);
    multiply(n, scratch, inverse, other);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            out[i * n + j] = out[j * n + i] = 0.5 * (other[i * n + j] + other[j * n + i]);
}

/* dz = target - z - sym(z ds s^-1); target NULL: 0 */
static inline void set_multiplier_step(size_t n, const vd *target, semidefinite *m)
{
    symmetric_product(n, m->z, m->ds, m->inverse, m->a, m->b, m->dz);
    for (size_t i = 0; i < n * n; i++)
        m->dz[i] = (target ? target[i] : vsetd(0)) - m->z[i] - m->dz[i];
}

/* The longest step up to `most` that keeps both matrices positive definite, to a 2^-rounds of it. */
static inline vd longest_definite(size_t n, semidefinite *m, vd most, int rounds)
{
    vd low = vsetd(0), high = most, length = most;
    for (int round = 0; round <= rounds; round++) {
        const vl good = factor_positive(n, m->s, m->ds, length, m->a) & factor_positive(n, m->z, m->dz, length, m->a);
        low = vsel(good, length, low);
        high = vsel(good, high, length);
        if (round == 0 && vall(good))
            break;
        length = round == 0 ? vsel(good, most, 0.5 * most) : 0.5 * (low + high);
    }
    return low;
}

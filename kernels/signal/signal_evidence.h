/* The evidence of 0 to 3 fibres from their fits (signal_step.h): what the fits do not follow, as a misfit of degree 4
 * (signal_misfit.c) and as fans, and Laplace's integral. */
#pragma once

#include "signal_step.h"

/* How much of a fit's sum of squares is misfit rather than noise (signal_misfit.c): what the sum falls by when the
 * covariance of the normalised residuals is not 1 but 1 + snr^2 sum_c variance_c u_c u_c^T. */
HOT_FN vf signal_misfit(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                         const signal_fit *f)
{
    const vf snr = data->snr, diffusivity = vexp(f->ld);
    vf fall = vset(0);
    for (int shell = 0; shell < s->shells; shell++) {
        vf c[3][SIGNAL_TERMS], sum[SIGNAL_MISFIT];
        for (int i = 0; i < k; i++) {
            vf z1 = vexp(-f->tau[i]), z3 = z1 * z1 * z1, z10 = z3 * z3 * z3 * z1, z21 = z10 * z10 * z1;
            const vf z[SIGNAL_TERMS] = {vset(1), z3, z10, z21, z21 * z10 * z3 * z1 * z1}, w = vexp(f->lw[i]) * snr;
            for (int at = 0; at < SIGNAL_TERMS; at++) {
                c[i][at] = vset(s->zonal[shell][0][at]);
                for (int l = 1; l < SIGNAL_TERMS; l++)
                    c[i][at] += s->zonal[shell][l][at] * z[l];
                c[i][at] *= w;
            }
        }
        const vf around = (f->iso * vexp(-diffusivity * s->b[shell]) +
                           f->water * vexp(vset(-SIGNAL_WATER * s->b[shell]))) * snr + s->pedestal;
        for (int a = 0; a < SIGNAL_MISFIT; a++)
            sum[a] = vset(0);
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            const float *g = s->g + 3 * j, *u = p->misfit + j * SIGNAL_MISFIT;
            vf t = around, m, mt, d, dt;
            for (int i = 0; i < k; i++) {
                vf x = g[0] * f->v[i][0] + g[1] * f->v[i][1] + g[2] * f->v[i][2];
                x *= x;
                t += c[i][0] + x * (c[i][1] + x * (c[i][2] + x * (c[i][3] + x * c[i][4])));
            }
            signal_rician(vmax(t, vset(1e-3f)), &m, &mt, &d, &dt);
            const vf residual = (signal_signal(data, j) - m) * vrsqrt(d);
            HOT_UNROLL
            for (int a = 0; a < SIGNAL_MISFIT; a++)
                sum[a] += u[a] * residual;
        }
        for (int a = 0; a < SIGNAL_MISFIT; a++) {
            const vf ratio = snr * snr * p->misfit_variance[shell][a];
            fall += sum[a] * sum[a] * ratio / (1 + ratio);
        }
    }
    return fall;
}

/* The fibres of a fit on one shell: what the slopes of their signals need. */
typedef struct signal_shape {
    vf w[3], z[3][SIGNAL_TERMS], e1[3][3], e2[3][3]; /* the same on all shells */
    vf c[3][SIGNAL_TERMS], dc[3][SIGNAL_TERMS];
    vf slope[3], around; /* of the isotropic unknowns; their signal */
} signal_shape;

HOT_FN void signal_shape_fibers(const int k, const signal_fit *f, vf snr, signal_shape *to)
{
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        const vf z1 = vexp(-f->tau[i]), z3 = z1 * z1 * z1, z10 = z3 * z3 * z3 * z1, z21 = z10 * z10 * z1;
        signal_tangents(f->v[i], to->e1[i], to->e2[i]);
        to->w[i] = vexp(f->lw[i]) * snr;
        to->z[i][0] = vset(1);
        to->z[i][1] = z3;
        to->z[i][2] = z10;
        to->z[i][3] = z21;
        to->z[i][4] = z21 * z10 * z3 * z1 * z1;
    }
}

HOT_FN void signal_shape_shell(const int k, const signal_scheme *s, const signal_fit *f, vf snr, int shell,
                                signal_shape *to)
{
    HOT_UNROLL
    for (int i = 0; i < k; i++)
        for (int at = 0; at < SIGNAL_TERMS; at++) {
            to->c[i][at] = vset(s->zonal[shell][0][at]);
            to->dc[i][at] = vset(0);
            for (int l = 1; l < SIGNAL_TERMS; l++) {
                const vf term = s->zonal[shell][l][at] * to->z[i][l];
                to->c[i][at] += term;
                to->dc[i][at] -= (float)(l * (2 * l + 1)) * term;
            }
        }
    const vf exponent = vexp(f->ld) * s->b[shell], iso = vexp(-exponent) * snr;
    to->slope[0] = iso;
    to->slope[1] = vexp(vset(-SIGNAL_WATER * s->b[shell])) * snr;
    to->slope[2] = -f->iso * exponent * iso;
    to->around = f->iso * iso + f->water * to->slope[1] + s->pedestal;
}

/* Slopes of the signal at gradient g of fibre i, in its four unknowns (the first is the signal itself) and in its two
 * amplitudes: with u = g . v these are (d2/da2 - d2/db2) R / 2 = R'' (a^2 - b^2) / 2 and d2 R / da db = R'' a b. */
HOT_FN void signal_slopes(const signal_shape *at, const signal_fit *f, int i, const float *g, vf J[4], vf mode[2])
{
    const vf *c = at->c[i], *dc = at->dc[i];
    const vf u = g[0] * f->v[i][0] + g[1] * f->v[i][1] + g[2] * f->v[i][2], x = u * u;
    const vf a = g[0] * at->e1[i][0] + g[1] * at->e1[i][1] + g[2] * at->e1[i][2];
    const vf b = g[0] * at->e2[i][0] + g[1] * at->e2[i][1] + g[2] * at->e2[i][2];
    const vf rx = c[1] + x * (2 * c[2] + x * (3 * c[3] + x * (4 * c[4])));
    const vf rxx = 2 * c[2] + x * (6 * c[3] + x * (12 * c[4]));
    const vf turn = 2 * at->w[i] * u * rx, second = at->w[i] * (2 * rx + 4 * x * rxx);
    J[0] = at->w[i] * (c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4]))));
    J[1] = at->w[i] * (dc[0] + x * (dc[1] + x * (dc[2] + x * (dc[3] + x * dc[4]))));
    J[2] = turn * a;
    J[3] = turn * b;
    mode[0] = 0.5f * second * (a * a - b * b);
    mode[1] = second * a * b;
}

/* The amplitudes' rows of the matrix E, which has those of the fit before them, and the gradient g in them. */
HOT_FN void signal_fan_rows(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                             const signal_fit *f, signal_shape *shape, vf *E, vf *g)
{
    const int n = SIGNAL_UNKNOWNS(k), last = 4 * k, modes = 2 * k;
    HOT_UNROLL
    for (int q = 0; q < modes; q++) {
        g[q] = vset(0);
        HOT_UNROLL
        for (int r = 0; r <= n + q; r++)
            E[SIGNAL_AT(n + q, r)] = vset(r == n + q ? p->fan_inv * p->fan_inv : 0);
    }
    for (int shell = 0; shell < s->shells; shell++) {
        vf cross[SIGNAL_MODES];
        signal_shape_shell(k, s, f, data->snr, shell, shape);
        HOT_UNROLL
        for (int q = 0; q < modes; q++)
            cross[q] = vset(0);
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            vf J[SIGNAL_OF_FIBERS], mode[SIGNAL_MODES], t = shape->around, m, mt, d, dt;
            HOT_UNROLL
            for (int i = 0; i < k; i++) {
                signal_slopes(shape, f, i, s->g + 3 * j, J + 4 * i, mode + 2 * i);
                t += J[4 * i];
            }
            signal_rician(vmax(t, vset(1e-3f)), &m, &mt, &d, &dt);
            const vf weight = mt * vrcp(d), info = mt * weight, grad = (signal_signal(data, j) - m) * weight;
            HOT_UNROLL
            for (int q = 0; q < modes; q++) {
                const vf weighed = mode[q] * info;
                g[q] -= mode[q] * grad;
                cross[q] += weighed;
                HOT_UNROLL
                for (int r = 0; r < last; r++)
                    E[SIGNAL_AT(n + q, r)] += weighed * J[r];
                HOT_UNROLL
                for (int r = 0; r <= q; r++)
                    E[SIGNAL_AT(n + q, n + r)] += weighed * mode[r];
            }
        }
        HOT_UNROLL
        for (int q = 0; q < modes; q++)
            HOT_UNROLL
            for (int r = 0; r < 3; r++)
                E[SIGNAL_AT(n + q, last + r)] += shape->slope[r] * cross[q];
    }
}

#define SIGNAL_FAN_FAR 10.0f /* no unknown of a fit has a range as wide: more is rounding */
#define SIGNAL_FAN_ROUNDING 1e-6f /* of floats: a smaller remainder of a diagonal element has no correct digit */

/* Noise-free signals leave pivots that are pure rounding, and quotients grow without bound. Values are clamped to their
 * bounds in exact arithmetic: a row of the factor is not longer than the root of its diagonal element, a pivot of an
 * amplitude not less than its prior's information, and so on. */
HOT_FN vf signal_within(vf x, vf most) { return vmax(vmin(x, most), -most); }

/* E by its Cholesky factor, whose diagonal is kept inverted; returns ln det. */
HOT_FN vf signal_fan_factor(const int n, const int modes, float information, vf *E)
{
    vf logdet = vset(0);
    HOT_UNROLL
    for (int i = 0; i < n + modes; i++) {
        const vf whole = E[SIGNAL_AT(i, i)], most = vsqrt(whole);
        HOT_UNROLL
        for (int j = 0; j <= i; j++) {
            vf a = E[SIGNAL_AT(i, j)];
            if (i == j && i < n)
                a += 1e-6f; /* as signal_solve */
            HOT_UNROLL
            for (int r = 0; r < j; r++)
                a -= E[SIGNAL_AT(i, r)] * E[SIGNAL_AT(j, r)];
            if (i == j) {
                a = vmax(a, vmax(whole * SIGNAL_FAN_ROUNDING, vset(i < n ? SIGNAL_PIVOT : information)));
                logdet += vlog(a);
                E[SIGNAL_AT(i, i)] = vrsqrt(a);
            } else {
                E[SIGNAL_AT(i, j)] = signal_within(a * E[SIGNAL_AT(j, j)], most);
            }
        }
    }
    return logdet;
}

/* The step to the optimum from the factor: of the n unknowns, then of the amplitudes. Returns by how much the cost
 * falls, which is not more than the sum of squares. */
HOT_FN vf signal_fan_step(const int n, const int modes, float fan, const vf *E, const vf *g, vf chi, vf *step)
{
    const vf most = vsqrt(chi);
    vf fall = vset(0);
    HOT_UNROLL
    for (int q = 0; q < modes; q++) { /* the gradient in the other unknowns is 0 */
        vf b = -g[q];
        HOT_UNROLL
        for (int r = 0; r < q; r++)
            b -= E[SIGNAL_AT(n + q, n + r)] * step[n + r];
        step[n + q] = signal_within(b * E[SIGNAL_AT(n + q, n + q)], most);
        fall += step[n + q] * step[n + q];
    }
    const vf shorter = vsel(fall > chi, vsqrt(chi * vrcp(vmax(fall, vset(1e-30f)))), vset(1));
    HOT_UNROLL
    for (int i = n + modes - 1; i >= 0; i--) {
        vf b = i < n ? vset(0) : step[i] * shorter;
        HOT_UNROLL
        for (int r = i + 1; r < n + modes; r++)
            b -= E[SIGNAL_AT(r, i)] * step[r];
        step[i] = signal_within(b * E[SIGNAL_AT(i, i)], i < n ? vset(SIGNAL_FAN_FAR) : most * fan);
    }
    return vmin(fall, chi);
}

/* How many of the amplitudes the data tell: what the posterior's variances lack of the prior's. Of the inverse of the
 * factor's last rows: the amplitudes' own. */
HOT_FN vf signal_fan_told(const int n, const int modes, float fan, float information, const vf *E)
{
    vf told = vset(0);
    HOT_UNROLL
    for (int q = 0; q < modes; q++) {
        vf x[SIGNAL_MODES], variance = vset(0);
        HOT_UNROLL
        for (int r = q; r < modes; r++) {
            vf b = vset(r == q);
            HOT_UNROLL
            for (int i = q; i < r; i++)
                b -= E[SIGNAL_AT(n + r, n + i)] * x[i];
            x[r] = signal_within(b * E[SIGNAL_AT(n + r, n + r)], vset(fan));
            variance += x[r] * x[r];
        }
        told += 1 - vmin(variance * information, vset(1));
    }
    return told;
}

/* The residual of a step: its sum of squares, with the b=0 datum, goes into chi; returns by how much the misfit lowers
 * it (signal_misfit). */
HOT_FN vf signal_fan_misfit(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                             const signal_fit *f, signal_shape *shape, const vf *step, vf *chi)
{
    const int n = SIGNAL_UNKNOWNS(k), last = 4 * k;
    const vf snr = data->snr;
    vf t = (f->iso + f->water) * snr + s->pedestal, moved = (step[last] + step[last + 1]) * snr, fall = vset(0);
    vf m, mt, d, dt, off;
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        t += shape->w[i];
        moved += step[4 * i] * shape->w[i];
    }
    signal_rician(vmax(t, vset(1e-3f)), &m, &mt, &d, &dt);
    off = data->y0 - m - mt * moved;
    *chi = data->weight0 * off * off * vrcp(d);
    for (int shell = 0; shell < s->shells; shell++) {
        vf sum[SIGNAL_MISFIT];
        signal_shape_shell(k, s, f, snr, shell, shape);
        const vf shifted = shape->slope[0] * step[last] + shape->slope[1] * step[last + 1] +
                           shape->slope[2] * step[last + 2];
        HOT_UNROLL
        for (int a = 0; a < SIGNAL_MISFIT; a++)
            sum[a] = vset(0);
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            const float *u = p->misfit + j * SIGNAL_MISFIT;
            vf J[4], mode[2];
            t = shape->around;
            moved = shifted;
            HOT_UNROLL
            for (int i = 0; i < k; i++) {
                signal_slopes(shape, f, i, s->g + 3 * j, J, mode);
                t += J[0];
                for (int r = 0; r < 4; r++)
                    moved += J[r] * step[4 * i + r];
                moved += mode[0] * step[n + 2 * i] + mode[1] * step[n + 2 * i + 1];
            }
            signal_rician(vmax(t, vset(1e-3f)), &m, &mt, &d, &dt);
            off = (signal_signal(data, j) - m - mt * moved) * vrsqrt(d);
            *chi += off * off;
            HOT_UNROLL
            for (int a = 0; a < SIGNAL_MISFIT; a++)
                sum[a] += u[a] * off;
        }
        for (int a = 0; a < SIGNAL_MISFIT; a++) {
            const vf ratio = snr * snr * p->misfit_variance[shell][a];
            fall += sum[a] * sum[a] * (ratio / (1 + ratio));
        }
    }
    return fall;
}

/* Fans: each fibre has two more unknowns, amplitudes of a normal prior, which the fit does not have and the evidence
 * integrates out: of (d2/da2 - d2/db2) / 2 and d2/dadb of its signal, a and b being its turns. So does a fibre change
 * that fans out in a plane, or whose diffusivities across it differ. The model is linear about the fit. H: the fit's
 * matrix. Returns ln det of the larger matrix less what the cost falls by; the prior's constant is in p->constant. */
HOT_FN vf signal_fan(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                      signal_fit *f, const vf *H)
{
    const int n = SIGNAL_UNKNOWNS(k), modes = 2 * k;
    const float information = p->fan_inv * p->fan_inv;
    vf E[SIGNAL_FANNED * (SIGNAL_FANNED + 1) / 2], g[SIGNAL_MODES], step[SIGNAL_FANNED], chi, cost;
    signal_shape shape;
    signal_shape_fibers(k, f, data->snr, &shape);
    signal_fan_rows(k, s, p, data, f, &shape, E, g);
    HOT_UNROLL
    for (int i = 0; i < n * (n + 1) / 2; i++)
        E[i] = H[i];
    cost = signal_fan_factor(n, modes, information, E);
    const vf fall = signal_fan_step(n, modes, p->fan, E, g, f->chi, step);
    const vf misfit = signal_fan_misfit(k, s, p, data, f, &shape, step, &chi);
    cost -= fall + vmin(misfit, f->chi - fall); /* it has no more: only rounding says otherwise */
    f->chi = vmin(f->chi, chi);
    f->fan = vset(0);
    HOT_UNROLL
    for (int q = n; q < n + modes; q++)
        f->fan += step[q] * step[q];
    f->fan = vmin(f->fan, fall * (p->fan * p->fan)); /* the bound in exact arithmetic */
    f->fan_told = signal_fan_told(n, modes, p->fan, information, E);
    return cost;
}

/* Marginalises the fit's matrix over the fans' amplitudes, in place: H - B^T F^-1 B, whose rows are (B F). H is that of
 * signal_evidence. */
HOT_FN void signal_fan_marginal(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                                 const signal_fit *f, vf *H)
{
    const int n = SIGNAL_UNKNOWNS(k), modes = 2 * k;
    vf E[SIGNAL_FANNED * (SIGNAL_FANNED + 1) / 2], g[SIGNAL_MODES];
    vf L[SIGNAL_MODES * (SIGNAL_MODES + 1) / 2], X[SIGNAL_MODES][SIGNAL_MAX_PARAMS]; /* F = L L^T, L X = B */
    signal_shape shape;
    signal_shape_fibers(k, f, data->snr, &shape);
    signal_fan_rows(k, s, p, data, f, &shape, E, g);
    HOT_UNROLL
    for (int q = 0; q < modes; q++) {
        const vf *row = E + SIGNAL_AT(n + q, 0);
        HOT_UNROLL
        for (int r = 0; r <= q; r++) {
            vf a = row[n + r];
            HOT_UNROLL
            for (int i = 0; i < r; i++)
                a -= L[SIGNAL_AT(q, i)] * L[SIGNAL_AT(r, i)];
            a = r < q ? a * L[SIGNAL_AT(r, r)] : vrsqrt(vmax(a, row[n + q] * SIGNAL_FAN_ROUNDING));
            L[SIGNAL_AT(q, r)] = a;
        }
        HOT_UNROLL
        for (int i = 0; i < n; i++) {
            vf b = row[i];
            HOT_UNROLL
            for (int r = 0; r < q; r++)
                b -= L[SIGNAL_AT(q, r)] * X[r][i];
            X[q][i] = signal_within(b * L[SIGNAL_AT(q, q)], vsqrt(H[SIGNAL_AT(i, i)]));
        }
    }
    HOT_UNROLL
    for (int i = 0; i < n; i++) {
        const vf least = H[SIGNAL_AT(i, i)] * SIGNAL_FAN_ROUNDING;
        HOT_UNROLL
        for (int j = 0; j <= i; j++)
            HOT_UNROLL
            for (int q = 0; q < modes; q++)
                H[SIGNAL_AT(i, j)] -= X[q][i] * X[q][j];
        H[SIGNAL_AT(i, i)] = vmax(H[SIGNAL_AT(i, i)], least);
    }
}

/* The smallest angle between two of k fibres, degrees: acos within .004 degrees. */
HOT_FN vf signal_smallest(const int k, const signal_fit *f)
{
    vf near = vset(0);
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++)
            near = vmax(near, vabs(f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2]));
    near = vmin(near, vset(1));
    return vsqrt(1 - near) * (89.9962f + near * (-12.1533f + near * (4.25502f - near * 1.07311f)));
}

/* -2 ln (share of k times evidence), Laplace. A direction has at most the whole half sphere, whose area 2 pi is that of
 * a normal distribution of deviation 1: each turn's element of H is 1 more, and what the data do not tell costs
 * nothing. The weights' sum is uniform: in ln w its density is the sum. H: changed so. fans: whether the population has
 * them, and there are fibres; then f's chi, fan and fan_told are what they make of it. */
HOT_FN vf signal_evidence(const int k, const int fans, const signal_scheme *s, const signal_learned *p,
                           const signal_data *data, signal_fit *f, vf *H)
{
    const int n = SIGNAL_UNKNOWNS(k);
    vf none[SIGNAL_MAX_PARAMS], step[SIGNAL_MAX_PARAMS], cost = f->q + p->constant[k];
    if (!fans)
        cost -= signal_misfit(k, s, p, data, f);
    for (int i = 0; i < n; i++)
        none[i] = vset(0);
    for (int i = 0; i < k; i++)
        for (int turn = 4 * i + 2; turn < 4 * i + 4; turn++)
            H[SIGNAL_AT(turn, turn)] += vset(1);
    if (fans)
        cost += signal_fan(k, s, p, data, f, H);
    else
        cost += signal_solve(n, H, none, none, SIGNAL_PIVOT, step);
    if (k > 0) {
        vf sum = vexp(f->lw[0]);
        for (int i = 1; i < k; i++)
            sum += vexp(f->lw[i]);
        cost -= 2 * vlog(sum);
    }
    if (k > 1) { /* linear between the middles of the bins of the separation */
        const float middle[HOT_SEPARATIONS] = {30, 40, 50, 60, 70, 82.5f}; /* degrees */
        const vf angle = signal_smallest(k, f);
        cost += p->near[k - 2][0];
        for (int bin = 1; bin < HOT_SEPARATIONS; bin++) {
            const float from = middle[bin - 1], to = middle[bin];
            cost += (p->near[k - 2][bin] - p->near[k - 2][bin - 1]) * vclamp((angle - from) / (to - from), 0, 1);
        }
    }
    return p->scale * cost + p->shift[k];
}

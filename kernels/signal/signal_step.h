/* Fits of 0 to 3 fibres with the priors hot_signal_priors, the arithmetic of one voxel or of HOT_LANES_F32 of them in
 * parallel. In units of the noise, of the b=0 signal S0 and of volume j:
 *
 *   eta_j = S0 (sum_i w_i R(g_j . v_i; tau_i) + c exp(-b_j D) + f exp(-b_j 3e-3 mm^2/s)),   eta_0 with all at b = 0
 *   q     = sum_j (y_j - m(eta_j))^2 / s^2(eta_j) + ln s^2(eta_j) + the priors' squares
 *
 * with R(u; tau) = sum_l a_l exp(-l(l+1) tau / 2) P_l(u) the response widened by tau, and m and s mean and standard
 * deviation of a Rician magnitude (signal_math.h); for Gaussian noise an offset is added to signals and eta
 * (signal_plan.h). Every fibre has its own width tau. There are two isotropic compartments, c that decays with D and
 * free water f; both may be slightly negative. The mean of the b=0 volumes is a datum too (j = 0), so that all
 * fractions add to 1 but for the noise. Unknowns: per fibre ln w, tau and two rotations; c, f, ln D. */
#pragma once

#include "signal_math.h"

#define SIGNAL_UNKNOWNS(k) (4 * (k) + 3)
/* Volumes that are summed over at a time. The GPU keeps all sums in registers, where one row at a time is added. */
#ifdef __CUDACC__
enum { SIGNAL_ROWS = 1 };
enum { SIGNAL_AHEAD = 1 }; /* a volume is read while the one before is added: little else hides that wait there */
#else
enum { SIGNAL_ROWS = 16 };
enum { SIGNAL_AHEAD = 0 };
#endif
/* Variances, between .43 and 1, of which a logarithm is taken together: a multiple of SIGNAL_ROWS. */
enum { SIGNAL_FACTORS = 32 };
enum { SIGNAL_OF_FIBERS = 12 }; /* unknowns of three fibres, which come before the isotropic ones */

#define SIGNAL_WATER 3.0f /* diffusivity of free water at 37 degrees, 1e-3 mm^2/s */

typedef struct signal_fit {
    vf v[3][3], lw[3], tau[3]; /* directions, ln of the weights, widths */
    vf iso, water, ld;         /* c, f, ln of D in 1e-3 mm^2/s */
    vf q, chi;
    vf fan, fan_told;          /* as in hot_signal_fit; the evidence fills them and takes the fans' part off chi */
} signal_fit;

/* Sums over the volumes of a shell: for the fibres' unknowns H of info J J^T and G of grad J. The slopes of the
 * isotropic unknowns are the same in all volumes of a shell: with them go `cross` of info J, `info` and `grad`. */
typedef struct signal_sums {
    vf H[SIGNAL_OF_FIBERS * (SIGNAL_OF_FIBERS + 1) / 2], G[SIGNAL_OF_FIBERS], cross[SIGNAL_OF_FIBERS], info, grad;
} signal_sums;

/* Adds some volumes. Each row of H stays in registers. */
HOT_FN void signal_sum_here(const int k, int rows, vf J[SIGNAL_ROWS][SIGNAL_OF_FIBERS], const vf *info,
                             const vf *grad, signal_sums *to)
{
    HOT_UNROLL
    for (int a = 0; a < 4 * k; a++) {
        vf sum[SIGNAL_OF_FIBERS], g = to->G[a], cross = to->cross[a];
        HOT_UNROLL
        for (int b = 0; b <= a; b++)
            sum[b] = to->H[SIGNAL_AT(a, b)];
        for (int j = 0; j < rows; j++) {
            const vf ja = J[j][a] * info[j];
            g += J[j][a] * grad[j];
            cross += ja;
            HOT_UNROLL
            for (int b = 0; b <= a; b++)
                sum[b] += ja * J[j][b];
        }
        to->G[a] = g;
        to->cross[a] = cross;
        HOT_UNROLL
        for (int b = 0; b <= a; b++)
            to->H[SIGNAL_AT(a, b)] = sum[b];
    }
    for (int j = 0; j < rows; j++) {
        to->info += info[j];
        to->grad += grad[j];
    }
}

#ifdef __CUDACC__
#define SIGNAL_SUMMED HOT_FN
#else
#define SIGNAL_SUMMED SIGNAL_CALLED
#endif
#define SIGNAL_SUM(k)                                                                                                  \
    SIGNAL_SUMMED void signal_sum_##k(int rows, vf J[SIGNAL_ROWS][SIGNAL_OF_FIBERS], const vf *info,                   \
                                        const vf *grad, signal_sums *to)                                               \
    {                                                                                                                  \
        signal_sum_here(k, rows, J, info, grad, to);                                                                   \
    }
SIGNAL_SUM(0)
SIGNAL_SUM(1)
SIGNAL_SUM(2)
SIGNAL_SUM(3)

HOT_FN void signal_sum(const int k, int rows, vf J[SIGNAL_ROWS][SIGNAL_OF_FIBERS], const vf *info, const vf *grad,
                        signal_sums *to)
{
    if (k == 0)
        signal_sum_0(rows, J, info, grad, to);
    else if (k == 1)
        signal_sum_1(rows, J, info, grad, to);
    else if (k == 2)
        signal_sum_2(rows, J, info, grad, to);
    else
        signal_sum_3(rows, J, info, grad, to);
}

/* A shell is complete: what its isotropic slopes make of the sums goes into H and G, and the sums that go with them
 * begin anew. */
HOT_FN void signal_end_shell(const int k, const vf slope[3], signal_sums *sums, vf *H, vf *G)
{
    const int last = 4 * k;
    HOT_UNROLL
    for (int p = 0; p < 3; p++) {
        const vf weighed = slope[p] * sums->info;
        HOT_UNROLL
        for (int a = 0; a < last; a++)
            H[SIGNAL_AT(last + p, a)] += slope[p] * sums->cross[a];
        HOT_UNROLL
        for (int q = 0; q <= p; q++)
            H[SIGNAL_AT(last + p, last + q)] += weighed * slope[q];
        G[last + p] += slope[p] * sums->grad;
    }
    HOT_UNROLL
    for (int a = 0; a < last; a++)
        sums->cross[a] = vset(0);
    sums->info = sums->grad = vset(0);
}

/* A parameter's normal prior. */
HOT_FN void signal_normal(vf x, float mean, float inverse, int at, vf *q, vf *H, vf *G)
{
    vf off = (x - mean) * inverse;
    *q += off * off;
    G[at] += off * inverse;
    H[SIGNAL_AT(at, at)] += vset(inverse * inverse);
}

/* The priors of a fit of k fibres, added to its cost, gradient and matrix. */
HOT_FN void signal_add_prior(const int k, const signal_learned *p, const signal_fit *f, vf e1[3][3], vf e2[3][3],
                              vf *to_q, vf *H, vf *G)
{
    const int last = 4 * k;
    vf q = *to_q;
    signal_normal(f->ld, p->ld[k > 0], p->ld_inv[k > 0], last + 2, &q, H, G);
    if (k > 0)
        signal_normal(f->iso, p->iso, p->iso_inv, last, &q, H, G);
    signal_normal(f->water, p->water[k > 0], p->water_inv[k > 0], last + 1, &q, H, G);
    for (int i = 0; i < k; i++)
        signal_normal(f->tau[i], p->width, p->width_inv, 4 * i + 1, &q, H, G);
    if (k > 1) {
        const float inverse = p->spread_inv * p->spread_inv;
        vf mean = f->lw[0];
        for (int i = 1; i < k; i++)
            mean += f->lw[i];
        mean *= 1.0f / (float)k;
        for (int i = 0; i < k; i++) {
            vf off = f->lw[i] - mean;
            q += inverse * off * off;
            G[4 * i] += inverse * off;
            for (int j = 0; j <= i; j++)
                H[SIGNAL_AT(4 * i, 4 * j)] += vset(inverse * ((float)(i == j) - 1.0f / (float)k));
        }
    }
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++) {
            vf dot = f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2];
            vf over = vmax(vabs(dot) - SIGNAL_NEAR, vset(0)) * SIGNAL_NEAR_INVERSE;
            vf side = vsel(over > 0.0f, vcopysign(vset(SIGNAL_NEAR_INVERSE), dot), vset(0));
            const int at[4] = {4 * j + 2, 4 * j + 3, 4 * i + 2, 4 * i + 3};
            vf D[4];
            D[0] = side * (f->v[i][0] * e1[j][0] + f->v[i][1] * e1[j][1] + f->v[i][2] * e1[j][2]);
            D[1] = side * (f->v[i][0] * e2[j][0] + f->v[i][1] * e2[j][1] + f->v[i][2] * e2[j][2]);
            D[2] = side * (f->v[j][0] * e1[i][0] + f->v[j][1] * e1[i][1] + f->v[j][2] * e1[i][2]);
            D[3] = side * (f->v[j][0] * e2[i][0] + f->v[j][1] * e2[i][1] + f->v[j][2] * e2[i][2]);
            q += over * over;
            for (int a = 0; a < 4; a++) {
                G[at[a]] += over * D[a];
                for (int b = 0; b <= a; b++)
                    H[SIGNAL_AT(at[a], at[b])] += D[a] * D[b];
            }
        }
    *to_q = q;
}

/* The cost of a datum y with the expected signal t; its weights in gradient and matrix. */
HOT_FN void signal_datum(vf y, vf t, float count, vf *chi, vf *product, vf *info, vf *grad)
{
    vf m, mt, d, dt;
    t = vmax(t, vset(1e-3f));
    signal_rician(t, &m, &mt, &d, &dt);
    vf id = vrcp(d), e = y - m, e2d = e * e * id;
    *chi += count * e2d;
    *product *= d;
    vf rel = dt * id;
    *grad = 0.5f * rel * (1 - count * e2d) - count * e * mt * id;
    *info = count * mt * mt * id + 0.5f * rel * rel;
}

/* Constants of a shell: for each fibre polynomials in u^2 of its signal, times its weight, and of the derivative by its
 * width; the isotropic compartments and the Gaussian offset. */
typedef struct signal_shell {
    vf c[3][SIGNAL_TERMS], slope[3][SIGNAL_TERMS], around;
} signal_shell;

/* Of the fibres' directions v what signal_across tells: a gradient g has, with h = g_x v_x + g_y v_y,
 *   g . v = h + g_z v_z,   g . e1 = g_x + sx (a h - g_z),   g . e2 = g_y + sy (a h - g_z). */
typedef struct signal_turned {
    vf a[3], sx[3], sy[3];
} signal_turned;

/* The datum of a volume. */
typedef struct signal_measured {
    float gx, gy, gz;
    vf y;
} signal_measured;

HOT_FN signal_measured signal_read_volume(const signal_scheme *s, const signal_data *data, int j)
{
    const signal_measured m = {s->g[3 * j], s->g[3 * j + 1], s->g[3 * j + 2], signal_signal(data, j)};
    return m;
}

/* Of a volume the slopes in the fibres' unknowns, and its weights in matrix and gradient. */
HOT_FN void signal_row(const int k, const signal_measured *m, const signal_fit *f, const signal_shell *shell,
                        const signal_turned *turned, vf *J, vf *info, vf *grad, vf *chi, vf *product)
{
    const float gx = m->gx, gy = m->gy, gz = m->gz;
    vf t = shell->around;
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        const vf *c = shell->c[i], *slope = shell->slope[i];
        vf h = gx * f->v[i][0] + gy * f->v[i][1], u = gz * f->v[i][2] + h, x = u * u, off = turned->a[i] * h - gz;
        vf r = c[4] * x + c[3], rx = c[4]; /* Horner's scheme, the derivative beside */
        HOT_UNROLL
        for (int at = SIGNAL_TERMS - 3; at >= 0; at--) {
            rx = rx * x + r;
            r = r * x + c[at];
        }
        vf turn = (u + u) * rx;
        J[4 * i] = r;
        J[4 * i + 1] = slope[0] + x * (slope[1] + x * (slope[2] + x * (slope[3] + x * slope[4])));
        J[4 * i + 2] = turn * (turned->sx[i] * off + gx);
        J[4 * i + 3] = turn * (turned->sy[i] * off + gy);
        t += r;
    }
    signal_datum(m->y, t, 1, chi, product, info, grad);
}

/* Cost (into f), half its gradient and half its matrix. */
HOT_FN void signal_evaluate_here(const int k, const signal_scheme *s, const signal_learned *p,
                                  const signal_data *data, signal_fit *f, vf *H, vf *G)
{
    const int n = SIGNAL_UNKNOWNS(k), last = 4 * k;
    const vf snr = data->snr;
    vf J[SIGNAL_ROWS][SIGNAL_OF_FIBERS], info[SIGNAL_ROWS], grad[SIGNAL_ROWS];
    vf e1[3][3], e2[3][3], w[3], z[3][SIGNAL_TERMS];
    vf q = vset(0), chi = vset(0), product = vset(1), t = (f->iso + f->water) * snr + s->pedestal;
    signal_sums sums;
    signal_turned turned;
    HOT_UNROLL
    for (int i = 0; i < last * (last + 1) / 2; i++)
        sums.H[i] = vset(0);
    HOT_UNROLL
    for (int i = 0; i < last; i++)
        sums.G[i] = sums.cross[i] = J[0][i] = vset(0);
    sums.info = sums.grad = vset(0);
    for (int i = SIGNAL_AT(last, 0); i < n * (n + 1) / 2; i++)
        H[i] = vset(0);
    for (int i = last; i < n; i++)
        G[i] = vset(0);
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        turned.a[i] = signal_across(f->v[i], &turned.sx[i], &turned.sy[i]);
        w[i] = vexp(f->lw[i]) * snr;
        /* w exp(-l(l+1) tau / 2) for l = 2, 4, 6, 8 */
        vf z1 = vexp(-f->tau[i]);
        z[i][1] = z1 * z1 * z1;
        z[i][2] = z[i][1] * z[i][1] * z[i][1] * z1;
        z[i][3] = z[i][2] * z[i][2] * z1;
        z[i][4] = z[i][3] * z[i][2] * z[i][1] * z1 * z1;
        HOT_UNROLL
        for (int l = 1; l < SIGNAL_TERMS; l++)
            z[i][l] *= w[i];
        J[0][4 * i] = w[i];
        t += w[i];
    }
    signal_datum(data->y0, t, data->weight0, &chi, &product, &info[0], &grad[0]);
    signal_sum(k, 1, J, info, grad, &sums);
    const vf at_zero[3] = {snr, snr, vset(0)};
    signal_end_shell(k, at_zero, &sums, H, G);
    const vf diffusivity = vexp(f->ld);
    for (int at_shell = 0; at_shell < s->shells; at_shell++) {
        signal_shell shell;
        HOT_UNROLL
        for (int i = 0; i < k; i++)
            for (int at = 0; at < SIGNAL_TERMS; at++) {
                vf *c = &shell.c[i][at], *slope = &shell.slope[i][at];
                *c = w[i] * s->zonal[at_shell][0][at];
                *slope = vset(0);
                for (int l = 1; l < SIGNAL_TERMS; l++) {
                    vf term = s->zonal[at_shell][l][at] * z[i][l];
                    *c += term;
                    *slope -= (float)(l * (2 * l + 1)) * term;
                }
            }
        const vf exponent = diffusivity * s->b[at_shell], left = vexp(-exponent);
        const vf water = vexp(vset(-SIGNAL_WATER * s->b[at_shell])) * snr, iso = left * snr;
        const vf slope[3] = {iso, water, -f->iso * snr * exponent * left};
        shell.around = f->iso * iso + f->water * water + s->pedestal;
        const int end = s->first[at_shell + 1];
        signal_measured next = signal_read_volume(s, data, s->first[at_shell]);
        for (int j = s->first[at_shell]; j < end;) {
            const int until = end - j < SIGNAL_FACTORS ? end : j + SIGNAL_FACTORS;
            int row = 0;
            for (; j < until; j++) {
                const signal_measured now = SIGNAL_AHEAD ? next : signal_read_volume(s, data, j);
                if (SIGNAL_AHEAD)
                    next = signal_read_volume(s, data, j + 1 < s->volumes ? j + 1 : j);
                signal_row(k, &now, f, &shell, &turned, J[row], &info[row], &grad[row], &chi, &product);
                if (++row == SIGNAL_ROWS) {
                    signal_sum(k, SIGNAL_ROWS, J, info, grad, &sums);
                    row = 0;
                }
            }
            if (SIGNAL_ROWS > 1)
                signal_sum(k, row, J, info, grad, &sums);
            q += vlog(product);
            product = vset(1);
        }
        signal_end_shell(k, slope, &sums, H, G);
    }
    HOT_UNROLL
    for (int i = 0; i < last * (last + 1) / 2; i++)
        H[i] = sums.H[i];
    HOT_UNROLL
    for (int i = 0; i < last; i++)
        G[i] = sums.G[i];
    q += chi;
    HOT_UNROLL
    for (int i = 0; i < k; i++)
        signal_tangents(f->v[i], e1[i], e2[i]);
    signal_add_prior(k, p, f, e1, e2, &q, H, G);
    f->q = q;
    f->chi = chi;
}

#define SIGNAL_EVALUATE(k)                                                                                             \
    SIGNAL_CALLED void signal_evaluate_##k(const signal_scheme *s, const signal_learned *p,                            \
                                            const signal_data *data, signal_fit *f, vf *H, vf *G)                      \
    {                                                                                                                  \
        signal_evaluate_here(k, s, p, data, f, H, G);                                                                  \
    }
SIGNAL_EVALUATE(0)
SIGNAL_EVALUATE(1)
SIGNAL_EVALUATE(2)
SIGNAL_EVALUATE(3)

HOT_FN void signal_evaluate(const int k, const signal_scheme *s, const signal_learned *p, const signal_data *data,
                             signal_fit *f, vf *H, vf *G)
{
    if (k == 0)
        signal_evaluate_0(s, p, data, f, H, G);
    else if (k == 1)
        signal_evaluate_1(s, p, data, f, H, G);
    else if (k == 2)
        signal_evaluate_2(s, p, data, f, H, G);
    else
        signal_evaluate_3(s, p, data, f, H, G);
}

#define SIGNAL_PIVOT 1e-9f /* the least pivot of a fit's matrix */

/* Bounds of ln w, width, isotropic parts and ln D. */
#define SIGNAL_LW_LOW (-4.6f)
#define SIGNAL_LW_HIGH 0.7f
#define SIGNAL_TAU_LOW (-0.06f)
#define SIGNAL_TAU_HIGH 0.4f
#define SIGNAL_PART_LOW (-0.3f)
#define SIGNAL_PART_HIGH 1.5f
#define SIGNAL_LD_LOW (-2.3f)
#define SIGNAL_LD_HIGH 1.39f

/* The damping of an unknown: where it is at a bound and the gradient g points on, so much that it stays. */
HOT_FN vf signal_held(vf x, vf g, float low, float high, vf damping)
{
    return vsel(((x <= low) & (g > 0.0f)) | ((x >= high) & (g < 0.0f)), vset(1e5f), damping);
}

HOT_FN void signal_dampings(const int k, const signal_fit *f, const vf *G, vf damping, vf *dampings)
{
    const int last = 4 * k;
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        dampings[4 * i] = signal_held(f->lw[i], G[4 * i], SIGNAL_LW_LOW, SIGNAL_LW_HIGH, damping);
        dampings[4 * i + 1] = signal_held(f->tau[i], G[4 * i + 1], SIGNAL_TAU_LOW, SIGNAL_TAU_HIGH, damping);
        dampings[4 * i + 2] = dampings[4 * i + 3] = damping;
    }
    dampings[last] = signal_held(f->iso, G[last], SIGNAL_PART_LOW, SIGNAL_PART_HIGH, damping);
    dampings[last + 1] = signal_held(f->water, G[last + 1], SIGNAL_PART_LOW, SIGNAL_PART_HIGH, damping);
    dampings[last + 2] = signal_held(f->ld, G[last + 2], SIGNAL_LD_LOW, SIGNAL_LD_HIGH, damping);
}

/* The fit moved by a step. All of the step is shortened where a part of it is too long, so that a bad start cannot
 * throw the fit away, and that the step keeps to where the parts make up for each other. */
HOT_FN void signal_move(const int k, const signal_fit *f, const vf *step, signal_fit *to)
{
    const int last = 4 * k;
    vf most = vmax(vmax(vabs(step[last]), vabs(step[last + 1])) * (1 / 0.4f), vabs(step[last + 2]) * (1 / 0.7f));
    *to = *f;
    HOT_UNROLL
    for (int i = 0; i < k; i++)
        most = vmax(vmax(vmax(most, vabs(step[4 * i]) * (1 / 0.7f)), vabs(step[4 * i + 1]) * (1 / 0.04f)),
                    vmax(vabs(step[4 * i + 2]), vabs(step[4 * i + 3])) * (1 / 0.3f));
    const vf cut = vrcp(vmax(most, vset(1)));
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        vf e1[3], e2[3];
        signal_tangents(f->v[i], e1, e2);
        vf a = step[4 * i + 2] * cut, b = step[4 * i + 3] * cut;
        vf scale = vrsqrt(1 + a * a + b * b);
        for (int d = 0; d < 3; d++)
            to->v[i][d] = (f->v[i][d] + a * e1[d] + b * e2[d]) * scale;
        to->lw[i] = vclamp(f->lw[i] + step[4 * i] * cut, SIGNAL_LW_LOW, SIGNAL_LW_HIGH);
        to->tau[i] = vclamp(f->tau[i] + step[4 * i + 1] * cut, SIGNAL_TAU_LOW, SIGNAL_TAU_HIGH);
    }
    to->iso = vclamp(f->iso + step[last] * cut, SIGNAL_PART_LOW, SIGNAL_PART_HIGH);
    to->water = vclamp(f->water + step[last + 1] * cut, SIGNAL_PART_LOW, SIGNAL_PART_HIGH);
    to->ld = vclamp(f->ld + step[last + 2] * cut, SIGNAL_LD_LOW, SIGNAL_LD_HIGH);
}

HOT_FN void signal_choose(const int k, vm m, const signal_fit *from, signal_fit *to)
{
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        for (int d = 0; d < 3; d++)
            to->v[i][d] = vsel(m, from->v[i][d], to->v[i][d]);
        to->lw[i] = vsel(m, from->lw[i], to->lw[i]);
        to->tau[i] = vsel(m, from->tau[i], to->tau[i]);
    }
    to->iso = vsel(m, from->iso, to->iso);
    to->water = vsel(m, from->water, to->water);
    to->ld = vsel(m, from->ld, to->ld);
    to->q = vsel(m, from->q, to->q);
    to->chi = vsel(m, from->chi, to->chi);
}

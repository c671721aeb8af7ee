/* Fibres in signal space, the arithmetic of one voxel (or of HOT_LANES_F32 of them side by side): a damped Gauss-Newton
 * fit of k fibres, each the single-fibre response turned to v_i and widened by tau, through the Rician mean.
 *
 *   eta_j = sum_i w_i R(g_j . v_i; tau) [+ c exp(-(b_j - b_1) D)],   R(u; tau) = sum_l a_l exp(-l(l+1) tau / 2) P_l(u)
 *   q     = sum_j (y_j - m(eta_j))^2 / s^2(eta_j) + ln s^2(eta_j)  + the priors' squares
 *
 * m and s are mean and standard deviation of a Rician magnitude; everything is in units of sigma. For Gaussian noise
 * signals and eta stand on a pedestal (signal_plan.h). Compiled for each
 * CPU variant and by nvcc from this one text. */
#ifndef HOT_SIGNAL_STEP_H
#define HOT_SIGNAL_STEP_H

#include "signal_plan.h"
#include "common/simd.h"

/* A function that is called, not inlined. */
#ifdef __CUDACC__
#define SIGNAL_CALLED static __host__ __device__ __noinline__
#else
#define SIGNAL_CALLED static __attribute__((noinline, unused))
#endif

/* One fit of k fibres (k known where it is used). */
typedef struct signal_fit {
    vf v[3][3];  /* unit */
    vf lw[3];    /* ln of the weights */
    vf tau;      /* width added to the response */
    vf lc, d;    /* isotropic: ln of its signal on the first shell, diffusivity in 1e-3 mm^2/s */
    vf q;        /* the cost: -2 ln (likelihood x priors), constants left out */
    vf chi;      /* sum of squared residuals, in units of their expected size */
} signal_fit;

/* The voxels' data. */
typedef struct signal_data {
    const float *y;  /* signals in units of sigma: volume j at y + j * stride */
    size_t stride;
    vf snr;          /* S0 / sigma */
} signal_data;

HOT_FN vf signal_signal(const signal_data *data, int volume)
{
    return *(const vf *)(data->y + (size_t)volume * data->stride);
}

/* Mean and variance of a Rician magnitude with underlying signal t (sigma = 1), with derivatives. The mean square is
 * exactly t^2 + 2; the square of the mean is t^2 + 1 + (pi/2 - 1) h(t^2) with h from 1 to 0, for which this rational
 * function is within 5e-3 (the mean within 8e-4). */
HOT_FN void signal_rician(vf t, vf *mean, vf *mean_t, vf *variance, vf *variance_t)
{
    const float c = 0.570796327f;
    vf x = t * t;
    vf rden = vrcp(1 + x * (0.42645009f + x * 0.11427747f));
    vf h = (1 + 0.07506814f * x) * rden;
    vf h_x = (0.07506814f - h * (0.42645009f + 0.22855494f * x)) * rden;
    vf square = x + 1 + c * h, inverse = vrsqrt(square);
    *mean = square * inverse;
    *mean_t = t * (1 + c * h_x) * inverse;
    *variance = 1 - c * h;
    *variance_t = -2 * c * t * h_x;
}

/* Two unit vectors that span the tangent plane of v. */
HOT_FN void signal_tangents(const vf v[3], vf e1[3], vf e2[3])
{
    vf s = vcopysign(vset(1), v[2]);
    vf a = -1 / (s + v[2]);
    vf b = v[0] * v[1] * a;
    e1[0] = 1 + s * v[0] * v[0] * a;
    e1[1] = s * b;
    e1[2] = -s * v[0];
    e2[0] = b;
    e2[1] = s + v[1] * v[1] * a;
    e2[2] = -v[1];
}

#define SIGNAL_AT(i, j) ((i) * ((i) + 1) / 2 + (j)) /* packed lower triangle, i >= j */

/* How many unknowns: k directions of two, k weights, tau, and of the isotropic part nothing (iso 0: there is none), its
 * amplitude (1) or amplitude and diffusivity (2). */
#define SIGNAL_UNKNOWNS(k, iso) (3 * (k) + 1 + (iso))

/* Cost (into f), half its gradient and half its Fisher matrix (to_H, to_G: sums are made here, where no pointer sees
 * them). */
HOT_FN void signal_evaluate_here(const int k, const int iso, const signal_scheme *s, const signal_prior *prior,
                                 const signal_data *data, signal_fit *f, vf *to_H, vf *to_G)
{
    const int n = SIGNAL_UNKNOWNS(k, iso);
    vf H[SIGNAL_AT(SIGNAL_UNKNOWNS(3, 2), 0)], G[SIGNAL_UNKNOWNS(3, 2)];
    vf e1[3][3], e2[3][3], w[3];
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        signal_tangents(f->v[i], e1[i], e2[i]);
        w[i] = vexp(f->lw[i]) * data->snr;
    }
    HOT_UNROLL
    for (int i = 0; i < n * (n + 1) / 2; i++)
        H[i] = vset(0);
    HOT_UNROLL
    for (int i = 0; i < n; i++)
        G[i] = vset(0);
    vf c0 = iso ? vexp(f->lc) * data->snr : vset(0);
    vf q = vset(0), chi = vset(0), product = vset(1);
    /* exp(-l(l+1) tau / 2) for l = 0, 2, 4, 6, 8 by powers of exp(-tau) : exponents 0 3 10 21 36 */
    vf z1 = vexp(-f->tau), z3 = z1 * z1 * z1, z10 = z3 * z3 * z3 * z1, z21 = z10 * z10 * z1;
    vf z36 = z21 * z10 * z3 * z1 * z1;
    vf z[SIGNAL_TERMS] = {vset(1), z3, z10, z21, z36};
    for (int shell = 0; shell < s->shells; shell++) {
        vf c[SIGNAL_TERMS], dc[SIGNAL_TERMS];
    HOT_UNROLL
        for (int p = 0; p < SIGNAL_TERMS; p++) {
            c[p] = vset(s->zonal[shell][0][p]);
            dc[p] = vset(0);
    HOT_UNROLL
            for (int l = 1; l < SIGNAL_TERMS; l++) {
                vf term = s->zonal[shell][l][p] * z[l];
                c[p] += term;
                dc[p] -= (float)(l * (2 * l + 1)) * term; /* degree 2l: 2l(2l+1)/2 */
            }
        }
        vf away = vset(s->b[shell] - s->b[0]);
        vf cs = iso ? c0 * vexp(-away * f->d) : vset(0);
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            const float gx = s->g[3 * j], gy = s->g[3 * j + 1], gz = s->g[3 * j + 2];
            vf J[SIGNAL_UNKNOWNS(3, 2)];
            vf t = cs + s->pedestal, jt = vset(0);
    HOT_UNROLL
            for (int i = 0; i < k; i++) {
                vf u = gx * f->v[i][0] + gy * f->v[i][1] + gz * f->v[i][2];
                vf x = u * u;
                vf r = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
                vf rx = c[1] + x * (2 * c[2] + x * (3 * c[3] + x * (4 * c[4])));
                vf rt = dc[0] + x * (dc[1] + x * (dc[2] + x * (dc[3] + x * dc[4])));
                vf slope = 2 * w[i] * u * rx;
                J[3 * i] = w[i] * r;
                J[3 * i + 1] = slope * (gx * e1[i][0] + gy * e1[i][1] + gz * e1[i][2]);
                J[3 * i + 2] = slope * (gx * e2[i][0] + gy * e2[i][1] + gz * e2[i][2]);
                t += J[3 * i];
                jt += w[i] * rt;
            }
            J[3 * k] = jt;
            if (iso)
                J[3 * k + 1] = cs;
            if (iso > 1)
                J[3 * k + 2] = -away * cs;
            t = vmax(t, vset(1e-3f));
            vf m, mt, d, dt;
            signal_rician(t, &m, &mt, &d, &dt);
            vf id = vrcp(d);
            vf e = signal_signal(data, j) - m;
            vf e2d = e * e * id;
            chi += e2d;
            product *= d; /* of numbers between .43 and 1: the logarithm is taken once in 32 volumes */
            if ((j & 31) == 31) {
                q += vlog(product);
                product = vset(1);
            }
            vf rel = dt * id;
            vf grad = 0.5f * rel * (1 - e2d) - e * mt * id;
            vf info = mt * mt * id + 0.5f * rel * rel;
    HOT_UNROLL
            for (int a = 0; a < n; a++) {
                vf ja = info * J[a];
                G[a] += grad * J[a];
    HOT_UNROLL
                for (int b = 0; b <= a; b++)
                    H[SIGNAL_AT(a, b)] += ja * J[b];
            }
        }
    }
    q += chi + vlog(product);

    vf width = f->tau * prior->tau_inv;
    q += width * width;
    G[3 * k] += width * prior->tau_inv;
    H[SIGNAL_AT(3 * k, 3 * k)] += vset(prior->tau_inv * prior->tau_inv);
    if (k > 1) {
        vf mean = f->lw[0];
        for (int i = 1; i < k; i++)
            mean += f->lw[i];
        mean *= 1.0f / k;
        vf inv = prior->weight_inv * vrcp(1 + prior->weight_loose * vclamp(0.1f * data->snr - 2, 0, 1));
        vf inv2 = inv * inv;
        for (int i = 0; i < k; i++) {
            vf off = f->lw[i] - mean;
            q += inv2 * off * off;
            G[3 * i] += inv2 * off;
            for (int j = 0; j <= i; j++)
                H[SIGNAL_AT(3 * i, 3 * j)] += inv2 * ((i == j) - 1.0f / k);
        }
        for (int i = 1; i < k; i++)
            for (int j = 0; j < i; j++) {
                vf dot = f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2];
                vf over = vmax(vabs(dot) - prior->separation_cos, vset(0)) * prior->separation_inv;
                vf side = vsel(over > 0.0f, vcopysign(vset(prior->separation_inv), dot), vset(0));
                vf D[6];
                const int at[6] = {3 * j + 1, 3 * j + 2, 3 * i + 1, 3 * i + 2, 0, 0};
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
    }
    if (iso && prior->isotropic_inv > 0) {
        vf off = (f->lc - prior->isotropic_mean) * prior->isotropic_inv;
        q += off * off;
        G[3 * k + 1] += off * prior->isotropic_inv;
        H[SIGNAL_AT(3 * k + 1, 3 * k + 1)] += vset(prior->isotropic_inv * prior->isotropic_inv);
    }
    if (iso > 1) {
        /* One shell alone says nothing about it: a wide prior about 1e-3 mm^2/s. */
        vf off = f->d - 1.0f;
        q += off * off;
        G[3 * k + 2] += off;
        H[SIGNAL_AT(3 * k + 2, 3 * k + 2)] += vset(1);
    }
    f->q = q;
    f->chi = chi;
    HOT_UNROLL
    for (int i = 0; i < n * (n + 1) / 2; i++)
        to_H[i] = H[i];
    HOT_UNROLL
    for (int i = 0; i < n; i++)
        to_G[i] = G[i];
}

/* One function for each kind of fit, called and not inlined: the CPU's compiler would take minutes over the copies. On
 * the GPU they go into the descents, which are called: sums kept in registers are worth a fifth of the time there. */
#ifdef __CUDACC__
#define SIGNAL_EVALUATED HOT_FN
#else
#define SIGNAL_EVALUATED SIGNAL_CALLED
#endif
#define SIGNAL_EVALUATE(k, iso) \
    SIGNAL_EVALUATED void signal_evaluate_##k##_##iso(const signal_scheme *s, const signal_prior *prior, \
                                                      const signal_data *data, signal_fit *f, vf *H, vf *G) \
    { \
        signal_evaluate_here(k, iso, s, prior, data, f, H, G); \
    }
SIGNAL_EVALUATE(1, 0)
SIGNAL_EVALUATE(1, 2)
SIGNAL_EVALUATE(2, 0)
SIGNAL_EVALUATE(2, 1)
SIGNAL_EVALUATE(3, 0)
SIGNAL_EVALUATE(3, 1)

HOT_FN void signal_evaluate(const int k, const int iso, const signal_scheme *s, const signal_prior *prior,
                            const signal_data *data, signal_fit *f, vf *H, vf *G)
{
    if (k == 1 && iso == 0)
        signal_evaluate_1_0(s, prior, data, f, H, G);
    else if (k == 1)
        signal_evaluate_1_2(s, prior, data, f, H, G);
    else if (k == 2 && iso == 0)
        signal_evaluate_2_0(s, prior, data, f, H, G);
    else if (k == 2)
        signal_evaluate_2_1(s, prior, data, f, H, G);
    else if (iso == 0)
        signal_evaluate_3_0(s, prior, data, f, H, G);
    else
        signal_evaluate_3_1(s, prior, data, f, H, G);
}

/* (H + damping diag H) step = -G by Cholesky. */
HOT_FN void signal_solve(const int n, const vf *H, const vf *G, vf damping, vf *step)
{
    vf L[SIGNAL_AT(SIGNAL_UNKNOWNS(3, 2), 0)], inverse[SIGNAL_UNKNOWNS(3, 2)];
    HOT_UNROLL
    for (int i = 0; i < n; i++) {
        vf b = -G[i];
    HOT_UNROLL
        for (int j = 0; j <= i; j++) {
            vf a = H[SIGNAL_AT(i, j)];
            if (i == j)
                a += damping * a + 1e-6f;
    HOT_UNROLL
            for (int p = 0; p < j; p++)
                a -= L[SIGNAL_AT(i, p)] * L[SIGNAL_AT(j, p)];
            if (i == j)
                inverse[i] = vrsqrt(vmax(a, vset(1e-12f)));
            else
                L[SIGNAL_AT(i, j)] = a * inverse[j];
        }
    HOT_UNROLL
        for (int p = 0; p < i; p++)
            b -= L[SIGNAL_AT(i, p)] * step[p];
        step[i] = b * inverse[i];
    }
    HOT_UNROLL
    for (int i = n - 1; i >= 0; i--) {
        vf b = step[i];
    HOT_UNROLL
        for (int p = i + 1; p < n; p++)
            b -= L[SIGNAL_AT(p, i)] * step[p];
        step[i] = b * inverse[i];
    }
}

/* ln det of H. */
HOT_FN vf signal_logdet(const int n, const vf *H)
{
    vf L[SIGNAL_AT(SIGNAL_UNKNOWNS(3, 2), 0)], inverse[SIGNAL_UNKNOWNS(3, 2)], sum = vset(0);
    HOT_UNROLL
    for (int i = 0; i < n; i++)
    HOT_UNROLL
        for (int j = 0; j <= i; j++) {
            vf a = H[SIGNAL_AT(i, j)];
    HOT_UNROLL
            for (int p = 0; p < j; p++)
                a -= L[SIGNAL_AT(i, p)] * L[SIGNAL_AT(j, p)];
            if (i == j) {
                a = vmax(a, vset(1e-12f));
                sum += vlog(a);
                inverse[i] = vrsqrt(a);
            } else
                L[SIGNAL_AT(i, j)] = a * inverse[j];
        }
    return sum;
}

/* The fit moved by a step; steps are cut so that a bad start cannot throw it away. */
HOT_FN void signal_move(const int k, const int iso, const signal_prior *prior, const signal_fit *f, const vf *step,
                        signal_fit *to)
{
    *to = *f;
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        vf e1[3], e2[3];
        signal_tangents(f->v[i], e1, e2);
        vf a = step[3 * i + 1], b = step[3 * i + 2];
        vf length2 = a * a + b * b;
        vf cut = vsel(length2 > 0.16f, 0.4f / vsqrt(vmax(length2, vset(1e-12f))), vset(1));
        a *= cut;
        b *= cut;
        vf scale = vrsqrt(1 + a * a + b * b);
        for (int d = 0; d < 3; d++)
            to->v[i][d] = (f->v[i][d] + a * e1[d] + b * e2[d]) * scale;
        to->lw[i] = vclamp(f->lw[i] + vclamp(step[3 * i], -1, 1), -7, 3);
    }
    to->tau = vclamp(f->tau + vclamp(step[3 * k], -0.02f, 0.02f), prior->tau_low, prior->tau_high);
    if (iso)
        to->lc = vclamp(f->lc + vclamp(step[3 * k + 1], -1, 1), -8, 2);
    if (iso > 1)
        to->d = vclamp(f->d + vclamp(step[3 * k + 2], -0.5f, 0.5f), 0, 4);
}

HOT_FN void signal_choose(const int k, vm m, const signal_fit *from, signal_fit *to)
{
    HOT_UNROLL
    for (int i = 0; i < k; i++) {
        for (int d = 0; d < 3; d++)
            to->v[i][d] = vsel(m, from->v[i][d], to->v[i][d]);
        to->lw[i] = vsel(m, from->lw[i], to->lw[i]);
    }
    to->tau = vsel(m, from->tau, to->tau);
    to->lc = vsel(m, from->lc, to->lc);
    to->d = vsel(m, from->d, to->d);
    to->q = vsel(m, from->q, to->q);
    to->chi = vsel(m, from->chi, to->chi);
}

/* Up to `iterations` damped steps from f, in place. A voxel stops when its cost no longer falls by more than
 * `tolerance`; its neighbours in the vector do not change what it gets. Returns ln det of the Fisher matrix. */
HOT_FN vf signal_descend_here(const int k, const int iso, const signal_scheme *s, const signal_prior *prior,
                              const signal_data *data, int iterations, float tolerance, signal_fit *f)
{
    const int n = SIGNAL_UNKNOWNS(k, iso);
    vf H[SIGNAL_AT(SIGNAL_UNKNOWNS(3, 2), 0)], G[SIGNAL_UNKNOWNS(3, 2)];
    vf H2[SIGNAL_AT(SIGNAL_UNKNOWNS(3, 2), 0)], G2[SIGNAL_UNKNOWNS(3, 2)], step[SIGNAL_UNKNOWNS(3, 2)];
    vf damping = vset(0.01f);
    signal_evaluate(k, iso, s, prior, data, f, H, G);
    vm active = vmask(1);
    for (int it = 0; it < iterations; it++) {
        signal_fit trial;
        signal_solve(n, H, G, damping, step);
        /* what the step promises: too little, and the voxel is done without trying it */
        vf promise = vset(0);
        HOT_UNROLL
        for (int i = 0; i < n; i++)
            promise -= step[i] * G[i];
        active = active & (promise > tolerance);
        if (!vany(active))
            break;
        signal_move(k, iso, prior, f, step, &trial);
        signal_evaluate(k, iso, s, prior, data, &trial, H2, G2);
        vf fall = f->q - trial.q;
        vm better = (fall > 0.0f) & active;
        signal_choose(k, better, &trial, f);
        for (int i = 0; i < n * (n + 1) / 2; i++)
            H[i] = vsel(better, H2[i], H[i]);
        for (int i = 0; i < n; i++)
            G[i] = vsel(better, G2[i], G[i]);
        damping = vclamp(damping * vsel(better, vset(0.2f), vset(10)), 1e-5f, 1e5f);
        active = active & ((fall > tolerance) | ((fall <= 0.0f) & (damping < 1e3f)));
    }
    return signal_logdet(n, H);
}

#define SIGNAL_DESCEND(k, iso) \
    SIGNAL_CALLED vf signal_descend_##k##_##iso(const signal_scheme *s, const signal_prior *prior, \
                                                const signal_data *data, int iterations, float tolerance, \
                                                signal_fit *f) \
    { \
        return signal_descend_here(k, iso, s, prior, data, iterations, tolerance, f); \
    }
SIGNAL_DESCEND(1, 0)
SIGNAL_DESCEND(1, 2)
SIGNAL_DESCEND(2, 0)
SIGNAL_DESCEND(2, 1)
SIGNAL_DESCEND(3, 0)
SIGNAL_DESCEND(3, 1)

HOT_FN vf signal_descend(const int k, const int iso, const signal_scheme *s, const signal_prior *prior,
                         const signal_data *data, int iterations, float tolerance, signal_fit *f)
{
    return k == 1   ? iso ? signal_descend_1_2(s, prior, data, iterations, tolerance, f)
                          : signal_descend_1_0(s, prior, data, iterations, tolerance, f)
           : k == 2 ? iso ? signal_descend_2_1(s, prior, data, iterations, tolerance, f)
                          : signal_descend_2_0(s, prior, data, iterations, tolerance, f)
           : iso    ? signal_descend_3_1(s, prior, data, iterations, tolerance, f)
                    : signal_descend_3_0(s, prior, data, iterations, tolerance, f);
}

#endif

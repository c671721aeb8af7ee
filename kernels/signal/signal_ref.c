/* Fibres in signal space, the reference: double precision, one voxel at a time, the exact Rician mean (or Gaussian
 * noise as it is, without a pedestal), derivatives by differences, its own start search. It shares with the fast
 * backends the plan's numbers, the rule's among them. */
#include <math.h>
#include <string.h>

#include "signal_voxel.h"

enum { UNKNOWNS = 12, BINS = 6 };

typedef struct ref_fit {
    int k, iso; /* iso: unknowns of the isotropic part, none, amplitude, amplitude and diffusivity */
    double v[3][3], lw[3], tau, lc, d;
    double q, chi, logdet;
} ref_fit;

typedef struct ref_voxel {
    const signal_plan *plan;
    const double *y; /* in units of sigma */
    double snr;
    int gaussian; /* the noise: otherwise Rician */
} ref_voxel;

/* exp(-x) I_n(x), n = 0 or 1, by the integral representation (1/pi) int_0^pi exp(x (cos a - 1)) cos(n a) da: the
 * trapezium rule converges exponentially on a periodic function. */
static double bessel_scaled(int n, double x)
{
    const int steps = 14 + (int)(5 * sqrt(x));
    double sum = 0;
    for (int i = 0; i < steps; i++) {
        double a = 3.14159265358979323846 * (i + 0.5) / steps;
        sum += exp(x * (cos(a) - 1)) * (n ? cos(a) : 1);
    }
    return sum / steps;
}

/* sqrt(pi/2) L_1/2(-t^2/2), the mean of a Rician magnitude with sigma = 1 */
static double rician_mean(double t)
{
    double x = t * t / 2;
    if (t > 30)
        return t + 1 / (2 * t) + 1 / (8 * t * t * t);
    return sqrt(3.14159265358979323846 / 2) * ((1 + x) * bessel_scaled(0, x / 2) + x * bessel_scaled(1, x / 2));
}

/* -2 ln of the likelihood of one signal, up to a constant */
static double point_cost(const ref_voxel *x, double y, double t, double *square)
{
    if (x->gaussian)
        return *square = (y - t) * (y - t);
    double m = rician_mean(t), variance = 2 + t * t - m * m;
    *square = (y - m) * (y - m) / variance;
    return *square + log(variance);
}

static double legendre_series(const signal_scheme *s, int shell, double tau, double u)
{
    double value = 0;
    for (int l = 0; l < SIGNAL_TERMS; l++) {
        double part = 0, power = 1;
        for (int p = 0; p < SIGNAL_TERMS; p++, power *= u * u)
            part += s->zonal[shell][l][p] * power;
        value += exp(-0.5 * (2 * l) * (2 * l + 1) * tau) * part;
    }
    return value;
}

/* The underlying signal of every volume, in units of sigma. */
static void predict(const ref_voxel *x, const ref_fit *f, double *t)
{
    const signal_scheme *s = &x->plan->scheme;
    for (int shell = 0; shell < s->shells; shell++)
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            const float *g = s->g + 3 * j;
            double sum = f->iso ? exp(f->lc - ((double)s->b[shell] - (double)s->b[0]) * f->d) : 0;
            for (int i = 0; i < f->k; i++)
                sum += exp(f->lw[i]) *
                       legendre_series(s, shell, f->tau, g[0] * f->v[i][0] + g[1] * f->v[i][1] + g[2] * f->v[i][2]);
            t[j] = x->gaussian ? sum * x->snr : fmax(sum * x->snr, 1e-3);
        }
}

static int unknowns(const ref_fit *f) { return 3 * f->k + 1 + f->iso; }

/* Priors as residuals whose squares add to the cost; returns how many. */
static int prior_residuals(const ref_voxel *x, const ref_fit *f, double *r)
{
    const signal_prior *p = &x->plan->prior;
    const double loose = fmin(fmax(0.1 * x->snr - 2, 0), 1);
    int n = 0;
    double mean = 0;
    r[n++] = f->tau * p->tau_inv;
    for (int i = 0; i < f->k; i++)
        mean += f->lw[i] / f->k;
    for (int i = 0; f->k > 1 && i < f->k; i++)
        r[n++] = (f->lw[i] - mean) * p->weight_inv / (1 + p->weight_loose * loose);
    for (int i = 0; i < f->k; i++)
        for (int j = 0; j < i; j++) {
            double dot = fabs(f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2]);
            r[n++] = fmax(0, dot - p->separation_cos) * p->separation_inv;
        }
    if (f->iso && p->isotropic_inv > 0)
        r[n++] = (f->lc - p->isotropic_mean) * p->isotropic_inv;
    if (f->iso > 1)
        r[n++] = f->d - 1;
    return n;
}

static void evaluate(const ref_voxel *x, ref_fit *f, double *t)
{
    double r[UNKNOWNS], square;
    predict(x, f, t);
    f->q = f->chi = 0;
    for (int j = 0; j < x->plan->scheme.volumes; j++) {
        f->q += point_cost(x, x->y[j], t[j], &square);
        f->chi += square;
    }
    int n = prior_residuals(x, f, r);
    for (int i = 0; i < n; i++)
        f->q += r[i] * r[i];
}

/* f moved by `amount` of its unknown `at`: per fibre ln w and two turns, then tau, ln c, d. */
static void nudge(ref_fit *f, int at, double amount)
{
    int i = at / 3;
    if (i < f->k && at % 3 == 0) {
        f->lw[i] += amount;
    } else if (i < f->k) {
        double *v = f->v[i], other[3] = {0, 0, 0}, side[3];
        other[fabs(v[0]) < 0.6 ? 0 : 1] = 1;
        double dot = other[0] * v[0] + other[1] * v[1], norm = 0;
        for (int d = 0; d < 3; d++)
            other[d] -= dot * v[d], norm += other[d] * other[d];
        for (int d = 0; d < 3; d++)
            other[d] /= sqrt(norm);
        side[0] = v[1] * other[2] - v[2] * other[1];
        side[1] = v[2] * other[0] - v[0] * other[2];
        side[2] = v[0] * other[1] - v[1] * other[0];
        const double *along = at % 3 == 1 ? other : side;
        norm = sqrt(1 + amount * amount);
        for (int d = 0; d < 3; d++)
            v[d] = (v[d] + amount * along[d]) / norm;
    } else if (at == 3 * f->k) {
        f->tau += amount;
    } else if (at == 3 * f->k + 1) {
        f->lc += amount;
    } else {
        f->d += amount;
    }
}

/* Half the gradient and half the Fisher matrix, all derivatives by central differences. */
static void derivatives(const ref_voxel *x, const ref_fit *f, double *workspace, double H[UNKNOWNS][UNKNOWNS],
                        double G[UNKNOWNS])
{
    const int n = unknowns(f), volumes = x->plan->scheme.volumes;
    double *t = workspace, *J = workspace + volumes, r0[UNKNOWNS], rj[UNKNOWNS][UNKNOWNS];
    ref_fit here = *f;
    predict(x, &here, t);
    int priors = prior_residuals(x, f, r0);
    for (int a = 0; a < n; a++) {
        const double step = a == 3 * f->k ? 1e-5 : 1e-4;
        double *up = J + (size_t)a * (size_t)volumes, *down = J + (size_t)n * (size_t)volumes, low[UNKNOWNS];
        ref_fit moved = *f;
        nudge(&moved, a, step);
        predict(x, &moved, up);
        prior_residuals(x, &moved, rj[a]);
        moved = *f;
        nudge(&moved, a, -step);
        predict(x, &moved, down);
        prior_residuals(x, &moved, low);
        for (int j = 0; j < volumes; j++)
            up[j] = (up[j] - down[j]) / (2 * step);
        for (int i = 0; i < priors; i++)
            rj[a][i] = (rj[a][i] - low[i]) / (2 * step);
    }
    memset(G, 0, UNKNOWNS * sizeof *G);
    memset(H, 0, UNKNOWNS * sizeof *H);
    for (int j = 0; j < volumes; j++) {
        double unused, h = 1e-4 * (1 + fabs(t[j])), high = t[j] + h, low = x->gaussian ? t[j] - h : fmax(t[j] - h, 0);
        double slope =
            0.5 * (point_cost(x, x->y[j], high, &unused) - point_cost(x, x->y[j], low, &unused)) / (high - low);
        double m1 = rician_mean(high), m0 = rician_mean(low), m = rician_mean(t[j]);
        double d1 = 2 + high * high - m1 * m1, d0 = 2 + low * low - m0 * m0, d = 2 + t[j] * t[j] - m * m;
        double mt = (m1 - m0) / (high - low), dt = (d1 - d0) / (high - low);
        double info = x->gaussian ? 1 : mt * mt / d + 0.5 * dt * dt / (d * d);
        for (int a = 0; a < n; a++) {
            G[a] += slope * J[(size_t)a * (size_t)volumes + (size_t)j];
            for (int b = 0; b < n; b++)
                H[a][b] += info * J[(size_t)a * (size_t)volumes + (size_t)j] *
                           J[(size_t)b * (size_t)volumes + (size_t)j];
        }
    }
    for (int i = 0; i < priors; i++)
        for (int a = 0; a < n; a++) {
            G[a] += r0[i] * rj[a][i];
            for (int b = 0; b < n; b++)
                H[a][b] += rj[a][i] * rj[b][i];
        }
}

/* Solves (H + damping diag H) step = -G by Gaussian elimination; returns ln det. */
static double solve(int n, double H[UNKNOWNS][UNKNOWNS], const double *G, double damping, double *step)
{
    double A[UNKNOWNS][UNKNOWNS + 1], logdet = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[i][j] = H[i][j] * (i == j ? 1 + damping : 1);
        A[i][i] += 1e-9;
        A[i][n] = -G[i];
    }
    for (int i = 0; i < n; i++) {
        logdet += log(fmax(A[i][i], 1e-12));
        for (int r = i + 1; r < n; r++) {
            double factor = A[r][i] / A[i][i];
            for (int j = i; j <= n; j++)
                A[r][j] -= factor * A[i][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        step[i] = A[i][n];
        for (int j = i + 1; j < n; j++)
            step[i] -= A[i][j] * step[j];
        step[i] /= A[i][i];
    }
    return logdet;
}

static void keep_inside(const signal_prior *p, ref_fit *f)
{
    for (int i = 0; i < f->k; i++)
        f->lw[i] = fmin(fmax(f->lw[i], -7), 3);
    f->tau = fmin(fmax(f->tau, p->tau_low), p->tau_high);
    f->lc = fmin(fmax(f->lc, -8), 2);
    f->d = fmin(fmax(f->d, 0), 4);
}

static void descend(const ref_voxel *x, ref_fit *f, double *workspace)
{
    const int n = unknowns(f);
    double H[UNKNOWNS][UNKNOWNS], G[UNKNOWNS], step[UNKNOWNS], damping = 0.01;
    evaluate(x, f, workspace);
    for (int iteration = 0; iteration < 60 && damping < 1e6; iteration++) {
        derivatives(x, f, workspace, H, G);
        double before = f->q;
        while (damping < 1e6) {
            ref_fit trial = *f;
            solve(n, H, G, damping, step);
            for (int a = 0; a < n; a++)
                nudge(&trial, a, fmax(-0.5, fmin(0.5, step[a])));
            keep_inside(&x->plan->prior, &trial);
            evaluate(x, &trial, workspace);
            if (trial.q < f->q) {
                *f = trial;
                damping *= 0.2;
                break;
            }
            damping *= 10;
        }
        if (before - f->q < 1e-6)
            break;
    }
    derivatives(x, f, workspace, H, G);
    f->logdet = solve(n, H, G, 0, step);
}

/* ---- starts ------------------------------------------------------------------------------------------------ */

/* The angle in bins of fifteen degrees between two of the plan's grid directions, -1 below 20 degrees. */
static int bin_of(const float *a, const float *b)
{
    double dot = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2];
    double angle = 57.29577951308232 * acos(fmin(1, fabs(dot)));
    return angle < 20 ? -1 : angle < 30 ? 0 : angle < 42 ? 1 : angle < 54 ? 2 : angle < 66 ? 3 : angle < 78 ? 4 : 5;
}

/* Least squares with equal weights for the directions at[0 ... k - 1]: how much of y's sum of squares they explain. */
static double explained(const ref_voxel *x, int k, const int *at, double *weight)
{
    const int n = x->plan->scheme.volumes;
    double sum_fy = 0, sum_ff = 0;
    for (int j = 0; j < n; j++) {
        double f = 0, y = x->gaussian ? x->y[j] : sqrt(fmax(x->y[j] * x->y[j] - 1, 0));
        for (int i = 0; i < k; i++)
            f += x->plan->grid.filter[at[i] * n + j];
        sum_fy += f * y;
        sum_ff += f * f;
    }
    *weight = sum_fy / sum_ff;
    return sum_fy * fabs(sum_fy) / sum_ff;
}

static void start(const ref_voxel *x, int k, const int *at, double weight, ref_fit *f)
{
    memset(f, 0, sizeof *f);
    f->k = k;
    for (int i = 0; i < k; i++) {
        for (int d = 0; d < 3; d++)
            f->v[i][d] = x->plan->grid.v[3 * at[i] + d];
        f->lw[i] = log(fmin(fmax(weight / x->snr, 0.02), 2));
    }
}

/* Where contrast varies, the isotropic part of one fibre's fit, its diffusivity as it is there. */
static void add_isotropic(const ref_voxel *x, const ref_fit *one, ref_fit *f)
{
    f->iso = x->plan->prior.mixed ? 1 : 0;
    f->lc = one->lc;
    f->d = one->d;
}

static void fit_all(const ref_voxel *x, double *workspace, ref_fit *iso, ref_fit fits[4])
{
    const float *v = x->plan->grid.v;
    double best = -INFINITY, weight, bin_best[BINS];
    int at[3] = {0, 0, 0}, bin_at[BINS][3];
    for (int d = 0; d < SIGNAL_GRID; d++) {
        double gain = explained(x, 1, &d, &weight);
        if (gain > best)
            best = gain, at[0] = d;
    }
    start(x, 1, at, 0.7 * x->snr, &fits[1]);
    descend(x, &fits[1], workspace);
    *iso = fits[1];
    iso->iso = 2;
    iso->lw[0] -= 0.7;
    iso->tau = fmin(iso->tau, 0.03);
    iso->lc = -1 - (double)x->plan->scheme.b[0];
    iso->d = 1;
    descend(x, iso, workspace);
    fits[2].q = fits[3].q = INFINITY;
    if (x->plan->max_fibers < 2)
        return;
    for (int b = 0; b < BINS; b++)
        bin_best[b] = -INFINITY;
    for (at[0] = 0; at[0] < SIGNAL_GRID; at[0]++)
        for (at[1] = 0; at[1] < at[0]; at[1]++) {
            int bin = bin_of(v + 3 * at[0], v + 3 * at[1]);
            double gain = bin < 0 ? -INFINITY : explained(x, 2, at, &weight);
            if (bin >= 0 && gain > bin_best[bin]) {
                bin_best[bin] = gain;
                memcpy(bin_at[bin], at, sizeof at);
            }
        }
    for (int b = 0; b < BINS; b++) {
        ref_fit f;
        explained(x, 2, bin_at[b], &weight);
        start(x, 2, bin_at[b], weight, &f);
        add_isotropic(x, iso, &f);
        descend(x, &f, workspace);
        if (f.q < fits[2].q)
            fits[2] = f;
    }
    for (int b = 0; b < BINS && x->plan->max_fibers > 2; b++) {
        ref_fit f;
        int third = 0;
        best = -INFINITY;
        for (int d = 0; d < SIGNAL_GRID; d++) {
            bin_at[b][2] = d;
            double gain = bin_of(v + 3 * d, v + 3 * bin_at[b][0]) < 0 || bin_of(v + 3 * d, v + 3 * bin_at[b][1]) < 0
                              ? -INFINITY : explained(x, 3, bin_at[b], &weight);
            if (gain > best)
                best = gain, third = d;
        }
        bin_at[b][2] = third;
        explained(x, 3, bin_at[b], &weight);
        start(x, 3, bin_at[b], weight, &f);
        add_isotropic(x, iso, &f);
        descend(x, &f, workspace);
        if (f.q < fits[3].q)
            fits[3] = f;
    }
}

/* ---- the rule of signal_rule.h, in plain words -------------------------------------------------------------- */

/* What separation and weights of two or three fibres add; 1e30 for what is no candidate. */
static double cost_of_many(const ref_fit *f, const double *c)
{
    double low = INFINITY, high = -INFINITY, near = 0;
    for (int i = 0; i < f->k; i++) {
        low = fmin(low, f->lw[i]);
        high = fmax(high, f->lw[i]);
        for (int j = 0; j < i; j++)
            near = fmax(near, fabs(f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2]));
    }
    double angle = acos(fmin(near, 1));
    if (near > 0.9272 || low - high < log(0.12))
        return 1e30;
    return c[0] * log(sin(angle)) + c[1] * fmax(low - high, -4) + c[2] * fmax(0, 35 - angle * 57.29577951308232) / 5;
}

static double cost_of(const signal_prior *prior, const ref_fit *f, const float *c)
{
    double sum = 0, many[3] = {0};
    for (int i = 0; i < f->k; i++)
        sum += exp(f->lw[i]);
    double missing = fmax(0, 0.75 - sum) / 0.1, fat = fmin(fmax(0, f->tau) * prior->tau_inv, 6);
    double thin = fmin(0, f->tau) * prior->tau_inv;
    double cost = c[0] + f->q + c[1] * f->logdet + c[2] * missing * missing + c[3] * fat * fat + c[4] * fat +
                  c[5] * thin * thin;
    for (int i = 0; f->k > 1 && i < 3; i++)
        many[i] = c[6 + i];
    return f->k > 1 ? fmin(cost + cost_of_many(f, many), 1e30) : cost;
}

static void costs_alike(const signal_plan *plan, const ref_fit *iso, const ref_fit fits[4], double over, double cost[4])
{
    const signal_rule *rule = &plan->rule;
    double w = fmin(exp(iso->lw[0]), 1);
    cost[0] = rule->none[0] + iso->q + rule->none[1] * iso->logdet + rule->none[2] * w + rule->none[3] * w * w +
              rule->none[4] * over;
    cost[1] = cost_of(&plan->prior, &fits[1], rule->one);
    cost[2] = plan->max_fibers > 1 ? cost_of(&plan->prior, &fits[2], rule->two) : 1e30;
    cost[3] = plan->max_fibers > 2 ? cost_of(&plan->prior, &fits[3], rule->three) : 1e30;
    for (int k = 0; k < 4; k++)
        cost[k] *= rule->scale;
}

/* fits[1]: one fibre and the isotropic part */
static void costs_mixed(const signal_plan *plan, const ref_fit fits[4], double over, double cost[4])
{
    const signal_rule *rule = &plan->rule;
    const float *constants[4] = {rule->none, rule->one, rule->two, rule->three};
    const double n = plan->scheme.volumes, lw = fmin(fmax(fits[1].lw[0], -3), 0), unknown[4] = {0, 6, 8, 11};
    double left = INFINITY, base = INFINITY;
    for (int k = 1; k <= plan->max_fibers; k++) {
        left = fmin(left, fits[k].chi / fmax(n - unknown[k], n / 4));
        base = fmin(base, fits[k].q);
    }
    for (int k = 0; k < 4; k++) {
        const ref_fit *f = &fits[k ? k : 1];
        double many[3] = {0};
        cost[k] = 1e30;
        if (k > plan->max_fibers)
            continue;
        cost[k] = constants[k][0] + constants[k][1] * f->logdet +
                  1.25 * n * log(1 + (f->q - base) / (n / 4 + n * left));
        for (int i = 0; k > 1 && i < 3; i++)
            many[i] = constants[k][2 + i];
        if (k > 1)
            cost[k] += cost_of_many(f, many);
    }
    cost[0] += rule->none[2] * lw + rule->none[3] * lw * lw + rule->none[4] * over;
    for (int k = 0; k < 4; k++)
        cost[k] *= rule->scale;
}

static void answer_voxel(const ref_voxel *x, double *workspace, signal_answer *answer)
{
    ref_fit iso, fits[4];
    const signal_prior *prior = &x->plan->prior;
    double cost[4];
    fit_all(x, workspace, &iso, fits);
    double over = fmax(0, exp(iso.lc) - prior->isotropic_limit) / (0.03 * prior->isotropic_limit);
    over = fmin(over * over, 50);
    if (prior->mixed) {
        fits[1] = iso;
        costs_mixed(x->plan, fits, over, cost);
    } else {
        costs_alike(x->plan, &iso, fits, over, cost);
    }
    fits[0] = iso;
    int k = 0;
    for (int i = 0; i < 4; i++) {
        answer->cost[i][0] = (float)fmin(cost[i], 1e30);
        if (cost[i] < cost[k])
            k = i;
    }
    answer->k[0] = k;
    answer->tau[0] = (float)fits[k].tau;
    answer->chi[0] = (float)fits[k].chi;
    for (int i = 0; i < k; i++) {
        answer->w[i][0] = (float)exp(fits[k].lw[i]);
        for (int d = 0; d < 3; d++)
            answer->v[i][d][0] = (float)fits[k].v[i][d];
    }
}

hot_status hot_signal_fibers_ref(hot_context *context, void *argument)
{
    const hot_signal_args *args = argument;
    const signal_plan *plan = args->plan;
    const int volumes = plan->scheme.volumes;
    hot_status status = HOT_OK;
    double *workspace = hot_context_alloc(context, (size_t)volumes * (UNKNOWNS + 3), sizeof *workspace);
    if (!workspace)
        return HOT_ERROR_MEMORY;
    double *y = workspace + (size_t)volumes * (UNKNOWNS + 2);
    for (size_t voxel = 0; voxel < args->count && status == HOT_OK; voxel++) {
        const float *signal = args->signals + voxel * plan->all_volumes;
        double sigma = args->sigma ? (double)args->sigma[voxel] : args->options->sigma;
        float s0;
        signal_answer answer;
        if (args->mask && !args->mask[voxel]) {
            signal_write_nothing(args->result, plan->max_fibers, voxel, 0);
            continue;
        }
        unsigned flags = sigma > 0 ? signal_check_voxel(plan, plan->order, signal, (float)sigma,
                                                        args->s0 ? args->s0[voxel] : NAN, &s0)
                                   : (unsigned)HOT_VOXEL_NOT_FINITE;
        if (flags) {
            signal_write_nothing(args->result, plan->max_fibers, voxel, flags);
            continue;
        }
        for (int j = 0; j < volumes; j++)
            y[j] = (double)signal[plan->order[j]] / sigma;
        ref_voxel x = {plan, y, (double)s0 / sigma, args->options->noise_model == HOT_NOISE_GAUSSIAN};
        answer_voxel(&x, workspace, &answer);
        signal_write(args->result, plan->max_fibers, volumes, &answer, 0, voxel);
        status = hot_signal_progress(context, args, (double)(voxel + 1) / (double)args->count);
    }
    hot_context_free(context, workspace);
    return status;
}

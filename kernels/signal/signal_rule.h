/* How many fibres: the cost -2 ln P(k | signals) of k = 0 ... 3, from the fits.
 *
 * The Laplace approximation of each k's evidence is q + ln det F + constants (q: cost of the best fit with its priors,
 * F: its Fisher matrix). What it needs besides, the priors' constants and how often which geometry occurs, comes from
 * simulated voxels: the numbers in signal_rule_constants.h are multinomial logistic regressions of k on the listed
 * quantities, over b = 1000, 3000 and both, SNR 20 and 30, several diffusivities, unequal fractions and free water; for
 * dispersed fibres, and for fibres that share their voxel with something isotropic, there are numbers of their own
 * (bench/accuracy/signal_rule.py writes them). For fibres that are all alike the regression finds 1 for the factor of
 * ln det F within a few per cent, as in theory. */
#ifndef HOT_SIGNAL_RULE_H
#define HOT_SIGNAL_RULE_H

#include "signal/cpu/signal_block.h"

/* Fits with nearer fibres or more unequal weights than this are no candidates. */
#define SIGNAL_MIN_COS 0.9272f /* cos 22 degrees */
#define SIGNAL_MIN_RATIO 0.12f
#define SIGNAL_MAX_FAT 6

/* Of the fits of k >= 1 fibres. */
HOT_FN vf signal_cost_common(const signal_prior *prior, const int k, const signal_fit *f, vf logdet, const float c[6])
{
    vf sum = vexp(f->lw[0]);
    for (int i = 1; i < k; i++)
        sum += vexp(f->lw[i]);
    vf short_of = vmax(0.75f - sum, vset(0)) * 10;
    /* no fatter than those that it was learned from: what is fatter has its price in q alone */
    vf fat = vmin(vmax(f->tau, vset(0)) * prior->tau_inv, vset(SIGNAL_MAX_FAT));
    vf thin = vmin(f->tau, vset(0)) * prior->tau_inv;
    return c[0] + f->q + c[1] * logdet + c[2] * short_of * short_of + c[3] * fat * fat + c[4] * fat +
           c[5] * thin * thin;
}

/* Of more than one: what separation and weights say. */
HOT_FN vf signal_cost_many(const int k, const signal_fit *f, const float c[3])
{
    vf near = vset(0), low = f->lw[0], high = f->lw[0];
    for (int i = 1; i < k; i++) {
        low = vmin(low, f->lw[i]);
        high = vmax(high, f->lw[i]);
        for (int j = 0; j < i; j++)
            near = vmax(near, vabs(f->v[i][0] * f->v[j][0] + f->v[i][1] * f->v[j][1] + f->v[i][2] * f->v[j][2]));
    }
    vf sine = vsqrt(vmax(1 - near * near, vset(1e-4f)));
    vf log_ratio = vmax(low - high, vset(-4));
    /* how far below 35 degrees, in units of 5; arcsin by its series, which is within .1 degree there */
    vf angle = sine * (1 + sine * sine * (0.1666667f + sine * sine * 0.095f)) * 57.29578f;
    vf below = vmax(35 - angle, vset(0)) * 0.2f;
    vf cost = c[0] * vlog(sine) + c[1] * log_ratio + c[2] * below;
    return vsel((near > SIGNAL_MIN_COS) | (log_ratio < -2.1203f), vset(1e30f), cost);
}

/* ---- For fits that all have an isotropic part (signal_prior.mixed): one fibre is the fit `iso`, none is the same fit
 * with a small weight. The rule uses few quantities, and none that grows without bound outside the range of the
 * simulated voxels: real voxels go beyond it. */

/* q on a scale that trusts sigma only so far: the noise and the model's error of this voxel are also what its best fits
 * leave over. As -2 ln of Student's t for the whole voxel, with a quarter as many degrees of freedom from sigma as
 * there are volumes; 0 for q = base. */
HOT_FN vf signal_tempered(float volumes, vf left_over, vf q, vf base)
{
    const float own = 0.25f * volumes;
    return (volumes + own) * vlog(1 + vmax(q - base, vset(0)) / (own + volumes * left_over));
}

/* The mean squared residual per degree of freedom of the better of the fits of two and three fibres. */
HOT_FN vf signal_left_over(float volumes, int max_fibers, const signal_fits *fits)
{
    const float least = 0.25f * volumes;
    vf left = fits->iso.chi / (volumes - 6 > least ? volumes - 6 : least);
    if (max_fibers > 1)
        left = vmin(left, fits->two.chi / (volumes - 8 > least ? volumes - 8 : least));
    if (max_fibers > 2)
        left = vmin(left, fits->three.chi / (volumes - 11 > least ? volumes - 11 : least));
    return left;
}

HOT_FN void signal_costs_mixed(const signal_scheme *s, const signal_rule *rule, const signal_prior *prior,
                               int max_fibers, int averaged, const signal_fits *fits, vf cost[4])
{
    const float volumes = (float)s->volumes;
    vf left = signal_left_over(volumes, max_fibers, fits), base = fits->iso.q;
    if (max_fibers > 1)
        base = vmin(base, fits->two.q);
    if (max_fibers > 2)
        base = vmin(base, fits->three.q);
    vf q = signal_tempered(volumes, left, fits->iso.q, base);
    vf over = vmax(fits->isotropic - prior->isotropic_limit, vset(0)) / (0.03f * prior->isotropic_limit);
    vf lw = vclamp(fits->iso.lw[0], -3, 0);
    cost[0] = rule->none[0] + q + rule->none[1] * fits->logdet[1] + rule->none[2] * lw + rule->none[3] * lw * lw +
              rule->none[4] * vmin(over * over, vset(50));
    cost[1] = rule->one[0] + q + rule->one[1] * fits->logdet[1];
    cost[2] = cost[3] = vset(1e30f);
    if (max_fibers > 1)
        cost[2] = rule->two[0] + signal_tempered(volumes, left, fits->two.q, base) + rule->two[1] * fits->logdet[2] +
                  signal_cost_many(2, &fits->two, rule->two + 2) + (averaged ? fits->more[2] : vset(0));
    if (max_fibers > 2)
        cost[3] = rule->three[0] + signal_tempered(volumes, left, fits->three.q, base) +
                  rule->three[1] * fits->logdet[3] + signal_cost_many(3, &fits->three, rule->three + 2) +
                  (averaged ? fits->more[3] : vset(0));
    for (int k = 0; k < 4; k++)
        cost[k] = vmin(cost[k] * rule->scale, vset(1e30f));
}

HOT_FN void signal_costs(const signal_rule *rule, const signal_prior *prior, int max_fibers, int averaged,
                         const signal_fits *fits, vf cost[4])
{
    {
        const signal_fit *f = &fits->iso;
        vf w = vmin(vexp(f->lw[0]), vset(1));
        vf over = vmax(fits->isotropic - prior->isotropic_limit, vset(0)) / (0.03f * prior->isotropic_limit);
        cost[0] = rule->none[0] + f->q + rule->none[1] * fits->logdet[1] + rule->none[2] * w + rule->none[3] * w * w +
                  rule->none[4] * vmin(over * over, vset(50));
    }
    cost[1] = signal_cost_common(prior, 1, &fits->one, fits->logdet[0], rule->one);
    cost[2] = cost[3] = vset(1e30f);
    if (max_fibers > 1)
        cost[2] = signal_cost_common(prior, 2, &fits->two, fits->logdet[2], rule->two) +
                  signal_cost_many(2, &fits->two, rule->two + 6) + (averaged ? fits->more[2] : vset(0));
    if (max_fibers > 2)
        cost[3] = signal_cost_common(prior, 3, &fits->three, fits->logdet[3], rule->three) +
                  signal_cost_many(3, &fits->three, rule->three + 6) + (averaged ? fits->more[3] : vset(0));
    for (int k = 0; k < 4; k++)
        cost[k] = vmin(cost[k] * rule->scale, vset(1e30f));
}

#endif

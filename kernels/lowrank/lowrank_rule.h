/* How many fibres: the cost -2 ln P(k | signals) of k = 0 ... 3, from the fits.
 *
 * The Laplace approximation of each k's evidence is q + ln det F + constants (q: cost of the best fit with its priors,
 * F: its Fisher matrix). What it needs besides, the priors' constants and how often which geometry occurs, comes from
 * simulated voxels: the numbers below are a multinomial logistic regression of k on the listed quantities, over b = 1000,
 * 3000 and both, SNR 20 and 30, several diffusivities, unequal fractions, free water and dispersed fibres
 * (tests/bench/lowrank_rule.py makes them anew). The regression finds 1 for the factor of ln det F within a few per cent,
 * as theory has it. */
#ifndef HOT_LOWRANK_RULE_H
#define HOT_LOWRANK_RULE_H

#include "lowrank_block.h"

/* Fits with nearer fibres or more unequal weights than this are no candidates. */
#define LR_MIN_COS 0.9272f /* cos 22 degrees */
#define LR_MIN_RATIO 0.12f

/* Of the fits of k >= 1 fibres. */
HOT_FN vf lr_cost_common(const lr_prior *prior, const int k, const lr_fit *f, vf logdet, const float c[6])
{
    vf sum = vexp(f->lw[0]);
    for (int i = 1; i < k; i++)
        sum += vexp(f->lw[i]);
    vf short_of = vmax(0.75f - sum, vset(0)) * 10;
    vf fat = vmax(f->tau, vset(0)) * prior->tau_inv, thin = vmin(f->tau, vset(0)) * prior->tau_inv;
    return c[0] + f->q + c[1] * logdet + c[2] * short_of * short_of + c[3] * fat * fat + c[4] * fat + c[5] * thin * thin;
}

/* Of more than one: what separation and weights say. */
HOT_FN vf lr_cost_many(const int k, const lr_fit *f, const float c[3])
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
    return vsel((near > LR_MIN_COS) | (log_ratio < -2.1203f), vset(1e30f), cost);
}

HOT_FN void lr_costs(const lr_prior *prior, int max_fibers, int averaged, const lr_fits *fits, vf cost[4])
{
#include "lowrank_rule_constants.h"
    {
        const lr_fit *f = &fits->iso;
        vf w = vmin(vexp(f->lw[0]), vset(1));
        vf over = vmax(fits->isotropic - prior->isotropic_limit, vset(0)) / (0.03f * prior->isotropic_limit);
        cost[0] = rule_none[0] + f->q + rule_none[1] * fits->logdet[1] + rule_none[2] * w + rule_none[3] * w * w +
                  rule_none[4] * vmin(over * over, vset(50));
    }
    cost[1] = lr_cost_common(prior, 1, &fits->one, fits->logdet[0], rule_one);
    cost[2] = cost[3] = vset(1e30f);
    if (max_fibers > 1)
        cost[2] = lr_cost_common(prior, 2, &fits->two, fits->logdet[2], rule_two) +
                  lr_cost_many(2, &fits->two, rule_two + 6) + (averaged ? fits->more[2] : vset(0));
    if (max_fibers > 2)
        cost[3] = lr_cost_common(prior, 3, &fits->three, fits->logdet[3], rule_three) +
                  lr_cost_many(3, &fits->three, rule_three + 6) + (averaged ? fits->more[3] : vset(0));
    for (int k = 0; k < 4; k++)
        cost[k] = vmin(cost[k] * rule_scale, vset(1e30f));
}

#endif

/* The population's priors as the fits take them. */
#include <math.h>

#include "signal_plan.h"

static const double two_pi = 6.28318530717958647692;
/* Of 2 and of 3 uniform directions, the share that SIGNAL_NEAR lets through (12 million draws). */
static const double let_through[4] = {1, 1, 0.9036, 0.7336};
/* Of the water in voxels without fibres: any share of the voxel, nearly. One shell cannot tell it from the other part.
 */
static const double water_none[2] = {0.5, 0.4};

void hot_signal_priors_default(hot_signal_priors *population)
{
    if (!population)
        return;
    *population = (hot_signal_priors){
        .size = sizeof *population, .width = {0, 0.035}, .isotropic = {0.15, 0.15}, .water = {0.1, 0.12},
        .ln_diffusivity = {log(0.9e-3), 0.3}, .ln_diffusivity_none = {log(0.9e-3), 0.3}, .spread = 0.5,
        .share = {0.2, 0.35, 0.3, 0.15}, .told = {3, 7, 11, 15}, .evidence_scale = 1, .noise = 1, .noise_freedom = 1e6,
        .cone_variance = {1, 1, 1, 1}, .recovered = 1, .certainty = 1, .cone_growth = {1, 1, 1, 1}};
    for (int i = 0; i < 2 * HOT_SEPARATIONS; i++)
        population->near[i / HOT_SEPARATIONS][i % HOT_SEPARATIONS] = 1;
}

/* -2 ln of the normalisation of the prior of k fibres, of its share, and of the k! permutations of the fibres; minus
 * the 2 pi of each unknown in Laplace's integral. */
static double constant_of(const hot_signal_priors *p, int k)
{
    const double water_sd = k ? p->water[1] : water_none[1];
    const double d_sd = k ? p->ln_diffusivity[1] : p->ln_diffusivity_none[1];
    double total = log(two_pi * d_sd * d_sd) + log(two_pi * water_sd * water_sd) - 2 * log(p->share[k]) -
                   (4 * k + 3) * log(two_pi);
    if (k > 0)
        total += log(two_pi * p->isotropic[1] * p->isotropic[1]) +
                 k * log(two_pi * p->width[1] * p->width[1]) + 2 * k * log(two_pi) +
                 (k - 1) * log(two_pi * p->spread * p->spread) + 2 * log(let_through[k]) + log(k);
    for (int i = 2; i <= k; i++)
        total -= 2 * log(i);
    if (p->fan > 0) /* 2 k amplitudes more: their 2 pi is that of Laplace's integral */
        total += 4 * k * log(p->fan);
    return total;
}

void hot_signal_fill_learned(const hot_signal_priors *p, size_t b0_volumes, signal_learned *learned)
{
    *learned = (signal_learned){
        .width = (float)p->width[0], .width_inv = (float)(1 / p->width[1]),
        .iso = (float)p->isotropic[0], .iso_inv = (float)(1 / p->isotropic[1]),
        .water = {(float)water_none[0], (float)p->water[0]},
        .water_inv = {(float)(1 / water_none[1]), (float)(1 / p->water[1])},
        .spread_inv = (float)(1 / p->spread),
        .ld = {(float)(p->ln_diffusivity_none[0] - SIGNAL_LN_UNIT), (float)(p->ln_diffusivity[0] - SIGNAL_LN_UNIT)},
        .ld_inv = {(float)(1 / p->ln_diffusivity_none[1]), (float)(1 / p->ln_diffusivity[1])},
        .noise = (float)p->noise, .freedom = (float)p->noise_freedom,
        .fan = (float)p->fan, .fan_inv = p->fan > 0 ? (float)(1 / p->fan) : 0,
        .b0_volumes = b0_volumes > 0 ? (float)b0_volumes : 1};
    for (int k = 0; k < 4; k++)
        learned->told[k] = (float)p->told[k], learned->shift[k] = (float)p->evidence_shift[k];
    learned->scale = (float)p->evidence_scale;
    for (int k = 0; k < 4; k++)
        learned->constant[k] = (float)constant_of(p, k);
    for (int k = 0; k < 2; k++)
        for (int bin = 0; bin < HOT_SEPARATIONS; bin++)
            learned->near[k][bin] = (float)(-2 * log(p->near[k][bin]));
}

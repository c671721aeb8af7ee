/* Expectation maximisation. E step: fit all numbers of fibres in every voxel of the sample, with Laplace's
 * approximation of each evidence and posterior. M step: scoring over voxels and numbers of fibres, weighted by P(k),
 * which are calibrated on voxels simulated from the priors (signal_calibration.c). The wide initial priors keep the
 * weight of a few voxels, so that few voxels, or only single fibres, are no special case. */
#include "signal_priors.h"

#include <math.h>
#include <stdlib.h>

#include "signal_moments.h"
#include "signal_posterior.h"

/* DRAWN: voxels that the evidence is calibrated with, in every other round. */
enum { ROUNDS = 10, KMAX = 3, DRAWN = 1000,
       DRAWN_SEED = 1 /* fixed: results do not depend on the user's seed */ };

/* The weights, in voxels, of the initial shares, separations and effective parameters. */
static const double pseudo = 20;
/* That of its normal priors, in voxels whose data tell an unknown whole. Where data tell little, widths come out too
 * alike, because a wide fibre passes for two; so many hold them
 * (docs/decisions/005-signal-prior-learning.md). */
static const double width_pseudo = 120, part_pseudo = 40, ln_pseudo = 20;
/* The smallest deviations that are learned. */
static const double min_width = 0.005, min_part = 0.02, min_ln = 0.1;
/* Of the fans' amplitudes: the start, the smallest learned value, which is that of the wide priors, and the largest. */
static const double start_fan = 0.01, min_fan = 0.002, max_fan = 0.1;

/* Mean and deviation by Fisher's scoring: a fit is the data's own estimate shrunk by f, which has the prior's variance
 * over f. EM's own steps are f^2 of these, and ten of them stay near the start if the data determine little. The start
 * has the weight of `usual` fully determined voxels; for the log variance less, the farther the data are from it
 * (Student's t), so that it only holds uncertain values. */
static void take(const hot_moments *m, const double start[2], double usual, double least, double prior[2])
{
    const double was = prior[1] * prior[1], far = 2 * prior[1], most = log(4);
    const double shift = fmin(fmax((m->off + usual * (start[0] - prior[0])) / (m->told + usual), -far), far);
    const double square = m->square - 2 * shift * m->off_told + shift * shift * m->told_twice;
    const double back = log(start[1] * start[1] / was), pull = usual / (1 + back * back);
    const double change = (square / was - m->told + pull * back) / (m->told_twice + pull);
    prior[0] += shift;
    prior[1] = fmax(sqrt(was * exp(fmin(fmax(change, -most), most))), least);
}

/* How many of a fit's unknowns the data tell: of each that has a normal prior, what the posterior's variance lacks of
 * the prior's (MacKay 1992). */
static double told_by_data(const hot_signal_fit *f, int k, const hot_signal_priors *p)
{
    const double water = k ? p->water[1] : 0.4, ln_d = k ? p->ln_diffusivity[1] : p->ln_diffusivity_none[1];
    double priors = fmin((double)f->water_variance / (water * water), 1) +
                    fmin((double)f->ln_diffusivity_variance / (ln_d * ln_d), 1);
    if (k > 0)
        priors += fmin((double)f->isotropic_variance / (p->isotropic[1] * p->isotropic[1]), 1);
    for (int i = 0; i < k; i++)
        priors += fmin((double)f->width_variance[i] / (p->width[1] * p->width[1]), 1);
    if (k > 1)
        priors += fmin((double)f->spread_variance / (p->spread * p->spread), k - 1);
    return 4 * k + 3 - fmax(priors, 0) + (double)f->fan_told;
}

/* The amplitudes' deviation, by MacKay's update of the one before: squares over how many of the amplitudes the data
 * tell. EM's own, squares and variances over all, is slow where they tell little; so is MacKay's by that share, and to
 * the power of one over the share it is Newton's. */
static double learn_fan(double before, double squares, double told, double amplitudes)
{
    const double share = (told + 1) / (amplitudes + 1), usual = pseudo * share;
    const double ratio = (squares + usual * min_fan * min_fan) / ((told + usual) * before * before);
    return fmin(fmax(before * pow(ratio, 0.5 * fmin(1 / share, 4)), min_fan), max_fan);
}

static void learn_priors(size_t count, const hot_signal_fit *fits, const hot_signal_priors *start,
                         hot_signal_priors *now)
{
    hot_moments width = {0}, isotropic = {0}, water = {0}, ln_d = {0}, ln_d_none = {0};
    double share[KMAX + 1] = {0}, told[KMAX + 1] = {0}, total = 0, spread = 0, pairs = 0, p[KMAX + 1];
    double bins[2][HOT_SEPARATIONS] = {{0}}, fans = 0, fans_told = 0, amplitudes = 0;
    for (size_t voxel = 0; voxel < count; voxel++) {
        const hot_signal_fit *own = fits + 4 * voxel;
        if (!hot_posterior_weigh(own, p))
            continue;
        total += 1;
        for (int k = 0; k <= KMAX; k++) {
            const hot_signal_fit *f = &own[k];
            share[k] += p[k];
            told[k] += p[k] * told_by_data(f, k, now);
            hot_moments_add(k ? &ln_d : &ln_d_none, p[k], (double)f->ln_diffusivity,
                            (double)f->ln_diffusivity_variance, k ? now->ln_diffusivity : now->ln_diffusivity_none);
            if (k == 0 || p[k] == 0)
                continue;
            fans += p[k] * (double)f->fan;
            fans_told += p[k] * (double)f->fan_told;
            amplitudes += p[k] * 2 * k;
            hot_moments_add(&isotropic, p[k], (double)f->isotropic, (double)f->isotropic_variance, now->isotropic);
            hot_moments_add(&water, p[k], (double)f->water, (double)f->water_variance, now->water);
            const double most = (k - 1) * now->spread * now->spread; /* rounding may say more, or less than 0 */
            double mean = 0, square = fmin(fmax((double)f->spread_variance, 0), most);
            for (int i = 0; i < k; i++) {
                hot_moments_add(&width, p[k], (double)f->width[i], (double)f->width_variance[i], now->width);
                mean += log((double)f->weight[i]) / k;
            }
            if (k == 1)
                continue;
            for (int i = 0; i < k; i++)
                square += pow(log((double)f->weight[i]) - mean, 2);
            spread += p[k] * square;
            pairs += p[k] * (k - 1);
            double angle;
            const int bin = hot_separation_bin(f->v[0], k, &angle);
            bins[k - 2][bin] += angle >= 25 ? p[k] : 0;
        }
    }
    for (int k = 0; k <= KMAX; k++)
        now->told[k] = fmin((told[k] + pseudo * start->told[k]) / (share[k] + pseudo), 6 * k + 3); /* if rounded up */
    for (int k = 0; k <= KMAX; k++)
        now->share[k] = (share[k] + pseudo * start->share[k]) / (total + pseudo);
    for (int k = 0; k < 2; k++) {
        double sum = pseudo;
        for (int bin = 0; bin < HOT_SEPARATIONS; bin++)
            sum += bins[k][bin];
        for (int bin = 0; bin < HOT_SEPARATIONS; bin++)
            now->near[k][bin] = (bins[k][bin] / hot_separation_chance[k][bin] + pseudo) / sum;
    }
    take(&width, start->width, width_pseudo, min_width, now->width);
    take(&isotropic, start->isotropic, part_pseudo, min_part, now->isotropic);
    take(&water, start->water, part_pseudo, min_part, now->water);
    take(&ln_d, start->ln_diffusivity, ln_pseudo, min_ln, now->ln_diffusivity);
    take(&ln_d_none, start->ln_diffusivity_none, ln_pseudo, min_ln, now->ln_diffusivity_none);
    now->fan = learn_fan(now->fan, fans, fans_told, amplitudes);
    now->spread = sqrt((spread + pseudo * start->spread * start->spread) / (pairs + pseudo));
}

/* Digamma (order 0), trigamma (1) and its slope (2) for x > 0: recurrence to x >= 8, then the asymptotic series. */
static double polygamma(int order, double x)
{
    double value = 0;
    for (; x < 8; x += 1)
        value += order == 0 ? -1 / x : order == 1 ? 1 / (x * x) : -2 / (x * x * x);
    const double y = 1 / (x * x);
    if (order == 0)
        return value + log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
    if (order == 1)
        return value + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
    return value - y - y / x - y * y * (0.5 - y * (1.0 / 6 - y / 6));
}

/* y with trigamma(y) = x, by Newton's method (Smyth 2004, appendix). */
static double trigamma_inverse(double x)
{
    double y = 0.5 + 1 / x;
    for (int i = 0; i < 30; i++) {
        const double value = polygamma(1, y);
        y += value * (1 - value / x) / polygamma(2, y);
    }
    return y;
}

/* The usual variance and how much it says of a voxel's: the voxels' variances are scaled chi squared about variances
 * that are themselves spread (Smyth 2004), by robust quantiles of their logarithms. least: of the usual
 * deviation. logs: count numbers of scratch. Returns how many voxels could be fitted. */
static size_t learn_noise(size_t count, size_t rows, double least, const hot_signal_fit *fits, double *logs,
                        hot_signal_priors *now)
{
    size_t n = 0;
    double p[KMAX + 1], usual = 0;
    for (size_t voxel = 0; voxel < count; voxel++) {
        const hot_signal_fit *own = fits + 4 * voxel;
        double chi = 0, freedom = 0;
        if (!hot_posterior_weigh(own, p))
            continue;
        for (int k = 0; k <= KMAX; k++) {
            chi += p[k] * (double)own[k].chi;
            freedom += p[k] * fmax((double)rows - told_by_data(&own[k], k, now), 0.25 * (double)rows);
        }
        const double variance = (double)own[0].noise * (double)own[0].noise * chi / freedom;
        logs[n++] = log(fmax(variance, 1e-20)) - polygamma(0, 0.5 * freedom) + log(0.5 * freedom);
        usual += polygamma(1, 0.5 * freedom);
    }
    if (n == 0)
        return 0;
    qsort(logs, n, sizeof *logs, hot_by_size);
    const double centre = logs[n / 2];
    const double half = 0.5 * (logs[(size_t)(0.84 * (double)n)] - logs[(size_t)(0.16 * (double)n)]);
    const double spread = half * half - usual / (double)n;
    if (spread <= 1e-3) {
        now->noise = exp(0.5 * centre);
        now->noise_freedom = 1e4;
    } else {
        const double own = trigamma_inverse(spread);
        now->noise = exp(0.5 * (centre + polygamma(0, own) - log(own)));
        now->noise_freedom = 2 * own;
    }
    now->noise = fmax(now->noise, least);
    return n;
}

/* S0 over the noise given, of up to DRAWN voxels that have fits, spread over all. Returns how many. */
static size_t take_snr(const hot_signal_options *how, const hot_signal_scheme *scheme, size_t count,
                       const float *signals, const float *sigma, const hot_signal_fit *fits, double *snr)
{
    size_t n = 0, b0 = 0;
    for (size_t v = 0; v < scheme->volumes; v++)
        b0 += scheme->b[v] <= 50;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t v = 0; v < scheme->volumes; v++)
            sum += scheme->b[v] <= 50 ? (double)signals[i * scheme->volumes + v] : 0;
        if (fits[4 * i].noise > 0)
            snr[n++] = sum / (double)b0 / (sigma ? (double)sigma[i] : how->sigma);
    }
    const size_t kept = n < DRAWN ? n : DRAWN;
    for (size_t i = 0; i < kept; i++)
        snr[i] = snr[i * n / kept];
    return kept;
}

double hot_signal_response_sigma(const hot_signal_options *how, const hot_signal_priors *population)
{
    return how->response_sigma * fmin(population->noise, 1);
}

hot_status hot_signal_learn(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                            size_t count, const float *signals, const float *sigma, double min_noise, int denoised,
                            hot_signal_priors *population, size_t *fitted)
{
    hot_status status = HOT_OK;
    hot_signal_options options = *how;
    hot_signal_priors start;
    size_t rows = 1, usable = 0;
    hot_signal_fit *fits = hot_context_calloc(context, count, 4 * sizeof *fits);
    float *directions = hot_context_alloc(context, count, 9 * sizeof *directions);
    double *logs = hot_context_alloc(context, count, sizeof *logs);
    hot_signal_priors_default(&start);
    start.fan = start_fan;
    *population = start;
    if (!fits || !directions || !logs) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t v = 0; v < scheme->volumes; v++)
        rows += scheme->b[v] > 50;
    options.max_fibers = options.max_fibers ? options.max_fibers : KMAX;
    options.population = population;
    options.progress[0] = 0;
    options.progress[1] = 1e-3;
    hot_signal_result result = {.size = sizeof result, .directions = directions, .fits = fits};
    for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
        options.response_sigma = hot_signal_response_sigma(how, population);
        status = hot_signal_fibers_f32(context, &options, scheme, count, signals, sigma, NULL, NULL, &result);
        if (status == HOT_OK) {
            if (!denoised) /* else the residuals are what denoising left, not the noise in the signals */
                usable = learn_noise(count, rows, min_noise, fits, logs, population);
            learn_priors(count, fits, &start, population);
        }
        /* as priors are learned the evidence is only shifted: flattened, it would make every number as frequent */
        if (status == HOT_OK && options.max_fibers > 1 && round % 2) {
            const size_t drawn = take_snr(&options, scheme, count, signals, sigma, fits, logs);
            if (drawn > 0)
                status = hot_signal_calibrate_evidence(context, &options, scheme, drawn, logs,
                                                       DRAWN_SEED + (uint64_t)round, round == ROUNDS - 1, population);
        }
    }
    if (status == HOT_OK && options.max_fibers > 1) {
        options.response_sigma = hot_signal_response_sigma(how, population);
        status = hot_signal_fibers_f32(context, &options, scheme, count, signals, sigma, NULL, NULL, &result);
        const size_t known = take_snr(&options, scheme, count, signals, sigma, fits, logs);
        if (status == HOT_OK && known > 0)
            status = hot_signal_calibrate_posterior(context, &options, scheme, count, fits, known, logs,
                                                    DRAWN_SEED + ROUNDS, population);
    }
    if (fitted)
        *fitted = usable;
cleanup:
    HOT_FREE(context, logs, directions, fits);
    return status;
}

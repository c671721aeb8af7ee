/* How far the answers can be trusted, measured on simulated voxels. Evidence: -2 ln P(k) = T cost_k + d_k, where the
 * likelihood of the voxels' numbers of fibres is convex in T and d. Posterior: the matched population's priors are
 * moved until voxels that are drawn from it and fitted with the data's priors show the moments that the data show, and
 * its shares and separations until they show as many fibres, as near (indirect inference; a step of Bayesian unfolding,
 * D'Agostini 1995). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/entry.h"
#include "signal_moments.h"
#include "signal_posterior.h"
#include "signal_priors.h"
#include "signal_simulation.h"

/* ---- Evidence ---------------------------------------------------------------------------------------------------- */

/* Unknowns: T; then d_1 to d_3, of which those in a group are equal (d_0 is 0). */
enum { KMAX = 3, UNKNOWNS = 1 + KMAX, STEPS = 30 };

/* Normal priors of the calibration: T has mean 1 and d mean 0, with these deviations. */
static const double scale_sd = 0.3, shift_sd = 2;
/* Costs farther from the least than this are as good as impossible. */
static const double max_cost = 200;
static const double min_scale = 0.1;

/* Gradient and Hessian of -ln of the posterior at x. */
static void derive(const hot_simulated_voxels *drawn, int scaled, const int group[KMAX + 1], const double x[UNKNOWNS],
                   double gradient[UNKNOWNS], double hessian[UNKNOWNS][UNKNOWNS])
{
    memset(hessian, 0, sizeof(double[UNKNOWNS][UNKNOWNS]));
    for (int i = 0; i < UNKNOWNS; i++) {
        const double inverse = i ? 1 / (shift_sd * shift_sd) : 1 / (scale_sd * scale_sd);
        gradient[i] = inverse * (x[i] - (i == 0));
        hessian[i][i] = inverse;
    }
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        const hot_signal_fit *own = drawn->fits + 4 * voxel;
        double p[KMAX + 1], feature[KMAX + 1][UNKNOWNS] = {{0}}, mean[UNKNOWNS] = {0}, least = INFINITY;
        double highest = -INFINITY, sum = 0;
        if (!(own[0].noise > 0))
            continue;
        for (int k = 0; k <= drawn->max_fibers; k++)
            least = fmin(least, (double)own[k].cost);
        for (int k = 0; k <= drawn->max_fibers; k++) {
            feature[k][0] = -0.5 * fmin((double)own[k].cost - least, max_cost);
            if (k > 0)
                feature[k][group[k]] = -0.5;
            p[k] = 0;
            for (int i = 0; i < UNKNOWNS; i++)
                p[k] += x[i] * feature[k][i];
            highest = fmax(highest, p[k]);
        }
        for (int k = 0; k <= drawn->max_fibers; k++)
            sum += p[k] = exp(p[k] - highest);
        for (int k = 0; k <= drawn->max_fibers; k++)
            for (int i = 0; i < UNKNOWNS; i++)
                mean[i] += (p[k] / sum) * feature[k][i];
        for (int i = 0; i < UNKNOWNS; i++) {
            gradient[i] -= feature[drawn->fibers[voxel]][i] - mean[i];
            for (int j = 0; j < UNKNOWNS; j++)
                for (int k = 0; k <= drawn->max_fibers; k++)
                    hessian[i][j] += (p[k] / sum) * (feature[k][i] - mean[i]) * (feature[k][j] - mean[j]);
        }
    }
    for (int i = 1; i < UNKNOWNS && !scaled; i++)
        hessian[0][i] = hessian[i][0] = 0;
    if (!scaled)
        gradient[0] = 0;
}

/* Solves with a positive definite matrix: its Cholesky factor in its place, the solution in that of the right side. */
static void solve(double a[UNKNOWNS][UNKNOWNS], double right[UNKNOWNS])
{
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int j = 0; j <= i; j++) {
            for (int p = 0; p < j; p++)
                a[i][j] -= a[i][p] * a[j][p];
            a[i][j] = i == j ? sqrt(a[i][i]) : a[i][j] / a[j][j];
        }
        for (int j = 0; j < i; j++)
            right[i] -= a[i][j] * right[j];
        right[i] /= a[i][i];
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int j = i + 1; j < UNKNOWNS; j++)
            right[i] -= a[j][i] * right[j];
        right[i] /= a[i][i];
    }
}

/* Newton's method, with short steps far off. */
static void fit(const hot_simulated_voxels *drawn, int scaled, const int group[KMAX + 1], double x[UNKNOWNS])
{
    memset(x, 0, sizeof(double[UNKNOWNS]));
    x[0] = 1;
    for (int step = 0; step < STEPS; step++) {
        double change[UNKNOWNS], hessian[UNKNOWNS][UNKNOWNS], largest = 0;
        derive(drawn, scaled, group, x, change, hessian);
        solve(hessian, change);
        for (int i = 0; i < UNKNOWNS; i++)
            largest = fmax(largest, fabs(change[i]));
        for (int i = 0; i < UNKNOWNS; i++)
            x[i] -= change[i] * fmin(1, 1 / fmax(largest, 1e-9));
        if (largest < 1e-6)
            break;
    }
}

/* Shifts may only make more fibres less likely. The other way round the fits have too few fibres because tissue is not
 * as the priors say, and more of them change the priors in the same direction: real data ended with three everywhere
 * (docs/decisions/007-signal-posterior-temperature.md). */
static void fit_rising(const hot_simulated_voxels *drawn, int scaled, hot_signal_priors *population)
{
    int group[KMAX + 1] = {0, 1, 2, 3}, again = 1;
    double x[UNKNOWNS];
    while (again) {
        fit(drawn, scaled, group, x);
        again = 0;
        for (int k = 2; k <= drawn->max_fibers && !again; k++) {
            again = x[group[k]] < x[group[k - 1]] && group[k] != group[k - 1];
            for (int j = k, old = group[k]; again && j <= KMAX && group[j] == old; j++)
                group[j] = group[k - 1];
        }
    }
    population->evidence_scale = fmax(x[0], min_scale);
    for (int k = 1; k <= KMAX; k++)
        population->evidence_shift[k] = k <= drawn->max_fibers ? x[group[k]] : 0;
}

/* The share of the simulated voxels whose true number of fibres is the most probable one. */
static double recovered(const hot_simulated_voxels *drawn, const hot_signal_priors *population)
{
    size_t right = 0, all = 0;
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        const hot_signal_fit *own = drawn->fits + 4 * voxel;
        double least = INFINITY;
        int best = 0;
        for (int k = 0; k <= drawn->max_fibers; k++) {
            const double cost = population->evidence_scale * (double)own[k].cost + population->evidence_shift[k];
            if (cost < least)
                least = cost, best = k;
        }
        right += own[0].noise > 0 && best == drawn->fibers[voxel];
        all += own[0].noise > 0;
    }
    return all ? (double)right / (double)all : 1;
}

hot_status hot_signal_calibrate_evidence(hot_context *context, const hot_signal_options *how,
                                         const hot_signal_scheme *scheme, size_t count, const double *snr,
                                         uint64_t seed, int last, hot_signal_priors *population)
{
    hot_simulated_voxels drawn;
    hot_status status = hot_simulated_make(context, how, scheme, count, &drawn);
    population->evidence_scale = 1;
    memset(population->evidence_shift, 0, sizeof population->evidence_shift);
    if (status == HOT_OK)
        status = hot_simulate_voxels(&drawn, population, population, HOT_SIGNAL_MISFIT_SHARE, seed, count, snr, count);
    if (status == HOT_OK) {
        fit_rising(&drawn, last, population);
        population->recovered = recovered(&drawn, population);
    }
    hot_simulated_free(&drawn);
    return status;
}

/* ---- Posterior --------------------------------------------------------------------------------------------------- */

/* PASSES: steps to the matched population. MAX_DRAWN, MIN_DRAWN: voxels of each; two for each of the data's, of
 * which few tell little. Twice as many judge the answers. KINDS: none, one, and two and three by their separations. */
enum { PASSES = 4, MAX_DRAWN = 2000, MIN_DRAWN = 200, UNFOLDED = 2,
       KINDS = 2 + 2 * HOT_SEPARATIONS };
enum { WIDTH, ISOTROPIC, WATER, SPREAD, MOVED }; /* of the priors that are moved */

/* The weights, in voxels, of the learned shares, and of the priors that widths and fractions are corrected from, as in
 * learning. */
static const double pseudo = 20, width_pseudo = 120, part_pseudo = 40;
/* The prior of the log variance of cones: mean 0, with the weight of so many voxels, which determine the quantile to
 * .15. The errors of a voxel's fibres are correlated. */
static const double cone_pseudo = 100;
/* ln of the power of P(k) is 0, give or take this, and within these. */
static const double certainty_sd = 0.5, min_ln_certainty = -2, max_ln_certainty = 1.5;
/* The misfit of degree 4 in data, relative to the response's and beyond the noise: .06 to .07 on phantoms and in vivo
 * (docs/decisions/003-signal-misfit.md). The evidence allows for more, because additional fibres absorb a part. */
static const double misfit_left = 0.07;

/* Moments of the fits, and numbers of voxels of each kind; for simulated voxels also by the fitted kind. */
typedef struct shown {
    hot_moments of[MOVED];
    double voxels, kind[KINDS], drawn[KINDS], as[KINDS][KINDS]; /* as: [drawn][shown] */
} shown;

static int kind_of(const float *v, int k)
{
    double angle;
    return k < 2 ? k : 2 + HOT_SEPARATIONS * (k - 2) + hot_separation_bin(v, k, &angle);
}

static int fibers_of(int kind) { return kind < 2 ? kind : 2 + (kind - 2) / HOT_SEPARATIONS; }

static void add_moments(const hot_signal_fit *f, int k, double weight, const hot_signal_priors *p,
                        hot_moments of[MOVED])
{
    const double usual[2] = {0, p->spread};
    double mean = 0, square = 0;
    hot_moments_add(&of[ISOTROPIC], weight, (double)f->isotropic, (double)f->isotropic_variance, p->isotropic);
    hot_moments_add(&of[WATER], weight, (double)f->water, (double)f->water_variance, p->water);
    for (int i = 0; i < k; i++) {
        hot_moments_add(&of[WIDTH], weight, (double)f->width[i], (double)f->width_variance[i], p->width);
        mean += log((double)f->weight[i]) / k;
    }
    for (int i = 0; i < k; i++)
        square += pow(log((double)f->weight[i]) - mean, 2);
    if (k > 1)
        hot_moments_add(&of[SPREAD], weight * (k - 1), sqrt(square / (k - 1)), (double)f->spread_variance / (k - 1),
                        usual);
}

/* drawn: the true numbers of simulated voxels; NULL: data. */
static void sum_moments(size_t count, const hot_signal_fit *fits, const hot_simulated_voxels *drawn,
                        const hot_signal_priors *p, shown *s)
{
    memset(s, 0, sizeof *s);
    for (size_t voxel = 0; voxel < count; voxel++) {
        const hot_signal_fit *own = fits + 4 * voxel;
        double weight[KMAX + 1];
        if (!hot_posterior_weigh(own, weight))
            continue;
        const int from = drawn ? kind_of(drawn->directions + 3 * KMAX * voxel, drawn->fibers[voxel]) : 0;
        s->voxels += 1;
        s->drawn[from] += 1;
        for (int k = 0; k <= KMAX; k++) {
            if (weight[k] == 0)
                continue;
            const int kind = kind_of(own[k].v[0], k);
            s->kind[kind] += weight[k];
            s->as[from][kind] += weight[k];
            if (k > 0)
                add_moments(&own[k], k, weight[k], p, s->of);
        }
    }
}

/* Corrects a prior, whose mean is from `low` to `high`, by the difference between data and simulated voxels; a fit is
 * shrunk by f. */
static void move(const hot_moments *data, const hot_moments *drawn, double voxels, double low, double high,
                 double least, double prior[2])
{
    if (!(data->count > 0 && drawn->count > 0))
        return;
    const double mean[2] = {data->off / data->count, drawn->off / drawn->count}, was = prior[1] * prior[1];
    const double square[2] = {data->square / data->count - mean[0] * mean[0],
                              drawn->square / drawn->count - mean[1] * mean[1]};
    const double usual = voxels / data->count, far = 2 * prior[1], most = log(2);
    const double shift = (mean[0] - mean[1]) / (drawn->told / drawn->count + usual);
    const double change = (square[0] - square[1]) / was / (drawn->told_twice / drawn->count + usual);
    prior[0] = fmin(fmax(prior[0] + fmin(fmax(shift, -far), far), low), high);
    prior[1] = fmax(sqrt(was * exp(fmin(fmax(change, -most), most))), least);
}

/* Weights have no mean: only their square is corrected. */
static void move_spread(const hot_moments *data, const hot_moments *drawn, double *spread)
{
    hot_moments squares[2] = {*data, *drawn};
    double prior[2] = {0, *spread};
    squares[0].off = squares[1].off = 0;
    move(&squares[0], &squares[1], pseudo, 0, 0, 0.05, prior);
    *spread = prior[1];
}

/* Shares of the kinds, as the population has them. */
static void list_kinds(const hot_signal_priors *p, double part[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++) {
        const int k = fibers_of(kind);
        double all = 0;
        part[kind] = p->share[k];
        for (int bin = 0; k > 1 && bin < HOT_SEPARATIONS; bin++)
            all += p->near[k - 2][bin] * hot_separation_chance[k - 2][bin];
        if (k > 1) {
            const int bin = (kind - 2) % HOT_SEPARATIONS;
            part[kind] *= p->near[k - 2][bin] * hot_separation_chance[k - 2][bin] / all;
        }
    }
}

/* How often each kind must be simulated so that the fitted kinds are those of the data; the learned shares keep the
 * weight of a few voxels. */
static void unfold(const shown *data, const shown *drawn, const double learned[KINDS], hot_signal_priors *matched)
{
    double part[KINDS];
    for (int j = 0; j < KINDS; j++)
        part[j] = drawn->drawn[j] / drawn->voxels;
    for (int step = 0; step < UNFOLDED; step++) {
        double seen[KINDS] = {0}, total = 0;
        for (int j = 0; j < KINDS; j++)
            for (int i = 0; i < KINDS && drawn->drawn[j] > 0; i++)
                seen[i] += part[j] * drawn->as[j][i] / drawn->drawn[j];
        for (int j = 0; j < KINDS; j++) {
            double factor = 0;
            for (int i = 0; i < KINDS && drawn->drawn[j] > 0; i++)
                if (seen[i] > 0)
                    factor += drawn->as[j][i] / drawn->drawn[j] * data->kind[i] / data->voxels / seen[i];
            part[j] = part[j] * factor * data->voxels + pseudo * learned[j];
            total += part[j];
        }
        for (int j = 0; j < KINDS; j++)
            part[j] /= total;
    }
    memset(matched->share, 0, sizeof matched->share);
    for (int j = 0; j < KINDS; j++)
        matched->share[fibers_of(j)] += part[j];
    for (int j = 2; j < KINDS; j++) {
        const int k = fibers_of(j), bin = (j - 2) % HOT_SEPARATIONS;
        matched->near[k - 2][bin] = fmax(part[j], 1e-6) / fmax(matched->share[k], 1e-6) /
                                  hot_separation_chance[k - 2][bin];
    }
}

/* Log-likelihood of the true numbers, with P(k) to a power that is the same for all k, because simulated voxels do not
 * determine different ones (docs/decisions/007-signal-posterior-temperature.md). terms: room for one value of each
 * voxel, so that any number of threads finds the same sum. */
static double likelihood(const hot_simulated_voxels *drawn, double ln_power, double *terms)
{
    const double power = exp(ln_power);
    double sum = -0.5 * pow(ln_power / certainty_sd, 2);
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(drawn->context)))
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        double p[KMAX + 1], others = 0;
        const int k = drawn->found[voxel];
        terms[voxel] = 0;
        if (!hot_posterior_weigh(drawn->fits + 4 * voxel, p))
            continue;
        for (int i = 0; i <= KMAX; i++)
            others += i == k ? 0 : pow(p[i] / p[k], power);
        terms[voxel] = (drawn->fibers[voxel] == k ? 0 : log(fmax(others, 1e-12))) - log(1 + others);
    }
    for (size_t voxel = 0; voxel < drawn->count; voxel++)
        sum += terms[voxel];
    return sum;
}

/* The power with which it is largest, by golden sections. */
static double fit_certainty(const hot_simulated_voxels *drawn, double *terms)
{
    const double golden = 0.6180339887498949;
    double low = min_ln_certainty, high = max_ln_certainty;
    double at[2] = {high - golden * (high - low), low + golden * (high - low)};
    double found[2] = {likelihood(drawn, at[0], terms), likelihood(drawn, at[1], terms)};
    for (int i = 0; i < 16; i++) {
        const int to_low = found[0] > found[1];
        *(to_low ? &high : &low) = at[to_low];
        at[to_low] = at[!to_low];
        found[to_low] = found[!to_low];
        at[!to_low] = to_low ? high - golden * (high - low) : low + golden * (high - low);
        found[!to_low] = likelihood(drawn, at[!to_low], terms);
    }
    return exp(0.5 * (low + high));
}

/* Each fibre of a drawn voxel of k, as the fits find, at the direction nearest to its own; wide: of wide cones alone.
 * Returns how many places there are. */
static size_t list_places(const hot_simulated_voxels *drawn, int k, int wide, const hot_signal_priors *population,
                          double *places)
{
    const double far_off = 1e30;
    size_t count = 0;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(drawn->context)))
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        double *own = places + KMAX * voxel;
        hot_posterior posterior;
        own[0] = own[1] = own[2] = NAN; /* none */
        if (drawn->fibers[voxel] != k || drawn->found[voxel] != k || !(drawn->fits[4 * voxel].noise > 0))
            continue;
        hot_posterior_make(&drawn->fits[4 * voxel + (size_t)k], k, population, 1, &posterior);
        for (int fiber = 0; fiber < k; fiber++) {
            const double freedom = population->noise_freedom + (double)drawn->rows - 4 * k - 3;
            hot_cone cone;
            double least = INFINITY;
            if (wide && !hot_posterior_is_wide(&posterior, fiber))
                continue;
            hot_posterior_cone(&posterior, fiber, freedom, &cone);
            for (int i = 0; i < k; i++)
                least = fmin(least, hot_posterior_place(&posterior, fiber, &cone,
                                                        drawn->directions + 3 * (KMAX * voxel + (size_t)i)));
            own[fiber] = isfinite(least) ? least : far_off;
        }
    }
    for (size_t i = 0; i < KMAX * drawn->count; i++)
        if (!isnan(places[i]))
            places[count++] = places[i];
    return count;
}

/* The growth with which wide cones hold 95 %: it was measured in narrower ones, and beyond them cones would be wider
 * than fibres are apart. */
static void fit_growth(const hot_simulated_voxels *drawn, int k, double *places, hot_signal_priors *population)
{
    double low = 0, high = 1, *growth = &population->cone_growth[k];
    size_t count = 0;
    for (int i = 0; i < 10; i++) {
        size_t held = 0;
        *growth = 0.5 * (low + high);
        count = list_places(drawn, k, 1, population, places);
        for (size_t place = 0; place < count; place++)
            held += places[place] <= 1;
        *((double)held > 0.95 * (double)count ? &high : &low) = *growth;
    }
    *growth = 1 - (1 - *growth) * (double)count / ((double)count + k * pseudo);
}

/* The variance with which circles contain 95 % of the simulated fibres in voxels with the right number; at least the
 * curvature's: tissue varies more than simulated voxels, which may suggest less. */
static void fit_cones(const hot_simulated_voxels *drawn, int k, double *places, hot_signal_priors *population)
{
    population->cone_variance[k] = 1;
    fit_growth(drawn, k, places, population);
    const size_t count = list_places(drawn, k, 0, population, places);
    if (count == 0)
        return;
    qsort(places, count, sizeof *places, hot_by_size);
    const double quantile = fmin(fmax(places[(size_t)(0.95 * (double)count)], 1), 10);
    population->cone_variance[k] = exp(log(quantile) * (double)count / ((double)count + k * cone_pseudo));
}

hot_status hot_signal_calibrate_posterior(hot_context *context, const hot_signal_options *how,
                                          const hot_signal_scheme *scheme, size_t count, const hot_signal_fit *fits,
                                          size_t known, const double *snr, uint64_t seed,
                                          hot_signal_priors *population)
{
    hot_signal_priors matched = *population;
    const size_t wanted = 2 * known < MIN_DRAWN ? MIN_DRAWN : 2 * known;
    const size_t some = wanted < MAX_DRAWN ? wanted : MAX_DRAWN, all = 2 * some;
    double learned[KINDS];
    shown data, those;
    hot_simulated_voxels drawn;
    hot_status status = hot_simulated_make(context, how, scheme, all, &drawn);
    double *places = hot_context_alloc(context, all, KMAX * sizeof *places);
    if (!places)
        status = HOT_ERROR_MEMORY;
    list_kinds(population, learned);
    sum_moments(count, fits, NULL, population, &data);
    for (int pass = 0; pass < PASSES && status == HOT_OK && data.voxels > 0; pass++) {
        status = hot_simulate_voxels(&drawn, &matched, population, misfit_left, seed + (uint64_t)pass, some, snr,
                                     known);
        if (status != HOT_OK)
            break;
        sum_moments(drawn.count, drawn.fits, &drawn, population, &those);
        move(&data.of[WIDTH], &those.of[WIDTH], width_pseudo, -0.03, 0.2, 0.005, matched.width);
        move(&data.of[ISOTROPIC], &those.of[ISOTROPIC], part_pseudo, 0, 0.6, 0.02, matched.isotropic);
        move(&data.of[WATER], &those.of[WATER], part_pseudo, 0, 0.6, 0.02, matched.water);
        move_spread(&data.of[SPREAD], &those.of[SPREAD], &matched.spread);
        if (those.voxels > 0)
            unfold(&data, &those, learned, &matched);
    }
    if (status == HOT_OK)
        status = hot_simulate_voxels(&drawn, &matched, population, misfit_left, seed + PASSES, all, snr, known);
    if (status == HOT_OK)
        population->certainty = fit_certainty(&drawn, places);
    for (int k = 1; k <= drawn.max_fibers && status == HOT_OK; k++)
        fit_cones(&drawn, k, places, population);
    hot_context_free(context, places);
    hot_simulated_free(&drawn);
    return status;
}

/* See signal_calibrate.h. -2 ln P(k) = T cost_k + d_k: the likelihood of the drawn voxels' numbers of fibres is convex
 * in T and d. */
#include "signal_calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signal/signal_response.h"
#include "signal_draw.h"
#include "signal_posterior.h"

/* Unknowns: T; then d_1 to d_3, of which those in a group are equal (d_0 is 0). */
enum { KMAX = 3, UNKNOWNS = 1 + KMAX, STEPS = 30 };

/* What is known before: T is 1 and d 0, give or take these. */
static const double scale_sd = 0.3, shift_sd = 2;
/* Costs farther from the least than this are as good as impossible. */
static const double cost_most = 200;
static const double least_scale = 0.1;
/* What is known of ln of the cones' variances before, as a number of voxels: it is 0. So many tell the quantile to .15.
 * The fibres of a voxel err together. */
static const double cone_pseudo = 100;
/* What of degree 4 the fits leave over in data, as a share of the response's, beyond the noise: .06 to .07 on phantoms
 * and in people (docs/experiments.md). The evidence allows for more, because more fibres take it. */
static const double misfit_left = 0.07;

typedef struct drawn_voxels {
    size_t count;
    hot_signal_fit *fits;    /* count x 4 */
    uint8_t *fibers, *found; /* as drawn, and as the fits find */
    float *directions;       /* count x 9, as drawn */
    int max_fibers, scaled;
} drawn_voxels;

/* Gradient and Hessian of -ln of the posterior at x. */
static void derive(const drawn_voxels *drawn, const int group[KMAX + 1], const double x[UNKNOWNS],
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
            feature[k][0] = -0.5 * fmin((double)own[k].cost - least, cost_most);
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
    for (int i = 1; i < UNKNOWNS && !drawn->scaled; i++)
        hessian[0][i] = hessian[i][0] = 0;
    if (!drawn->scaled)
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
static void fit(const drawn_voxels *drawn, const int group[KMAX + 1], double x[UNKNOWNS])
{
    memset(x, 0, sizeof(double[UNKNOWNS]));
    x[0] = 1;
    for (int step = 0; step < STEPS; step++) {
        double change[UNKNOWNS], hessian[UNKNOWNS][UNKNOWNS], largest = 0;
        derive(drawn, group, x, change, hessian);
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
 * (docs/experiments.md). */
static void fit_rising(const drawn_voxels *drawn, hot_signal_population *population)
{
    int group[KMAX + 1] = {0, 1, 2, 3}, again = 1;
    double x[UNKNOWNS];
    while (again) {
        fit(drawn, group, x);
        again = 0;
        for (int k = 2; k <= drawn->max_fibers && !again; k++) {
            again = x[group[k]] < x[group[k - 1]] && group[k] != group[k - 1];
            for (int j = k, old = group[k]; again && j <= KMAX && group[j] == old; j++)
                group[j] = group[k - 1];
        }
    }
    population->evidence_scale = fmax(x[0], least_scale);
    for (int k = 1; k <= KMAX; k++)
        population->evidence_shift[k] = k <= drawn->max_fibers ? x[group[k]] : 0;
}

/* The share of the drawn voxels whose own number of fibres is the likeliest one. */
static double recovered(const drawn_voxels *drawn, const hot_signal_population *population)
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

/* Each fibre of a drawn voxel at the direction nearest to its own. Returns how many places are filled. */
static size_t add_places(const hot_signal_fit *fit, int k, const float *drawn, const hot_signal_population *population,
                         size_t rows, double *places)
{
    hot_posterior posterior;
    hot_posterior_make(fit, k, population, 1, &posterior);
    for (int fiber = 0; fiber < k; fiber++) {
        hot_cone cone;
        double least = INFINITY;
        hot_posterior_cone(&posterior, fiber, population->noise_freedom + (double)rows - 4 * k - 3, &cone);
        for (int i = 0; i < k; i++)
            least = fmin(least, hot_posterior_place(&posterior, fiber, &cone, drawn + 3 * i));
        places[fiber] = isfinite(least) ? least : 1e30;
    }
    return (size_t)k;
}

static int by_size(const void *left, const void *right)
{
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* The variance that makes the ellipses hold 95 % of the drawn fibres whose voxels get their number; never less than the
 * curvature's: where drawn voxels say so, tissue, which is less alike than they are, does not. places: KMAX for each
 * voxel. */
static void fit_cones(const drawn_voxels *drawn, size_t rows, double *places, hot_signal_population *population)
{
    for (int k = 1; k <= KMAX; k++) {
        size_t count = 0;
        population->cone_variance[k] = 1;
        for (size_t voxel = 0; voxel < drawn->count && k <= drawn->max_fibers; voxel++)
            if (drawn->fibers[voxel] == k && drawn->found[voxel] == k && drawn->fits[4 * voxel].noise > 0)
                count += add_places(&drawn->fits[4 * voxel + (size_t)k], k, drawn->directions + 3 * KMAX * voxel,
                                    population, rows, places + count);
        if (count == 0)
            continue;
        qsort(places, count, sizeof *places, by_size);
        const double quantile = fmin(fmax(places[(size_t)(0.95 * (double)count)], 1), 10);
        population->cone_variance[k] = exp(log(quantile) * (double)count / ((double)count + k * cone_pseudo));
    }
}

/* The response that the fits see, without the bias of its own noise: drawn signals get noise, and its bias. rows:
 * shells x (lmax / 2 + 1). */
static void clean_response(const hot_signal_options *options, const hot_signal_scheme *scheme, double *rows)
{
    const double pi = 3.14159265358979323846;
    const int terms = scheme->lmax / 2 + 1;
    for (size_t shell = 0; shell < scheme->shells; shell++) {
        double *row = rows + shell * (size_t)terms;
        hot_signal_clean_response(options, scheme, shell, scheme->lmax, row);
        for (int l = 0; l < terms; l++)
            row[l] /= sqrt((4 * l + 1) / (4 * pi));
    }
}

/* Draws voxels and fits them. clean: the scheme with its response clean. */
static hot_status draw_and_fit(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                               const hot_signal_scheme *clean, const double *snr, double misfit, uint64_t seed,
                               double *scratch, float *signals, float *peaks, drawn_voxels *drawn)
{
    const hot_signal_result result = {.size = sizeof result, .directions = peaks, .found = drawn->found,
                                      .fits = drawn->fits};
    hot_signal_draw(options->population, clean, options->noise_model, options->max_fibers, misfit, seed, drawn->count,
                    snr, hot_context_threads(context), scratch, signals, drawn->fibers, drawn->directions);
    return hot_signal_fibers_f32(context, options, scheme, drawn->count, signals, NULL, NULL, NULL, &result);
}

hot_status hot_signal_calibrate(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                                size_t count, const double *snr, uint64_t seed, int last,
                                hot_signal_population *population)
{
    hot_signal_options options = *how;
    drawn_voxels drawn = {.count = count, .max_fibers = options.max_fibers, .scaled = last,
                          .fits = hot_context_calloc(context, count, 4 * sizeof *drawn.fits),
                          .fibers = hot_context_alloc(context, count, 1),
                          .found = hot_context_alloc(context, count, 1),
                          .directions = hot_context_alloc(context, count, 3 * KMAX * sizeof *drawn.directions)};
    float *peaks = hot_context_alloc(context, count, 3 * KMAX * sizeof *peaks);
    float *signals = hot_context_alloc(context, count, scheme->volumes * sizeof *signals);
    double *scratch = hot_context_alloc(context, (size_t)hot_context_threads(context) * scheme->volumes,
                                        sizeof *scratch);
    double *places = hot_context_alloc(context, count, KMAX * sizeof *places);
    double *response = hot_context_alloc(context, scheme->shells, (size_t)(scheme->lmax / 2 + 1) * sizeof *response);
    hot_signal_scheme clean = *scheme;
    size_t rows = 1;
    hot_status status = drawn.fits && drawn.fibers && drawn.found && drawn.directions && peaks && signals && scratch &&
                                places && response ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < scheme->volumes; v++)
        rows += scheme->b[v] > 50;
    options.population = population;
    options.sigma = 1;
    population->evidence_scale = 1;
    memset(population->evidence_shift, 0, sizeof population->evidence_shift);
    clean.response = response;
    if (status == HOT_OK) {
        clean_response(&options, scheme, response);
        status = draw_and_fit(context, &options, scheme, &clean, snr, HOT_SIGNAL_MISFIT_SHARE, seed, scratch, signals,
                              peaks, &drawn);
    }
    if (status == HOT_OK) {
        fit_rising(&drawn, population);
        population->recovered = recovered(&drawn, population);
    }
    if (status == HOT_OK && last)
        status = draw_and_fit(context, &options, scheme, &clean, snr, misfit_left, seed, scratch, signals, peaks,
                              &drawn);
    if (status == HOT_OK && last)
        fit_cones(&drawn, rows, places, population);
    hot_context_free(context, response);
    hot_context_free(context, places);
    hot_context_free(context, scratch);
    hot_context_free(context, signals);
    hot_context_free(context, peaks);
    hot_context_free(context, drawn.directions);
    hot_context_free(context, drawn.found);
    hot_context_free(context, drawn.fibers);
    hot_context_free(context, drawn.fits);
    return status;
}

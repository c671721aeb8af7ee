/* See signal_posterior.h. Which fibre is which: the fibres found are 1, 2, 3 by descending weight, as in the
 * directions; those of the fits of other numbers are the nearest of these, and what is more comes behind. */
#include "signal_posterior.h"

#include "signal_field.h"

#include <float.h>
#include <string.h>

#include "common/entry.h"
#include "common/options.h"
#include "dwi/frames.h"

enum { MAX_UNKNOWNS = 15 };
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j)) /* packed lower triangle, i >= j */

/* 95 % of chi squared with one and with two degrees of freedom. */
static const double chi2_of_1 = 3.8415, chi2_of_2 = 5.9915;
/* Laplace's approximation has the cost's curvature at its least point; farther off a wide posterior is flatter. Where
 * it says that a cone's angle along one of its axes is the first (radians), twice that axis' variance holds 95 %, and
 * less as the third power; that was seen up to the second (docs/decisions/008-signal-cones.md). */
static const double twice_as_wide = 0.22, seen_up_to = 0.314;

static double covariance(const hot_posterior *posterior, int a, int b)
{
    double sum = 0;
    for (int p = a > b ? a : b; p < 4 * posterior->k + 3; p++)
        sum += posterior->root[AT(p, a)] * posterior->root[AT(p, b)];
    return sum;
}

/* The principal variances of a fibre's turns; the angle of the larger one's axis from the first turn. */
static double principal(const hot_posterior *posterior, int fiber, double variance[2])
{
    const int at = 4 * fiber + 2;
    const double a = covariance(posterior, at, at), b = covariance(posterior, at + 1, at + 1);
    const double c = covariance(posterior, at, at + 1), middle = 0.5 * (a + b), half = 0.5 * (a - b);
    const double off = sqrt(half * half + c * c);
    variance[0] = middle + off;
    variance[1] = fmax(middle - off, 0);
    return 0.5 * atan2(c, half);
}

static double angle_of(double variance) { return atan(sqrt(chi2_of_2 * variance)); }

/* How much larger the variance is of which the curvature says a cone of angle `angle` along an axis. */
static double flatter(double angle, double growth)
{
    const double seen = 1 + pow(fmin(angle, seen_up_to) / twice_as_wide, 3);
    return seen * pow((1 + pow(angle / twice_as_wide, 3)) / seen, growth);
}

void hot_posterior_make(const hot_signal_fit *fit, int k, const hot_signal_priors *population, double typical,
                        hot_posterior *posterior)
{
    const int n = 4 * k + 3;
    double *L = posterior->root;
    posterior->fit = fit;
    posterior->k = k;
    posterior->typical = typical;
    posterior->unit = population ? population->isotropic[1] / typical : 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = (double)fit->precision[AT(i, j)];
            for (int p = 0; p < j; p++)
                a -= L[AT(i, p)] * L[AT(j, p)];
            L[AT(i, j)] = i == j ? sqrt(fmax(a, 1e-9)) : a / L[AT(j, j)];
        }
    for (int j = 0; j < n; j++) /* its inverse, in its place */
        for (int i = j; i < n; i++) {
            double a = i == j;
            for (int p = j; p < i; p++)
                a -= L[AT(i, p)] * L[AT(p, j)];
            L[AT(i, j)] = a / L[AT(i, i)];
        }
    const double all = population ? population->cone_variance[k] : 1;
    const double growth = population ? population->cone_growth[k] : 1;
    for (int fiber = 0; fiber < k; fiber++) {
        double variance[2], *wider = posterior->wider[fiber], *widen = posterior->widen[fiber];
        const double angle = principal(posterior, fiber, variance), c = cos(angle), s = sin(angle);
        for (int a = 0; a < 2; a++)
            wider[a] = sqrt(all * flatter(angle_of(variance[a]), growth));
        widen[0] = wider[0] * c * c + wider[1] * s * s;
        widen[1] = (wider[0] - wider[1]) * c * s;
        widen[2] = wider[0] * s * s + wider[1] * c * c;
    }
}

int hot_posterior_is_wide(const hot_posterior *posterior, int fiber)
{
    double variance[2];
    principal(posterior, fiber, variance);
    return angle_of(variance[0]) > seen_up_to;
}

void hot_posterior_cone(const hot_posterior *posterior, int fiber, double freedom, hot_cone *cone)
{
    const float (*turn)[3] = posterior->fit->turn[fiber];
    double variance[2];
    const double angle = principal(posterior, fiber, variance), *wider = posterior->wider[fiber];
    const double large = wider[0] * wider[0] * variance[0], small = wider[1] * wider[1] * variance[1];
    /* noise that was estimated: Student's distribution in two dimensions */
    const double radius2 = isfinite(freedom) ? freedom * (pow(0.05, -2 / freedom) - 1) : chi2_of_2;
    for (int d = 0; d < 3; d++) {
        cone->axis[0][d] = cos(angle) * (double)turn[0][d] + sin(angle) * (double)turn[1][d];
        cone->axis[1][d] = -sin(angle) * (double)turn[0][d] + cos(angle) * (double)turn[1][d];
    }
    cone->angle[0] = atan(sqrt(radius2 * large));
    cone->angle[1] = atan(sqrt(radius2 * small));
    /* a circle: two variances' sum of squares is nearly chi squared with `like` degrees of freedom (Satterthwaite) */
    const double squares = large * large + small * small, sum = large + small, like = sum * sum / squares;
    const double limit = chi2_of_1 + (chi2_of_2 - chi2_of_1) * (like - 1);
    cone->half_angle = atan(sqrt(squares / sum * limit * radius2 / chi2_of_2));
}

double hot_posterior_place(const hot_posterior *posterior, int fiber, const hot_cone *cone, const float v[3])
{
    double along = 0;
    for (int d = 0; d < 3; d++)
        along += (double)posterior->fit->v[fiber][d] * (double)v[d];
    return (1 / (along * along) - 1) / pow(tan(cone->half_angle), 2);
}

/* A fibre's share of the weight of all fibres of a fit. */
static double part_of(const hot_posterior *posterior, int fiber)
{
    double sum = 0;
    for (int i = 0; i < posterior->k; i++)
        sum += (double)posterior->fit->weight[i];
    return (double)posterior->fit->weight[fiber] / sum;
}

double hot_posterior_fraction_sd(const hot_posterior *posterior, int fiber)
{
    const double fraction = (double)posterior->fit->weight[fiber] / posterior->typical;
    const double of_unit = part_of(posterior, fiber) * posterior->unit;
    return sqrt(fraction * fraction * covariance(posterior, 4 * fiber, 4 * fiber) + of_unit * of_unit);
}

void hot_posterior_draw(const hot_posterior *posterior, hot_random *random, double v[3][3], double fraction[3])
{
    const int n = 4 * posterior->k + 3; /* odd: z[n] is drawn, too */
    double z[MAX_UNKNOWNS + 1], sum = 0;
    for (int i = 0; i < n; i += 2)
        hot_random_normals(random, &z[i], &z[i + 1]);
    for (int fiber = 0; fiber < posterior->k; fiber++) {
        double moved[4] = {0}, length = 0;
        for (int u = 0; u < 4; u++)
            for (int p = 4 * fiber + u; u != 1 && p < n; p++) /* widths are not exported */
                moved[u] += posterior->root[AT(p, 4 * fiber + u)] * z[p];
        fraction[fiber] = (double)posterior->fit->weight[fiber] / posterior->typical * exp(moved[0]);
        fraction[fiber] = fmax(fraction[fiber] + part_of(posterior, fiber) * posterior->unit * z[n], 0);
        sum += fraction[fiber];
        const double *widen = posterior->widen[fiber];
        const double a = widen[0] * moved[2] + widen[1] * moved[3], b = widen[1] * moved[2] + widen[2] * moved[3];
        for (int d = 0; d < 3; d++) {
            v[fiber][d] = (double)posterior->fit->v[fiber][d] + a * (double)posterior->fit->turn[fiber][0][d] +
                          b * (double)posterior->fit->turn[fiber][1][d];
            length += v[fiber][d] * v[fiber][d];
        }
        for (int d = 0; d < 3; d++)
            v[fiber][d] /= sqrt(length);
    }
    for (int fiber = 0; fiber < posterior->k && sum > 1; fiber++)
        fraction[fiber] /= sum;
}

int hot_posterior_weigh(const hot_signal_fit fits[4], double p[4])
{
    double best = INFINITY, sum = 0;
    for (int k = 0; k < 4; k++)
        best = fmin(best, (double)fits[k].cost);
    for (int k = 0; k < 4; k++)
        sum += p[k] = exp(0.5 * (best - (double)fits[k].cost));
    for (int k = 0; k < 4; k++)
        p[k] /= sum;
    return fits[0].noise > 0 && isfinite(sum);
}

void hot_posterior_temper(double p[4], int k, const hot_signal_priors *population)
{
    const double of = p[k];
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += p[i] = pow(p[i] / of, population->certainty);
    for (int i = 0; i < 4; i++)
        p[i] /= sum;
}

/* ---- Maps of all voxels ------------------------------------------------------------------------------------------ */

/* MIN_PART, MAX_PART: voxels whose fits, of 2.7 kB each, are kept at a time: an eighth of the mask's between these;
 * STREAM: of random numbers */
enum { KMAX = 3, MAX_SAMPLES = 1000, MIN_PART = 1 << 12, MAX_PART = 1 << 16, STREAM = 31 };

static const double pi = 3.14159265358979323846, degree = 57.29577951308232;

hot_status hot_signal_find_check(hot_context *context, const hot_signal_find_options *options)
{
    double sigma = options->sigma;
    hot_status status = hot_option_number(context, "sigma", 0, FLT_MAX, &sigma);
    if (status == HOT_OK && options->sigma == HOT_ZERO)
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "sigma", "no noise at all is not possible; "
                                            "0 = estimated");
    if (status == HOT_OK)
        status = hot_option_choice(context, "noise_model", (int)options->noise_model, HOT_NOISE_GAUSSIAN + 1);
    const struct { const char *name; int value; } flags[] = {
        {"clean_response", options->clean_response}, {"keep_maps", options->keep_maps},
        {"denoised", options->denoised}, {"keep_cones", options->keep_cones}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags && status == HOT_OK; i++)
        status = hot_option_choice(context, flags[i].name, flags[i].value, 2);
    if (status != HOT_OK)
        return status;
    if (options->max_fibers < 0 || options->max_fibers > 3)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_fibers",
                                          "the signal method finds 1 to 3 fibres (0: 3), not %d", options->max_fibers);
    if (options->order != 0 && options->order != 4 && options->order != 6 && options->order != 8)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "order", "it is 4, 6 or 8 (0: 8), not %d",
                                          options->order);
    if (options->samples < 0 || options->samples > MAX_SAMPLES)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "samples",
                                          "0 to %d of the posterior are drawn, not %d", MAX_SAMPLES, options->samples);
    return HOT_OK;
}

static void free_samples(hot_context *context, hot_signal_samples **samples)
{
    if (!*samples)
        return;
    HOT_FREE(context, (*samples)->place, (*samples)->values, *samples);
    *samples = NULL;
}

static hot_status make_samples(hot_context *context, const hot_mask *mask, int samples, int fibers,
                               hot_signal_samples **made)
{
    const size_t all = hot_grid_voxels(&mask->grid);
    hot_signal_samples *s = *made = hot_context_calloc(context, 1, sizeof *s);
    if (!s)
        return HOT_ERROR_MEMORY;
    s->samples = samples;
    s->fibers = fibers;
    s->place = hot_context_alloc(context, all, sizeof *s->place);
    for (size_t voxel = 0; s->place && voxel < all; voxel++) {
        s->place[voxel] = s->voxels;
        s->voxels += mask->bytes[voxel] != 0;
    }
    s->values = hot_context_calloc(context, s->voxels * (size_t)samples, (size_t)fibers * sizeof *s->values);
    return s->place && s->values ? HOT_OK : HOT_ERROR_MEMORY;
}

/* NaN where there is no fibre: 0 would read as certain. */
static float *make_unknown(hot_context *context, size_t items)
{
    float *made = hot_context_alloc(context, items, sizeof *made);
    for (size_t i = 0; made && i < items; i++)
        made[i] = NAN;
    return made;
}

hot_status hot_signal_posterior_make(hot_context *context, const hot_mask *mask,
                                     const hot_signal_find_options *options, int max_fibers, hot_signal_maps *maps)
{
    const size_t voxels = hot_grid_voxels(&mask->grid), items = voxels * (size_t)max_fibers;
    maps->max_fibers = max_fibers;
    if (options->keep_cones || (options->part && options->part->fades)) {
        maps->cone = make_unknown(context, items);
        if (!maps->cone)
            return HOT_ERROR_MEMORY;
    }
    if (options->keep_cones) {
        maps->cone_axes = hot_context_calloc(context, items, 6 * sizeof *maps->cone_axes);
        maps->fraction_sd = make_unknown(context, items);
        maps->isotropic = hot_context_calloc(context, voxels, sizeof *maps->isotropic);
        maps->free_water = hot_context_calloc(context, voxels, sizeof *maps->free_water);
        maps->noise_sd = hot_context_calloc(context, voxels, sizeof *maps->noise_sd);
        if (!maps->cone_axes || !maps->fraction_sd || !maps->isotropic || !maps->free_water ||
            !maps->noise_sd)
            return HOT_ERROR_MEMORY;
    }
    return options->samples > 0 ? make_samples(context, mask, options->samples, max_fibers, &maps->samples) : HOT_OK;
}

void hot_signal_posterior_free(hot_context *context, hot_signal_maps *maps)
{
    HOT_FREE(context, maps->cone, maps->cone_axes, maps->fraction_sd, maps->isotropic, maps->free_water,
             maps->noise_sd);
    maps->cone = maps->cone_axes = maps->fraction_sd = maps->isotropic = maps->free_water = maps->noise_sd = NULL;
    free_samples(context, &maps->samples);
}

hot_status hot_signal_maps_make(hot_context *context, size_t voxels, int only_probability, hot_signal_maps *maps)
{
    maps->probability = hot_context_calloc(context, voxels, 4 * sizeof(float));
    if (only_probability)
        return maps->probability ? HOT_OK : HOT_ERROR_MEMORY;
    maps->margin = hot_context_calloc(context, voxels, sizeof(float));
    maps->residual = hot_context_calloc(context, voxels, sizeof(float));
    maps->width = hot_context_calloc(context, voxels, sizeof(float));
    maps->flags = hot_context_calloc(context, voxels, 1);
    return maps->probability && maps->margin && maps->residual && maps->width && maps->flags ? HOT_OK
                                                                                             : HOT_ERROR_MEMORY;
}

void hot_signal_maps_free(hot_signal_maps *maps)
{
    if (!maps || !maps->context)
        return;
    hot_context *context = maps->context;
    HOT_FREE(context, maps->probability, maps->margin, maps->residual, maps->width, maps->flags);
    hot_signal_posterior_free(context, maps);
    maps->probability = maps->margin = maps->residual = maps->width = NULL;
    maps->flags = NULL;
}

void hot_signal_maps_temper(hot_context *context, const hot_mask *mask, const hot_signal_priors *population,
                            hot_signal_maps *maps)
{
    const size_t voxels = hot_grid_voxels(&mask->grid);
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        float *at = maps->probability + 4 * voxel;
        double p[KMAX + 1];
        int best = 0;
        for (int k = 0; k <= KMAX; k++) {
            best = at[k] > at[best] ? k : best;
            p[k] = (double)at[k];
        }
        if (!mask->bytes[voxel] || !(at[best] > 0)) /* flagged */
            continue;
        hot_posterior_temper(p, best, population);
        for (int k = 0; k <= KMAX; k++)
            at[k] = (float)p[k];
        if (maps->margin)
            maps->margin[voxel] *= (float)population->certainty;
    }
}

/* The fibres of a fit by descending weight, ties by place: as hot_signal_fibers_f32 gives them. */
static void sort(const hot_signal_fit *fit, int k, int order[KMAX])
{
    for (int i = 0; i < k; i++) {
        int rank = 0;
        for (int j = 0; j < k; j++)
            rank += fit->weight[j] > fit->weight[i] || (fit->weight[j] == fit->weight[i] && j < i);
        order[rank] = i;
    }
}

/* Gives the fibres of a fit of k places beside `known` directions: each the nearest one's, one each, nearest pairs
 * first; the others come behind, by descending weight, and are known from then on. place: of each fibre. */
static void match(const hot_signal_fit *fit, int k, const float *reference[KMAX], int *known, int place[KMAX])
{
    int order[KMAX], taken[KMAX] = {0};
    const int before = *known;
    for (int i = 0; i < k; i++)
        place[i] = -1;
    for (int pairs = before < k ? before : k; pairs > 0; pairs--) {
        double best = -1;
        int fiber = 0, at = 0;
        for (int i = 0; i < k; i++)
            for (int r = 0; r < before; r++) {
                const float *a = fit->v[i], *b = reference[r];
                const double near = fabs((double)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
                if (place[i] < 0 && !taken[r] && near > best)
                    best = near, fiber = i, at = r;
            }
        place[fiber] = at;
        taken[at] = 1;
    }
    sort(fit, k, order);
    for (int i = 0; i < k; i++)
        if (place[order[i]] < 0) {
            reference[*known] = fit->v[order[i]];
            place[order[i]] = (*known)++;
        }
}

static uint16_t whole(double part) { return (uint16_t)(fmin(fmax(part, 0), 1) * 65535 + 0.5); }

/* A voxel's samples: a number of fibres by its probability, then a draw from that fit. */
static void draw_samples(const hot_signal_fit *fits, int found, const hot_signal_priors *population, double typical,
                         hot_random random, const double frame[3][3], const hot_signal_samples *samples,
                         hot_sampled_fiber *to)
{
    hot_posterior posterior[KMAX + 1];
    double p[KMAX + 1];
    int place[KMAX + 1][KMAX], known = 0, made[KMAX + 1] = {0};
    const float *reference[KMAX];
    if (!hot_posterior_weigh(fits, p))
        return;
    hot_posterior_temper(p, found, population);
    int order[KMAX];
    sort(&fits[found], found, order);
    for (int i = 0; i < found; i++)
        reference[known++] = fits[found].v[order[i]];
    for (int k = found; k <= samples->fibers; k++)
        match(&fits[k], k, reference, &known, place[k]);
    for (int k = 0; k < found; k++) {
        int as_found = found;
        match(&fits[k], k, reference, &as_found, place[k]);
    }
    for (int sample = 0; sample < samples->samples; sample++, to += samples->fibers) {
        double u = hot_random_uniform(&random), v[KMAX][3], fraction[KMAX];
        int k = 0;
        while (k < samples->fibers && (u -= p[k]) >= 0)
            k++;
        if (!made[k])
            hot_posterior_make(&fits[k], k, population, typical, &posterior[k]);
        made[k] = 1;
        hot_posterior_draw(&posterior[k], &random, v, fraction);
        for (int i = 0; i < k; i++) {
            double x[3] = {0};
            for (int a = 0; a < 3; a++)
                for (int d = 0; d < 3; d++)
                    x[a] += frame[d][a] * v[i][d];
            double phi = atan2(x[1], x[0]);
            phi += phi < 0 ? 2 * pi : 0;
            to[place[k][i]] = (hot_sampled_fiber){whole(acos(fmin(fmax(x[2], -1), 1)) / pi), whole(phi / (2 * pi)),
                                                  whole(fraction[i])};
        }
    }
}

static void fill_cones(const hot_signal_fit *fit, int k, const hot_signal_priors *population, double typical,
                       size_t rows, size_t voxel, hot_signal_maps *maps)
{
    const double freedom = population->noise_freedom + (double)rows - 4 * k - 3;
    const size_t first = voxel * (size_t)maps->max_fibers;
    hot_posterior posterior;
    int order[KMAX];
    hot_posterior_make(fit, k, population, typical, &posterior);
    sort(fit, k, order);
    for (int i = 0; i < k; i++) {
        hot_cone cone;
        hot_posterior_cone(&posterior, order[i], freedom, &cone);
        maps->cone[first + (size_t)i] = (float)(cone.half_angle * degree);
        if (!maps->fraction_sd)
            continue;
        maps->fraction_sd[first + (size_t)i] = (float)hot_posterior_fraction_sd(&posterior, order[i]);
        for (int a = 0; a < 6; a++)
            maps->cone_axes[6 * (first + (size_t)i) + (size_t)a] =
                (float)(cone.angle[a / 3] * degree * cone.axis[a / 3][a % 3]);
    }
}

/* The isotropic fractions: the rest of a voxel, split as in the fit, whose compartments may be slightly negative.
 * Fractions relative to the typical fibre exceed the weights; the excess is subtracted from the isotropic compartment,
 * which such fibres resemble. */
static void fill_parts(const hot_signal_fit *fit, int k, double typical, size_t voxel, hot_signal_maps *maps)
{
    const double isotropic = fmax((double)fit->isotropic, 0), water = fmax((double)fit->water, 0);
    const double of_water = isotropic + water > 0 ? water / (isotropic + water) : 0;
    double left = 1, beside = 1;
    for (int i = 0; i < k; i++) {
        beside -= (double)fit->weight[i];
        left -= (double)fit->weight[i] / typical;
    }
    left = fmax(left, 0); /* hot_fractions_bound */
    const double free_water = fmin(fmax(beside, 0) * of_water, left);
    maps->isotropic[voxel] = (float)(left - free_water);
    maps->free_water[voxel] = (float)free_water;
}

/* Exports the fits of voxels first ... first + count - 1. rows: signals of a voxel; sigma: each voxel's, NULL = `usual`
 * for all. */
static void tell(hot_context *context, const hot_mask *mask, size_t first, size_t count, const uint8_t *found,
                 const hot_signal_fit *fits, size_t rows, const hot_signal_priors *population, double typical,
                 const float *sigma, double usual, hot_signal_maps *maps)
{
    const uint64_t seed = hot_context_seed(context);
    const hot_signal_samples *samples = maps->samples;
    double frame[3][3];
    hot_grid_bvec_frame(&mask->grid, frame);
#pragma omp parallel for schedule(dynamic, 64) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < count; i++) {
        const size_t voxel = first + i;
        const int k = found[i];
        if (!mask->bytes[voxel] || !(fits[4 * i].noise > 0))
            continue;
        if (maps->cone)
            fill_cones(&fits[4 * i + (size_t)k], k, population, typical, rows, voxel, maps);
        if (maps->isotropic) {
            fill_parts(&fits[4 * i + (size_t)k], k, typical, voxel, maps);
            maps->noise_sd[voxel] = fits[4 * i].noise * (sigma ? sigma[i] : (float)usual);
        }
        if (samples)
            draw_samples(&fits[4 * i], k, population, typical, hot_random_start(seed, STREAM, voxel),
                         (const double (*)[3])frame, samples,
                         samples->values + samples->place[voxel] * (size_t)(samples->samples * samples->fibers));
    }
}

hot_status hot_signal_find_posterior(hot_context *context, const hot_signal_options *how,
                                     const hot_signal_scheme *scheme, const hot_mask *mask, size_t first, size_t count,
                                     const float *signals, const float *sigma, double typical,
                                     const hot_signal_result *given, hot_signal_maps *maps)
{
    hot_status status = HOT_OK;
    const size_t eighth = mask->inside / 8, row = 3 * (size_t)how->max_fibers;
    const size_t room = eighth < MIN_PART ? MIN_PART : eighth < MAX_PART ? eighth : MAX_PART;
    const size_t most = count < room ? count : room;
    hot_signal_options options = *how;
    hot_signal_result result = *given;
    size_t rows = 1;
    hot_signal_fit *fits = hot_context_alloc(context, most, 4 * sizeof *fits);
    uint8_t *found = hot_context_alloc(context, most, 1);
    if (!fits || !found)
        status = HOT_ERROR_MEMORY;
    for (size_t v = 0; v < scheme->volumes; v++)
        rows += scheme->b[v] > 50;
    result.fits = fits;
    result.found = found;
    for (size_t at = 0; at < count && status == HOT_OK; at += most) {
        const size_t part = count - at < most ? count - at : most;
        const double length = how->progress[1] - how->progress[0];
        options.progress[0] = how->progress[0] + length * (double)at / (double)count;
        options.progress[1] = how->progress[0] + length * (double)(at + part) / (double)count;
        const int some = memchr(mask->bytes + first + at, 1, part) != NULL;
        if (some)
            status = hot_signal_fibers_f32(context, &options, scheme, part, signals + at * scheme->volumes,
                                           sigma ? sigma + at : NULL, NULL, mask->bytes + first + at, &result);
        if (some && status == HOT_OK)
            tell(context, mask, first + at, part, found, fits, rows, how->population, typical,
                 sigma ? sigma + at : NULL, how->sigma, maps);
        result.directions += part * row;
        result.flags += part;
        result.residual += result.residual ? part : 0;
        result.probability += result.probability ? 4 * part : 0;
        result.margin += result.margin ? part : 0;
        result.width += result.width ? part : 0;
    }
    HOT_FREE(context, found, fits);
    return status;
}

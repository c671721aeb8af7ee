/* See signal_simulation.h. A voxel is drawn as the fits take voxels to be: parts and widths from their priors,
 * directions by their separations, on each shell a smooth function that no fit follows, and noise. */
#include "signal_simulation.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "common/entry.h"
#include "common/free.h"
#include "core/random.h"
#include "signal/signal_response.h"

/* STREAM: of random numbers; TRIES: of a draw that must be within bounds; LOBES: of the misfit function. B0_LIMIT: as
 * in hot_signal_scheme. */
enum { KMAX = 3, STREAM = 53, TRIES = 1000, MAX_SHELLS = 16, TERMS = 9, LOBES = 20, B0_LIMIT = 50 };

static const double pi = 3.14159265358979323846, degree = 57.29577951308232;
static const double water_diffusivity = 3e-3, min_width = -0.03, max_beside = 0.9;
/* Of a voxel without fibres: any share is water. */
static const double any_share[2] = {0.5, 0.4};
/* Lower edges of the bins of the smallest separation, degrees. */
static const double edges[HOT_SEPARATIONS] = {25, 35, 45, 55, 65, 75};

/* One shell of a voxel: a row of the response for each fibre, the isotropic parts' signal, the lobes. */
typedef struct drawn_shell {
    double zonal[KMAX][TERMS], flat, lobe[LOBES], axis[LOBES][3];
    double fan[KMAX][2], across[KMAX][2][3]; /* the amplitudes and the axes they are about: the same on all shells */
} drawn_shell;

static double normal(hot_random *random)
{
    double a, b;
    hot_random_normals(random, &a, &b);
    return a;
}

/* A part of the signal, 0 to 1. */
static double draw_part(hot_random *random, const double prior[2])
{
    for (int i = 0; i < TRIES; i++) {
        const double value = prior[0] + prior[1] * normal(random);
        if (value >= 0 && value <= 1)
            return value;
    }
    return fmin(fmax(prior[0], 0), 1);
}

static void draw_direction(hot_random *random, double v[3])
{
    double cosine, sine;
    const double z = 2 * hot_random_uniform(random) - 1, radius = sqrt(fmax(1 - z * z, 0));
    hot_random_turn(hot_random_uniform(random), &cosine, &sine);
    v[0] = radius * cosine, v[1] = radius * sine, v[2] = z;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* k directions, each separation as often as the population has it. */
static void draw_directions(hot_random *random, const hot_signal_priors *p, int k, double v[KMAX][3])
{
    double most = 1e-9;
    for (int bin = 0; k > 1 && bin < HOT_SEPARATIONS; bin++)
        most = fmax(most, p->near[k - 2][bin]);
    for (int i = 0; i < TRIES; i++) {
        double near = 0;
        int bin = 0;
        for (int a = 0; a < k; a++) {
            draw_direction(random, v[a]);
            for (int b = 0; b < a; b++)
                near = fmax(near, fabs(dot(v[a], v[b])));
        }
        const double angle = acos(fmin(near, 1)) * degree;
        while (bin + 1 < HOT_SEPARATIONS && angle >= edges[bin + 1])
            bin++;
        if (k < 2 || (angle >= edges[0] && hot_random_uniform(random) * most < p->near[k - 2][bin]))
            return;
    }
}

static int draw_number(hot_random *random, const hot_signal_priors *p, int max_fibers)
{
    double all = 0;
    int k = 0;
    for (int i = 0; i <= max_fibers; i++)
        all += p->share[i];
    double left = hot_random_uniform(random) * all;
    while (k < max_fibers && (left -= p->share[k]) >= 0)
        k++;
    return k;
}

/* Two unit vectors across v and each other. */
static void make_across(const double v[3], double across[2][3])
{
    double length;
    const int least = fabs(v[0]) < 0.6 ? 0 : 1;
    for (int d = 0; d < 3; d++)
        across[0][d] = (d == least) - v[least] * v[d];
    length = sqrt(dot(across[0], across[0]));
    for (int d = 0; d < 3; d++)
        across[0][d] /= length;
    for (int d = 0; d < 3; d++)
        across[1][d] = v[(d + 1) % 3] * across[0][(d + 2) % 3] - v[(d + 2) % 3] * across[0][(d + 1) % 3];
}

/* The shells of a voxel of k fibres; their directions. */
static void draw_tissue(hot_random *random, const hot_signal_priors *p, const hot_signal_scheme *s,
                        double misfit, int k, double v[KMAX][3], drawn_shell *shells)
{
    double weight[KMAX], width[KMAX], isotropic = 0, water = 0, mean = 0, sum = 0;
    double fan[KMAX][2] = {{0}};
    const double *ln_d = k ? p->ln_diffusivity : p->ln_diffusivity_none;
    const double diffusivity = exp(ln_d[0] + ln_d[1] * normal(random));
    if (k == 0) {
        water = draw_part(random, any_share);
        isotropic = 1 - water;
    }
    for (int i = 0; k > 0 && i < TRIES && (i == 0 || isotropic + water >= max_beside); i++) {
        isotropic = draw_part(random, p->isotropic);
        water = draw_part(random, p->water);
    }
    draw_directions(random, p, k, v);
    for (int i = 0; i < k; i++) {
        weight[i] = p->spread * normal(random);
        mean += weight[i] / k;
        width[i] = fmax(p->width[0] + p->width[1] * normal(random), min_width);
    }
    for (int i = 0; i < k; i++)
        sum += weight[i] = exp(weight[i] - mean);
    for (int i = 0; i < k && p->fan > 0; i++)
        for (int d = 0; d < 2; d++)
            fan[i][d] = p->fan * normal(random);
    for (size_t shell = 0; shell < s->shells; shell++) {
        drawn_shell *to = &shells[shell];
        memcpy(to->fan, fan, sizeof fan);
        for (int i = 0; i < k; i++)
            make_across(v[i], to->across[i]);
        const double *row = s->response + shell * (size_t)(s->lmax / 2 + 1), b = s->shell_b[shell];
        const double off = misfit * row[s->lmax >= 4 ? 2 : 1] * sqrt(9 / (4 * pi)) / sqrt(LOBES);
        to->flat = isotropic * exp(-b * diffusivity) + water * exp(-b * water_diffusivity);
        for (int i = 0; i < k; i++)
            for (int l = 0; l <= s->lmax / 2; l++)
                to->zonal[i][l] = fmax(1 - isotropic - water, 0) * weight[i] / sum * row[l] *
                                  sqrt((4 * l + 1) / (4 * pi)) * exp(-l * (2 * l + 1) * width[i]);
        for (int m = 0; m < LOBES; m++) {
            draw_direction(random, to->axis[m]);
            to->lobe[m] = s->lmax >= 4 ? off * normal(random) : 0;
        }
    }
}

/* The effect of a fan's amplitudes: the second derivative of a fibre's signal by g . v (kernels/signal/
 * signal_evidence.h). */
static double fan_at(const double fan[2], const double across[2][3], const double *g)
{
    const double a = dot(g, across[0]), b = dot(g, across[1]);
    return fan[0] * (a * a - b * b) / 2 + fan[1] * a * b;
}

static double legendre_4(double x) { return ((35 * x * x - 30) * x * x + 3) / 8; }

/* The signal of one volume, S0 being 1. */
static double signal_at(const drawn_shell *shell, int lmax, int k, const double v[KMAX][3], const double *g)
{
    double value = shell->flat;
    for (int i = 0; i < k; i++) {
        const double u = dot(g, v[i]);
        double before = 1, now = u, slope[2] = {0, 1}, curve[2] = {0, 0}, second = 0; /* of P_l-1 and P_l */
        value += shell->zonal[i][0];
        for (int l = 2; l <= lmax; l++) {
            const double next = ((2 * l - 1) * u * now - (l - 1) * before) / l;
            const double next_slope = slope[0] + (2 * l - 1) * now, next_curve = curve[0] + (2 * l - 1) * slope[1];
            slope[0] = slope[1], slope[1] = next_slope;
            curve[0] = curve[1], curve[1] = next_curve;
            before = now, now = next;
            value += l % 2 ? 0 : shell->zonal[i][l / 2] * next;
            second += l % 2 ? 0 : shell->zonal[i][l / 2] * next_curve;
        }
        value += second * fan_at(shell->fan[i], shell->across[i], g);
    }
    for (int m = 0; m < LOBES; m++)
        value += shell->lobe[m] * legendre_4(dot(g, shell->axis[m]));
    return value;
}

static size_t nearest_shell(const hot_signal_scheme *s, double b)
{
    size_t best = 0;
    for (size_t i = 1; i < s->shells; i++)
        if (fabs(s->shell_b[i] - b) < fabs(s->shell_b[best] - b))
            best = i;
    return best;
}

void hot_signal_simulate(const hot_signal_priors *population, const hot_signal_scheme *scheme,
                     hot_noise_model noise_model, int max_fibers, double misfit, uint64_t seed, size_t count,
                     const double *snr, int threads, double *scratch, float *signals, uint8_t *fibers,
                     float *directions)
{
#pragma omp parallel for schedule(static) num_threads(hot_team(threads))
    for (size_t i = 0; i < count; i++) {
        double *clean = scratch + (size_t)omp_get_thread_num() * scheme->volumes;
        hot_random random = hot_random_start(seed, STREAM, i);
        double v[KMAX][3];
        drawn_shell shells[MAX_SHELLS];
        const int k = draw_number(&random, population, max_fibers);
        fibers[i] = (uint8_t)k;
        draw_tissue(&random, population, scheme, misfit, k, v, shells);
        for (int d = 0; d < 3 * KMAX; d++)
            directions[3 * KMAX * i + (size_t)d] = d < 3 * k ? (float)v[d / 3][d % 3] : 0;
        for (size_t j = 0; j < scheme->volumes; j++)
            clean[j] = scheme->b[j] <= B0_LIMIT ? 1 : signal_at(&shells[nearest_shell(scheme, scheme->b[j])],
                                                                scheme->lmax, k, v, scheme->gradients + 3 * j);
        /* the voxel's variance is the usual one over chi squared of the population's freedom (Wilson and Hilferty) */
        const double h = 2 / (9 * population->noise_freedom), cube = fmax(1 - h + sqrt(h) * normal(&random), 0.2);
        const double sigma = population->noise / sqrt(cube * cube * cube);
        for (size_t j = 0; j < scheme->volumes; j++) {
            double a, b;
            hot_random_normals(&random, &a, &b);
            const double real = clean[j] * snr[i] + sigma * a;
            signals[i * scheme->volumes + j] =
                (float)(noise_model == HOT_NOISE_GAUSSIAN ? real : sqrt(real * real + sigma * sigma * b * b));
        }
    }
}

/* The response of the fits without the bias of its noise, because simulated signals get noise, and its bias. rows:
 * shells x (lmax / 2 + 1). */
static void clean_response(const hot_signal_options *options, const hot_signal_scheme *scheme, double *rows)
{
    const int terms = scheme->lmax / 2 + 1;
    for (size_t shell = 0; shell < scheme->shells; shell++) {
        double *row = rows + shell * (size_t)terms;
        hot_signal_clean_response(options, scheme, shell, scheme->lmax, row);
        for (int l = 0; l < terms; l++)
            row[l] /= sqrt((4 * l + 1) / (4 * pi));
    }
}

hot_status hot_simulated_make(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                          size_t room, hot_simulated_voxels *drawn)
{
    const size_t terms = (size_t)(scheme->lmax / 2 + 1), threads = (size_t)hot_context_threads(context);
    *drawn = (hot_simulated_voxels){.context = context, .options = options, .scheme = scheme, .room = room, .rows = 1,
                         .max_fibers = options->max_fibers ? options->max_fibers : HOT_SIMULATED_KMAX};
    for (size_t v = 0; v < scheme->volumes; v++)
        drawn->rows += scheme->b[v] > 50;
    drawn->fits = hot_context_calloc(context, room, 4 * sizeof *drawn->fits);
    drawn->fibers = hot_context_alloc(context, room, 1);
    drawn->found = hot_context_alloc(context, room, 1);
    drawn->directions = hot_context_alloc(context, room, 3 * HOT_SIMULATED_KMAX * sizeof *drawn->directions);
    drawn->peaks = hot_context_alloc(context, room, 3 * HOT_SIMULATED_KMAX * sizeof *drawn->peaks);
    drawn->signals = hot_context_alloc(context, room, scheme->volumes * sizeof *drawn->signals);
    drawn->scratch = hot_context_alloc(context, threads * scheme->volumes, sizeof *drawn->scratch);
    drawn->snr = hot_context_alloc(context, room, sizeof *drawn->snr);
    drawn->response = hot_context_alloc(context, scheme->shells * terms, sizeof *drawn->response);
    return drawn->fits && drawn->fibers && drawn->found && drawn->directions && drawn->peaks && drawn->signals &&
                   drawn->scratch && drawn->snr && drawn->response ? HOT_OK : HOT_ERROR_MEMORY;
}

void hot_simulated_free(hot_simulated_voxels *drawn)
{
    hot_context *context = drawn->context;
    HOT_FREE(context, drawn->response, drawn->snr, drawn->scratch, drawn->signals, drawn->peaks, drawn->directions,
             drawn->found, drawn->fibers, drawn->fits);
}

hot_status hot_simulate_voxels(hot_simulated_voxels *drawn, const hot_signal_priors *from,
                          const hot_signal_priors *population, double misfit, uint64_t seed, size_t count,
                          const double *snr, size_t known)
{
    hot_signal_options options = *drawn->options;
    hot_signal_scheme clean = *drawn->scheme;
    const hot_signal_result result = {.size = sizeof result, .directions = drawn->peaks, .found = drawn->found,
                                      .fits = drawn->fits};
    drawn->count = count < drawn->room ? count : drawn->room;
    options.population = population;
    options.sigma = 1;
    clean.response = drawn->response;
    clean_response(&options, drawn->scheme, drawn->response);
    for (size_t i = 0; i < drawn->count; i++)
        drawn->snr[i] = snr[i % known];
    hot_signal_simulate(from, &clean, options.noise_model, drawn->max_fibers, misfit, seed, drawn->count, drawn->snr,
                    hot_context_threads(drawn->context), drawn->scratch, drawn->signals, drawn->fibers,
                    drawn->directions);
    return hot_signal_fibers_f32(drawn->context, &options, drawn->scheme, drawn->count, drawn->signals, NULL, NULL,
                                 NULL, &result);
}

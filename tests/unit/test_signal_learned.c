/* The priors that the signal method learns are those that the data were made with; few voxels, only single fibres, few
 * directions; threads; memory that runs out; refusals. */
#include "check.h"
#include "few_directions.h"
#include "starve.h"

#include <hotfiber/hotfiber.h>

#include "fibers/signal_simulation.h"
#include "fibers/signal_priors.h"
#include "signal/signal_response.h"

enum { MOST = 70, B0 = 6 };

/* Volumes of b=0 and `weighted` of 1500 with directions on a spiral; fibres with individual widths and an isotropic
 * compartment of diffusivity .9e-3 and fraction 0 to `share`. Of every 4 voxels `crossing` have two fibres, at 90
 * degrees. */
static hot_dwi *make(hot_context *context, uint64_t seed, size_t voxels, int weighted, double share, int crossing)
{
    const int volumes = B0 + weighted;
    double b[MOST], g[3 * MOST] = {0};
    float *signals = malloc(voxels * (size_t)volumes * sizeof *signals);
    hot_dwi *dwi = NULL;
    hot_grid grid = {.size = {voxels, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    for (int v = 0; v < volumes; v++) {
        const double z = (v - B0 + 0.5) / weighted, r = sqrt(fmax(1 - z * z, 0)), turn = 2.399963229728653 * v;
        b[v] = v < B0 ? 0 : 1500;
        if (v >= B0)
            g[3 * v] = r * cos(turn), g[3 * v + 1] = r * sin(turn), g[3 * v + 2] = z;
    }
    for (size_t i = 0; i < voxels; i++) {
        double axis[2][3], along = 0, length = 0;
        const int two = (int)(i % 4) < crossing;
        check_random_unit(&seed, axis[0]);
        check_random_unit(&seed, axis[1]);
        for (int d = 0; d < 3; d++)
            along += axis[0][d] * axis[1][d];
        for (int d = 0; d < 3; d++)
            axis[1][d] -= along * axis[0][d], length += axis[1][d] * axis[1][d];
        for (int d = 0; d < 3; d++)
            axis[1][d] = two ? axis[1][d] / sqrt(length) : axis[0][d];
        const double isotropic = share * check_random(&seed), across = 0.2e-3 + 0.2e-3 * check_random(&seed);
        for (int v = 0; v < volumes; v++) {
            double clean = isotropic * exp(-b[v] * 0.9e-3);
            for (int s = 0; s < 2; s++) {
                const double u = g[3 * v] * axis[s][0] + g[3 * v + 1] * axis[s][1] + g[3 * v + 2] * axis[s][2];
                clean += (1 - isotropic) / 2 * exp(-b[v] * (across + (1.7e-3 - across) * u * u));
            }
            const double re = clean + check_random_normal(&seed) / 30, im = check_random_normal(&seed) / 30;
            signals[(size_t)v * voxels + i] = (float)(1000 * sqrt(re * re + im * im));
        }
    }
    CHECK(hot_dwi_create(context, &grid, (size_t)volumes, b, g, signals, &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    free(signals);
    return dwi;
}

static hot_context *make_context(int threads)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = threads, .seed = 5};
    hot_context *context = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    return context;
}

/* The shares of voxels with 0 to 3 fibres; *maps: free its arrays; *fibers may be NULL. */
static void find(hot_context *context, const hot_dwi *dwi, const hot_response *response, double shares[4],
                 hot_signal_maps *maps, hot_fiber_field **kept)
{
    hot_signal_find_options options = {.size = sizeof options, .keep_maps = 1, .keep_cones = 1, .samples = 5};
    hot_mask *mask = NULL;
    hot_fiber_field *fibers = NULL;
    const size_t voxels = hot_dwi_grid(dwi)->size[0];
    memset(shares, 0, 4 * sizeof *shares);
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, &options, maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    for (size_t i = 0; fibers && i < voxels; i++)
        shares[hot_fiber_field_counts(fibers)[i]] += 1 / (double)voxels;
    if (kept)
        *kept = fibers;
    else
        hot_fiber_field_destroy(&fibers);
    hot_mask_destroy(&mask);
}

static void check_learned(hot_context *context, const hot_response *response)
{
    double shares[4];
    hot_signal_maps maps;
    hot_dwi *dwi = make(context, 1, 2000, 64, 0.5, 2);
    find(context, dwi, response, shares, &maps, NULL);
    const hot_signal_priors *p = &maps.population;
    CHECK(fabs(shares[1] - 0.5) <= 0.03 && fabs(shares[2] - 0.5) <= 0.03, "shares %g %g %g %g, not half and half",
          shares[0], shares[1], shares[2], shares[3]);
    CHECK(fabs(p->share[1] - 0.5) <= 0.05 && fabs(p->share[2] - 0.5) <= 0.05, "learned shares %g %g", p->share[1],
          p->share[2]);
    CHECK(fabs(p->isotropic[0] + p->water[0] - 0.25) <= 0.05, "isotropic parts %g and %g, not .25 together",
          p->isotropic[0], p->water[0]);
    CHECK(fabs(hypot(p->isotropic[1], p->water[1]) - 0.5 / sqrt(12)) <= 0.05, "deviations %g, %g", p->isotropic[1],
          p->water[1]);
    CHECK(fabs(p->width[0]) <= 0.01 && p->width[1] <= 0.02, "width %g +- %g", p->width[0], p->width[1]);
    CHECK(p->near[0][5] > 2 && p->near[0][0] < 0.6, "right angles are learned: %g, %g", p->near[0][5], p->near[0][0]);
    CHECK(fabs(p->noise - 1) <= 0.05 && p->noise_freedom > 50, "noise %g, %g", p->noise, p->noise_freedom);
    /* what P(k) says is so on average, and the margin says the same */
    double sum = 0, right = 0;
    for (size_t i = 0; i < 2000; i++) {
        const float *k = maps.probability + 4 * i;
        sum += (double)fmaxf(fmaxf(k[0], k[1]), fmaxf(k[2], k[3]));
        right += (k[1] > k[2] && k[1] > k[3] && i % 4 >= 2) || (k[2] > k[1] && k[2] > k[3] && i % 4 < 2);
        const double odds = log10((double)fmaxf(k[1], k[2]) / (double)fminf(k[1], k[2]));
        if (odds < 5 && fminf(k[1], k[2]) > fmaxf(k[0], k[3]))
            CHECK(fabs(odds - (double)maps.margin[i]) <= 1e-3 * (1 + odds), "odds of 10^%g, margin %g", odds,
                  (double)maps.margin[i]);
    }
    CHECK(fabs(p->certainty - 1) > 0.01, "certainty %g: then P(k) and margins are not looked at", p->certainty);
    CHECK(fabs(sum - right) <= 40, "P says that %g of 2000 are right, %g are", sum, right);
    hot_signal_maps_free(&maps);
    hot_dwi_destroy(&dwi);
}

static void check_unusual(hot_context *context, const hot_response *response)
{
    double shares[4];
    hot_signal_maps maps;
    const struct { size_t voxels; int weighted, crossing; double least; const char *what; } cases[] = {
        {400, 64, 0, 0.99, "single fibres alone"}, {400, 64, 4, 0.97, "crossings alone"},
        {200, 64, 0, 0.99, "200 voxels"}, {4, 64, 0, 1, "4 voxels"}, {400, 12, 0, 0.97, "12 directions"},
        {400, 6, 0, 0.9, "6 directions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hot_dwi *dwi = make(context, 10 + i, cases[i].voxels, cases[i].weighted, 0.4, cases[i].crossing);
        find(context, dwi, response, shares, &maps, NULL);
        CHECK(shares[cases[i].crossing ? 2 : 1] >= cases[i].least, "%s: %g %g %g %g have 0 to 3 fibres", cases[i].what,
              shares[0], shares[1], shares[2], shares[3]);
        hot_signal_maps_free(&maps);
        hot_dwi_destroy(&dwi);
    }
}

/* Data that are noise and nothing else, many voxels and few: no failure, and numbers that are numbers. */
static void check_noise(hot_context *context, const hot_response *response)
{
    enum { VOLUMES = 40, VOXELS = 1500 };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const size_t voxels = seed == 1 ? VOXELS : VOXELS / 5;
        uint64_t state = seed;
        double b[VOLUMES], g[3 * VOLUMES] = {0}, shares[4];
        float *signals = malloc(sizeof(float[VOLUMES * VOXELS]));
        hot_grid grid = {.size = {voxels, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
        hot_dwi *dwi = NULL;
        hot_signal_maps maps;
        for (int v = 0; v < VOLUMES; v++) {
            b[v] = v < 2 ? 0 : 1500;
            if (v >= 2)
                check_random_unit(&state, g + 3 * v);
        }
        for (size_t i = 0; i < VOLUMES * voxels; i++)
            signals[i] = (float)pow(check_random_normal(&state), 2);
        CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s",
              hot_context_message(context));
        find(context, dwi, response, shares, &maps, NULL);
        CHECK(isfinite(maps.population.spread) && maps.population.spread > 0, "seed %d: a spread of %g", (int)seed,
              maps.population.spread);
        hot_signal_maps_free(&maps);
        hot_dwi_destroy(&dwi);
        free(signals);
    }
}

/* Any number of threads gives the same, bit by bit. */
static void check_threads(hot_context *context, const hot_response *response)
{
    double shares[4];
    hot_signal_maps maps[2];
    hot_fiber_field *fibers[2] = {NULL, NULL};
    hot_context *many = make_context(3);
    hot_dwi *dwi = make(context, 30, 301, 40, 0.5, 2);
    find(context, dwi, response, shares, &maps[0], &fibers[0]);
    find(many, dwi, response, shares, &maps[1], &fibers[1]);
    CHECK(memcmp(maps[0].probability, maps[1].probability, 301 * 4 * sizeof(float)) == 0, "other probabilities");
    CHECK(memcmp(maps[0].cone, maps[1].cone, 301 * 3 * sizeof(float)) == 0, "other cones");
    CHECK(memcmp(&maps[0].population, &maps[1].population, sizeof maps[0].population) == 0, "another population");
    for (int i = 0; i < 2; i++) {
        hot_signal_maps_free(&maps[i]);
        hot_fiber_field_destroy(&fibers[i]);
    }
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&many);
}

/* Every allocation failing, from there on: an error, nothing leaked, no maps and no fibres. */
static void check_starved(const hot_response *response)
{
    hot_status status = HOT_ERROR_MEMORY;
    int k = 0;
    for (; k < 400 && status != HOT_OK; k++) {
        starved memory = {.fail_at = -1, .for_good = 1};
        hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 2,
                                       .allocate = starved_take, .release = starved_give, .allocator_user = &memory};
        hot_signal_find_options how = {.size = sizeof how, .keep_maps = 1,
                                       .keep_cones = 1, .samples = 2};
        hot_context *context = NULL;
        hot_mask *mask = NULL;
        hot_fiber_field *fibers = NULL;
        hot_signal_maps maps;
        CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
        hot_dwi *dwi = make(context, 40, 3, 12, 0.2, 0);
        CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK, "%s", hot_context_message(context));
        memory.fail_at = memory.calls + k;
        status = hot_fiber_field_signal(context, dwi, mask, response, &how, &maps, &fibers);
        memory.fail_at = -1;
        CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && !fibers && !maps.probability),
              "allocation %d: status %d", k, (int)status);
        hot_signal_maps_free(&maps);
        hot_fiber_field_destroy(&fibers);
        hot_mask_destroy(&mask);
        hot_dwi_destroy(&dwi);
        hot_context_destroy(&context);
        CHECK(memory.live == 0, "allocation %d: %ld pieces leaked", k, memory.live);
    }
    CHECK(k > 20 && status == HOT_OK, "%d allocations", k);
}

/* Few directions and much noise: the evidence alone is overconfident; calibrated by simulated voxels it is not, for
 * voxels of another seed. */
static void check_calibrated(hot_context *context)
{
    enum { WEIGHTED = 15, VOLUMES = 2 + WEIGHTED, COUNT = 3000 };
    const double shell = 1500;
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, response[TERMS], scratch[VOLUMES], error[2];
    double *snr = malloc(COUNT * sizeof *snr);
    float *signals = malloc(COUNT * VOLUMES * sizeof *signals), *directions = malloc(COUNT * 9 * sizeof *directions);
    float *probability = malloc(COUNT * 4 * sizeof *probability);
    uint8_t *fibers = malloc(COUNT);
    hot_signal_priors population;
    make_scheme(WEIGHTED, shell, b, g, response);
    for (int i = 0; i < COUNT; i++)
        snr[i] = 12;
    hot_signal_priors_default(&population);
    population.width[1] = 0.02, population.noise_freedom = 60;
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 1,
                                .shell_b = &shell, .response = response, .lmax = 2 * (TERMS - 1)};
    hot_signal_options options = {.size = sizeof options, .sigma = 1, .max_fibers = 3,
                                  .population = &population};
    hot_signal_result result = {.size = sizeof result, .directions = directions, .probability = probability};
    for (int calibrated = 0; calibrated < 2; calibrated++) {
        if (calibrated)
            CHECK(hot_signal_calibrate_evidence(context, &options, &scheme, 1000, snr, 1, 1, &population) == HOT_OK,
                  "%s",
                  hot_context_message(context));
        hot_signal_simulate(&population, &scheme, HOT_NOISE_RICIAN, 3, HOT_SIGNAL_MISFIT_SHARE, 99, COUNT, snr, 1,
                            scratch,
                        signals, fibers, directions);
        CHECK(hot_signal_fibers_f32(context, &options, &scheme, COUNT, signals, NULL, NULL, NULL, &result) == HOT_OK,
              "%s", hot_context_message(context));
        error[calibrated] = calibration_error(COUNT, probability, fibers);
    }
    CHECK(error[0] > 0.06 && error[1] < 0.04, "P(k) is off by %.3f, and calibrated by %.3f", error[0], error[1]);
    CHECK(population.evidence_scale < 0.95 && population.evidence_shift[1] <= population.evidence_shift[2] &&
              population.evidence_shift[2] <= population.evidence_shift[3], "scale %g, shifts %g %g %g",
          population.evidence_scale, population.evidence_shift[1], population.evidence_shift[2],
          population.evidence_shift[3]);
    FREE(fibers, probability, directions, signals, snr);
}

/* Voxels are simulated from the response without the bias of its own noise, because simulated noise is added again: a
 * response averaged from noisy magnitudes gives the same calibration as one of noise-free data. */
static void check_noisy_response(hot_context *context)
{
    enum { WEIGHTED = 64, VOLUMES = 2 + WEIGHTED, COUNT = 1000 };
    const double pi = 3.14159265358979323846, shell = 3000, sigma = 0.12;
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, response[TERMS], noisy[TERMS] = {0}, snr[COUNT];
    hot_signal_priors clean, biased;
    make_scheme(WEIGHTED, shell, b, g, response);
    for (int i = 0; i < COUNT; i++)
        snr[i] = 1 / sigma;
    for (int i = 0; i < 2000; i++) { /* the mean of magnitudes: sqrt(pi / 2) L_1/2, by Bessel functions' series */
        const double u = (i + 0.5) / 2000, x = pow(exp(-shell * (0.3e-3 + 1.4e-3 * u * u)) / sigma, 2) / 4;
        const double p[TERMS] = {1, (3 * u * u - 1) / 2, (35 * pow(u, 4) - 30 * u * u + 3) / 8,
            (231 * pow(u, 6) - 315 * pow(u, 4) + 105 * u * u - 5) / 16,
            (6435 * pow(u, 8) - 12012 * pow(u, 6) + 6930 * pow(u, 4) - 1260 * u * u + 35) / 128};
        double zero = 0, one = 0, term = 1;
        for (int n = 0; n < 40; n++) { /* I0(x) and I1(x) */
            zero += term;
            one += term * x / 2 / (n + 1);
            term *= x * x / 4 / (n + 1) / (n + 1);
        }
        const double mean = sigma * sqrt(pi / 2) * exp(-x) * ((1 + 2 * x) * zero + 2 * x * one);
        for (int l = 0; l < TERMS; l++)
            noisy[l] += 4 * pi * sqrt((4 * l + 1) / (4 * pi)) * p[l] * mean / 2000;
    }
    hot_signal_priors_default(&clean);
    clean.width[1] = 0.02, clean.noise_freedom = 60;
    biased = clean;
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 1,
                                .shell_b = &shell, .response = response, .lmax = 2 * (TERMS - 1)};
    hot_signal_options options = {.size = sizeof options, .sigma = 1, .max_fibers = 3};
    CHECK(hot_signal_calibrate_evidence(context, &options, &scheme, COUNT, snr, 1, 1, &clean) == HOT_OK, "%s",
          hot_context_message(context));
    scheme.response = noisy;
    options.response_sigma = sigma;
    CHECK(hot_signal_calibrate_evidence(context, &options, &scheme, COUNT, snr, 1, 1, &biased) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(fabs(clean.evidence_scale - biased.evidence_scale) < 0.05 && fabs(clean.recovered - biased.recovered) < 0.02,
          "scale %g and %g, recovered %g and %g", clean.evidence_scale, biased.evidence_scale, clean.recovered,
          biased.recovered);
    for (int k = 1; k < 4; k++)
        CHECK(fabs(clean.evidence_shift[k] - biased.evidence_shift[k]) < 0.25, "shift of %d: %g and %g", k,
              clean.evidence_shift[k], biased.evidence_shift[k]);
}

/* Fans: their size is learned from simulated voxels with fans; without fans the learned size is below the start, and
 * with fans in the evidence fewer of them are fitted as crossings. Noise-free data give finite numbers. */
static void check_fans(hot_context *context)
{
    enum { WEIGHTED = 64, VOLUMES = 2 + WEIGHTED, COUNT = 2000 };
    const double shell = 3000, drawn[] = {0, 0.03, 0.06};
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, response[TERMS], scratch[VOLUMES];
    double *snr = malloc(COUNT * sizeof *snr);
    float *signals = malloc(COUNT * VOLUMES * sizeof *signals), *directions = malloc(COUNT * 9 * sizeof *directions);
    uint8_t *fibers = malloc(COUNT), *found = malloc(COUNT);
    make_scheme(WEIGHTED, shell, b, g, response);
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 1,
                                .shell_b = &shell, .response = response, .lmax = 2 * (TERMS - 1)};
    hot_signal_options options = {.size = sizeof options, .sigma = 1, .max_fibers = 3};
    const hot_signal_result result = {.size = sizeof result, .directions = directions, .found = found};
    for (int noise = 1; noise >= 0; noise--)
        for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
            const int count = noise ? COUNT : COUNT / 4;
            hot_signal_priors truth, learned;
            size_t fitted = 0, single[2] = {0}, ones = 0;
            hot_signal_priors_default(&truth);
            truth.width[1] = 0.02, truth.noise_freedom = 60, truth.fan = drawn[i];
            for (int v = 0; v < count; v++)
                snr[v] = noise ? 30 : 1e6;
            hot_signal_simulate(&truth, &scheme, HOT_NOISE_RICIAN, 3, 0, 17 + i, count, snr, 1, scratch, signals,
                                fibers,
                            directions);
            options.population = NULL;
            CHECK(hot_signal_learn(context, &options, &scheme, count, signals, NULL, 1e-3, 0, &learned, &fitted) ==
                      HOT_OK, "fans of %g, noise %d: %s", drawn[i], noise, hot_context_message(context));
            CHECK(isfinite(learned.fan) && learned.fan > 0, "fans of %g, noise %d: %g", drawn[i], noise, learned.fan);
            options.population = &learned;
            for (int with = 1; with >= 0; with--) {
                learned.fan = with ? learned.fan : 0;
                for (int k = 0; k < 4 && !with; k++)
                    learned.told[k] = fmin(learned.told[k], 4 * k + 3);
                if (with && noise)
                    CHECK(drawn[i] > 0 ? fabs(learned.fan / drawn[i] - 1) < 0.25 : learned.fan < 0.01,
                          "fans of %g are learned as %g", drawn[i], learned.fan);
                CHECK(hot_signal_fibers_f32(context, &options, &scheme, count, signals, NULL, NULL, NULL, &result) ==
                          HOT_OK, "%s", hot_context_message(context));
                for (int v = 0; v < count; v++)
                    single[with] += fibers[v] == 1 && found[v] == 1;
            }
            for (int v = 0; v < count; v++)
                ones += fibers[v] == 1;
            CHECK(!noise || drawn[i] == 0 || single[1] > single[0] + ones / 20, "fans of %g: %zu of %zu single fibres, "
                  "without fans %zu", drawn[i], single[1], ones, single[0]);
        }
    FREE(found, fibers, directions, signals, snr);
}

/* How much fibres differ in width, and the isotropic parts in size, is learned from voxels drawn with it: from few of
 * fibres that are all alike, far from the start, as from such as differ. */
static void check_alike(hot_context *context)
{
    enum { WEIGHTED = 64, VOLUMES = 2 + WEIGHTED, COUNT = 600 };
    const double shell = 3000, width[][2] = {{0.001, 0.009}, {0.03, 0.038}}, part[][2] = {{0.001, 0.045}, {0.1, 0.13}};
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, response[TERMS], scratch[VOLUMES], snr[COUNT];
    float *signals = malloc(COUNT * VOLUMES * sizeof *signals), *directions = malloc(COUNT * 9 * sizeof *directions);
    uint8_t fibers[COUNT];
    make_scheme(WEIGHTED, shell, b, g, response);
    const hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 1,
                                      .shell_b = &shell, .response = response, .lmax = 2 * (TERMS - 1)};
    const hot_signal_options options = {.size = sizeof options, .sigma = 1, .max_fibers = 3};
    for (int v = 0; v < COUNT; v++)
        snr[v] = 30;
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        hot_signal_priors truth, learned;
        size_t fitted = 0;
        hot_signal_priors_default(&truth);
        truth.width[1] = width[i][0], truth.isotropic[0] = part[i][0], truth.isotropic[1] = part[i][0];
        truth.water[0] = truth.water[1] = 0.001;
        truth.share[0] = truth.share[3] = 0, truth.share[1] = truth.share[2] = 0.5;
        hot_signal_simulate(&truth, &scheme, HOT_NOISE_RICIAN, 3, 0, 29, COUNT, snr, 1, scratch, signals, fibers,
                        directions);
        CHECK(hot_signal_learn(context, &options, &scheme, COUNT, signals, NULL, 1e-3, 0, &learned, &fitted) == HOT_OK,
              "%s", hot_context_message(context));
        CHECK(learned.width[1] > width[i][0] * 0.7 && learned.width[1] < width[i][1], "widths of +- %g: %g",
              width[i][0], learned.width[1]);
        CHECK(learned.isotropic[1] > part[i][0] * 0.5 && learned.isotropic[1] < part[i][1], "parts of +- %g: %g",
              part[i][0], learned.isotropic[1]);
    }
    FREE(directions, signals);
}

static void check_refused(hot_context *context)
{
    double b[8] = {0, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, g[24] = {0}, shell = 1000, response[2] = {1, -0.5};
    float signals[8] = {0}, directions[9];
    for (int v = 0; v < 8; v++)
        g[3 * v + v % 3] = 1, signals[v] = (float)(v ? 3 + v % 3 : 9);
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = 8, .b = b, .gradients = g, .shells = 1,
                                .shell_b = &shell, .response = response, .lmax = 2};
    hot_signal_priors population;
    hot_signal_options options = {.size = sizeof options, .sigma = 1, .population = &population};
    hot_signal_result result = {.size = sizeof result, .directions = directions};
    double *const bad[] = {&population.width[1], &population.share[2], &population.near[1][3], &population.noise,
                           &population.evidence_scale, &population.evidence_shift[3], &population.certainty,
                           &population.cone_growth[2], &population.certainty, &population.cone_growth[1]};
    const double worse[] = {0, NAN, 0, NAN, 0, NAN, 0, NAN, INFINITY, 1.01};
    const double fans[] = {-0.01, NAN, 1.5};
    hot_signal_priors_default(&population);
    CHECK(hot_signal_fibers_f32(context, &options, &scheme, 1, signals, NULL, NULL, NULL, &result) == HOT_OK, "%s",
          hot_context_message(context));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double good = *bad[i];
        *bad[i] = worse[i];
        CHECK(hot_signal_fibers_f32(context, &options, &scheme, 1, signals, NULL, NULL, NULL, &result) ==
                  HOT_ERROR_ARGUMENT, "number %zu was not refused", i);
        *bad[i] = good;
    }
    for (size_t i = 0; i < sizeof fans / sizeof *fans; i++) {
        population.fan = fans[i];
        CHECK(hot_signal_fibers_f32(context, &options, &scheme, 1, signals, NULL, NULL, NULL, &result) ==
                  HOT_ERROR_ARGUMENT, "fans of %g were not refused", fans[i]);
    }
}

/* b=0 volumes that vary by more than noise make no bias: the learned noise counts, never more. */
static void check_response_sigma(void)
{
    const hot_signal_options how = {.size = sizeof how, .response_sigma = 0.04};
    hot_signal_priors population = {.size = sizeof population, .noise = 0.5};
    CHECK_NEAR(hot_signal_response_sigma(&how, &population), 0.02, 1e-15, "half the noise");
    population.noise = 1.7;
    CHECK_NEAR(hot_signal_response_sigma(&how, &population), 0.04, 1e-15, "more noise");

    /* Gaussian noise has no bias; that of magnitudes is subtracted from the mean. */
    const double shell = 3000, row[3] = {1, -0.5, 0.1};
    const hot_signal_scheme scheme = {.size = sizeof scheme, .shells = 1, .shell_b = &shell, .response = row,
                                      .lmax = 4};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        hot_signal_options options = {.size = sizeof options, .response_sigma = 0.2,
                                      .noise_model = gaussian ? HOT_NOISE_GAUSSIAN : HOT_NOISE_RICIAN};
        double amplitude[3];
        hot_signal_clean_response(&options, &scheme, 0, 4, amplitude);
        const double bias = row[0] * sqrt(1 / (4 * M_PI)) - amplitude[0];
        CHECK(gaussian ? fabs(bias) <= 1e-15 : bias > 0.01, "bias %g", bias);
        options.response_sigma = 1e-6;
        hot_signal_clean_response(&options, &scheme, 0, 4, amplitude);
        CHECK_NEAR(amplitude[0], row[0] * sqrt(1 / (4 * M_PI)), 1e-5, "next to no noise");
    }
}

int main(void)
{
    hot_context *context = make_context(1);
    hot_response *response = NULL;
    hot_dwi *plain = make(context, 3, 10, 64, 0, 0);
    CHECK(hot_response_tensor(context, plain, 1.7e-3, 0.3e-3, 1000, 8, &response) == HOT_OK, "%s",
          hot_context_message(context));
    check_learned(context, response);
    check_unusual(context, response);
    check_noise(context, response);
    check_threads(context, response);
    check_starved(response);
    check_calibrated(context);
    check_noisy_response(context);
    check_response_sigma();
    check_fans(context);
    check_alike(context);
    check_refused(context);
    hot_dwi_destroy(&plain);
    hot_response_destroy(&response);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

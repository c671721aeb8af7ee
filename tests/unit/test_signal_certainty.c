/* Calibration of P(k) and cones by simulated voxels of a population that resembles the data. */
#include "check.h"
#include "few_directions.h"

#include <hotfiber/hotfiber.h>

#include "fibers/signal_priors.h"
#include "fibers/signal_simulation.h"
#include "fibers/signal_posterior.h"
#include "signal/signal_plan.h"

/* Overconfident or underconfident P(k) is detected by voxels of a population that resembles the data: if the scale of
 * the evidence is wrong, and if shares and separations are, which voxels drawn from the priors themselves cannot
 * show. */
static void check_certified(hot_context *context)
{
    enum { WEIGHTED = 20, VOLUMES = 2 + WEIGHTED, COUNT = 3000 };
    const double shell = 2500;
    const struct { double scale, single, near, least, most, left; } cases[] = {
        {1.6, 0.4, 1, 0.5, 0.8, 0.5}, {0.6, 0.4, 1, 1.2, 2, 0.5}, {1, 0.55, 0.3, 0.5, 0.95, 0.8}};
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, response[TERMS], scratch[VOLUMES];
    double *snr = malloc(COUNT * sizeof *snr);
    float *signals = malloc(COUNT * VOLUMES * sizeof *signals), *directions = malloc(COUNT * 9 * sizeof *directions);
    hot_signal_fit *fits = malloc(COUNT * 4 * sizeof *fits);
    float *probability = malloc(COUNT * 4 * sizeof *probability);
    uint8_t *fibers = malloc(COUNT);
    hot_signal_priors truth;
    make_scheme(WEIGHTED, shell, b, g, response);
    for (int i = 0; i < COUNT; i++)
        snr[i] = 15;
    hot_signal_priors_default(&truth);
    truth.width[0] = truth.width[1] = 0.02, truth.noise_freedom = 60;
    truth.share[0] = 0.15, truth.share[1] = 0.4, truth.share[2] = 0.35, truth.share[3] = 0.1;
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 1,
                                .shell_b = &shell, .response = response, .lmax = 2 * (TERMS - 1)};
    hot_signal_options options = {.size = sizeof options, .sigma = 1, .max_fibers = 3};
    hot_signal_result result = {.size = sizeof result, .directions = directions, .fits = fits};
    CHECK(hot_signal_calibrate_evidence(context, &options, &scheme, 1000, snr, 1, 1, &truth) == HOT_OK, "%s",
          hot_context_message(context));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hot_signal_priors learned = truth;
        double error[2] = {0};
        learned.evidence_scale *= cases[i].scale;
        learned.share[2] += 0.8 * (learned.share[1] - cases[i].single);
        learned.share[3] += 0.2 * (learned.share[1] - cases[i].single);
        learned.share[1] = cases[i].single, learned.near[0][0] = learned.near[0][1] = cases[i].near;
        options.population = &learned;
        for (int seen = 0; seen < 2; seen++) { /* what is judged is not what is learned from */
            hot_signal_simulate(&truth, &scheme, HOT_NOISE_RICIAN, 3, 0.07, 91 + (uint64_t)seen, COUNT, snr, 1, scratch,
                            signals, fibers, directions);
            CHECK(hot_signal_fibers_f32(context, &options, &scheme, COUNT, signals, NULL, NULL, NULL, &result) ==
                      HOT_OK, "%s", hot_context_message(context));
            if (seen == 0)
                CHECK(hot_signal_calibrate_posterior(context, &options, &scheme, COUNT, fits, 1000, snr, 1, &learned) ==
                          HOT_OK,
                      "%s", hot_context_message(context));
        }
        for (int tempered = 0; tempered < 2; tempered++) {
            for (size_t v = 0; v < COUNT; v++) {
                double p[4];
                int best = 0;
                hot_posterior_weigh(fits + 4 * v, p);
                for (int k = 1; k < 4; k++)
                    best = p[k] > p[best] ? k : best;
                if (tempered)
                    hot_posterior_temper(p, best, &learned);
                for (int k = 0; k < 4; k++) {
                    CHECK(p[best] >= p[k], "voxel %zu: %d is more likely than %d", v, k, best);
                    probability[4 * v + (size_t)k] = (float)p[k];
                }
            }
            error[tempered] = calibration_error(COUNT, probability, fibers);
        }
        printf("case %zu: P(k) is off by %.3f, and then by %.3f; certainty %.3f\n", i, error[0], error[1],
               learned.certainty);
        CHECK(error[0] > 0.04 && error[1] < cases[i].left * error[0],
              "case %zu: P(k) is off by %.3f, and then by %.3f", i, error[0], error[1]);
        CHECK(learned.certainty > cases[i].least && learned.certainty < cases[i].most, "case %zu: certainty %g", i,
              learned.certainty);
        for (int k = 1; k < 4; k++)
            CHECK(learned.cone_variance[k] >= 1 && learned.cone_variance[k] < 3 && learned.cone_growth[k] >= 0 &&
                      learned.cone_growth[k] <= 1, "cones of %d fibres: %g, %g", k, learned.cone_variance[k],
                  learned.cone_growth[k]);
    }
    FREE(fibers, probability, fits, directions, signals, snr);
}

/* Priors reach the fits: each in its place, although all are different. */
static void check_filled(void)
{
    hot_signal_priors p;
    signal_learned filled;
    hot_signal_priors_default(&p);
    p.width[0] = .01, p.width[1] = .02, p.isotropic[0] = .11, p.isotropic[1] = .125, p.water[0] = .2, p.water[1] = .25;
    p.ln_diffusivity[0] = log(1.1e-3), p.ln_diffusivity[1] = .4, p.ln_diffusivity_none[0] = log(2e-3);
    p.ln_diffusivity_none[1] = .16, p.spread = .8, p.noise = 1.25, p.noise_freedom = 40, p.fan = .05;
    p.evidence_scale = .75;
    for (int k = 0; k < 4; k++)
        p.told[k] = 2.5 + 3 * k, p.evidence_shift[k] = .5 - k;
    for (int i = 0; i < 2 * HOT_SEPARATIONS; i++)
        p.near[i / HOT_SEPARATIONS][i % HOT_SEPARATIONS] = .5 + .1 * i;
    hot_signal_fill_learned(&p, 7, &filled);
    const double pairs[][2] = {
        {filled.width, .01}, {filled.width_inv, 50}, {filled.iso, .11}, {filled.iso_inv, 8}, {filled.spread_inv, 1.25},
        {filled.water[0], .5}, {filled.water[1], .2}, {filled.water_inv[0], 2.5}, {filled.water_inv[1], 4},
        {filled.ld[0], log(2)}, {filled.ld[1], log(1.1)}, {filled.ld_inv[0], 6.25}, {filled.ld_inv[1], 2.5},
        {filled.scale, .75}, {filled.noise, 1.25}, {filled.freedom, 40}, {filled.fan, .05}, {filled.fan_inv, 20},
        {filled.b0_volumes, 7}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CHECK_NEAR(pairs[i][0], pairs[i][1], 1e-6 * (1 + fabs(pairs[i][1])), "prior %zu: %g, not %g", i, pairs[i][0],
                   pairs[i][1]);
    for (int k = 0; k < 4; k++)
        CHECK(filled.told[k] == (float)p.told[k] && filled.shift[k] == (float)p.evidence_shift[k],
              "%d fibres: %g, %g", k, (double)filled.told[k], (double)filled.shift[k]);
    for (int i = 0; i < 2 * HOT_SEPARATIONS; i++)
        CHECK_NEAR(filled.near[i / HOT_SEPARATIONS][i % HOT_SEPARATIONS], -2 * log(.5 + .1 * i), 1e-6, "bin %d", i);
    p.fan = 0;
    hot_signal_fill_learned(&p, 0, &filled);
    CHECK(filled.fan == 0 && filled.fan_inv == 0 && filled.b0_volumes == 1, "no fans, no b=0 volume");
}

int main(void)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .seed = 5};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        return 1;
    check_filled();
    check_certified(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

/* The posterior of fits with learned priors: the 95 % ellipses and circles contain a fibre's direction in 95 % of
 * simulated voxels (not those of `hotfiber phantom`); draws have the reported covariance. */
#include "simulated_voxels.h"
#include "fibers/signal_priors.h"
#include "fibers/signal_posterior.h"

enum { COUNT = 3000, LEARNED_FROM = 1500, VOLUMES = PH_B0 + PH_VOLUMES };

/* Where a direction is in the units of an ellipse: inside below 1; squares along its axes, which add up to that. */
static double place_in(const hot_cone *cone, const float *v, const double *direction, double places[2])
{
    double along = 0, across[2] = {0};
    for (int d = 0; d < 3; d++) {
        along += direction[d] * (double)v[d];
        for (int a = 0; a < 2; a++)
            across[a] += direction[d] * cone->axis[a][d];
    }
    for (int a = 0; a < 2; a++)
        places[a] = pow(across[a] / along / tan(cone->angle[a]), 2);
    return places[0] + places[1];
}

static double angle_between(const float *v, const double *direction)
{
    double along = 0;
    for (int d = 0; d < 3; d++)
        along += direction[d] * (double)v[d];
    return acos(fmin(fabs(along), 1));
}

/* moments: means of the places along the axes. */
static void check_draws(const hot_posterior *posterior, const hot_cone *cone, int fiber, double shares[2],
                        double moments[2])
{
    enum { DRAWS = 40 };
    hot_random random = hot_random_start(1, 2, (uint64_t)(1e6 * (double)posterior->fit->cost));
    for (int i = 0; i < DRAWS; i++) {
        double v[3][3], weight[3], places[2];
        hot_posterior_draw(posterior, &random, v, weight);
        shares[0] += (place_in(cone, posterior->fit->v[fiber], v[fiber], places) <= 1) / (double)DRAWS;
        for (int a = 0; a < 2; a++)
            moments[a] += places[a] / DRAWS;
        shares[1] += (angle_between(posterior->fit->v[fiber], v[fiber]) <= cone->half_angle) / (double)DRAWS;
    }
}

static void check_cones(hot_context *context, double b, double snr, double mixed)
{
    static float signals[COUNT * VOLUMES], directions[COUNT * 9];
    static ph_voxel truth[COUNT];
    static hot_signal_fit fits[COUNT * 4];
    static uint8_t found[COUNT];
    const ph_settings s = {"", b, snr, mixed, 0, 1.7e-3, 0.3e-3, 0.35, 60, 1.5 * mixed, 0.5 * mixed};
    ph_scheme made;
    double rows[2 * PH_TERMS];
    uint64_t seed = 23;
    ph_make_scheme(&s, 77, &made);
    ph_response_exact(&made, s.along, s.across, rows);
    for (int i = 0; i < COUNT; i++) {
        ph_draw(&seed, &s, i % 5, &truth[i]);
        ph_simulate(&seed, &s, &made, &truth[i], signals + i * VOLUMES);
    }
    const hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = made.b,
                                      .gradients = made.gradient, .shells = made.shells, .shell_b = made.shell_b,
                                      .response = rows, .lmax = 2 * (PH_TERMS - 1)};
    hot_signal_priors population;
    const hot_signal_options options = {.size = sizeof options, .sigma = 1 / snr, .population = &population};
    const hot_signal_result result = {.size = sizeof result, .directions = directions, .found = found, .fits = fits};
    CHECK(hot_signal_learn(context, &options, &scheme, LEARNED_FROM, signals, NULL, 0, 0, &population, NULL) == HOT_OK,
          "%s", hot_context_message(context));
    CHECK(hot_signal_fibers_f32(context, &options, &scheme, COUNT, signals, NULL, NULL, NULL, &result) == HOT_OK, "%s",
          hot_context_message(context));
    double held[4] = {0}, circled[4] = {0}, of[4] = {0}, draws[2] = {0}, moments[2] = {0}, all = 0;
    for (int i = 0; i < COUNT; i++) {
        const int k = truth[i].k;
        hot_posterior posterior;
        if (found[i] != k || k == 0)
            continue;
        hot_posterior_make(&fits[4 * i + k], k, &population, 1, &posterior);
        for (int fiber = 0; fiber < k; fiber++) {
            const float *v = fits[4 * i + k].v[fiber];
            const double *nearest = truth[i].v[0];
            hot_cone cone;
            for (int t = 1; t < k; t++)
                nearest = angle_between(v, truth[i].v[t]) < angle_between(v, nearest) ? truth[i].v[t] : nearest;
            hot_posterior_cone(&posterior, fiber, population.noise_freedom + PH_VOLUMES - 4 * k - 2, &cone);
            double places[2];
            held[k] += place_in(&cone, v, nearest, places) <= 1;
            circled[k] += angle_between(v, nearest) <= cone.half_angle;
            of[k]++;
            if (i % 20 < 5) {
                check_draws(&posterior, &cone, fiber, draws, moments);
                all++;
            }
        }
    }
    printf("b=%g, SNR %g: ellipses %.3f %.3f %.3f, circles %.3f %.3f %.3f, draws %.3f %.3f\n", b, snr,
           held[1] / of[1], held[2] / of[2], held[3] / of[3], circled[1] / of[1], circled[2] / of[2],
           circled[3] / of[3], draws[0] / all, draws[1] / all);
    for (int k = 1; k < 4; k++) {
        CHECK(of[k] > 400, "%g fibres of %d", of[k], k);
        CHECK(fabs(held[k] / of[k] - 0.95) <= 0.03, "b=%g, SNR %g: ellipses of %d fibres hold %.3f", b, snr, k,
              held[k] / of[k]);
        CHECK(fabs(circled[k] / of[k] - 0.95) <= 0.03, "b=%g, SNR %g: circles of %d fibres hold %.3f", b, snr, k,
              circled[k] / of[k]);
    }
    for (int i = 0; i < 2; i++) /* a variance is 1 / 5.99 of the 95 % quantile of the squares */
        CHECK(fabs(5.9915 * moments[i] / all - 1) <= 0.05, "squares of draws along axis %d: %.3f of the variance",
              i, 5.9915 * moments[i] / all);
    for (int i = 0; i < 2; i++)
        CHECK(fabs(draws[i] / all - 0.95) <= 0.012, "%s hold %.3f of the draws", i ? "circles" : "ellipses",
              draws[i] / all);
}

int main(void)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .seed = 5};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        return 1;
    check_cones(context, 3000, 30, 0);
    check_cones(context, 1000, 20, 0);
    check_cones(context, 1000, 10, 0); /* cones of three fibres are mostly wide */
    check_cones(context, 0, 20, 0.2);
    check_cones(context, 1000, 30, 0.2);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

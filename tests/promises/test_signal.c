/* The promises of signal.h: exact fits without noise, shells of volumes, zeros and NULL, flags, units, threads. */
#include <hotfiber/signal.h>
#include <hotfiber/symtensor.h>

#include "threads.h"

enum { DIRECTIONS = 40, VOLUMES = 3 + 2 * DIRECTIONS, VOXELS = 24, LMAX = 12, ROW = LMAX / 2 + 1 };

static double b[VOLUMES], g[3 * VOLUMES], rows[2][ROW];
static const double shell_b[2] = {1000, 2500}, axial = 1.7e-3, radial = .3e-3;
static float signals[VOXELS][VOLUMES];
static double truth[VOXELS][3][3]; /* w v */
static int fibers[VOXELS];

static hot_signal_scheme make_scheme(void)
{
    const hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g, .shells = 2,
                                      .shell_b = shell_b, .response = rows[0], .lmax = LMAX};
    return scheme;
}

/* Voxels of no, one and two fibres, whose signals are the response's own; 1000 at b=0. */
static void simulate(void)
{
    uint64_t state = 6;
    for (int s = 0; s < 2; s++)
        for (int l = 0; l <= LMAX; l += 2) { /* r_l = 2 pi integral of S(u) Y_l0(u) */
            for (int i = 0; i < 4000; i++) {
                const double u = (i + .5) / 4000;
                double y[(LMAX + 1) * (LMAX + 2) / 2];
                hot_sh_values_f64(LMAX, 1, (double[]){sqrt(1 - u * u), 0, u}, y);
                rows[s][l / 2] += 4 * 3.14159265358979323846 / 4000 * y[l * (l + 1) / 2] *
                                  exp(-shell_b[s] * (radial + (axial - radial) * u * u));
            }
        }
    for (int v = 3; v < VOLUMES; v++) {
        b[v] = shell_b[v % 2];
        check_random_unit(&state, g + 3 * v);
    }
    for (int n = 0; n < VOXELS; n++) {
        double x[3], y[3], z[3];
        check_random_axes(&state, x, y, z);
        fibers[n] = n % 3;
        for (int d = 0; d < 3; d++) {
            truth[n][0][d] = fibers[n] == 1 ? x[d] : .6 * x[d];
            truth[n][1][d] = .4 * (cos(1.3) * x[d] + sin(1.3) * y[d]);
        }
        for (int v = 0; v < VOLUMES; v++) {
            double s = fibers[n] ? 0 : exp(-b[v] * .9e-3);
            for (int f = 0; f < fibers[n]; f++) {
                const double *t = truth[n][f], w = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
                const double u = (t[0] * g[3 * v] + t[1] * g[3 * v + 1] + t[2] * g[3 * v + 2]) / w;
                s += w * exp(-b[v] * (radial + (axial - radial) * u * u));
            }
            signals[n][v] = (float)(1000 * s);
        }
    }
}

typedef struct output {
    float directions[VOXELS][9], probability[VOXELS][4], margin[VOXELS], residual[VOXELS], width[VOXELS];
    uint8_t found[VOXELS], flags[VOXELS];
} output;

static hot_status fit(hot_context *context, const hot_signal_options *o, const hot_signal_scheme *scheme,
                      const float *data, const float *sigma, const float *s0, const uint8_t *mask, output *to)
{
    const hot_signal_result r = {.size = sizeof r, .directions = to->directions[0], .found = to->found,
                                 .probability = to->probability[0], .margin = to->margin, .residual = to->residual,
                                 .width = to->width, .flags = to->flags};
    memset(to, 0x5a, sizeof *to);
    return hot_signal_fibers_f32(context, o, scheme, VOXELS, data, sigma, s0, mask, &r);
}

static const hot_signal_options usual = {.size = sizeof usual, .sigma = 15};

static void test_exact(hot_context *context)
{
    static output out, again;
    static float scaled[VOXELS][VOLUMES], sigma[VOXELS], s0[VOXELS];
    const hot_signal_scheme scheme = make_scheme();
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, &out) == HOT_OK, "%s",
          hot_context_message(context));
    for (int n = 0; n < VOXELS; n++) {
        double sum = 0;
        CHECK(out.found[n] == fibers[n] && out.flags[n] == 0, "voxel %d: %d fibres", n, out.found[n]);
        for (int k = 0; k < 4; k++)
            sum += (double)out.probability[n][k];
        CHECK_NEAR(sum, 1, 1e-5, "probabilities add up to %g", sum);
        const float *p = out.probability[n];
        for (int k = 0; k < 4; k++)
            CHECK(k == fibers[n] || p[k] <= p[fibers[n]], "voxel %d: %d is more probable", n, k);
        CHECK(out.residual[n] < .2f && out.margin[n] >= 0, "voxel %d: residual %g, margin %g", n,
              (double)out.residual[n], (double)out.margin[n]);
        for (int f = 0; f < 3; f++) {
            const float *v = out.directions[n] + 3 * f;
            const double *t = truth[n][f], w = hypot(hypot((double)v[0], (double)v[1]), (double)v[2]);
            if (f >= fibers[n]) {
                CHECK(w == 0, "voxel %d: an absent fibre of %g", n, w);
                continue;
            }
            const double right = fibers[n] == 1 ? 1 : f ? .4 : .6, dot = t[0] * v[0] + t[1] * v[1] + t[2] * v[2];
            CHECK_NEAR(w, right, .03, "voxel %d, fibre %d: %g, not %g", n, f, w, right);
            CHECK(fabs(dot) > .9998 * w * right, "voxel %d, fibre %d: another direction", n, f);
            CHECK(v[2] > 0 || (v[2] == 0 && v[1] > 0), "the half sphere");
        }
    }
    /* the unit: a power of two changes nothing; sigma and s0 per voxel as from the options and the volumes */
    for (int n = 0; n < VOXELS; n++) {
        sigma[n] = 15.f / 1024, s0[n] = (signals[n][0] + signals[n][1] + signals[n][2]) / 3 / 1024;
        for (int v = 0; v < VOLUMES; v++)
            scaled[n][v] = signals[n][v] / 1024;
    }
    CHECK(fit(context, NULL, &scheme, scaled[0], sigma, s0, NULL, &again) == HOT_OK, "options NULL");
    for (int n = 0; n < VOXELS; n++)
        for (int i = 0; i < 9; i++)
            CHECK_NEAR(again.directions[n][i], out.directions[n][i], 1e-5, "voxel %d in another unit", n);
    hot_signal_options o = usual;
    o.max_fibers = 3, o.order = 8;
    CHECK(fit(context, &o, &scheme, signals[0], NULL, NULL, NULL, &again) == HOT_OK &&
              memcmp(&again, &out, sizeof out) == 0, "0 fibres are 3, order 0 is 8");
    hot_signal_priors population;
    hot_signal_priors_default(&population);
    o.population = &population;
    CHECK(fit(context, &o, &scheme, signals[0], NULL, NULL, NULL, &again) == HOT_OK &&
              memcmp(&again, &out, sizeof out) == 0, "population NULL is the usual one");
    o.noise_model = HOT_NOISE_RICIAN;
    CHECK(fit(context, &o, &scheme, signals[0], NULL, NULL, NULL, &again) == HOT_OK &&
              memcmp(&again, &out, sizeof out) == 0, "AUTO is Rician here");
    /* masked voxels and pointers that are NULL leave the others alone */
    uint8_t mask[VOXELS];
    for (int n = 0; n < VOXELS; n++)
        mask[n] = n % 5 != 0;
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, NULL, mask, &again) == HOT_OK, "masked");
    for (int n = 0; n < VOXELS; n++)
        CHECK(memcmp(again.directions[n], n % 5 ? out.directions[n] : (float[9]){0}, sizeof out.directions[n]) == 0 &&
                  (n % 5 || (again.found[n] == 0 && again.residual[n] == 0 && again.flags[n] == 0)), "voxel %d", n);
    const hot_signal_result alone = {.size = sizeof alone, .directions = again.directions[0]};
    CHECK(hot_signal_fibers_f32(context, &usual, &scheme, VOXELS, signals[0], NULL, NULL, NULL, &alone) == HOT_OK &&
              memcmp(again.directions, out.directions, sizeof out.directions) == 0, "directions alone");
    for (int most = 1; most <= 4; most++) {
        float few[VOXELS][12];
        const hot_signal_result r = {.size = sizeof r, .directions = few[0], .found = again.found};
        o = usual, o.max_fibers = most;
        const hot_status status = hot_signal_fibers_f32(context, &o, &scheme, VOXELS, signals[0], NULL, NULL, NULL, &r);
        CHECK((status == HOT_OK) == (most <= 3), "at most %d: %d", most, status);
        for (int n = 0; n < VOXELS && status == HOT_OK; n++)
            CHECK(again.found[n] <= most, "voxel %d: %d of at most %d", n, again.found[n], most);
    }
    for (int order = 0; order <= 10; order++) {
        o = usual, o.order = order;
        CHECK((fit(context, &o, &scheme, signals[0], NULL, NULL, NULL, &again) == HOT_OK) ==
                  (order == 0 || order == 4 || order == 6 || order == 8), "order %d", order);
    }
    o = usual, o.sigma = 0;
    CHECK(fit(context, &o, &scheme, signals[0], NULL, NULL, NULL, &again) == HOT_ERROR_ARGUMENT, "no sigma");
}

/* The nearest shell within 15 % or 100 s/mm^2 of the volume's b; b up to 50 is b=0, whose gradients do not count. */
static void test_shells(hot_context *context)
{
    static output out;
    const double was = b[9];
    const hot_signal_scheme scheme = make_scheme();
    static const struct {
        double b;
        int good;
    } cases[] = {{2500 / .851, 1}, {2500 / .849, 0}, {2500 / 1.149, 1}, {2500 / 1.151, 0}, {1000 / .851, 1},
                 {1000 / .849, 0}, {1000 / 1.149, 1}, {1000 / 1.151, 0}, {50, 1},           {51, 0},
                 {0, 1},           {1700, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        b[9] = cases[c].b;
        const hot_status status = fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, &out);
        CHECK(status == (cases[c].good ? HOT_OK : HOT_ERROR_DATA), "b = %g: %d", b[9], status);
    }
    b[9] = was;
    for (int v = 0; v < 3; v++)
        b[v] = 51; /* none is b=0 */
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, &out) == HOT_ERROR_DATA, "neither b=0 nor s0");
    static const hot_signal_scheme none = {.size = sizeof none};
    hot_signal_scheme few = scheme;
    float one[VOXELS];
    for (int n = 0; n < VOXELS; n++)
        one[n] = 1000;
    few.volumes = 5;
    CHECK(fit(context, &usual, &none, signals[0], NULL, NULL, NULL, &out) == HOT_ERROR_ARGUMENT, "no shells");
    CHECK(fit(context, &usual, &few, signals[0], NULL, one, NULL, &out) == HOT_ERROR_DATA, "too few volumes");
    for (int v = 0; v < 3; v++)
        b[v] = 1000, g[3 * v] = 1;
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, one, NULL, &out) == HOT_OK, "s0 for volumes of b=0: %s",
          hot_context_message(context));
    for (int v = 0; v < 3; v++)
        b[v] = 50, g[3 * v] = NAN;
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, &out) == HOT_OK, "b=0 has no direction: %s",
          hot_context_message(context));
    for (int v = 0; v < 3; v++)
        b[v] = 0, g[3 * v] = 0;
}

static void test_flags(hot_context *context)
{
    static float data[VOXELS][VOLUMES];
    static output out, clean;
    const hot_signal_scheme scheme = make_scheme();
    CHECK(fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, &clean) == HOT_OK, "clean");
    memcpy(data, signals, sizeof data);
    data[1][20] = NAN, data[2][0] = INFINITY;
    data[4][0] = data[4][1] = data[4][2] = 0;
    data[5][0] = data[5][1] = data[5][2] = -3;
    for (int v = 3; v < VOLUMES; v++)
        data[7][v] = 0;
    for (int v = 0; v < VOLUMES; v++)
        data[8][v] = 5000;
    for (int v = 0; v < VOLUMES; v++)
        data[10][v] *= .04f; /* b=0 is 40, sigma 15 */
    data[11][30] = 0, data[13][31] = -20; /* single ones are data */
    CHECK(fit(context, &usual, &scheme, data[0], NULL, NULL, NULL, &out) == HOT_OK, "flags");
    static const uint8_t flags[VOXELS] = {[1] = HOT_VOXEL_NOT_FINITE, [2] = HOT_VOXEL_NOT_FINITE, [4] = HOT_VOXEL_NO_B0,
                                          [5] = HOT_VOXEL_NO_B0, [7] = HOT_VOXEL_CLIPPED, [8] = HOT_VOXEL_CLIPPED,
                                          [10] = HOT_VOXEL_NOISE};
    for (int n = 0; n < VOXELS; n++) {
        CHECK(out.flags[n] == flags[n], "voxel %d: flags %d, not %d", n, out.flags[n], flags[n]);
        if (flags[n])
            CHECK(out.found[n] == 0 && out.directions[n][0] == 0 && out.residual[n] == 0 && out.probability[n][0] == 0,
                  "voxel %d is flagged, and not 0", n);
        else if (n != 11 && n != 13)
            CHECK(memcmp(out.directions[n], clean.directions[n], sizeof out.directions[n]) == 0, "voxel %d", n);
    }
}

static hot_status many_fits(hot_context *context, void *to)
{
    const hot_signal_scheme scheme = make_scheme();
    return fit(context, &usual, &scheme, signals[0], NULL, NULL, NULL, to);
}

int main(void)
{
    hot_context *context = context_of(2);
    simulate();
    test_exact(context);
    test_shells(context);
    test_flags(context);
    check_threads("fits to signals", many_fits, sizeof(output));
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

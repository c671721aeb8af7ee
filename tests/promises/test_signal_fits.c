/* The promises of signal.h about the model, its priors, the fits behind a result, noise models and clipped samples, by
 * signals of a formula in which one thing changes at a time. */

#include <hotfiber/signal.h>
#include <hotfiber/symtensor.h>

#include "threads.h"

enum { DIRECTIONS = 60, VOLUMES = 2 + 2 * DIRECTIONS, LMAX = 16, ROW = LMAX / 2 + 1 };

static double b[VOLUMES], g[3 * VOLUMES], rows[2 * ROW];
static const double shell_b[2] = {1000, 3000}, axial = 1.7e-3, radial = .3e-3, degree = 57.295779513082321;
static const hot_signal_options usual = {.size = sizeof usual, .sigma = 10};
static hot_signal_fit fits[4];
static float direction[9], probability[4], residual;
static uint8_t found, flags;

static hot_status fit_scheme(hot_context *context, const hot_signal_options *o, const hot_signal_scheme *scheme,
                             const float *signals)
{
    const hot_signal_result r = {.size = sizeof r, .directions = direction, .found = &found, .flags = &flags,
                                 .probability = probability, .residual = &residual, .fits = fits};
    memset(fits, 0x5a, sizeof fits), memset(direction, 0x5a, sizeof direction);
    return hot_signal_fibers_f32(context, o, scheme, 1, signals, NULL, NULL, NULL, &r);
}

static hot_signal_scheme scheme_of(const double *response)
{
    return (hot_signal_scheme){.size = sizeof(hot_signal_scheme), .volumes = VOLUMES, .b = b, .gradients = g,
                               .shells = 2, .shell_b = shell_b, .response = response, .lmax = LMAX};
}

static hot_status fit(hot_context *context, const hot_signal_options *o, const float *signals)
{
    const hot_signal_scheme scheme = scheme_of(rows);
    return fit_scheme(context, o, &scheme, signals);
}

/* r_l of the response S(u) = exp(-b (radial + (axial - radial) u^2)) */
static void set_up(void)
{
    uint64_t state = 16;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 4000; i++) {
            const double u = (i + .5) / 4000;
            double y[(LMAX + 1) * (LMAX + 2) / 2];
            hot_sh_values_f64(LMAX, 1, (double[]){sqrt(1 - u * u), 0, u}, y);
            for (int l = 0; l <= LMAX; l += 2)
                rows[s * ROW + l / 2] += 3.14159265358979323846 / 1000 * y[l * (l + 1) / 2] *
                                         exp(-shell_b[s] * (radial + (axial - radial) * u * u));
        }
    for (int v = 2; v < VOLUMES; v++) {
        b[v] = shell_b[v % 2];
        check_random_unit(&state, g + 3 * v);
    }
}

/* A voxel: up to two fibres, in the plane of x and y and `angle` degrees apart, and two isotropic parts. */
typedef struct voxel {
    double weight[2], angle, isotropic, diffusivity, water;
} voxel;

static double signal_of(const voxel *x, int v)
{
    double s = x->isotropic * exp(-b[v] * x->diffusivity) + x->water * exp(-b[v] * 3e-3);
    for (int f = 0; f < 2; f++) {
        const double t = f * x->angle / degree, u = cos(t) * g[3 * v] + sin(t) * g[3 * v + 1];
        s += x->weight[f] * exp(-b[v] * (radial + (axial - radial) * u * u));
    }
    return 1000 * s;
}

static void signals_of(const voxel *x, float *to)
{
    for (int v = 0; v < VOLUMES; v++)
        to[v] = (float)signal_of(x, v);
}

/* Every voxel consists of fibres, free water of 3e-3 mm^2/s, and a part with its own diffusivity, whose logarithm the
 * fits have. */
static void test_model(hot_context *context)
{
    static const voxel cases[] = {{{.7, 0}, 0, 0, 0, .3},
                                  {{.7, 0}, 0, .3, 1e-3, 0},
                                  {{.4, .3}, 80, .2, 1.2e-3, .1},
                                  {{0, 0}, 0, 1, .8e-3, 0},
                                  {{0, 0}, 0, .6, .9e-3, .4}};
    static const int fibers[] = {1, 1, 2, 0, 0};
    float signals[VOLUMES];
    hot_signal_options o = usual;
    o.sigma = 2;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const voxel *x = &cases[c];
        const int k = fibers[c];
        signals_of(x, signals);
        CHECK(fit(context, &o, signals) == HOT_OK && found == k, "case %zu: %d fibres, %s", c, found,
              hot_context_message(context));
        const hot_signal_fit *f = &fits[k];
        CHECK_NEAR(f->isotropic, x->isotropic, .04, "case %zu: isotropic %g", c, (double)f->isotropic);
        CHECK_NEAR(f->water, x->water, .04, "case %zu: free water %g", c, (double)f->water);
        if (x->isotropic > .1)
            CHECK_NEAR(exp((double)f->ln_diffusivity), x->diffusivity, .12e-3, "case %zu: %g mm^2/s", c,
                       exp((double)f->ln_diffusivity));
        double all = (double)f->isotropic + (double)f->water;
        for (int i = 0; i < k; i++)
            all += (double)f->weight[i];
        CHECK_NEAR(all, 1, .01, "case %zu: fractions add up to %g", c, all);
        for (int i = 0; i < k; i++)
            for (int t = 0; t < 2; t++) { /* unit vectors, across v and each other */
                const float *v = f->v[i], *one = f->turn[i][t], *other = f->turn[i][1 - t];
                double square = 0, across = 0, each = 0;
                for (int d = 0; d < 3; d++) {
                    square += (double)one[d] * one[d];
                    across += (double)one[d] * v[d], each += (double)one[d] * other[d];
                }
                CHECK_NEAR(square, 1, 1e-5, "case %zu, fibre %d: turn %d is no unit vector", c, i, t);
                CHECK(fabs(across) < 1e-5 && fabs(each) < 1e-5, "case %zu, fibre %d: turn %d", c, i, t);
            }
    }
}

/* Means of priors pull what the data do not tell: the diffusivity of a small part beside fibres, and without. */
static void test_diffusivity_priors(hot_context *context)
{
    static const voxel cases[2] = {{{.9, 0}, 0, .1, 1e-3, 0}, {{0, 0}, 0, 1, 1e-3, 0}};
    float signals[VOLUMES];
    for (int k = 0; k < 2; k++) { /* k = 0: the prior beside fibres; 1: without */
        signals_of(&cases[k], signals);
        for (int which = 0; which < 2; which++) {
            hot_signal_priors p;
            hot_signal_options o = usual;
            hot_signal_priors_default(&p);
            double *prior = which ? p.ln_diffusivity_none : p.ln_diffusivity;
            prior[0] = log(.5e-3), prior[1] = 1e-3;
            o.population = &p, o.sigma = 40;
            CHECK(fit(context, &o, signals) == HOT_OK, "%s", hot_context_message(context));
            const double d = exp((double)fits[k == 0].ln_diffusivity);
            CHECK(k == which ? fabs(d - .5e-3) < .02e-3 : d > .7e-3, "case %d, prior %d: %g mm^2/s", k, which, d);
        }
    }
}

/* near[k - 2][i]: -2 ln of the ratio, whole in the middle of its bin, and only for k fibres. */
static void test_near(hot_context *context)
{
    static const double middle[HOT_SEPARATIONS] = {30, 40, 50, 60, 70, 82.5};
    static float cost[4], signals[VOLUMES];
    for (int bin = 1; bin < HOT_SEPARATIONS; bin++) {
        const voxel x = {{.5, .5}, middle[bin], 0, 0, 0};
        signals_of(&x, signals);
        for (int changed = -1; changed < 2 * HOT_SEPARATIONS; changed++) {
            hot_signal_priors p;
            hot_signal_options o = usual;
            hot_signal_priors_default(&p);
            if (changed >= 0)
                p.near[changed / HOT_SEPARATIONS][changed % HOT_SEPARATIONS] = 4;
            o.population = &p, o.max_fibers = 2;
            CHECK(fit(context, &o, signals) == HOT_OK, "%s", hot_context_message(context));
            if (changed < 0) {
                for (int k = 0; k < 4; k++)
                    cost[k] = fits[k].cost;
                const double dot = (double)fits[2].v[0][0] * fits[2].v[1][0] +
                                   (double)fits[2].v[0][1] * fits[2].v[1][1] +
                                   (double)fits[2].v[0][2] * fits[2].v[1][2];
                CHECK_NEAR(degree * acos(fabs(dot)), middle[bin], 1, "the fit's angle");
                continue;
            }
            const double fall = (double)cost[2] - (double)fits[2].cost;
            CHECK_NEAR(fall, changed == bin ? 2 * log(4) : 0,
                       changed / HOT_SEPARATIONS == 0 && abs(changed - bin) <= 1 ? .3 : 1e-3,
                       "%g degrees, near[%d][%d]: %g", middle[bin], changed / HOT_SEPARATIONS,
                       changed % HOT_SEPARATIONS, fall);
            CHECK(fits[0].cost == cost[0] && fits[1].cost == cost[1], "none and one fibre have no separation");
        }
    }
}

/* The cost is -2 ln P(k): probabilities are exp(-cost / 2), normalised; more fibres than max_fibers are impossible. */
static void test_cost(hot_context *context)
{
    const voxel x = {{.5, .4}, 45, .1, 1e-3, 0};
    float signals[VOLUMES];
    signals_of(&x, signals);
    for (int most = 1; most <= 3; most++) {
        hot_signal_options o = usual;
        double sum = 0;
        o.max_fibers = most, o.sigma = 200;
        CHECK(fit(context, &o, signals) == HOT_OK, "%s", hot_context_message(context));
        for (int k = 0; k < 4; k++) {
            CHECK((fits[k].cost == 1e30f) == (k > most), "at most %d: %d fibres cost %g", most, k,
                  (double)fits[k].cost);
            sum += exp(((double)fits[0].cost - (double)fits[k].cost) / 2);
        }
        for (int k = 0; k < 4; k++)
            CHECK_NEAR(probability[k], exp(((double)fits[0].cost - (double)fits[k].cost) / 2) / sum, 1e-4,
                       "at most %d: P(%d) = %g", most, k, (double)probability[k]);
        CHECK(most == 1 || (probability[1] > 1e-3f && probability[1] < .999f), "nothing is certain: %g",
              (double)probability[1]);
    }
}

/* chi: squares of residuals in units of the voxel's noise; 1e6 degrees of freedom leave that as given. */
static void test_noise(hot_context *context)
{
    const voxel x = {{.5, .4}, 80, .1, 1e-3, 0};
    float signals[VOLUMES];
    uint64_t state = 4;
    signals_of(&x, signals);
    for (int v = 0; v < VOLUMES; v++)
        signals[v] += (float)(20 * check_random_normal(&state));
    for (int free = 0; free < 3; free++) { /* as given; a little; entirely the voxel's own */
        hot_signal_priors p;
        hot_signal_options o = usual;
        hot_signal_priors_default(&p);
        p.noise_freedom = free == 0 ? 1e6 : free == 1 ? 200 : 1e-3;
        o.population = &p, o.noise_model = HOT_NOISE_GAUSSIAN;
        CHECK(fit(context, &o, signals) == HOT_OK && found == 2, "%s, %d fibres", hot_context_message(context), found);
        const double noise = (double)fits[2].noise, square = VOLUMES * pow((double)residual, 2);
        CHECK(free == 0   ? fabs(noise - 1) < .01
              : free == 1 ? noise > 1.3 && noise < 1.8
                          : fabs(noise - 2) < .3,
              "%g degrees of freedom: noise %g", p.noise_freedom, noise);
        CHECK_NEAR(fits[2].chi * noise * noise / square, 1, .05, "chi %g, residual %g", (double)fits[2].chi,
                   (double)residual);
    }
}

/* fan: at most 1; it changes the evidence, and no estimate. */
static void test_fan(hot_context *context)
{
    const voxel x = {{.5, .4}, 80, .1, 1e-3, 0};
    static const double fans[] = {0, .01, 1, 1.0001, -1e-3, NAN};
    static hot_signal_fit plain[4];
    float signals[VOLUMES];
    signals_of(&x, signals);
    for (int i = 0; i < 6; i++) {
        hot_signal_priors p;
        hot_signal_options o = usual;
        hot_signal_priors_default(&p);
        p.fan = fans[i];
        o.population = &p;
        const hot_status status = fit(context, &o, signals);
        CHECK(status == (i < 3 ? HOT_OK : HOT_ERROR_ARGUMENT), "a fan of %g: %d", fans[i], status);
        if (i == 0)
            memcpy(plain, fits, sizeof plain);
        for (int k = 0; k < 4 && i < 3; k++) {
            CHECK(i > 0 || (fits[k].fan == 0 && fits[k].fan_told == 0), "0 = none: %g", (double)fits[k].fan);
            CHECK(memcmp(fits[k].v, plain[k].v, sizeof plain->v) == 0 &&
                      memcmp(fits[k].weight, plain[k].weight, sizeof plain->weight) == 0 &&
                      memcmp(fits[k].width, plain[k].width, sizeof plain->width) == 0 &&
                      fits[k].isotropic == plain[k].isotropic && fits[k].water == plain[k].water,
                  "a fan of %g changes the estimates of %d fibres", fans[i], k);
            CHECK(i == 0 || k == 0 || fits[k].cost != plain[k].cost, "and not the evidence");
            /* of what fans leave over */
            CHECK(fits[k].chi <= plain[k].chi * 1.0001f, "chi of %d fibres: %g, %g without", k, (double)fits[k].chi,
                  (double)plain[k].chi);
        }
    }
}

/* The mean of a magnitude of signal s with noise sigma: sigma sqrt(pi / 2) L_1/2(-s^2 / 2 sigma^2), summed up. */
static double magnitude(double s, double sigma)
{
    enum { STEPS = 2000 };
    const double a = s / sigma;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) { /* over the angle and the radius: the mean of |s + n| */
        const double t = 3.14159265358979323846 * (i + .5) / STEPS, m = a * cos(t);
        /* integral of r^2 exp(-((r - m)^2 + a^2 sin^2) / 2) dr from 0 */
        const double inner = m * exp(-m * m / 2) +
                             (1 + m * m) * sqrt(3.14159265358979323846 / 2) * (1 + erf(m / sqrt(2)));
        sum += inner * exp(-(a * a - m * m) / 2) / STEPS;
    }
    return sigma * sum; /* 2 pi / 2 pi, half the circle twice */
}

/* Rician means are fitted as such, and the same numbers as Gaussian data are not; and the reverse. */
static void test_models(hot_context *context)
{
    const voxel x = {{.9, 0}, 0, .1, 1e-3, 0};
    static float signals[2][VOLUMES];
    static const hot_noise_model models[3] = {HOT_NOISE_RICIAN, HOT_NOISE_GAUSSIAN, HOT_NOISE_AUTO};
    CHECK_NEAR(magnitude(0, 1), sqrt(3.14159265358979323846 / 2), 1e-6, "the mean of no signal");
    CHECK_NEAR(magnitude(100, 1), 100.005, 1e-5, "of a large one");
    for (int v = 0; v < VOLUMES; v++)
        signals[1][v] = (float)signal_of(&x, v), signals[0][v] = (float)magnitude(signal_of(&x, v), 100);
    for (int m = 0; m < 3; m++)
        for (int data = 0; data < 2; data++) {
            hot_signal_options o = usual;
            o.sigma = 100, o.noise_model = models[m];
            CHECK(fit(context, &o, signals[data]) == HOT_OK, "%s", hot_context_message(context));
            const int right = data == (models[m] == HOT_NOISE_GAUSSIAN);
            CHECK(right ? residual < .1f : residual > .25f, "model %d, data %d: residual %g", (int)models[m], data,
                  (double)residual);
        }
}

/* Clipped: a sample of the ceiling itself, all diffusion-weighted ones 0, all samples the same. */
static void test_clipped(hot_context *context)
{
    const voxel x = {{.9, 0}, 0, .1, 1e-3, 0};
    float signals[VOLUMES], top = 0;
    signals_of(&x, signals);
    for (int v = 0; v < VOLUMES; v++)
        top = fmaxf(top, signals[v]);
    for (int way = 0; way < 5; way++) {
        static const int clipped[] = {0, 0, 1, 1, 1};
        hot_signal_options o = usual;
        o.ceiling = way == 0 ? 0 : way == 1 ? (double)top * (1 + 1e-6) : way == 2 ? (double)top : 0;
        for (int v = way == 3 ? 2 : 0; v < VOLUMES && way >= 3; v++)
            signals[v] = way == 3 ? 0 : 321;
        CHECK(fit(context, &o, signals) == HOT_OK, "%s", hot_context_message(context));
        CHECK(flags == (clipped[way] ? HOT_VOXEL_CLIPPED : 0) && (found == 0) == clipped[way], "way %d: flags %d", way,
              flags);
    }
    for (int bad = 0; bad < 3; bad++) {
        hot_signal_options o = usual;
        o.ceiling = bad == 0 ? -1 : bad == 1 ? NAN : -1e-30;
        CHECK(fit(context, &o, signals) == HOT_ERROR_ARGUMENT, "a ceiling of %g", o.ceiling);
    }
}

/* lmax is even, 2 to 16, and what is above 8 changes nothing. */
static void test_degrees(hot_context *context)
{
    const voxel x = {{.6, .4}, 70, 0, 0, 0};
    static hot_signal_fit usual_fits[4];
    static double longer[2 * 10], other[2 * ROW];
    float signals[VOLUMES];
    signals_of(&x, signals);
    longer[0] = longer[10] = 1;
    for (int lmax = -1; lmax <= 18; lmax++) {
        const hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = g,
                                          .shells = 1, .shell_b = (double[]){2000}, .response = longer, .lmax = lmax};
        const hot_status status = fit_scheme(context, &usual, &scheme, signals);
        CHECK((status == HOT_ERROR_ARGUMENT) == !(lmax >= 2 && lmax <= 16 && lmax % 2 == 0), "lmax %d: %d", lmax,
              status);
    }
    for (int way = 0; way < 3; way++) { /* unchanged; other values above 8; another of degree 8 */
        const hot_signal_scheme scheme = scheme_of(other);
        memcpy(other, rows, sizeof other);
        for (int s = 0; s < 2; s++)
            for (int l = way == 1 ? 10 : 8; l <= (way == 1 ? LMAX : 8) && way; l += 2)
                other[s * ROW + l / 2] += .02;
        CHECK(fit_scheme(context, &usual, &scheme, signals) == HOT_OK, "%s", hot_context_message(context));
        if (way == 0)
            memcpy(usual_fits, fits, sizeof fits);
        CHECK((memcmp(usual_fits, fits, sizeof fits) == 0) == (way < 2), "way %d", way);
    }
}

int main(void)
{
    hot_context *context = context_of(2);
    set_up();
    test_model(context);
    test_diffusivity_priors(context);
    test_near(context);
    test_cost(context);
    test_noise(context);
    test_fan(context);
    test_models(context);
    test_clipped(context);
    test_degrees(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

/* Models in difficult voxels: bad signals are flagged, signals of at most 0 are not, negative diffusivities made
 * positive, noise weighed. */
#include "model_cases.h"
#include "symtensor/sphere.h"

/* Signals that are not finite, and b=0 signals of at most 0: flagged, zero, and nothing else changes. Others of at most
 * 0 are data. */
static void test_bad_voxels(hot_context *context)
{
    static const double b[] = {2000};
    const scheme s = make_scheme(2, 30, 1, b);
    for (const hot_model *const *model = hot_model_list(); *model; model++) {
        float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
        uint64_t state = 9;
        hot_response *response = NULL;
        for (size_t i = 0; i < VOXELS * s.volumes; i++)
            signals[i] = (float)((i % s.volumes < 2 ? 100 : 40) + 10 * check_random(&state));
        hot_dwi *good = make_dwi(context, &s, signals);
        const size_t at = 10;
        const float bad[7] = {NAN, INFINITY, -INFINITY, 0, -5, NAN, -200};
        for (size_t k = 0; k < 7; k++) /* 0 to 4 in a weighted volume, 5 and 6 in b=0, 7: all b=0 zero */
            signals[(at + k) * s.volumes + (k < 5 ? 7 : 1)] = bad[k];
        signals[(at + 7) * s.volumes] = signals[(at + 7) * s.volumes + 1] = 0;
        hot_dwi *dwi = make_dwi(context, &s, signals);
        hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response);
        const hot_fit_options options = {.model = (*model)->name, .order = 4, .response = response,
                                         .regularise = HOT_ZERO, .positive = 1};
        hot_tensor_field *want = fit(context, good, options), *got = fit(context, dwi, options);
        size_t fitted = 0, flagged = 0;
        hot_tensor_field_counts(got, &fitted, &flagged);
        CHECK(flagged == 6 && fitted == VOXELS - 6, "%s: %zu flagged, %zu fitted", (*model)->name, flagged, fitted);
        for (size_t v = 0; v < VOXELS; v++)
            for (size_t t = 0; t < 16; t++) {
                const float a = hot_tensor_field_values(got)[16 * v + t], w = hot_tensor_field_values(want)[16 * v + t];
                if (v == at + 3 || v == at + 4)
                    CHECK(isfinite(a) && (t > 0 || a == 1), "%s: voxel %zu value %zu is %g", (*model)->name, v, t,
                          (double)a);
                else
                    CHECK(v >= at && v < at + 8 ? a == 0 : a == w, "%s: voxel %zu value %zu is %g", (*model)->name,
                          v, t, (double)a);
            }
        hot_tensor_field_destroy(&want);
        hot_tensor_field_destroy(&got);
        hot_response_destroy(&response);
        hot_dwi_destroy(&dwi);
        hot_dwi_destroy(&good);
        free(signals);
    }
}

/* The floor below which signals are lifted: the noise that samples below 0 show, or half the smallest positive one, at
 * most a quarter of the positive ones' mean. */
static void test_floor(void)
{
    static const struct { size_t count; float ratio[5]; double floor; } cases[] = {
        {0, {0}, 0}, {3, {.2f, .3f, .4f}, 0},
        {4, {.2f, .4f, .6f, 0}, .1},           /* a 0 among others: half of .2, and that is a quarter of the mean */
        {4, {.1f, .4f, .7f, 0}, .05},
        {4, {.5f, .5f, .5f, 0}, .125},         /* half of .5 is more than a quarter of the mean */
        {4, {.9f, .9f, .03f, -.04f}, .04},     /* the noise of one sample */
        {5, {.9f, .9f, .03f, -.03f, -.09f}, .0670820393}, /* of two: sqrt((.03^2 + .09^2) / 2) */
        {5, {.9f, .9f, .03f, 0, -.06f}, .0424264069},     /* a 0 counts */
        {4, {.4f, .4f, .1f, -7}, .075},        /* a stray one: .25 x .3 */
        {2, {0, 0}, 1e-6}, {2, {-.3f, -.4f}, .3535533906}, {2, {-3, -4}, 1}, {2, {1e-9f, 0}, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(hot_plan_floor(cases[i].count, cases[i].ratio), cases[i].floor, 1e-8, "case %zu", i);
}

/* adc of a strong fibre at a high b, whose signal along it is below the noise, which is Gaussian: the mean diffusivity
 * along and across is that without noise. */
static void test_low_signals(hot_context *context)
{
    static const double b[] = {3000};
    const scheme s = make_scheme(4, 30, 1, b);
    uint64_t state = 5;
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    size_t low = 0;
    for (size_t v = 0; v < VOXELS; v++)
        for (size_t i = 0; i < s.volumes; i++) {
            const double c = s.g[3 * i + 2];
            signals[v * s.volumes + i] = (float)(100 * exp(-s.b[i] * (.3e-3 + 1.2e-3 * c * c)) +
                                                 4 * check_random_normal(&state));
            low += signals[v * s.volumes + i] <= 0;
        }
    CHECK(low > VOXELS, "only %zu samples of at most 0", low);
    hot_dwi *dwi = make_dwi(context, &s, signals);
    for (int weighted = 0; weighted < 2; weighted++) {
        hot_tensor_field *got = fit(context, dwi, (hot_fit_options){.model = "adc", .order = 2,
                                                                    .weighted = weighted ? 1 : HOT_ZERO});
        double across = 0, along = 0;
        size_t fitted, flagged;
        hot_tensor_field_counts(got, &fitted, &flagged);
        CHECK(flagged == 0, "%zu flagged", flagged);
        for (size_t v = 0; v < VOXELS; v++) {
            const float *a = hot_tensor_field_values(got) + 7 * v + 1;
            across += .5e3 * (double)(a[0] + a[3]) / VOXELS;
            along += 1e3 * (double)a[5] / VOXELS;
        }
        CHECK(fabs(across - .3) < .02, "across %g, not .3 (weighted %d)", across, weighted);
        CHECK(fabs(along - 1.5) < .15, "along %g, not 1.5 (weighted %d)", along, weighted);
        hot_tensor_field_destroy(&got);
    }
    hot_dwi_destroy(&dwi);
    free(signals);
}

/* Single fibres along random axes, S0 = 100; noise of even voxels and of odd ones. */
static void fill_singles(const scheme *s, double even, double odd, uint64_t *state, float *signals)
{
    for (size_t v = 0; v < VOXELS; v++) {
        double axis[3];
        check_random_unit(state, axis);
        for (size_t i = 0; i < s->volumes; i++) {
            const double *g = s->g + 3 * i, c = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2];
            signals[v * s->volumes + i] = (float)fabs(100 * exp(-s->b[i] * (.002e-3 + 1.5e-3 * c * c)) +
                                                      (v % 2 ? odd : even) * check_random_normal(state));
        }
    }
}

/* Forms that noise makes negative are not negative with `positive`; others do not change. */
static void test_positive(hot_context *context)
{
    static const double b[] = {3000};
    const scheme s = make_scheme(1, 64, 1, b);
    uint64_t state = 21;
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    fill_singles(&s, .001, 8, &state, signals);
    hot_dwi *dwi = make_dwi(context, &s, signals);
    hot_tensor_field *free_fit = fit(context, dwi, (hot_fit_options){.model = "adc", .order = 6, .weighted = 1});
    hot_tensor_field *positive = fit(context, dwi,
                                     (hot_fit_options){.model = "adc", .order = 6, .weighted = 1, .positive = 1});
    double direction[3 * 1000];
    size_t repaired = 0;
    spiral(1000, direction);
    for (size_t v = 0; v < VOXELS; v++) {
        double a[28], p[28], lowest_free = 0, lowest = 0, largest = 0;
        for (size_t t = 0; t < 28; t++) {
            a[t] = (double)hot_tensor_field_values(free_fit)[29 * v + t + 1];
            p[t] = (double)hot_tensor_field_values(positive)[29 * v + t + 1];
        }
        for (size_t j = 0; j < 1000; j++) {
            lowest_free = fmin(lowest_free, hot_symtensor_value_f64(6, 3, a, direction + 3 * j));
            lowest = fmin(lowest, hot_symtensor_value_f64(6, 3, p, direction + 3 * j));
            largest = fmax(largest, hot_symtensor_value_f64(6, 3, p, direction + 3 * j));
        }
        /* between the 512 constrained directions the form may dip a little */
        CHECK(lowest >= -.02 * largest, "voxel %zu: %g below 0 (unconstrained %g)", v, lowest, lowest_free);
        repaired += lowest_free < -.025 * largest;
        if (lowest_free == 0 && memcmp(a, p, sizeof a) != 0) {
            double change = 0;
            for (size_t t = 0; t < 28; t++)
                change = fmax(change, fabs(a[t] - p[t]));
            CHECK(change < .01 * largest, "voxel %zu was positive and changed by %g", v, change);
        }
    }
    CHECK(repaired > 20, "only %zu voxels needed it: the test is too easy", repaired);
    hot_tensor_field_destroy(&free_fit);
    hot_tensor_field_destroy(&positive);
    hot_dwi_destroy(&dwi);
    free(signals);
}

enum { TERMS6 = 28 };

/* The objective of nearest_positive: the distance from `start` in the metric of the normal matrix, and the squares of
 * negative values. active: the directions of these. */
static double penalised(const double normal[TERMS6][TERMS6], double penalty, size_t count, const double *rows,
                        const double *start, const double *c, unsigned char *active)
{
    double sum = 0;
    for (int a = 0; a < TERMS6; a++)
        for (int b = 0; b < TERMS6; b++)
            sum += normal[a][b] * (c[a] - start[a]) * (c[b] - start[b]);
    for (size_t j = 0; j < count; j++) {
        double value = 0;
        for (int a = 0; a < TERMS6; a++)
            value += rows[j * TERMS6 + (size_t)a] * c[a];
        active[j] = value < 0;
        sum += active[j] * penalty * value * value;
    }
    return sum;
}

/* One step of Newton's method: m c = right. */
static void solve(double m[TERMS6][TERMS6 + 1], double *c)
{
    for (int k = 0; k < TERMS6; k++) /* positive definite: no pivots */
        for (int a = k + 1; a < TERMS6; a++)
            for (int b = TERMS6; b >= k; b--)
                m[a][b] -= m[a][k] / m[k][k] * m[k][b];
    for (int a = TERMS6 - 1; a >= 0; a--) {
        c[a] = m[a][TERMS6];
        for (int b = a + 1; b < TERMS6; b++)
            c[a] -= m[a][b] * c[b];
        c[a] /= m[a][a];
    }
}

/* The nearest form to `start` that is nowhere below 0 in `count` directions, in the metric of the normal matrix with
 * weights w: by a penalty that grows. rows: the form's terms in each direction. */
static void nearest_positive(size_t measured, const double *design, const double *w, size_t count, const double *rows,
                             const double *start, double *c)
{
    double normal[TERMS6][TERMS6] = {{0}};
    unsigned char active[512];
    for (size_t i = 0; i < measured; i++)
        for (size_t a = 0; a < TERMS6; a++)
            for (size_t b = 0; b < TERMS6; b++)
                normal[a][b] += w[i] * design[i * TERMS6 + a] * design[i * TERMS6 + b];
    memcpy(c, start, TERMS6 * sizeof *c);
    for (double penalty = 1e-4; penalty < 1e6; penalty *= 10)
        for (int round = 0; round < 40; round++) {
            double m[TERMS6][TERMS6 + 1], step[TERMS6], next[TERMS6], after;
            const double before = penalised(normal, penalty, count, rows, start, c, active);
            for (size_t a = 0; a < TERMS6; a++) {
                m[a][TERMS6] = 0;
                for (size_t b = 0; b < TERMS6; b++) {
                    m[a][b] = normal[a][b];
                    m[a][TERMS6] += normal[a][b] * start[b];
                    for (size_t j = 0; j < count; j++)
                        m[a][b] += active[j] * penalty * rows[j * TERMS6 + a] * rows[j * TERMS6 + b];
                }
            }
            solve(m, step);
            double length = 1;
            do {
                for (int a = 0; a < TERMS6; a++)
                    next[a] = c[a] + length * (step[a] - c[a]);
                after = penalised(normal, penalty, count, rows, start, next, active);
                length /= 2;
            } while (after > before && length > 1e-6);
            if (!(after < before * (1 - 1e-9)))
                break;
            memcpy(c, next, sizeof next);
        }
}

/* The form's terms in a direction. */
static void terms_of(const double *x, double *row)
{
    for (int t = 0; t < TERMS6; t++) {
        double one[TERMS6] = {0};
        one[t] = 1;
        row[t] = hot_symtensor_value_f64(6, 3, one, x);
    }
}

/* What `positive` comes to is the nearest by the weights of the fit, not by none. */
static void test_positive_weights(hot_context *context)
{
    static const double b[] = {3000};
    const scheme s = make_scheme(1, 64, 1, b);
    static double design[64 * TERMS6], rows[512 * TERMS6], lattice[3 * 512], many[3 * 300];
    uint64_t state = 22;
    size_t told = 0;
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    fill_singles(&s, 8, 8, &state, signals);
    hot_dwi *dwi = make_dwi(context, &s, signals);
    const hot_fit_options options = {.model = "adc", .order = 6, .weighted = 1, .regularise = HOT_ZERO};
    hot_fit_options with = options;
    with.positive = 1;
    hot_tensor_field *free_fit = fit(context, dwi, options), *positive = fit(context, dwi, with);
    hot_sphere_lattice(512, lattice);
    spiral(300, many);
    for (size_t i = 0; i < 64; i++)
        terms_of(s.g + 3 * (i + 1), design + i * TERMS6);
    for (size_t j = 0; j < 512; j++)
        terms_of(lattice + 3 * j, rows + j * TERMS6);
    for (size_t v = 0; v < VOXELS / 3; v++) { /* the reference is slow */
        double start[TERMS6], got[TERMS6], near[TERMS6], plain[TERMS6], w[64], none[64];
        double largest = 0, off = 0, apart = 0;
        for (int t = 0; t < TERMS6; t++) {
            start[t] = 3000 * (double)hot_tensor_field_values(free_fit)[29 * v + (size_t)t + 1];
            got[t] = 3000 * (double)hot_tensor_field_values(positive)[29 * v + (size_t)t + 1];
        }
        for (size_t i = 0; i < 64; i++) {
            double model = 0;
            for (int t = 0; t < TERMS6; t++)
                model += design[i * TERMS6 + (size_t)t] * start[t];
            w[i] = exp(-2 * fmin(fmax(model, -1), 20));
            none[i] = 1;
        }
        nearest_positive(64, design, w, 512, rows, start, near);
        nearest_positive(64, design, none, 512, rows, start, plain);
        for (size_t j = 0; j < 300; j++) {
            const double right = hot_symtensor_value_f64(6, 3, near, many + 3 * j);
            largest = fmax(largest, right);
            off = fmax(off, fabs(hot_symtensor_value_f64(6, 3, got, many + 3 * j) - right));
            apart = fmax(apart, fabs(hot_symtensor_value_f64(6, 3, plain, many + 3 * j) - right));
        }
        CHECK(off <= .01 * largest, "voxel %zu: off by %g of %g; without weights by %g", v, off, largest, apart);
        told += apart > .05 * largest;
    }
    CHECK(told > 10, "the weights tell in %zu voxels only: the test is too easy", told);
    hot_tensor_field_destroy(&free_fit);
    hot_tensor_field_destroy(&positive);
    hot_dwi_destroy(&dwi);
    free(signals);
}

/* fod's default regularisation: nothing without noise, and with noise nearer to the truth than the plain
 * deconvolution. */
static void test_noise_weighed(hot_context *context)
{
    static const double b[] = {1000};
    const scheme s = make_scheme(2, 64, 1, b);
    for (int noisy_data = 0; noisy_data < 2; noisy_data++) {
        hot_dwi *empty = make_dwi(context, &s, NULL);
        hot_response *response = NULL;
        float *want = calloc(VOXELS * 29, sizeof *want), *signals = malloc(VOXELS * s.volumes * sizeof *signals);
        uint64_t state = 41;
        hot_response_tensor(context, empty, 1.7e-3, .3e-3, 1000, 6, &response);
        for (size_t v = 0; v < VOXELS; v++) {
            const double w[2] = {.6, .4};
            double x[6];
            check_random_unit(&state, x);
            check_random_unit(&state, x + 3);
            add_fibre(6, w[0], x, want + 29 * v + 1);
            add_fibre(6, w[1], x + 3, want + 29 * v + 1);
            fibre_signals(&s, response, empty, 2, w, x, 100, signals + v * s.volumes);
            for (size_t i = 0; i < s.volumes && noisy_data; i++)
                signals[v * s.volumes + i] += (float)(5 * check_random_normal(&state));
        }
        hot_dwi *dwi = make_dwi(context, &s, signals);
        hot_tensor_field *plain = fit(context, dwi,
                                      (hot_fit_options){.model = "fod", .order = 6, .response = response,
                                                        .regularise = HOT_ZERO});
        hot_tensor_field *weighed =
            fit(context, dwi, (hot_fit_options){.model = "fod", .order = 6, .response = response});
        double error[2] = {0};
        for (size_t v = 0; v < VOXELS; v++)
            for (size_t t = 1; t < 29; t++) {
                error[0] += pow((double)(hot_tensor_field_values(plain)[29 * v + t] - want[29 * v + t]), 2);
                error[1] += pow((double)(hot_tensor_field_values(weighed)[29 * v + t] - want[29 * v + t]), 2);
            }
        if (noisy_data)
            CHECK(error[1] < .5 * error[0], "squared error %g weighed, %g plain", error[1], error[0]);
        else
            CHECK(sqrt(error[1] / VOXELS) < 1e-5, "without noise the tensors are off by %g", sqrt(error[1] / VOXELS));
        hot_tensor_field_destroy(&plain);
        hot_tensor_field_destroy(&weighed);
        hot_dwi_destroy(&dwi);
        hot_dwi_destroy(&empty);
        hot_response_destroy(&response);
        free(want), free(signals);
    }
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    test_floor();
    test_bad_voxels(context);
    test_low_signals(context);
    test_positive(context);
    test_positive_weights(context);
    test_noise_weighed(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

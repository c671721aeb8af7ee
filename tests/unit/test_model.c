/* Models: noise-free fits are exact, frames turn with the data, order and scale of the signals do not matter, bad
 * voxels are flagged, refusals say what would do. */
#include "check.h"
#include "starve.h"
#include "model/model.h"

enum { GRID = 5, VOXELS = GRID * GRID * GRID };

/* Directions of a spiral over the half sphere, turned about so that no axis is special. */
static void spiral(size_t count, double *g)
{
    for (size_t i = 0; i < count; i++) {
        const double z = 1 - (2. * (double)i + 1) / (2. * (double)count), r = sqrt(1 - z * z), p = 2.399963 * (double)i;
        const double x = r * cos(p), y = r * sin(p);
        g[3 * i] = .6 * x + .8 * z, g[3 * i + 1] = y, g[3 * i + 2] = -.8 * x + .6 * z;
    }
}

static const hot_grid grid = {.size = {GRID, GRID, GRID},
                              .to_world = {{2, 0, 0, 1}, {0, 2, 0, 2}, {0, 0, 2, 3}},
                              .space = HOT_SPACE_RAS};

typedef struct scheme {
    size_t volumes;
    double b[512], g[3 * 512];
} scheme;

/* b0 volumes without weighting, then one shell after the other with the same number of directions each */
static scheme make_scheme(size_t b0, size_t directions, size_t shells, const double *b)
{
    scheme s = {.volumes = b0 + directions * shells};
    for (size_t k = 0; k < shells; k++) {
        spiral(directions, s.g + 3 * (b0 + k * directions));
        for (size_t i = 0; i < directions; i++) {
            double *g = s.g + 3 * (b0 + k * directions + i);
            const double x = g[0], turn = .3 * (double)k;
            g[0] = cos(turn) * x - sin(turn) * g[1], g[1] = sin(turn) * x + cos(turn) * g[1];
            s.b[b0 + k * directions + i] = b[k];
        }
    }
    return s;
}

static hot_dwi *make_dwi(hot_context *context, const scheme *s, const float *by_voxel)
{
    hot_dwi *dwi = NULL;
    float *signals = calloc(s->volumes * VOXELS, sizeof *signals);
    for (size_t v = 0; v < VOXELS && by_voxel; v++)
        for (size_t i = 0; i < s->volumes; i++)
            signals[i * VOXELS + v] = by_voxel[v * s->volumes + i];
    CHECK(hot_dwi_create(context, &grid, s->volumes, s->b, s->g, signals, &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    free(signals);
    return dwi;
}

/* w v^(x order) added to a packed tensor */
static void add_fibre(int order, double w, const double *v, float *tensor)
{
    int exponents[3 * HOT_MODEL_TERMS_MAX];
    hot_symtensor_exponents(order, 3, exponents);
    for (size_t t = 0; t < hot_model_terms(order); t++)
        tensor[t] += (float)(w * pow(v[0], exponents[3 * t]) * pow(v[1], exponents[3 * t + 1]) *
                             pow(v[2], exponents[3 * t + 2]));
}

/* Sums of two or three fibres and an isotropic part: valid for every model after scaling. */
static void random_tensors(int order, uint64_t *state, const char *model, float *values)
{
    const size_t terms = hot_model_terms(order);
    memset(values, 0, VOXELS * (terms + 1) * sizeof *values);
    for (size_t v = 0; v < VOXELS; v++) {
        float *tensor = values + v * (terms + 1) + 1;
        tensor[-1] = 1;
        for (size_t k = 0; k < 2 + v % 2; k++) {
            double x[3];
            check_random_unit(state, x);
            add_fibre(order, .2 + .3 * check_random(state), x, tensor);
        }
        for (int d = 0; d < 3 && strcmp(model, "fod") != 0; d++) {
            /* three axes: positive everywhere */
            const double axis[3] = {d == 0, d == 1, d == 2};
            add_fibre(order, .4, axis, tensor);
        }
        for (size_t t = 0; t < terms && strcmp(model, "adc") == 0; t++)
            tensor[t] *= 1e-3f;
    }
}

static double worst_error(size_t terms, const float *a, const float *b)
{
    double worst = 0;
    for (size_t v = 0; v < VOXELS; v++) {
        double largest = 0, error = 0;
        for (size_t t = 1; t <= terms; t++) {
            const double e = fabs((double)a[v * (terms + 1) + t] - (double)b[v * (terms + 1) + t]);
            largest = fmax(largest, fabs((double)b[v * (terms + 1) + t]));
            if (!(e <= error))
                error = e;
        }
        if (!(error / largest <= worst))
            worst = error / largest;
    }
    return worst;
}

/* The ODF's mean is fixed: its isotropic part is replaced by 1 / (4 pi). */
static void fix_mean(hot_context *context, int order, float *values)
{
    const size_t terms = hot_model_terms(order);
    double to_sh[HOT_MODEL_TERMS_MAX * HOT_MODEL_TERMS_MAX], from_sh[HOT_MODEL_TERMS_MAX * HOT_MODEL_TERMS_MAX];
    hot_symtensor_to_sh(context, order, to_sh);
    hot_sh_to_symtensor(context, order, from_sh);
    for (size_t v = 0; v < VOXELS; v++) {
        float *tensor = values + v * (terms + 1) + 1;
        double mean = 0;
        for (size_t t = 0; t < terms; t++)
            tensor[t] *= .05f;
        for (size_t t = 0; t < terms; t++)
            mean += to_sh[t] * (double)tensor[t];
        for (size_t t = 0; t < terms; t++)
            tensor[t] += (float)((1 / (2 * sqrt(M_PI)) - mean) * from_sh[t * terms]);
    }
}

static hot_tensor_field *fit(hot_context *context, const hot_dwi *dwi, hot_fit_options options)
{
    hot_mask *mask = NULL;
    hot_tensor_field *field = NULL;
    options.size = sizeof options;
    CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK, "%s", hot_context_message(context));
    hot_status status = hot_tensor_field_fit(context, dwi, mask, &options, &field);
    CHECK(status == HOT_OK, "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    return field;
}

/* simulate -> fit -> the same tensor, for every model, order, and way of fitting */
static void test_exact(hot_context *context)
{
    static const double one[] = {2000}, two[] = {1000, 3000};
    static const struct { const char *model; size_t shells; hot_fit_options options; } cases[] = {
        {"adc", 1, {.weighted = 0}}, {"adc", 1, {.weighted = 1}}, {"adc", 2, {.weighted = 1}},
        {"adc", 1, {.weighted = 0, .estimate_s0 = 1}}, {"adc", 2, {.weighted = 1, .estimate_s0 = 1}},
        {"adc", 1, {.weighted = 1, .positive = 1}}, {"odf", 1, {.order = 0}}, {"fod", 1, {.order = 0}},
        {"fod", 2, {.order = 0}},
    };
    uint64_t state = 11;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int order = 2; order <= 8; order += 2) {
            const scheme s = make_scheme(3, 64, cases[c].shells, cases[c].shells == 1 ? one : two);
            const size_t terms = hot_model_terms(order);
            hot_dwi *empty = make_dwi(context, &s, NULL);
            hot_response *response = NULL;
            hot_plan *plan = NULL;
            float *want = malloc(VOXELS * (terms + 1) * sizeof *want),
                  *signals = malloc(VOXELS * s.volumes * sizeof *signals);
            hot_fit_options options = cases[c].options;
            options.size = sizeof options;
            options.model = cases[c].model;
            options.order = order;
            /* fat at low orders: a sharp response cut there would make negative signals */
            const double along = order == 8 ? 1.7e-3 : .9e-3, across = order == 8 ? .3e-3 : .5e-3;
            CHECK(hot_response_tensor(context, empty, along, across, 800, 8, &response) == HOT_OK, "%s",
                  hot_context_message(context));
            options.response = response;
            random_tensors(order, &state, options.model, want);
            if (strcmp(options.model, "odf") == 0)
                fix_mean(context, order, want);
            CHECK(hot_plan_make(context, empty, &options, response, 1, &plan) == HOT_OK, "%s",
                  hot_context_message(context));
            hot_plan_simulate(plan, VOXELS, want, 500, signals);
            hot_dwi *dwi = make_dwi(context, &s, signals);
            hot_tensor_field *field = fit(context, dwi, options);
            if (field) {
                const double error = worst_error(terms, hot_tensor_field_values(field), want);
                /* float signals: their rounding, amplified by the deconvolution at order 8 */
                const double bound = strcmp(options.model, "fod") == 0 && order == 8 ? 3e-5 : 1e-5;
                CHECK(error <= bound, "%s (case %zu) order %d: error %g", options.model, c, order, error);
                CHECK(hot_tensor_field_order(field) == order, "order %d", hot_tensor_field_order(field));
                size_t fitted, flagged;
                hot_tensor_field_counts(field, &fitted, &flagged);
                CHECK(fitted == VOXELS && flagged == 0, "%zu fitted, %zu flagged", fitted, flagged);
            }
            hot_tensor_field_destroy(&field);
            hot_dwi_destroy(&dwi);
            hot_dwi_destroy(&empty);
            hot_plan_free(&plan);
            hot_response_destroy(&response);
            free(want), free(signals);
        }
}

/* Signals from fibres, not from the model: what the response says of each, added up by their fractions. */
static void fibre_signals(const scheme *s, const hot_response *response, const hot_dwi *dwi, size_t fibres,
                          const double *w, const double *v, double s0, float *signals)
{
    const int *shell_of;
    hot_dwi_shells(dwi, NULL, &shell_of);
    for (size_t i = 0; i < s->volumes; i++) {
        double sum = 0;
        for (size_t k = 0; k < fibres; k++) {
            const double *g = s->g + 3 * i, *x = v + 3 * k;
            sum += w[k] * hot_response_value(response, (size_t)shell_of[i], g[0] * x[0] + g[1] * x[1] + g[2] * x[2]);
        }
        signals[i] = (float)(s0 * sum / hot_response_value(response, 0, 0));
        if (shell_of[i] == 0)
            signals[i] = (float)s0;
    }
}

/* k fibres: exactly the sum of their rank-1 tensors, weights are fractions, whatever the scale of the signal. */
static void test_fibres(hot_context *context)
{
    static const double b[] = {1000, 3000};
    uint64_t state = 5;
    for (int order = 2; order <= 8; order += 2)
        for (double scale = 1e-6; scale < 1e7; scale *= 1e6) {
            const scheme s = make_scheme(2, 60, 2, b);
            const size_t width = hot_model_terms(order) + 1;
            hot_dwi *empty = make_dwi(context, &s, NULL);
            hot_response *response = NULL;
            float *want = calloc(VOXELS * width, sizeof *want), *signals = malloc(VOXELS * s.volumes * sizeof *signals);
            /* a response that ends at the order, and wide enough to stay positive when it is cut there */
            hot_response_tensor(context, empty, .9e-3, .5e-3, 1000, order, &response);
            for (size_t v = 0; v < VOXELS; v++) {
                double w[3] = {.5, .3, .2}, x[9];
                const size_t fibres = 1 + v % 3;
                for (size_t k = 0; k < fibres; k++) {
                    check_random_unit(&state, x + 3 * k);
                    add_fibre(order, w[k], x + 3 * k, want + v * width + 1);
                }
                fibre_signals(&s, response, empty, fibres, w, x, 200 * scale, signals + v * s.volumes);
            }
            hot_dwi *dwi = make_dwi(context, &s, signals);
            hot_tensor_field *field =
                fit(context, dwi, (hot_fit_options){.model = "fod", .order = order, .response = response});
            if (field) {
                const double error = worst_error(width - 1, hot_tensor_field_values(field), want);
                CHECK(error <= 3e-5, "order %d, scale %g: error %g", order, scale, error);
            }
            hot_tensor_field_destroy(&field);
            hot_dwi_destroy(&dwi);
            hot_dwi_destroy(&empty);
            hot_response_destroy(&response);
            free(want), free(signals);
        }
}

/* Noisy two-fibre data. turn = 1: gradients and fibres turned by 90 degrees about z; shuffle: volumes
 * in another order. */
static hot_tensor_field *noisy(hot_context *context, const char *model, int turn, int shuffle, double scale,
                               int weighted)
{
    static const double b[] = {2000};
    const scheme straight = make_scheme(3, 64, 1, b);
    scheme s = straight;
    uint64_t state = 77;
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals),
          *moved = malloc(VOXELS * s.volumes * sizeof *signals);
    hot_response *response = NULL;
    for (size_t i = 0; i < s.volumes && turn; i++) {
        s.g[3 * i] = -straight.g[3 * i + 1];
        s.g[3 * i + 1] = straight.g[3 * i];
    }
    hot_dwi *empty = make_dwi(context, &s, NULL);
    hot_response_tensor(context, empty, 1.7e-3, .3e-3, 1000, 8, &response);
    for (size_t v = 0; v < VOXELS; v++) {
        double x[6], turned[6];
        const double w[2] = {.6, .4};
        check_random_unit(&state, x);
        check_random_unit(&state, x + 3);
        for (int k = 0; k < 2; k++) {
            turned[3 * k] = turn ? -x[3 * k + 1] : x[3 * k];
            turned[3 * k + 1] = turn ? x[3 * k] : x[3 * k + 1];
            turned[3 * k + 2] = x[3 * k + 2];
        }
        fibre_signals(&s, response, empty, 2, w, turned, 300, signals + v * s.volumes);
        for (size_t i = 0; i < s.volumes; i++)
            signals[v * s.volumes + i] =
                (float)(scale * fabs((double)signals[v * s.volumes + i] + 10 * check_random_normal(&state)));
    }
    scheme order = s;
    for (size_t i = 0; i < s.volumes; i++) {
        const size_t from = shuffle ? (i * 29 + 11) % s.volumes : i; /* 29 and 67 share no factor */
        order.b[i] = s.b[from];
        memcpy(order.g + 3 * i, s.g + 3 * from, 3 * sizeof(double));
        for (size_t v = 0; v < VOXELS; v++)
            moved[v * s.volumes + i] = signals[v * s.volumes + from];
    }
    hot_dwi *dwi = make_dwi(context, &order, moved);
    hot_tensor_field *field = fit(context, dwi, (hot_fit_options){.model = model, .order = 6, .response = response,
                                                                  .regularise = -1, .weighted = weighted});
    hot_dwi_destroy(&dwi);
    hot_dwi_destroy(&empty);
    hot_response_destroy(&response);
    free(signals), free(moved);
    return field;
}

static void test_invariance(hot_context *context)
{
    const size_t terms = hot_model_terms(6);
    int exponents[3 * HOT_MODEL_TERMS_MAX];
    hot_symtensor_exponents(6, 3, exponents);
    for (const hot_model *const *model = hot_model_list(); *model; model++)
        for (int weighted = 0; weighted < 2; weighted++) {
            const char *name = (*model)->name;
            hot_tensor_field *plain = noisy(context, name, 0, 0, 1, weighted);
            hot_tensor_field *turned = noisy(context, name, 1, 0, 1, weighted);
            hot_tensor_field *shuffled = noisy(context, name, 0, 1, 1, weighted);
            hot_tensor_field *small = noisy(context, name, 0, 0, 1e-6, weighted);
            hot_tensor_field *large = noisy(context, name, 0, 0, 1e6, weighted);
            if (!plain || !turned || !shuffled || !small || !large)
                continue;
            const float *want = hot_tensor_field_values(plain);
            CHECK(worst_error(terms, hot_tensor_field_values(shuffled), want) <= 2e-5, "%s: order of volumes", name);
            CHECK(worst_error(terms, hot_tensor_field_values(small), want) <= 2e-5, "%s: scale 1e-6", name);
            CHECK(worst_error(terms, hot_tensor_field_values(large), want) <= 2e-5, "%s: scale 1e6", name);
            /* turned: (x, y) -> (-y, x), so the entry of (kx, ky, kz) has gone to (ky, kx, kz), times (-1)^ky */
            float *back = malloc(VOXELS * (terms + 1) * sizeof *back);
            for (size_t v = 0; v < VOXELS; v++)
                for (size_t t = 0; t < terms; t++)
                    for (size_t u = 0; u < terms; u++)
                        if (exponents[3 * u] == exponents[3 * t + 1] && exponents[3 * u + 1] == exponents[3 * t])
                            back[v * (terms + 1) + t + 1] = hot_tensor_field_values(turned)[v * (terms + 1) + u + 1] *
                                                            (exponents[3 * t + 1] % 2 ? -1.f : 1.f);
            const double error = worst_error(terms, back, want);
            CHECK(error <= 2e-5, "%s: turned with its gradients: %g", name, error);
            free(back);
            hot_tensor_field_destroy(&plain);
            hot_tensor_field_destroy(&turned);
            hot_tensor_field_destroy(&shuffled);
            hot_tensor_field_destroy(&small);
            hot_tensor_field_destroy(&large);
        }
}

/* NaN, Inf, zero and negative signals: flagged, zero, and nothing else changes. */
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
        const float bad[7] = {NAN, INFINITY, -INFINITY, 0, -5, NAN, -1};
        for (size_t k = 0; k < 7; k++) /* 0 to 4 in a weighted volume, 5 and 6 in b=0, 7: all b=0 zero */
            signals[(at + k) * s.volumes + (k < 5 ? 7 : 1)] = bad[k];
        signals[(at + 7) * s.volumes] = signals[(at + 7) * s.volumes + 1] = 0;
        hot_dwi *dwi = make_dwi(context, &s, signals);
        hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response);
        const hot_fit_options options = {.model = (*model)->name, .order = 4, .response = response, .weighted = 1,
                                         .positive = 1};
        hot_tensor_field *want = fit(context, good, options), *got = fit(context, dwi, options);
        size_t fitted = 0, flagged = 0;
        hot_tensor_field_counts(got, &fitted, &flagged);
        CHECK(flagged == 8 && fitted == VOXELS - 8, "%s: %zu flagged, %zu fitted", (*model)->name, flagged, fitted);
        for (size_t v = 0; v < VOXELS; v++)
            for (size_t t = 0; t < 16; t++) {
                const float a = hot_tensor_field_values(got)[16 * v + t], w = hot_tensor_field_values(want)[16 * v + t];
                CHECK(v >= at && v < at + 8 ? a == 0 : a == w, "%s: voxel %zu value %zu is %g", (*model)->name, v, t,
                      (double)a);
            }
        hot_tensor_field_destroy(&want);
        hot_tensor_field_destroy(&got);
        hot_response_destroy(&response);
        hot_dwi_destroy(&dwi);
        hot_dwi_destroy(&good);
        free(signals);
    }
}

/* Forms that noise drives below zero are not below zero with `positive`, others stay as they were. */
static void test_positive(hot_context *context)
{
    static const double b[] = {3000};
    const scheme s = make_scheme(1, 64, 1, b);
    uint64_t state = 21;
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    for (size_t v = 0; v < VOXELS; v++) {
        double axis[3];
        check_random_unit(&state, axis);
        for (size_t i = 0; i < s.volumes; i++) {
            const double *g = s.g + 3 * i, c = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2];
            signals[v * s.volumes + i] = (float)fabs(100 * exp(-s.b[i] * (.002e-3 + 1.5e-3 * c * c)) +
                                                     (v % 2 ? 8 : .001) * check_random_normal(&state));
        }
    }
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

static void refused(hot_context *context, const scheme *s, hot_fit_options options, hot_status want, const char *words)
{
    hot_dwi *dwi = make_dwi(context, s, NULL);
    hot_mask *mask = NULL;
    hot_tensor_field *field = NULL;
    options.size = sizeof options;
    hot_mask_full(context, &grid, &mask);
    hot_status status = hot_tensor_field_fit(context, dwi, mask, &options, &field);
    CHECK(status == want, "status %d, not %d: %s", status, want, hot_context_message(context));
    CHECK(strstr(hot_context_message(context), words) != NULL, "'%s' does not say '%s'", hot_context_message(context),
          words);
    CHECK(field == NULL, "a field came out");
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    hot_tensor_field_destroy(&field);
}

static void test_refusals(hot_context *context)
{
    static const double b[] = {1000};
    const scheme few = make_scheme(1, 15, 1, b), no_b0 = make_scheme(0, 30, 1, b);
    scheme plane = make_scheme(1, 30, 1, b), twins = make_scheme(1, 30, 1, b);
    for (size_t i = 1; i < plane.volumes; i++) {
        plane.g[3 * i] = cos((double)i * .1), plane.g[3 * i + 1] = sin((double)i * .1), plane.g[3 * i + 2] = 0;
        memcpy(twins.g + 3 * i, few.g + 3 * (1 + i % 9), 3 * sizeof(double));
    }
    refused(context, &few, (hot_fit_options){.model = "adc", .order = 6}, HOT_ERROR_DATA,
            "order 6 needs 28 different gradient directions, 'the data set' has 15 (b=1000); order 4 would do");
    refused(context, &no_b0, (hot_fit_options){.model = "adc"}, HOT_ERROR_DATA, "no b=0 volume");
    refused(context, &plane, (hot_fit_options){.model = "odf"}, HOT_ERROR_DATA, "lie in one plane (normal ");
    refused(context, &twins, (hot_fit_options){.model = "adc", .order = 4}, HOT_ERROR_DATA, "has 9 (b=1000); order 2");
    refused(context, &few, (hot_fit_options){.model = "xyz"}, HOT_ERROR_ARGUMENT, "no model 'xyz'");
    refused(context, &few, (hot_fit_options){.model = "adc", .order = 5}, HOT_ERROR_ARGUMENT, "order 5");
}

/* Order 0: 6, or 4 with fewer than 28 directions, or 2 with fewer than 15. */
static void test_default_order(hot_context *context)
{
    static const double b[] = {1000};
    static const struct { size_t directions; int order; } cases[] = {{6, 2}, {14, 2}, {20, 4}, {27, 4}, {32, 6},
                                                                     {90, 6}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const scheme s = make_scheme(1, cases[c].directions, 1, b);
        hot_dwi *dwi = make_dwi(context, &s, NULL);
        hot_tensor_field *field = fit(context, dwi, (hot_fit_options){.model = "odf", .regularise = -1});
        CHECK(field && hot_tensor_field_order(field) == cases[c].order, "%zu directions: order %d", cases[c].directions,
              field ? hot_tensor_field_order(field) : -1);
        hot_tensor_field_destroy(&field);
        hot_dwi_destroy(&dwi);
    }
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
                                      (hot_fit_options){.model = "fod", .order = 6, .response = response});
        hot_tensor_field *weighed =
            fit(context, dwi, (hot_fit_options){.model = "fod", .order = 6, .response = response, .regularise = -1});
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

/* Whichever allocation fails: that is what the call says, and nothing is lost. The response is estimated too. */
static void test_starved(hot_context *context)
{
    static const double b[] = {2000};
    const scheme s = make_scheme(2, 30, 1, b);
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    uint64_t state = 31;
    for (size_t v = 0; v < VOXELS; v++) {
        double x[3];
        check_random_unit(&state, x);
        for (size_t i = 0; i < s.volumes; i++) {
            const double *g = s.g + 3 * i, c = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
            signals[v * s.volumes + i] = (float)(100 * exp(-s.b[i] * (.3e-3 + 1.4e-3 * c * c)));
        }
    }
    hot_dwi *dwi = make_dwi(context, &s, signals);
    for (const hot_model *const *model = hot_model_list(); *model; model++) {
        int done = 0;
        for (long k = 1; k < 400 && !done; k++) { /* call 0 is the context's own */
            starved hunger = {.fail_at = k};
            hot_context_options settings = {.size = sizeof settings, .threads = 1, .allocate = starved_take,
                                            .release = starved_give, .allocator_user = &hunger};
            hot_context *poor = NULL;
            hot_mask *mask = NULL;
            hot_tensor_field *field = NULL;
            const hot_fit_options options = {.size = sizeof options, .model = (*model)->name, .order = 0,
                                             .regularise = -1, .weighted = 1, .positive = 1};
            CHECK(hot_context_create(&settings, &poor) == HOT_OK, "context");
            hot_status status = hot_mask_full(poor, &grid, &mask);
            if (status == HOT_OK)
                status = hot_tensor_field_fit(poor, dwi, mask, &options, &field);
            CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && !field), "%s, allocation %ld: status %d, %s",
                  (*model)->name, k, status, hot_context_message(poor));
            done = status == HOT_OK;
            CHECK(!done || hot_tensor_field_order(field) == 6, "order %d", hot_tensor_field_order(field));
            hot_tensor_field_destroy(&field);
            hot_mask_destroy(&mask);
            hot_context_destroy(&poor);
            CHECK(hunger.live == 0, "%s, allocation %ld: %ld blocks lost", (*model)->name, k, hunger.live);
        }
        CHECK(done, "%s never got enough memory", (*model)->name);
    }
    hot_dwi_destroy(&dwi);
    free(signals);
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    test_exact(context);
    test_fibres(context);
    test_invariance(context);
    test_bad_voxels(context);
    test_positive(context);
    test_refusals(context);
    test_default_order(context);
    test_noise_weighed(context);
    test_starved(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

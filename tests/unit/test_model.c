/* Models: noise-free fits are exact, frames turn with the data, order and scale of the signals do not matter. */
#include "model_cases.h"

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

/* Signals of diffusivities from the formula, S = S0 exp(-b A g^m), with the form written out, without code of the
 * fit. */
static void adc_signals(const scheme *s, int order, size_t terms, const float *values, double s0, float *signals)
{
    static const double factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
    for (size_t v = 0; v < VOXELS; v++)
        for (size_t i = 0; i < s->volumes; i++) {
            const float *tensor = values + v * (terms + 1) + 1;
            const double *g = s->g + 3 * i;
            double form = 0;
            for (int rest = 0; rest <= order; rest++) /* xxxx xxxy xxxz xxyy ... */
                for (int z = 0; z <= rest; z++)
                    form += factorial[order] / (factorial[order - rest] * factorial[rest - z] * factorial[z]) *
                            pow(g[0], order - rest) * pow(g[1], rest - z) * pow(g[2], z) * (double)*tensor++;
            signals[v * s->volumes + i] = (float)(s0 * exp(-s->b[i] * form));
        }
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

/* ---- Integrals over the sphere, by which signals are made that owe nothing to the fit's matrices ---------------- */

enum { NODES = 20, POINTS = NODES * 2 * NODES }; /* exact for polynomials of degree 39 */

static double legendre(int l, double t)
{
    double before = 1, now = t;
    for (int k = 2; k <= l; k++) {
        const double next = ((2 * k - 1) * t * now - (k - 1) * before) / k;
        before = now, now = next;
    }
    return l == 0 ? 1 : now;
}

/* Gauss-Legendre: zeros of P_20 by Newton's method. */
static void gauss(double *node, double *weight)
{
    for (int i = 0; i < NODES; i++) {
        double t = cos(M_PI * (i + .75) / (NODES + .5)), slope = 1;
        for (int turn = 0; turn < 60; turn++) {
            slope = NODES * (t * legendre(NODES, t) - legendre(NODES - 1, t)) / (t * t - 1);
            t -= legendre(NODES, t) / slope;
        }
        node[i] = t;
        weight[i] = 2 / ((1 - t * t) * slope * slope);
    }
}

/* The factor of a zonal kernel for harmonics of degree l (Funk, Hecke): 2 pi times the integral of f(t) P_l(t). */
typedef double zonal(double t, const void *user);
static double funk_hecke(int l, zonal *f, const void *user)
{
    double node[NODES], weight[NODES], sum = 0;
    gauss(node, weight);
    for (int i = 0; i < NODES; i++)
        sum += weight[i] * f(node[i], user) * legendre(l, node[i]);
    return 2 * M_PI * sum;
}

static double power(double t, const void *order) { return pow(t, *(const int *)order); }
typedef struct attenuation { double b, along, across; } attenuation;
static double attenuated(double t, const void *user)
{
    const attenuation *a = user;
    return exp(-a->b * (a->across + (a->along - a->across) * t * t));
}

/* y[v volumes + i] = the integral of A_v(u) K(g_i . u), K = sum of (2 l + 1) / (4 pi) factor[l / 2] P_l. */
static void convolve(const scheme *s, int order, const float *values, size_t first, size_t last, const double *factor,
                     double *y)
{
    static const double factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
    static double u[POINTS][3], area[POINTS], form[VOXELS][POINTS];
    const size_t terms = hot_model_terms(order);
    double node[NODES], weight[NODES];
    gauss(node, weight);
    for (int i = 0; i < POINTS; i++) {
        const double z = node[i % NODES], r = sqrt(1 - z * z), phi = M_PI / NODES * (i / NODES);
        u[i][0] = r * cos(phi), u[i][1] = r * sin(phi), u[i][2] = z;
        area[i] = weight[i % NODES] * M_PI / NODES;
    }
    for (size_t v = 0; v < VOXELS; v++)
        for (int i = 0; i < POINTS; i++) {
            const float *tensor = values + v * (terms + 1) + 1;
            form[v][i] = 0;
            for (int rest = 0; rest <= order; rest++)
                for (int z = 0; z <= rest; z++)
                    form[v][i] += area[i] * factorial[order] /
                                  (factorial[order - rest] * factorial[rest - z] * factorial[z]) *
                                  pow(u[i][0], order - rest) * pow(u[i][1], rest - z) * pow(u[i][2], z) *
                                  (double)*tensor++;
        }
    for (size_t i = first; i < last; i++) {
        double kernel[POINTS];
        for (int p = 0; p < POINTS; p++) {
            const double t = s->g[3 * i] * u[p][0] + s->g[3 * i + 1] * u[p][1] + s->g[3 * i + 2] * u[p][2];
            kernel[p] = 0;
            for (int l = 0; l <= order; l += 2)
                kernel[p] += (2 * l + 1) / (4 * M_PI) * factor[l / 2] * legendre(l, t);
        }
        for (size_t v = 0; v < VOXELS; v++) {
            double sum = 0;
            for (int p = 0; p < POINTS; p++)
                sum += form[v][p] * kernel[p];
            y[v * s->volumes + i] = sum;
        }
    }
}

/* Signals of a distribution of fibres: a tensor u^m represents a fibre along u, so each degree of the tensor is divided
 * by the power's factor, and convolved with the attenuation of one fibre. */
static void fod_signals(const scheme *s, int order, const float *values, double along, double across, double s0,
                        float *signals)
{
    double *y = calloc(VOXELS * s->volumes, sizeof *y);
    for (size_t first = 0, last; first < s->volumes; first = last) {
        double factor[5] = {0};
        const attenuation a = {s->b[first], along, across};
        for (last = first; last < s->volumes && !(fabs(s->b[last] - s->b[first]) > 0); last++)
            ;
        for (int l = 0; l <= order; l += 2)
            factor[l / 2] = funk_hecke(l, attenuated, &a) / funk_hecke(l, power, &order);
        convolve(s, order, values, first, last, factor, y);
    }
    for (size_t n = 0; n < VOXELS * s->volumes; n++)
        signals[n] = (float)(s0 * (s->b[n % s->volumes] > 0 ? y[n] : 1));
    free(y);
}

/* Signals whose distribution of constant solid angle is the tensor: the Funk-Radon transform of the Laplace-Beltrami of
 * ln(-ln E) over 16 pi^2 multiplies degree l by -l (l + 1) 2 pi P_l(0) / (16 pi^2); that is undone. Degree 0 of ln(-ln
 * E) is not in the distribution: any will do. */
static void odf_signals(const scheme *s, int order, const float *values, double s0, float *signals)
{
    double *y = calloc(VOXELS * s->volumes, sizeof *y), factor[5] = {0};
    for (int l = 2; l <= order; l += 2)
        factor[l / 2] = -16 * M_PI * M_PI / (l * (l + 1) * 2 * M_PI * legendre(l, 0));
    convolve(s, order, values, 0, s->volumes, factor, y);
    for (size_t n = 0; n < VOXELS * s->volumes; n++)
        signals[n] = (float)(s0 * (s->b[n % s->volumes] > 0 ? exp(-exp(log(1.3) + y[n])) : 1));
    free(y);
}

/* simulate -> fit -> the same tensor, for every model, order, and way of fitting */
static void test_exact(hot_context *context)
{
    static const double one[] = {2000}, two[] = {1000, 3000};
    static const struct { const char *model; size_t shells; hot_fit_options options; } cases[] = {
        {"adc", 1, {.weighted = HOT_ZERO}}, {"adc", 1, {.weighted = 1}}, {"adc", 2, {.weighted = 1}},
        {"adc", 1, {.weighted = HOT_ZERO, .estimate_s0 = 1}}, {"adc", 2, {.weighted = 1, .estimate_s0 = 1}},
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
            float *want = malloc(VOXELS * (terms + 1) * sizeof *want),
                  *signals = malloc(VOXELS * s.volumes * sizeof *signals);
            hot_fit_options options = cases[c].options;
            options.size = sizeof options;
            options.model = cases[c].model;
            options.order = order;
            options.regularise = HOT_ZERO;
            /* fat at low orders: a sharp response cut there would make negative signals */
            const double along = order == 8 ? 1.7e-3 : .9e-3, across = order == 8 ? .3e-3 : .5e-3;
            CHECK(hot_response_tensor(context, empty, along, across, 800, 8, &response) == HOT_OK, "%s",
                  hot_context_message(context));
            options.response = response;
            random_tensors(order, &state, options.model, want);
            if (strcmp(options.model, "odf") == 0)
                fix_mean(context, order, want);
            if (strcmp(options.model, "adc") == 0)
                adc_signals(&s, order, terms, want, 500, signals);
            else if (strcmp(options.model, "odf") == 0)
                odf_signals(&s, order, want, 500, signals);
            else
                fod_signals(&s, order, want, along, across, 500, signals);
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
                                                                  .constraint = HOT_CONSTRAINT_NONE,
                                                                  .weighted = weighted ? 1 : HOT_ZERO});
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
            if (strcmp(name, "msmt") != 0) { /* whose amplitudes are in units of the response's signals */
                CHECK(worst_error(terms, hot_tensor_field_values(small), want) <= 2e-5, "%s: scale 1e-6", name);
                CHECK(worst_error(terms, hot_tensor_field_values(large), want) <= 2e-5, "%s: scale 1e6", name);
            }
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

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    test_exact(context);
    test_invariance(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

/* The single-fibre response: from diffusivities, to and from files, doubts, and estimated from data. */
#include <unistd.h>

#include "check.h"
#include "model/model.h"
#include "model/single_fiber.h"

enum { SIDE = 16, VOXELS = SIDE * SIDE * SIDE / 4, DIRECTIONS = 60, VOLUMES = 4 + 2 * DIRECTIONS };

static const hot_grid grid = {.size = {SIDE, SIDE, SIDE / 4},
                              .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                              .space = HOT_SPACE_RAS};
static int warnings;

static void count_warnings(void *user, hot_log_level level, const char *line)
{
    (void)user;
    (void)line;
    warnings += level == HOT_LOG_WARNING;
}

static size_t b0_volumes = 4; /* or 2: then the other two have b=1000 */

/* 4 b=0 volumes, 60 directions at b=1000, the same turned at b=3000. */
static void make_scheme(double *b, double *g)
{
    memset(g, 0, 3 * VOLUMES * sizeof *g);
    for (size_t v = 0; v < VOLUMES; v++) {
        b[v] = v < b0_volumes ? 0 : v < 4 + DIRECTIONS ? 1000 : 3000;
        if (v < b0_volumes)
            continue;
        const size_t i = (v + DIRECTIONS - 4) % DIRECTIONS;
        const double z = 1 - (2. * (double)i + 1) / (2. * DIRECTIONS), r = sqrt(1 - z * z);
        const double p = 2.399963 * (double)i + (v < 4 + DIRECTIONS ? 0 : .5);
        g[3 * v] = r * cos(p), g[3 * v + 1] = .6 * r * sin(p) - .8 * z, g[3 * v + 2] = .8 * r * sin(p) + .6 * z;
    }
}

static double fibre_signal(double b, double c) { return exp(-b * (.25e-3 + 1.5e-3 * c * c)); }

/* `kinds` says what voxels there are: 1 single fibres, 2 crossings at 35 degrees, 0 isotropic, 3 a twentieth as bright
 * as these, with noise that looks anisotropic; chosen in turn. Noise is normal, so that the truth is the mean. */
static hot_dwi *simulate(hot_context *context, const int *kinds, size_t kind_count, double noise, double s0)
{
    double b[VOLUMES], g[3 * VOLUMES];
    float *signals = malloc(VOLUMES * VOXELS * sizeof *signals);
    uint64_t state = 3;
    hot_dwi *dwi = NULL;
    make_scheme(b, g);
    for (size_t v = 0; v < VOXELS; v++) {
        const int kind = kinds[v % kind_count];
        double x[3], y[3], length = 0, dot;
        check_random_unit(&state, x);
        check_random_unit(&state, y);
        dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        for (int d = 0; d < 3; d++) {
            y[d] -= dot * x[d];
            length += y[d] * y[d];
        }
        for (int d = 0; d < 3; d++)
            y[d] = cos(.61) * x[d] + sin(.61) * y[d] / sqrt(length);
        for (size_t i = 0; i < VOLUMES; i++) {
            const double *h = g + 3 * i;
            const double one = fibre_signal(b[i], h[0] * x[0] + h[1] * x[1] + h[2] * x[2]);
            const double two = fibre_signal(b[i], h[0] * y[0] + h[1] * y[1] + h[2] * y[2]);
            const double mean = kind == 1 ? one : kind == 2 ? (one + two) / 2 : exp(-b[i] * .8e-3);
            const double dark = kind == 3 ? .05 : 1, spread = kind == 3 ? .06 : noise;
            signals[i * VOXELS + v] = (float)(s0 * fmax(1e-4, dark * mean + spread * check_random_normal(&state)));
        }
    }
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    free(signals);
    return dwi;
}

static void test_tensor(hot_context *context)
{
    const int one = 1;
    hot_dwi *dwi = simulate(context, &one, 1, 0, 100);
    hot_response *response = NULL;
    CHECK(hot_response_tensor(context, dwi, 1.75e-3, .25e-3, 100, 16, &response) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(hot_response_shells(response) == 3 && hot_response_lmax(response) == 16, "%zu rows, lmax %d",
          hot_response_shells(response), hot_response_lmax(response));
    for (int i = 0; i <= 90; i += 5) {
        const double c = cos(i * M_PI / 180);
        CHECK_NEAR(hot_response_value(response, 0, c), 100, 1e-9, "b=0");
        CHECK_NEAR(hot_response_value(response, 1, c), 100 * fibre_signal(1000, c), 1e-5, "b=1000 at %d degrees", i);
        CHECK_NEAR(hot_response_value(response, 2, c), 100 * fibre_signal(3000, c), 2e-2, "b=3000 at %d degrees", i);
    }
    size_t doubts = 99;
    CHECK(hot_response_check(context, response, &doubts) == HOT_OK && doubts == 0, "%zu doubts", doubts);
    hot_response_destroy(&response);
    CHECK(hot_response_tensor(context, dwi, 1e-4, 1e-3, 1, 8, &response) == HOT_ERROR_ARGUMENT, "across > along");
    CHECK(hot_response_tensor(context, dwi, 1.7, .3, 1, 8, &response) == HOT_ERROR_ARGUMENT, "units");
    CHECK(strstr(hot_context_message(context), "mm^2/s") != NULL, "%s", hot_context_message(context));
    hot_dwi_destroy(&dwi);
}

static hot_status load_text(hot_context *context, const char *text, hot_response **response)
{
    FILE *file = fopen("response_test.txt", "w");
    fputs(text, file);
    fclose(file);
    hot_status status = hot_response_load(context, "response_test.txt", response);
    unlink("response_test.txt");
    return status;
}

static void test_files(hot_context *context)
{
    hot_response *response = NULL, *again = NULL;
    double b;
    /* as MRtrix 3 writes it */
    CHECK(load_text(context,
                    "# Shells: 0,1000,3000\n# command_history: amp2response x y\n3544.9 0 0\n1925.2 -724 131.2\n"
                    "810.6 -612.2 277.7\n",
                    &response) == HOT_OK,
          "%s", hot_context_message(context));
    CHECK(hot_response_shells(response) == 3 && hot_response_lmax(response) == 4, "shape");
    CHECK(hot_response_row(response, 1, &b)[2] == 131.2 && b == 1000, "row 1");
    CHECK(hot_response_save(context, response, "response_saved.txt") == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_response_load(context, "response_saved.txt", &again) == HOT_OK, "%s", hot_context_message(context));
    unlink("response_saved.txt");
    for (size_t s = 0; s < 3; s++)
        for (int l = 0; l <= 2; l++)
            CHECK(hot_response_row(again, s, &b)[l] == hot_response_row(response, s, NULL)[l] && b == response->b[s],
                  "row %zu after saving", s);
    CHECK(response->typical == 1 && again->typical == 1, "typical: %g, %g", response->typical, again->typical);
    CHECK(response->noise == 0 && again->noise == 0, "noise: %g, %g", response->noise, again->noise);
    hot_response_destroy(&again);
    response->typical = 0.87654321;
    response->noise = 0.012345678;
    CHECK(hot_response_save(context, response, "response_saved.txt") == HOT_OK &&
              hot_response_load(context, "response_saved.txt", &again) == HOT_OK, "%s", hot_context_message(context));
    unlink("response_saved.txt");
    CHECK(again->typical == response->typical, "typical after saving: %.17g", again->typical);
    CHECK(again->noise == response->noise, "noise after saving: %.17g", again->noise);
    hot_response_destroy(&again);
    hot_response_destroy(&response);
    CHECK(load_text(context, "# Typical fibre: -2\n1 -0.5 .1\n", &response) == HOT_OK && response->typical == 1,
          "a strength that is none");
    hot_response_destroy(&response);
    CHECK(load_text(context, "# Noise over b=0: 2\n1 -0.5 .1\n", &response) == HOT_OK && response->noise == 0,
          "a noise that is none");
    hot_response_destroy(&response);
    /* no newline at the end, commas, DOS line ends, no comment */
    CHECK(load_text(context, "1, -0.5, .1\r\n2,-1,.3", &response) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_response_shells(response) == 2 && isnan(response->b[0]), "no b-values known");
    hot_response_destroy(&response);
    static const struct { const char *text, *words; } wrong[] = {
        {"", "no row"}, {"# nothing\n\n", "no row"}, {"1 2 x\n", "line 1: 'x' is not a number"},
        {"1 2 3\n1 2\n", "line 2: 2 coefficients"}, {"1 nan\n", "is not a number"},
        {"1 2 3 4 5 6 7 8 9 10\n", "more than"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(load_text(context, wrong[i].text, &response) == HOT_ERROR_FORMAT, "accepted: %s", wrong[i].text);
        CHECK(strstr(hot_context_message(context), wrong[i].words) != NULL, "%s", hot_context_message(context));
        CHECK(response == NULL, "a response came out");
    }
    CHECK(hot_response_load(context, "no/such/file", &response) == HOT_ERROR_FILE, "no file");
}

static void test_doubts(hot_context *context)
{
    static const struct { const char *text; size_t doubts; } cases[] = {
        {"# Shells: 0,1000\n3544 0 0\n1925 -724 131\n", 0},
        {"# Shells: 0,1000\n3544 0 0\n1925 724 131\n", 1},       /* brighter along the fibre */
        {"# Shells: 0,1000\n3544 0 0\n4000 -724 131\n", 1},      /* brighter than b=0 */
        {"# Shells: 0,1000\n3544 0 0\n1925 -200 -400\n", 2},     /* not rising, sign of l=4 */
        {"# Shells: 0,1000\n3544 0 0\n700 -1000 131\n", 1},      /* negative along the fibre */
        {"# Shells: 0,1000\n3544 0 0\n-5 -3 1\n", 1},            /* negative mean */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hot_response *response = NULL;
        size_t doubts = 99;
        warnings = 0;
        CHECK(load_text(context, cases[i].text, &response) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_response_check(context, response, &doubts) == HOT_OK, "check");
        CHECK(doubts == cases[i].doubts && warnings == (int)doubts, "case %zu: %zu doubts, %d warnings", i, doubts,
              warnings);
        hot_response_destroy(&response);
    }
}

/* Near the truth (what lmax 8 leaves out of it is .005), also when two of three voxels are something else and look
 * alike at first; the same for any threads. */
static void test_estimate(hot_context *context)
{
    static const int single[] = {1}, mixed[] = {1, 2, 0, 2, 0}, none[] = {0}, dark[] = {1, 0, 3};
    static const struct { const int *kinds; size_t count; double noise, bound; size_t most, b0; } cases[] = {
        {single, 1, 0, .006, VOXELS, 4}, {single, 1, .03, .016, VOXELS, 4}, {mixed, 5, 0, .006, VOXELS / 5 + 1, 4},
        {mixed, 5, .03, .02, VOXELS / 5 + 40, 4}, {dark, 3, .01, .016, VOXELS / 3 + 1, 4},
        {single, 1, .03, .016, VOXELS, 2}, /* the median of one difference's square is far below its mean */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b0_volumes = cases[i].b0;
        hot_dwi *dwi = simulate(context, cases[i].kinds, cases[i].count, cases[i].noise, 250);
        b0_volumes = 4;
        hot_mask *mask = NULL;
        hot_response *response = NULL, *again = NULL;
        size_t voxels = 0;
        hot_context *other = NULL;
        CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK, "mask");
        hot_status status = hot_response_estimate(context, dwi, mask, 8, &response, &voxels);
        CHECK(status == HOT_OK, "case %zu: %s", i, hot_context_message(context));
        if (status == HOT_OK) {
            double worst = 0;
            for (size_t row = 1; row < 3; row++)
                for (int a = 0; a <= 90; a++) {
                    const double c = cos(a * M_PI / 180), b = row == 1 ? 1000 : 3000;
                    const double error = fabs(hot_response_value(response, row, c) / 250 - fibre_signal(b, c));
                    if (!(error <= worst))
                        worst = error;
                }
            CHECK(worst <= cases[i].bound, "case %zu: off by %g of S0", i, worst);
            CHECK_NEAR(response->noise, cases[i].noise, .15 * cases[i].noise + 1e-9, "case %zu: noise", i);
            CHECK(voxels >= 50 && voxels <= cases[i].most, "case %zu: %zu voxels", i, voxels);
            hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 3}, &other);
            CHECK(hot_response_estimate(other, dwi, mask, 8, &again, NULL) == HOT_OK, "%s", hot_context_message(other));
            CHECK(again && memcmp(again->rows, response->rows, 15 * sizeof(double)) == 0, "threads change it");
            hot_response_destroy(&again);
            hot_context_destroy(&other);
        }
        hot_response_destroy(&response);
        hot_mask_destroy(&mask);
        hot_dwi_destroy(&dwi);
    }
    hot_dwi *dwi = simulate(context, none, 1, .03, 250);
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    hot_mask_full(context, &grid, &mask);
    hot_status status = hot_response_estimate(context, dwi, mask, 8, &response, NULL);
    CHECK(status == HOT_ERROR_DATA, "isotropic data gave a response (%d)", status);
    CHECK(strstr(hot_context_message(context), "no voxel looks like a single fibre") != NULL, "%s",
          hot_context_message(context));
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
}

/* Rows find their shells by b-value, by their number, or are refused. */
/* Of a large mask a sample is searched. The data are those of test_estimate over and over, by a stride of 0; every
 * fifth voxel is a single fibre, and the sample holds every second one of them. */
static void test_sampled(hot_context *context)
{
    static const int mixed[] = {1, 2, 0, 2, 0};
    enum { TIMES = 300 };
    hot_dwi *dwi = simulate(context, mixed, 5, .01, 250); /* less noise, as few different voxels are chosen */
    hot_dwi many = *dwi;
    hot_mask *mask[2] = {NULL};
    hot_response *response[2] = {NULL};
    size_t voxels[2];
    const size_t size[3] = {VOXELS, 1, TIMES};
    memcpy(many.grid.size, size, sizeof size);
    many.stride[0] = many.stride[1] = 1;
    many.stride[2] = 0;
    many.summary = NULL;
    CHECK(hot_grid_voxels(&many.grid) > 1 << 18, "not large");
    for (int i = 0; i < 2; i++) {
        const hot_dwi *data = i ? &many : dwi;
        CHECK(hot_mask_full(context, &data->grid, &mask[i]) == HOT_OK, "mask");
        CHECK(hot_response_estimate(context, data, mask[i], 8, &response[i], &voxels[i]) == HOT_OK, "%s",
              hot_context_message(context));
    }
    for (size_t shell = 0; shell < 3; shell++)
        for (int d = 0; d <= 90; d += 15) {
            double value[2]; /* relative to the b=0 signal */
            for (int i = 0; i < 2; i++)
                value[i] = hot_response_value(response[i], shell, cos(d * M_PI / 180)) /
                           hot_response_value(response[i], 0, 1);
            CHECK_NEAR(value[1], value[0], .02, "shell %zu at %d degrees: %g, %g", shell, d, value[0], value[1]);
        }
    for (int i = 0; i < 2; i++) {
        hot_response_destroy(&response[i]);
        hot_mask_destroy(&mask[i]);
    }
    hot_dwi_destroy(&dwi);
}

/* A peak's top is found at every order of a model: the values are those of one rank, with the peak along u. */
static void test_climb(void)
{
    const double u[3] = {2 / 3., -1 / 3., 2 / 3.};
    for (int order = 2; order <= HOT_MODEL_ORDER_MAX; order += 2) {
        int exponents[3 * HOT_MODEL_TERMS_MAX];
        float tensor[HOT_MODEL_TERMS_MAX];
        double x[3] = {1, 0, 0};
        CHECK(hot_symtensor_exponents(order, 3, exponents) == HOT_OK, "exponents");
        for (size_t t = 0; t < hot_model_terms(order); t++) {
            const int *e = exponents + 3 * t;
            tensor[t] = (float)(pow(u[0], e[0]) * pow(u[1], e[1]) * pow(u[2], e[2]));
        }
        hot_peak_climb(order, tensor, x);
        for (int d = 0; d < 3; d++)
            CHECK_NEAR(x[d], u[d], 1e-5, "order %d: axis %g %g %g", order, x[0], x[1], x[2]);
    }
}

static void test_match(hot_context *context)
{
    static const int single[] = {1};
    static const struct { const char *text; int row[3]; hot_status status; } cases[] = {
        {"# Shells: 0,1000,3000\n3 0\n2 -1\n1 -.6\n", {0, 1, 2}, HOT_OK},
        {"# Shells: 2995\n1 -.6\n", {-1, -1, 0}, HOT_OK},
        {"# Shells: 3000,1010,5\n1 -.6\n2 -1\n3 0\n", {2, 1, 0}, HOT_OK},
        {"3 0\n2 -1\n1 -.6\n", {0, 1, 2}, HOT_OK},
        {"2 -1\n1 -.6\n", {-1, 0, 1}, HOT_OK},
        {"1 -.6\n", {-1, -1, 0}, HOT_OK},
        {"1 -.6\n1 -.6\n1 -.6\n1 -.6\n", {0}, HOT_ERROR_DATA},
        {"# Shells: 0,2000\n3 0\n2 -1\n", {0}, HOT_ERROR_DATA},
    };
    hot_dwi *dwi = simulate(context, single, 1, 0, 100);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hot_response *response = NULL;
        int row[3];
        CHECK(load_text(context, cases[i].text, &response) == HOT_OK, "%s", hot_context_message(context));
        hot_status status = hot_response_match(context, response, dwi, row);
        CHECK(status == cases[i].status, "case %zu: %s", i, hot_context_message(context));
        if (status == HOT_OK && cases[i].status == HOT_OK)
            CHECK(memcmp(row, cases[i].row, sizeof row) == 0, "case %zu: rows %d %d %d", i, row[0], row[1], row[2]);
        hot_response_destroy(&response);
    }
    hot_dwi_destroy(&dwi);
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2, .log = count_warnings},
                       &context);
    test_tensor(context);
    test_files(context);
    test_doubts(context);
    test_estimate(context);
    test_sampled(context);
    test_climb();
    test_match(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

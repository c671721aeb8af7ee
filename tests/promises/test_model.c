/* The promises of hotfiber_model.h and hotfiber_fibers.h about defaults and limits of fits and peaks: each default
 * equals the same value given, and differs from its neighbours; tissues, kernels, eroded masks, normalised amounts. */
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "symtensor/sphere.h"
#include "threads.h"

enum { NX = 6, NY = 5, NZ = 4, VOXELS = NX * NY * NZ, TERMS = 15 };

static const double degree = 57.295779513082321;
static const hot_grid line = {.size = {1, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
static hot_phantom *phantom;
static const hot_dwi *dwi;
static hot_response *response;

/* ---- peaks ------------------------------------------------------------------------------------------------------- */

/* How many fibres of a form with two maxima, of lengths a and b and `angle` degrees apart. */
static int peaks_of(hot_context *context, const char *model, const char *method, double a, double b, double angle,
                    double threshold, double min_angle, double min_amplitude)
{
    const hot_peaks_options o = {.size = sizeof o, .method = method, .threshold = threshold, .min_angle = min_angle,
                                 .min_amplitude = min_amplitude};
    enum { ORDER = 8, VALUES = 45 };
    const double v[2][3] = {{1, 0, 0}, {cos(angle / degree), sin(angle / degree), 0}}, weight[2] = {a, b};
    float values[1 + VALUES] = {1};
    int exponents[3 * VALUES];
    hot_tensor_field *field = NULL;
    hot_fiber_field *fibers = NULL;
    hot_symtensor_exponents(ORDER, 3, exponents);
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < VALUES; t++)
            values[1 + t] += (float)(weight[f] * pow(v[f][0], exponents[3 * t]) * pow(v[f][1], exponents[3 * t + 1]) *
                                     pow(v[f][2], exponents[3 * t + 2]));
    CHECK(hot_tensor_field_create(context, &line, ORDER, model, values, &field) == HOT_OK, "%s",
          hot_context_message(context));
    const hot_status status = hot_fiber_field_find(context, field, &o, &fibers);
    const int count = status == HOT_OK ? hot_fiber_field_counts(fibers)[0] : -(int)status;
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&field);
    return count;
}

static void test_peaks(hot_context *context)
{
    static const struct {
        const char *method;
        double threshold, min_angle, apart; /* defaults; an angle at which a form of order 8 has both maxima */
    } methods[] = {{"maxima", .25, 15, 90}, {"sshopm", .25, 15, 90}, {"lowrank", .2, 25, 90}};
    for (int m = 0; m < 3; m++) {
        const char *name = methods[m].method;
        for (int given = 0; given < 2; given++) { /* the default, and the same said */
            const double t = methods[m].threshold, said = given ? t : 0;
            CHECK(peaks_of(context, "odf", name, 1, t * 1.02, 90, said, 0, 0) == 2 &&
                      peaks_of(context, "odf", name, 1, t * .98, 90, said, 0, 0) == 1,
                  "%s: threshold %g", name, said);
        }
        CHECK(peaks_of(context, "odf", name, 1, .5, 90, .51, 0, 0) == 1 &&
                  peaks_of(context, "odf", name, 1, .5, 90, .49, 0, 0) == 2 &&
                  peaks_of(context, "odf", name, 1, .05, 90, HOT_ZERO, 0, 0) == 2 &&
                  peaks_of(context, "odf", name, 1, 1, 90, 1, 0, 0) >= 1,
              "%s: fractions of the largest", name);
        CHECK(peaks_of(context, "odf", name, 1, 1, 90, 1.001, 0, 0) == -(int)HOT_ERROR_ARGUMENT &&
                  peaks_of(context, "odf", name, 1, 1, 90, -.1, 0, 0) == -(int)HOT_ERROR_ARGUMENT,
              "%s: threshold", name);
        CHECK(peaks_of(context, "odf", name, 1, .9, 60, 0, 59, 0) == 2 &&
                  peaks_of(context, "odf", name, 1, .9, 60, 0, 62, 0) == 1 &&
                  peaks_of(context, "odf", name, 1, .9, 60, 0, HOT_ZERO, 0) == 2,
              "%s: degrees", name);
        CHECK(peaks_of(context, "odf", name, 1, .9, 60, 0, 90, 0) == 1 &&
                  peaks_of(context, "odf", name, 1, .9, 60, 0, 90.01, 0) == -(int)HOT_ERROR_ARGUMENT,
              "%s: up to 90", name);
        /* absolute: .1 of fod and msmt, of which .2 and .25 are fractions enough */
        for (int model = 0; model < 4; model++) {
            static const char *const models[] = {"fod", "msmt", "odf", "adc"};
            const int floor = model < 2, made = model != 1;
            if (!made)
                continue; /* msmt's fields come from data */
            CHECK(peaks_of(context, models[model], name, .2, .102, 90, 0, 0, 0) == 2 &&
                      peaks_of(context, models[model], name, .2, .098, 90, 0, 0, 0) == 2 - floor &&
                      peaks_of(context, models[model], name, .2, .098, 90, 0, 0, HOT_ZERO) == 2 &&
                      peaks_of(context, models[model], name, .2, .1, 90, 0, 0, .15) == 1,
                  "%s of %s: the floor", name, models[model]);
        }
    }
    /* the defaults of min_angle, where the form itself has both maxima: that of lowrank, whose terms may be closer */
    CHECK(peaks_of(context, "odf", "lowrank", 1, .9, 26, 0, 0, 0) == 2 &&
              peaks_of(context, "odf", "lowrank", 1, .9, 24, 0, 0, 0) == 1 &&
              peaks_of(context, "odf", "lowrank", 1, .9, 24, 0, 25, 0) == 1 &&
              peaks_of(context, "odf", "lowrank", 1, .9, 24, 0, 23, 0) == 2,
          "lowrank: 0 = 25 degrees");
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

static hot_tensor_field *fit_of(hot_context *context, const hot_fit_options *o)
{
    hot_tensor_field *field = NULL;
    CHECK(hot_tensor_field_fit(context, dwi, NULL, o, &field) == HOT_OK, "%s", hot_context_message(context));
    return field;
}

static int same_fit(hot_context *context, const hot_fit_options *one, const hot_fit_options *other)
{
    hot_tensor_field *fields[2] = {fit_of(context, one), fit_of(context, other)};
    const int order = hot_tensor_field_order(fields[0]);
    const size_t row = (size_t)(1 + (order + 1) * (order + 2) / 2);
    const int equal = order == hot_tensor_field_order(fields[1]) &&
                      hot_tensor_field_tissues(fields[0]) == hot_tensor_field_tissues(fields[1]) &&
                      memcmp(hot_tensor_field_values(fields[0]), hot_tensor_field_values(fields[1]),
                             VOXELS * row * sizeof(float)) == 0;
    hot_tensor_field_destroy(&fields[0]), hot_tensor_field_destroy(&fields[1]);
    return equal;
}

static void test_defaults(hot_context *context)
{
    static double lattice[3 * 300];
    const hot_fit_options zeros = HOT_FIT_OPTIONS_INIT;
    hot_fit_options said = {.size = sizeof said, .model = "fod", .order = 6}, other;
    CHECK(same_fit(context, NULL, &zeros) && same_fit(context, NULL, &said), "NULL is fod of order 6");
    /* a response that is not given is estimated from the data, with the highest degree of the model */
    hot_response *made = NULL;
    hot_tensor_field *field = fit_of(context, NULL);
    const int lmax = hot_response_lmax(hot_tensor_field_response(field));
    hot_mask *mask = NULL;
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK &&
              hot_response_estimate(context, dwi, mask, lmax, &made, NULL) == HOT_OK,
          "%s", hot_context_message(context));
    other = said, other.response = made;
    CHECK(same_fit(context, NULL, &other), "NULL = estimated");
    other.response = response;
    CHECK(!same_fit(context, NULL, &other), "another response");
    hot_response_destroy(&made);
    hot_mask_destroy(&mask);
    hot_tensor_field_destroy(&field);
    /* msmt: the directions of the constraint */
    said = (hot_fit_options){.size = sizeof said, .model = "msmt", .order = 4, .response = response};
    hot_sphere_lattice(300, lattice);
    other = said, other.directions = lattice, other.direction_count = 300;
    CHECK(same_fit(context, &said, &other), "NULL = 300 directions");
    hot_sphere_lattice(60, lattice);
    other.direction_count = 60;
    CHECK(!same_fit(context, &said, &other), "60 directions");
}

/* The isotropic tissues of msmt: none given is free water; up to seven; with no response at all those of the data. */
static void test_tissues(hot_context *context)
{
    static const double b[3] = {0, 1000, 3000};
    double rows[3];
    hot_response *water = NULL;
    const hot_response *many[9];
    for (int s = 0; s < 3; s++) /* r_0 of an even signal: its value times the root of 4 pi */
        rows[s] = 1000 * exp(-b[s] * 3e-3) * sqrt(4 * 3.14159265358979323846);
    CHECK(hot_response_create(context, 3, 0, b, rows, &water) == HOT_OK, "%s", hot_context_message(context));
    hot_fit_options none = {.size = sizeof none, .model = "msmt", .order = 4, .response = response}, one = none;
    for (int t = 0; t < 9; t++)
        many[t] = water;
    one.tissues = many, one.tissue_count = 1;
    static float amounts[2][VOXELS * 2];
    for (int given = 0; given < 2; given++) {
        hot_tensor_field *field = fit_of(context, given ? &one : &none);
        CHECK(hot_tensor_field_tissues(field) == 2 &&
                  hot_tensor_field_amounts(context, field, amounts[given], NULL) == HOT_OK,
              "%zu tissues", hot_tensor_field_tissues(field));
        hot_tensor_field_destroy(&field);
    }
    for (int n = 0; n < 2 * VOXELS; n++)
        CHECK_NEAR(amounts[0][n], amounts[1][n], 1e-4, "none given is free water: amount %d", n);
    for (size_t count = 6; count <= 9; count++) {
        hot_tensor_field *field = NULL;
        one.tissue_count = count;
        one.normalise = count >= HOT_TISSUES_MAX; /* which has room for no more */
        const hot_status status = hot_tensor_field_fit(context, dwi, NULL, &one, &field);
        CHECK(status == (count < HOT_TISSUES_MAX ? HOT_OK : HOT_ERROR_ARGUMENT), "%zu tissues: %d", count, (int)status);
        CHECK(!field || hot_tensor_field_tissues(field) == count + 1, "and white matter");
        hot_tensor_field_destroy(&field);
    }
    hot_response_destroy(&water);
    /* files: eight names at most */
    char names[9 * 8] = "";
    CHECK(hot_response_save(context, response, "one.txt") == HOT_OK, "%s", hot_context_message(context));
    for (size_t count = 1; count <= 9; count++) {
        hot_response *loaded[HOT_TISSUES_MAX] = {NULL};
        size_t found = 77;
        strcat(names, count > 1 ? ",one.txt" : "one.txt");
        const hot_status status = hot_response_load_tissues(context, names, loaded, &found);
        CHECK(count <= 8 ? status == HOT_OK && found == count : status != HOT_OK && found == 0, "%zu names: %d, %zu",
              count, (int)status, found);
        for (size_t i = 0; i < found && i < 8; i++) {
            CHECK(hot_response_lmax(loaded[i]) == hot_response_lmax(response), "file %zu", i);
            hot_response_destroy(&loaded[i]);
        }
    }
    unlink("one.txt");
}

/* The form of one fibre v of weight 1: v^(x m), or the harmonics of a delta up to the order. */
static void test_kernels(hot_context *context)
{
    enum { VOLUMES = 62, SHELL = 60 };
    double b[VOLUMES] = {0}, g[3 * VOLUMES] = {0}, y[45], at[45], v[3];
    float signals[VOLUMES];
    uint64_t state = 6;
    hot_dwi *made = NULL;
    const hot_grid one = line;
    check_random_unit(&state, v);
    hot_sh_values_f64(8, 1, v, y);
    CHECK(hot_scheme_directions(context, SHELL, 0, g + 6) == HOT_OK, "directions");
    double row_b, r[9];
    memcpy(r, hot_response_row(response, 2, &row_b), 5 * sizeof *r);
    for (int i = 0; i < VOLUMES; i++) { /* the response turned to v, up to degree 8 */
        double s = 0, b0;
        b[i] = i < 2 ? 0 : row_b;
        hot_sh_values_f64(8, 1, g + 3 * i, at);
        for (int l = 0, j = 0; l <= 8 && i >= 2; l += 2)
            for (int m = -l; m <= l; m++, j++)
                s += r[l / 2] * sqrt(4 * 3.14159265358979323846 / (2 * l + 1)) * y[j] * at[j];
        signals[i] = (float)(i < 2 ? hot_response_row(response, 0, &b0)[0] / sqrt(4 * 3.14159265358979323846) : s);
    }
    CHECK(hot_dwi_create(context, &one, VOLUMES, b, g, signals, &made) == HOT_OK, "%s", hot_context_message(context));
    for (int delta = 0; delta < 2; delta++) {
        const hot_fit_options o = {.size = sizeof o, .model = "msmt", .order = 8, .response = response,
                                   .kernel = delta ? HOT_KERNEL_DELTA : HOT_KERNEL_RANK1,
                                   .constraint = HOT_CONSTRAINT_NONE, .regularise = HOT_ZERO};
        hot_tensor_field *field = NULL;
        CHECK(hot_tensor_field_fit(context, made, NULL, &o, &field) == HOT_OK, "%s", hot_context_message(context));
        double packed[45], to_sh[45 * 45];
        for (int t = 0; t < 45; t++)
            packed[t] = (double)hot_tensor_field_values(field)[1 + t];
        CHECK(hot_symtensor_to_sh(context, 8, to_sh) == HOT_OK, "harmonics");
        for (int i = 0; i < 45 && delta; i++) {
            double c = 0;
            for (int t = 0; t < 45; t++)
                c += to_sh[i * 45 + t] * packed[t];
            CHECK_NEAR(c, y[i], 2e-3, "harmonic %d: %g, of a delta %g", i, c, y[i]);
        }
        for (int p = 0; p < 20 && !delta; p++) {
            double x[3];
            check_random_unit(&state, x);
            const double dot = x[0] * v[0] + x[1] * v[1] + x[2] * v[2];
            CHECK_NEAR(hot_symtensor_value_f64(8, 3, packed, x), pow(dot, 8), 5e-3, "at %g of v", dot);
        }
        hot_tensor_field_destroy(&field);
    }
    hot_dwi_destroy(&made);
}

/* A field across the image that brightens one end: amounts add up to about 1 after it, and do not without. */
static void test_normalised(hot_context *context)
{
    enum { SIDE = 10, ALL = SIDE * SIDE * SIDE };
    static const double shells[2] = {1000, 3000};
    const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {SIDE, SIDE, SIDE},
                                   .shell_b = shells, .shells = 2, .directions = 30, .b0 = 3, .csf = {0, .4},
                                   .radial = .3e-3, .snr = (double[]){100}, .snr_count = 1};
    hot_phantom *made = NULL;
    hot_dwi *uneven = NULL;
    CHECK(hot_phantom_create(context, &o, &made) == HOT_OK, "%s", hot_context_message(context));
    const hot_dwi *even = hot_phantom_dwi(made);
    const size_t volumes = hot_dwi_volumes(even);
    float *rows = malloc(ALL * volumes * sizeof *rows), *data = malloc(ALL * volumes * sizeof *data);
    CHECK(hot_dwi_read(context, even, 0, ALL, rows) == HOT_OK, "signals");
    for (size_t n = 0; n < ALL; n++)
        for (size_t v = 0; v < volumes; v++)
            data[v * ALL + n] = rows[n * volumes + v] * expf(.12f * (float)(n % SIDE) + .05f * (float)(n / 100));
    CHECK(hot_dwi_create(context, hot_dwi_grid(even), volumes, hot_dwi_b(even), hot_dwi_gradients(even), data,
                         &uneven) == HOT_OK,
          "%s", hot_context_message(context));
    for (int normalise = 0; normalise < 2; normalise++) {
        const hot_fit_options f = {
            .size = sizeof f, .model = "msmt", .order = 4, .response = response, .normalise = normalise};
        static float amounts[2 * ALL];
        hot_tensor_field *field = NULL;
        double mean[2] = {0};
        CHECK(hot_tensor_field_fit(context, uneven, NULL, &f, &field) == HOT_OK &&
                  hot_tensor_field_amounts(context, field, amounts, NULL) == HOT_OK,
              "%s", hot_context_message(context));
        for (int n = 0; n < ALL; n++) /* near either end */
            mean[n % SIDE >= SIDE / 2] += ((double)amounts[2 * n] + (double)amounts[2 * n + 1]) / (ALL / 2);
        CHECK(normalise ? fabs(mean[0] - 1) < .1 && fabs(mean[1] - 1) < .1 : mean[1] / mean[0] > 1.5,
              "normalise %d: %g and %g", normalise, mean[0], mean[1]);
        hot_tensor_field_destroy(&field);
    }
    free(rows), free(data);
    hot_dwi_destroy(&uneven);
    hot_phantom_destroy(&made);
}

/* The response is copied: it may go before the field. */
static void test_copied(hot_context *context)
{
    hot_response *own = NULL;
    CHECK(hot_response_tensor(context, dwi, 1.6e-3, .35e-3, 900, 8, &own) == HOT_OK, "%s",
          hot_context_message(context));
    double first, rows[5];
    memcpy(rows, hot_response_row(own, 1, &first), sizeof rows);
    const hot_fit_options o = {.size = sizeof o, .order = 4, .response = own};
    hot_tensor_field *field = fit_of(context, &o);
    const hot_response *kept = hot_tensor_field_response(field);
    CHECK(kept && kept != own, "a copy");
    hot_response_destroy(&own);
    CHECK(memcmp(hot_response_row(kept, 1, &first), rows, sizeof rows) == 0, "its rows");
    hot_tensor_field_destroy(&field);
}

static int thin_notes;

static void listen(void *user, hot_log_level level, const char *text)
{
    (void)user;
    thin_notes += level == HOT_LOG_NOTE && strstr(text, "thin volume") != NULL;
}

/* erode: 3 by default, or fewer in thin volumes, with a note; HOT_ZERO none. White matter's lmax 8, the others' 0. */
static void test_eroded(void)
{
    static const double shells[2] = {1000, 3000};
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 2, .log = listen};
    hot_context *context = NULL;
    CHECK(hot_context_create(&how, &context) == HOT_OK, "a context");
    for (int thin = 0; thin < 2; thin++) {
        const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_BUNDLES,
                                       .volume = {28, 28, thin ? 5 : 24}, .shell_b = shells, .shells = 2,
                                       .directions = 45, .b0 = 4};
        hot_phantom *made = NULL;
        hot_mask *mask = NULL;
        size_t voxels[4][3], all[4];
        static const int erode[] = {0, 3, HOT_ZERO, 1};
        CHECK(hot_phantom_create(context, &o, &made) == HOT_OK &&
                  hot_mask_estimate(context, hot_phantom_dwi(made), &mask) == HOT_OK,
              "%s", hot_context_message(context));
        thin_notes = 0;
        for (int e = 0; e < 4; e++) {
            hot_response *three[3] = {NULL};
            const hot_status status = hot_response_estimate_tissues(context, hot_phantom_dwi(made), mask, 0, erode[e],
                                                                    three, voxels[e]);
            all[e] = status == HOT_OK ? voxels[e][0] + voxels[e][1] + voxels[e][2] : 0;
            CHECK(e == 0 || thin || status == HOT_OK, "erode %d: %s", erode[e], hot_context_message(context));
            for (int t = 0; t < 3; t++) {
                CHECK(status == HOT_OK ? three[t] && hot_response_lmax(three[t]) == (t == 0 ? 8 : 0) : !three[t],
                      "erode %d, tissue %d: lmax %d", erode[e], t, three[t] ? hot_response_lmax(three[t]) : -1);
                hot_response_destroy(&three[t]);
            }
            CHECK(thin_notes == thin, "erode %d, thin %d: %d notes", erode[e], thin, thin_notes);
        }
        CHECK(thin || memcmp(voxels[0], voxels[1], sizeof *voxels) == 0, "0 is 3");
        CHECK(all[2] > all[3] && all[3] > 0, "none: %zu voxels, by one: %zu", all[2], all[3]);
        CHECK(all[2] > all[thin ? 1 : 0], "none: %zu voxels, by three: %zu", all[2], all[1]);
        hot_response *four[3];
        CHECK(hot_response_estimate_tissues(context, hot_phantom_dwi(made), mask, 4, HOT_ZERO, four, NULL) == HOT_OK &&
                  hot_response_lmax(four[0]) == 4 && hot_response_lmax(four[2]) == 0,
              "lmax 4, no numbers");
        for (int t = 0; t < 3; t++)
            hot_response_destroy(&four[t]);
        hot_mask_destroy(&mask);
        hot_phantom_destroy(&made);
    }
    hot_context_destroy(&context);
}

static hot_status many_fits(hot_context *context, void *out)
{
    static const char *const models[] = {"adc", "odf", "fod", "msmt"};
    float *to = out;
    for (int m = 0; m < 4; m++) {
        const hot_fit_options o = {
            .size = sizeof o, .model = models[m], .order = 4, .response = m < 2 ? NULL : response};
        hot_tensor_field *field = NULL;
        const hot_status status = hot_tensor_field_fit(context, dwi, NULL, &o, &field);
        if (status != HOT_OK)
            return status;
        memcpy(to + m * VOXELS * (1 + TERMS), hot_tensor_field_values(field), VOXELS * (1 + TERMS) * sizeof *to);
        hot_tensor_field_destroy(&field);
    }
    return HOT_OK;
}

int main(void)
{
    hot_context *context = context_of(2);
    static const double shells[2] = {1000, 3000};
    const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {NX, NY, NZ},
                                   .shell_b = shells, .shells = 2, .directions = 45, .b0 = 4, .radial = .3e-3};
    CHECK(hot_phantom_create(context, &o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    dwi = hot_phantom_dwi(phantom);
    CHECK(hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response) == HOT_OK, "%s",
          hot_context_message(context));
    test_peaks(context);
    test_defaults(context);
    test_tissues(context);
    test_kernels(context);
    test_normalised(context);
    test_copied(context);
    test_eroded();
    check_threads("fits of all models", many_fits, 4 * VOXELS * (1 + TERMS) * sizeof(float));
    hot_response_destroy(&response);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

/* The promises of hotfiber_model.h, hotfiber_signal.h and hotfiber_run.h on a phantom with known truth: tensors,
 * fractions, tissues and noise in their units; flags; the same results for any number of threads. */
#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { NX = 9, NY = 8, NZ = 7, VOXELS = NX * NY * NZ };

static const double degree = 57.295779513082321;
static const hot_phantom_condition conditions[] = {{1, {0, 0}, {0, 0}, {0, 0}}, {2, {65, 90}, {.5, .7}, {0, 0}},
                                                   {0, {0, 0}, {0, 0}, {.8e-3, 3e-3}}};

static hot_phantom *make_phantom(hot_context *context, double snr)
{
    static const double shells[] = {1000, 3000}, share[] = {.5, .3, .2};
    const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {NX, NY, NZ},
                                   .conditions = conditions, .condition_count = 3, .share = share, .snr = &snr,
                                   .snr_count = 1, .shell_b = shells, .shells = 2, .directions = 45, .b0 = 6,
                                   .axial = 1.7e-3, .radial = .3e-3, .oblique = 1};
    hot_phantom *phantom = NULL;
    CHECK(hot_phantom_create(context, &o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    return phantom;
}

static double size_of(const float *v) { return hypot(hypot((double)v[0], (double)v[1]), (double)v[2]); }

static double angle_of(const float *a, const float *b)
{
    const double dot = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2];
    return degree * acos(fmin(1, fabs(dot) / (size_of(a) * size_of(b))));
}

/* Single fibres: MD and FA of the tensor they are; isotropic voxels: their diffusivity, no anisotropy. */
static void test_tensor(hot_context *context, const hot_phantom *phantom, const hot_mask *mask)
{
    static float md[VOXELS], fa[VOXELS];
    hot_tensor_field *field = NULL;
    CHECK(hot_diffusion_tensor_fit(context, hot_phantom_dwi(phantom), mask, 1500, &field) == HOT_OK &&
              hot_tensor_field_map(context, field, "md", md) == HOT_OK &&
              hot_tensor_field_map(context, field, "fa", fa) == HOT_OK, "%s", hot_context_message(context));
    const double mean = 2.3e-3 / 3, x = 1.7e-3 - mean, y = .3e-3 - mean;
    const double right = sqrt(1.5 * (x * x + 2 * y * y) / (1.7e-3 * 1.7e-3 + 2 * .3e-3 * .3e-3));
    for (int n = 0; n < VOXELS; n++) {
        const int fibers = hot_fiber_field_counts(hot_phantom_truth(phantom))[n];
        if (fibers == 1) {
            CHECK_NEAR(md[n], mean, 1e-8, "voxel %d: MD %g, not %g", n, (double)md[n], mean);
            CHECK_NEAR(fa[n], right, 1e-4, "voxel %d: FA %g, not %g", n, (double)fa[n], right);
        } else if (fibers == 0) {
            CHECK(md[n] > .79e-3f && md[n] < 3.01e-3f && fa[n] < 2e-3f, "voxel %d: MD %g, FA %g", n, (double)md[n],
                  (double)fa[n]);
        }
    }
    hot_tensor_field_destroy(&field);
}

/* How many voxels have the right number, each within `degrees` and `part` of its fraction. */
static int solved(const hot_fiber_field *found, const hot_phantom *phantom, double degrees, double part, int *of)
{
    const hot_fiber_field *truth = hot_phantom_truth(phantom);
    const int most = hot_fiber_field_max(found);
    int good = 0;
    *of = 0;
    for (int n = 0; n < VOXELS; n++) {
        const int fibers = hot_fiber_field_counts(truth)[n];
        int right = hot_fiber_field_counts(found)[n] == fibers;
        for (int t = 0; t < fibers && right; t++) {
            const float *r = hot_fiber_field_peaks(truth) + 9 * n + 3 * t;
            double nearest = 90, off = 1;
            for (int f = 0; f < fibers; f++) {
                const float *v = hot_fiber_field_peaks(found) + 3 * (n * most + f);
                if (angle_of(r, v) < nearest)
                    nearest = angle_of(r, v), off = fabs(size_of(v) - size_of(r));
            }
            right = nearest <= degrees && off <= part;
        }
        good += right;
        *of += 1;
    }
    return good;
}

static void test_models(hot_context *context, const hot_phantom *phantom, const hot_mask *mask)
{
    hot_response *response = NULL;
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    CHECK(hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response) == HOT_OK, "response");
    for (int msmt = 0; msmt < 2; msmt++) {
        const hot_fit_options o = {.size = sizeof o, .model = msmt ? "msmt" : "fod", .order = 8, .response = response,
                                   .regularise = 1e-6};
        const hot_peaks_options p = {.size = sizeof p, .threshold = .3, .min_angle = 25, .min_amplitude = .15};
        hot_tensor_field *field = NULL;
        hot_fiber_field *fibers = NULL;
        CHECK(hot_tensor_field_fit(context, dwi, mask, &o, &field) == HOT_OK &&
                  hot_fiber_field_find(context, field, &p, &fibers) == HOT_OK, "%s", hot_context_message(context));
        int of, good = solved(fibers, phantom, 6, .2, &of);
        printf("%s: %d of %d\n", o.model, good, of);
        CHECK(good >= .94 * of, "%s: %d of %d voxels are right", o.model, good, of);
        if (msmt) { /* of fibres 1, of the others none; free water alone is free water */
            static float amounts[VOXELS][8], residual[VOXELS];
            const size_t tissues = hot_tensor_field_tissues(field);
            float *rows = amounts[0];
            CHECK(tissues == 2 && hot_tensor_field_amounts(context, field, rows, residual) == HOT_OK, "%zu tissues",
                  tissues);
            for (int n = 0; n < VOXELS; n++) {
                if (hot_fiber_field_counts(hot_phantom_truth(phantom))[n] > 0)
                    CHECK(fabs(rows[2 * n] - 1) < .03 && rows[2 * n + 1] < .02f && rows[2 * n + 1] >= 0,
                          "voxel %d: %g and %g", n, (double)rows[2 * n], (double)rows[2 * n + 1]);
                CHECK(residual[n] < 1e-5f, "voxel %d: residual %g", n, (double)residual[n]);
            }
        }
        hot_fiber_field_destroy(&fibers);
        hot_tensor_field_destroy(&field);
    }
    hot_signal_maps maps;
    hot_fiber_field *fibers = NULL;
    const hot_signal_find_options s = {.size = sizeof s, .keep_maps = 1, .keep_cones = 1, .sigma = 20};
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, &s, &maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    int of, good = solved(fibers, phantom, 2, .08, &of);
    printf("signal: %d of %d\n", good, of);
    CHECK(good >= .99 * of, "signal: %d of %d voxels are right", good, of);
    CHECK(maps.sigma == 20 && maps.voxels == VOXELS && maps.flagged == 0, "sigma %g, %zu voxels, %zu flagged",
          maps.sigma, maps.voxels, maps.flagged);
    for (int n = 0; n < VOXELS; n++) {
        double all = maps.isotropic[n] + maps.free_water[n], p = 0;
        for (int f = 0; f < hot_fiber_field_counts(fibers)[n]; f++) {
            all += size_of(hot_fiber_field_peaks(fibers) + 3 * (3 * n + f));
            const double cone = (double)maps.cone[3 * n + f];
            CHECK(cone > 0 && cone < 40, "voxel %d: cone %g", n, cone);
        }
        for (int k = 0; k < 4; k++)
            p += (double)maps.probability[4 * n + k];
        CHECK_NEAR(p, 1, 1e-5, "voxel %d: probabilities add up to %g", n, p);
        CHECK_NEAR(all, 1, 1e-3, "voxel %d: fractions add up to %g", n, all);
        CHECK(maps.residual[n] < .5f, "voxel %d: a residual of %g sigma without noise", n, (double)maps.residual[n]);
    }
    hot_signal_maps_free(&maps);
    hot_fiber_field_destroy(&fibers);
    hot_response_destroy(&response);
}

/* With noise: found, its map, less of it after; the response from the data. */
static void test_noisy(hot_context *context)
{
    hot_phantom *phantom = make_phantom(context, 25);
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    hot_dwi *clean = NULL;
    static float noise[VOXELS];
    double sigma, snr, mean = 0;
    size_t repeats, voxels;
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK &&
              hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats) == HOT_OK, "%s", hot_context_message(context));
    CHECK_NEAR(sigma, 40, 2, "sigma %g", sigma);
    CHECK(repeats == 6, "%zu b=0 volumes", repeats);
    CHECK(hot_dwi_denoise(context, dwi, mask, NULL, &clean, noise) == HOT_OK, "%s", hot_context_message(context));
    for (int n = 0; n < VOXELS; n++)
        mean += (double)noise[n] / VOXELS;
    CHECK_NEAR(mean, 38, 6, "the map of the noise: %g on average", mean);
    hot_dwi_destroy(&clean);
    CHECK(hot_response_estimate(context, dwi, mask, 8, &response, &voxels) == HOT_OK && voxels >= 50, "%s: %zu voxels",
          hot_context_message(context), voxels);
    CHECK_NEAR(hot_response_noise(response), .04, .006, "its noise: %g of b=0", hot_response_noise(response));
    for (size_t s = 0; response && s < hot_response_shells(response); s++) { /* the tensor's, to the noise's bias */
        double b, y[45], sum[2] = {0};
        const double *row = hot_response_row(response, s, &b);
        for (int end = 0; end < 2; end++) {
            hot_sh_values_f64(8, 1, (double[]){1 - end, 0, end}, y);
            for (int l = 0; l <= 8; l += 2)
                sum[end] += row[l / 2] * y[l * (l + 1) / 2];
        }
        const double across = 1000 * exp(-b * .3e-3), along = 1000 * exp(-b * 1.7e-3);
        CHECK_NEAR(sum[0], across, .07 * across + 10, "b = %g: across a fibre %g, not %g", b, sum[0], across);
        CHECK_NEAR(sum[1], along, .12 * along + 45, "b = %g: along a fibre %g, not %g", b, sum[1], along);
    }
    hot_response_destroy(&response);
    hot_run_fields fields;
    hot_run_result result;
    CHECK(hot_run_compute(context, dwi, NULL, &fields, &result) == HOT_OK, "%s", hot_context_message(context));
    int of, good = solved(fields.fibers, phantom, 10, .3, &of);
    printf("run: %d of %d\n", good, of);
    CHECK(good >= .97 * of, "a run with the defaults: %d of %d voxels are right", good, of);
    hot_run_fields_free(&fields);
    CHECK(!fields.mask && !fields.fibers && !fields.tensors && !fields.response, "set to NULL");
    hot_run_fields_free(&fields);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
}

/* "A volume that repeats another bit by bit counts once": ten volumes twice give the same fits, bit for bit. */
static void test_repeats(hot_context *context)
{
    enum { TWICE = 10 };
    static const double response_b[3] = {0, 1000, 3000};
    hot_phantom *phantom = make_phantom(context, 20);
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    const size_t volumes = hot_dwi_volumes(dwi);
    float *rows = malloc(VOXELS * volumes * sizeof *rows), *data = malloc(VOXELS * (volumes + TWICE) * sizeof *data);
    double *b = malloc((volumes + TWICE) * sizeof *b), *g = malloc(3 * (volumes + TWICE) * sizeof *g);
    static float peaks[3][VOXELS * 9], probability[3][VOXELS * 4];
    uint8_t inside[VOXELS] = {0};
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, rows) == HOT_OK, "signals");
    for (int n = 0; n < 60; n++)
        inside[7 * n] = 1;
    CHECK(hot_mask_create(context, hot_dwi_grid(dwi), inside, &mask) == HOT_OK &&
              hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response) == HOT_OK &&
              hot_response_shells(response) == sizeof response_b / sizeof *response_b, "response");
    for (int way = 0; way < 3; way++) { /* original; repeated; repeated with one bit changed in a voxel of the mask */
        hot_dwi *made = NULL;
        hot_fiber_field *fibers = NULL;
        hot_signal_maps maps;
        const hot_signal_find_options o = {.size = sizeof o, .keep_maps = 1, .sigma = 50};
        for (size_t v = 0; v < volumes + (way ? TWICE : 0); v++) {
            const size_t from = v < volumes ? v : 10 + 7 * (v - volumes);
            b[v] = hot_dwi_b(dwi)[from];
            memcpy(g + 3 * v, hot_dwi_gradients(dwi) + 3 * from, 3 * sizeof *g);
            for (size_t n = 0; n < VOXELS; n++)
                data[v * VOXELS + n] = rows[n * volumes + from] + (way == 2 && v >= volumes && n == 7 ? 16.f : 0);
        }
        CHECK(hot_dwi_create(context, hot_dwi_grid(dwi), volumes + (way ? TWICE : 0), b, g, data, &made) == HOT_OK &&
                  hot_fiber_field_signal(context, made, mask, response, &o, &maps, &fibers) == HOT_OK, "%s",
              hot_context_message(context));
        memcpy(peaks[way], hot_fiber_field_peaks(fibers), sizeof peaks[way]);
        memcpy(probability[way], maps.probability, sizeof probability[way]);
        hot_signal_maps_free(&maps);
        hot_fiber_field_destroy(&fibers);
        hot_dwi_destroy(&made);
    }
    CHECK(memcmp(peaks[0], peaks[1], sizeof peaks[0]) == 0 &&
              memcmp(probability[0], probability[1], sizeof probability[0]) == 0, "repeated volumes count twice");
    CHECK(memcmp(probability[0], probability[2], sizeof probability[0]) != 0, "volumes that differ do not count");
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    free(rows), free(data), free(b), free(g);
}

/* A mask of other sizes is HOT_ERROR_DATA everywhere, and nothing is made. */
static void test_other_mask(hot_context *context, const hot_phantom *phantom)
{
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    hot_grid other = *hot_dwi_grid(dwi);
    hot_mask *mask = NULL;
    double sigma, snr;
    size_t repeats, voxels[3];
    hot_noise_model model;
    hot_dwi *clean = (hot_dwi *)&other;
    hot_response *response = (hot_response *)&other, *tissues[3];
    hot_tensor_field *field = (hot_tensor_field *)&other;
    hot_fiber_field *fibers = (hot_fiber_field *)&other;
    hot_check_findings *findings = (hot_check_findings *)&other;
    hot_check_gradients gradients = {.size = sizeof gradients};
    other.size[2]--;
    CHECK(hot_mask_full(context, &other, &mask) == HOT_OK, "mask");
    CHECK(hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats) == HOT_ERROR_DATA, "noise");
    CHECK(hot_dwi_noise_model(context, dwi, mask, &model, &sigma) == HOT_ERROR_DATA, "noise model");
    CHECK(hot_dwi_denoise(context, dwi, mask, NULL, &clean, NULL) == HOT_ERROR_DATA && !clean, "denoise");
    CHECK(hot_response_estimate(context, dwi, mask, 8, &response, voxels) == HOT_ERROR_DATA && !response, "response");
    CHECK(hot_response_estimate_tissues(context, dwi, mask, 8, 0, tissues, voxels) == HOT_ERROR_DATA && !tissues[0] &&
              !tissues[1] && !tissues[2], "tissues");
    CHECK(hot_tensor_field_fit(context, dwi, mask, NULL, &field) == HOT_ERROR_DATA && !field, "fit");
    CHECK(hot_diffusion_tensor_fit(context, dwi, mask, 1500, &field) == HOT_ERROR_DATA && !field, "tensor");
    CHECK(hot_fiber_field_signal(context, dwi, mask, NULL, NULL, NULL, &fibers) == HOT_ERROR_DATA && !fibers, "signal");
    CHECK(hot_check_gradient_table(context, dwi, mask, 0, &gradients) == HOT_ERROR_DATA, "gradients");
    CHECK(hot_check_volumes(context, dwi, mask, &findings) == HOT_ERROR_DATA && !findings, "volumes");
    hot_mask_destroy(&mask);
}

/* A signal that rises by a known part over the scan; a repeated volume. */
static void test_findings(hot_context *context, const hot_phantom *phantom, const hot_mask *mask)
{
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    const size_t volumes = hot_dwi_volumes(dwi);
    float *rows = malloc(VOXELS * volumes * sizeof *rows), *data = malloc(VOXELS * volumes * sizeof *data);
    double *b = malloc(volumes * sizeof *b), *g = malloc(3 * volumes * sizeof *g);
    static const int b0[6] = {0, 18, 36, 54, 72, 90};
    hot_dwi *made = NULL;
    hot_check_findings *findings = NULL;
    size_t count = 0, next = 6;
    uint64_t state = 4;
    CHECK(volumes == 96 && hot_dwi_read(context, dwi, 0, VOXELS, rows) == HOT_OK, "signals");
    for (size_t v = 0; v < volumes; v++) { /* the b=0 volumes all over the scan; 8 % more at its end */
        size_t from = next;
        for (int i = 0; i < 6; i++)
            from = b0[i] == (int)v ? (size_t)i : from;
        next += from >= 6;
        from = v == 20 ? 6 : from; /* the first weighted one once more */
        b[v] = hot_dwi_b(dwi)[from];
        memcpy(g + 3 * v, hot_dwi_gradients(dwi) + 3 * from, 3 * sizeof *g);
        for (size_t n = 0; n < VOXELS; n++)
            data[v * VOXELS + n] = v == 20 ? data[VOXELS + n]
                                           : (float)(rows[n * volumes + from] * (1 + .08 * (double)v / 95) +
                                                     2 * check_random_normal(&state));
    }
    CHECK(hot_dwi_create(context, hot_dwi_grid(dwi), volumes, b, g, data, &made) == HOT_OK &&
              hot_check_volumes(context, made, mask, &findings) == HOT_OK, "%s", hot_context_message(context));
    const hot_check_finding *list = hot_check_findings_list(findings, &count);
    int twice = 0, drift = 0;
    double percent, t;
    for (size_t f = 0; f < count; f++) {
        twice += strstr(list[f].kind, "duplicate") != NULL;
        drift += strstr(list[f].kind, "drift") != NULL;
        CHECK(list[f].text[0] && !strchr(list[f].text, '\n'), "one line: %s", list[f].text);
    }
    CHECK(twice == 1 && drift == 1, "of %zu findings %d speak of copies, %d of drift", count, twice, drift);
    hot_check_findings_drift(findings, &percent, &t);
    CHECK_NEAR(fabs(percent), 8, 1, "a drift of %g per cent", percent);
    CHECK(fabs(t) > 5, "t = %g", t);
    hot_check_findings_destroy(&findings);
    CHECK(!findings, "set to NULL");
    hot_dwi_destroy(&made);
    free(rows), free(data), free(b), free(g);
}

int main(void)
{
    hot_context *context = context_of(2);
    hot_phantom *phantom = make_phantom(context, INFINITY);
    hot_mask *mask = NULL;
    CHECK(hot_mask_full(context, hot_dwi_grid(hot_phantom_dwi(phantom)), &mask) == HOT_OK, "mask");
    test_tensor(context, phantom, mask);
    test_models(context, phantom, mask);
    test_other_mask(context, phantom);
    test_findings(context, phantom, mask);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    test_noisy(context);
    test_repeats(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

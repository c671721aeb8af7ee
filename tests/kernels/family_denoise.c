/* Denoising against the reference, which goes window by window with Jacobi's rotations; slabs, masks, flags; and on
 * data whose noise is known. */
#include "checker.h"

#include <hotfiber/denoise.h>

typedef struct scene {
    size_t size[3], volumes, width, voxels;
    float *clean, *noisy;
} scene;

/* A few tissues whose signals differ, mixed smoothly over the volume, and Gaussian noise. */
static scene make_scene(uint64_t *seed, size_t ni, size_t nj, size_t nk, size_t volumes, int is_complex, double sigma)
{
    enum { TISSUES = 4 };
    scene s = {
        .size = {ni, nj, nk}, .volumes = volumes, .width = volumes * (is_complex ? 2 : 1), .voxels = ni * nj * nk};
    s.clean = calloc(s.voxels * s.width + 1, sizeof *s.clean);
    s.noisy = calloc(s.voxels * s.width + 1, sizeof *s.noisy);
    double *signal = malloc(TISSUES * volumes * sizeof *signal), place[TISSUES][3];
    for (size_t k = 0; k < TISSUES * volumes; k++)
        signal[k] = exp(-2.5 * check_random(seed));
    for (int t = 0; t < TISSUES; t++)
        for (int d = 0; d < 3; d++)
            place[t][d] = check_random(seed) * (double)s.size[d];
    for (size_t v = 0; v < s.voxels; v++) {
        double at[3] = {(double)(v % ni), (double)(v / ni % nj), (double)(v / ni / nj)}, weight[TISSUES], sum = 0;
        for (int t = 0; t < TISSUES; t++) {
            double r = 0;
            for (int d = 0; d < 3; d++)
                r += (at[d] - place[t][d]) * (at[d] - place[t][d]);
            sum += weight[t] = exp(-r / 30) + 1e-3;
        }
        const double phase = is_complex ? 0.1 * at[0] - 0.07 * at[1] + 0.02 * at[2] * at[0] : 0;
        for (size_t k = 0; k < volumes; k++) {
            double x = 0;
            for (int t = 0; t < TISSUES; t++)
                x += 1000 * weight[t] / sum * signal[(size_t)t * volumes + k];
            float *to = s.clean + v * s.width + k * (is_complex ? 2 : 1);
            to[0] = (float)(x * cos(phase));
            if (is_complex)
                to[1] = (float)(x * sin(phase));
        }
    }
    for (size_t k = 0; k < s.voxels * s.width; k++)
        s.noisy[k] = s.clean[k] + (float)(sigma * check_random_normal(seed));
    free(signal);
    return s;
}

static void free_scene(scene *s)
{
    FREE(s->clean, s->noisy);
}

static void compare(check_run *run, const scene *s, const float *x, const float *y, const float *noise,
                    const float *other, double allowed)
{
    for (size_t v = 0; v < s->voxels; v++) {
        double worst = 0;
        const int same =
            memcmp(x + v * s->width, y + v * s->width, s->width * sizeof *x) == 0; /* NaN and Inf as they came */
        for (size_t k = 0; k < s->width && !same; k++) {
            double difference = fabs((double)x[v * s->width + k] - (double)y[v * s->width + k]);
            worst = difference <= 1e30 ? fmax(worst, difference) : INFINITY;
        }
        CHECK_ITEM(run, v, worst <= allowed, "a signal is %g off", worst);
        CHECK_ITEM(run, v,
                   (isnan(noise[v]) && isnan(other[v])) || fabsf(noise[v] - other[v]) <= 1e-4f * fabsf(other[v]) + 1e-6,
                   "noise %g, not %g", (double)noise[v], (double)other[v]);
    }
}

static void check_reference(check_run *run, const char *name, const size_t size[3], size_t volumes,
                            hot_denoise_options options, int spoil)
{
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, volumes);
    options.size = sizeof options;
    scene s = make_scene(&run->seed, size[0], size[1], size[2], volumes, options.is_complex, 30);
    uint8_t *made = malloc(s.voxels);
    for (size_t v = 0; v < s.voxels; v++)
        made[v] = v % 7 != 3;
    if (spoil) {
        s.noisy[(s.voxels / 2) * s.width + 1] = NAN;
        s.noisy[(s.voxels / 3) * s.width] = -INFINITY;
    }
    const float *signals = check_input(run, s.noisy, s.voxels * s.width * sizeof(float));
    const uint8_t *mask = spoil ? check_input(run, made, s.voxels) : NULL;
    float *out = check_output(run, s.voxels * s.width * sizeof(float)),
          *noise = check_output(run, s.voxels * sizeof(float));
    float *expected = malloc(s.voxels * s.width * sizeof(float)), *level = malloc(s.voxels * sizeof(float));
    if (hot_denoise_f32(run->reference, &options, s.size, volumes, signals, mask, expected, level) != HOT_OK)
        check_fail(run, 0, "the reference failed: %s", hot_context_message(run->reference));
    if (check_call(run, hot_denoise_f32(run->context, &options, s.size, volumes, signals, mask, out, noise))) {
        CHECK_ITEM(run, 0, check_unwritten(out, s.voxels * s.width, 4) + check_unwritten(noise, s.voxels, 4) == 0,
                   "outputs were not written");
        compare(run, &s, out, expected, noise, level, 0.01);
        for (size_t v = 0; v < s.voxels && spoil; v++)
            if (!made[v] || v == s.voxels / 2 || v == s.voxels / 3)
                CHECK_ITEM(run, v,
                           memcmp(out + v * s.width, s.noisy + v * s.width, s.width * 4) == 0 &&
                               (made[v] || noise[v] == 0),
                           "an unused voxel was changed");
        check_call(run, hot_denoise_f32(run->context, &options, s.size, volumes, signals, mask, expected, NULL));
        CHECK_ITEM(run, 0, memcmp(out, expected, s.voxels * s.width * 4) == 0,
                   "without the noise map the result differs");
    }
    check_case_end(run);
    FREE(expected, level, made);
    free_scene(&s);
}

/* The noise's level is found, and the result is much nearer the truth than the data were. */
static void check_truth(check_run *run, size_t volumes, int is_complex)
{
    if (!check_wanted(run, is_complex ? "known noise, complex" : "known noise"))
        return;
    check_case_begin(run, is_complex ? "known noise, complex" : "known noise", volumes);
    const double sigma = 25;
    scene s = make_scene(&run->seed, 14, 13, 12, volumes, is_complex, sigma);
    hot_denoise_options options = {.size = sizeof options, .is_complex = is_complex};
    float *out = check_output(run, s.voxels * s.width * sizeof(float)),
          *noise = check_output(run, s.voxels * sizeof(float));
    if (check_call(run, hot_denoise_f32(run->context, &options, s.size, volumes, s.noisy, NULL, out, noise))) {
        double mean = 0, error = 0, cross = 0, signal = 0, left = 0;
        for (size_t v = 0; v < s.voxels; v++)
            mean += noise[v] / (double)s.voxels;
        for (size_t k = 0; k < s.voxels * s.width; k++) {
            double residual = s.noisy[k] - out[k], truth = s.clean[k];
            error += (out[k] - truth) * (out[k] - truth);
            cross += residual * truth, signal += truth * truth, left += residual * residual;
        }
        error = sqrt(error / (double)(s.voxels * s.width));
        CHECK_ITEM(run, 0, fabs(mean - sigma) <= 0.03 * sigma, "noise level %g, not %g", mean, sigma);
        CHECK_ITEM(run, 0, error <= (is_complex ? 0.45 : 0.4) * sigma, "root mean square error %g of noise %g", error,
                   sigma);
        CHECK_ITEM(run, 0, fabs(cross) <= 0.02 * sqrt(signal * left), "the residual holds signal: %g",
                   cross / sqrt(signal * left));
    }
    check_case_end(run);
    free_scene(&s);
}

/* Slab by slab is the same as at once, and so is any number of threads: bit for bit. */
static void check_slabs(check_run *run, size_t volumes, size_t side, int is_complex)
{
    if (!check_begin(run, volumes, "slabs and threads"))
        return;
    scene s = make_scene(&run->seed, 9, 8, 13, volumes, is_complex, 30);
    hot_denoise_options options = {.size = sizeof options, .window = {side, side, side}, .is_complex = is_complex};
    const size_t plane = 72, bytes = s.voxels * s.width * sizeof(float);
    float *whole = check_output(run, bytes), *noise = check_output(run, s.voxels * sizeof(float));
    float *slab = check_output(run, bytes), *level = check_output(run, s.voxels * sizeof(float));
    check_call(run, hot_denoise_f32(run->context, &options, s.size, volumes, s.noisy, NULL, whole, noise));
    for (size_t thick = 2; thick < 13; thick += 3) {
        for (size_t begin = 0; begin < 13; begin += thick) {
            size_t end = begin + thick < 13 ? begin + thick : 13, low = begin < side - 1 ? 0 : begin - (side - 1);
            size_t high = end + side - 1 < 13 ? end + side - 1 : 13, size[3] = {9, 8, high - low};
            options.slices = 13, options.first = low, options.begin = begin, options.end = end;
            check_call(run, hot_denoise_f32(run->context, &options, size, volumes, s.noisy + low * plane * s.width,
                                            NULL, slab + begin * plane * s.width, level + begin * plane));
        }
        CHECK_ITEM(run, thick, memcmp(whole, slab, bytes) == 0 && memcmp(noise, level, s.voxels * 4) == 0,
                   "slabs show");
    }
    options.slices = 0;
    for (int threads = 1; threads < 4; threads += 2) {
        hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = threads};
        hot_context *context = NULL;
        if (hot_context_create(&how, &context) != HOT_OK)
            exit(2);
        check_call(
            run, hot_denoise_f32(context, &options, s.size, volumes, s.noisy, NULL, threads == 1 ? whole : slab, NULL));
        hot_context_destroy(&context);
    }
    CHECK_ITEM(run, 0, memcmp(whole, slab, bytes) == 0, "the number of threads shows");
    check_case_end(run);
    free_scene(&s);
}

/* Every size that one of the GPU's ways to eigenvectors takes, and one more: over volumes, and over voxels. (The
 * reference takes its time: on the CPU, which has one way, the smaller ones only.) */
static void check_ways(check_run *run)
{
    const size_t block[3] = {6, 5, 6}, one[3] = {5, 5, 6}; /* of large matrices one window */
    hot_denoise_options wide = {.window = {5, 5, 6}}, pair = {.window = {2, 2, 2}};
    const size_t reals[] = {15, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129},
                 complexes[] = {12, 17, 32, 33, 64, 65, 96, 97};
    check_reference(run, "two volumes", block, 2, pair, 0);
    check_reference(run, "three volumes", block, 3, pair, 1);
    for (size_t k = 0; k < sizeof reals / sizeof *reals && (run->cuda || reals[k] < 49); k++)
        check_reference(run, "windows of 150", reals[k] < 60 ? block : one, reals[k], wide, 0);
    wide.is_complex = 1;
    for (size_t k = 0; k < sizeof complexes / sizeof *complexes && (run->cuda || complexes[k] < 33); k++)
        check_reference(run, "windows of 150, complex", complexes[k] < 60 ? block : one, complexes[k], wide, 0);
    const size_t windows[][3] = {{3, 3, 5}, {4, 4, 4}, {5, 5, 4}, {5, 5, 5}, {6, 5, 5}}, small[3] = {6, 5, 6};
    for (size_t k = 0; k < (run->cuda ? 5 : 1); k++)
        for (int is_complex = 0; is_complex < (k < 4 ? 2 : 1); is_complex++) {
            hot_denoise_options options = {.step = {3, 3, 3}, .is_complex = is_complex};
            memcpy(options.window, windows[k], sizeof options.window);
            check_reference(run, is_complex ? "over voxels, complex" : "over voxels", small,
                            windows[k][0] * windows[k][1] * windows[k][2] + 9, options, (int)k % 2);
        }
}

/* Signals of the same strength: eigenvalues as close as they can be, and the rest still noise. */
static void check_equal(check_run *run, size_t volumes, int is_complex)
{
    const size_t size[3] = {6, 6, 5}, parts = is_complex ? 2 : 1, width = volumes * parts, voxels = 180;
    hot_denoise_options options = {.size = sizeof options, .window = {3, 3, 3}, .is_complex = is_complex};
    check_case_begin(run, is_complex ? "equal eigenvalues, complex" : "equal eigenvalues", volumes);
    scene s = {.size = {6, 6, 5}, .volumes = volumes, .width = width, .voxels = voxels};
    float *x = calloc(voxels * width, sizeof *x), *expected = malloc(voxels * width * sizeof *x),
          *level = malloc(voxels * sizeof *x);
    for (size_t v = 0; v < voxels; v++)
        for (size_t k = 0; k < width; k++)
            x[v * width + k] =
                k / parts < 3 ? k == v % 3 * parts ? 1000.f : 0.f : (float)(0.1 * check_random_normal(&run->seed));
    float *out = check_output(run, voxels * width * sizeof(float)), *noise = check_output(run, voxels * sizeof(float));
    if (hot_denoise_f32(run->reference, &options, size, volumes, x, NULL, expected, level) != HOT_OK)
        check_fail(run, 0, "the reference failed: %s", hot_context_message(run->reference));
    if (check_call(run, hot_denoise_f32(run->context, &options, size, volumes, x, NULL, out, noise)))
        compare(run, &s, out, expected, noise, level, 0.01);
    check_case_end(run);
    FREE(x, expected, level);
}

/* So many windows that a GPU does them in several batches, against the CPU. */
static void check_batches(check_run *run, int is_complex)
{
    const size_t volumes = is_complex ? 8 : 17;
    if (!check_wanted(run, is_complex ? "many windows, complex" : "many windows"))
        return;
    check_case_begin(run, is_complex ? "many windows, complex" : "many windows", volumes);
    scene s = make_scene(&run->seed, 41, 38, 31, volumes, is_complex, 30);
    hot_denoise_options options = {
        .size = sizeof options, .window = {3, 3, 3}, .step = {1, 1, 1}, .is_complex = is_complex};
    uint8_t *mask = malloc(s.voxels);
    for (size_t v = 0; v < s.voxels; v++)
        mask[v] = (v / 41 / 38 % 7 > 1 && v % 41 > 8) || v % 1000 == 0;
    float *expected = malloc(s.voxels * s.width * sizeof(float)), *level = malloc(s.voxels * sizeof(float));
    float *out = check_output(run, s.voxels * s.width * sizeof(float)),
          *noise = check_output(run, s.voxels * sizeof(float));
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    if (hot_context_create(&how, &context) != HOT_OK)
        exit(2);
    check_call(run, hot_denoise_f32(context, &options, s.size, volumes, s.noisy, mask, expected, level));
    if (check_call(run, hot_denoise_f32(run->context, &options, s.size, volumes, s.noisy, mask, out, noise)))
        compare(run, &s, out, expected, noise, level, 0.01);
    check_case_end(run);
    hot_context_destroy(&context);
    FREE(mask, expected, level);
    free_scene(&s);
}

/* Without noise nothing is lost; nothing comes of nothing. */
static void check_clean(check_run *run, double sigma)
{
    check_case_begin(run, sigma > 0 ? "almost no noise" : "no noise, and zero", 12);
    scene s = make_scene(&run->seed, 7, 7, 6, 12, 0, sigma);
    for (size_t k = 0; k < 3 * 49 * 12 && sigma == 0; k++)
        s.noisy[k] = 0;
    float *out = check_output(run, s.voxels * s.width * sizeof(float)),
          *noise = check_output(run, s.voxels * sizeof(float));
    if (check_call(run, hot_denoise_f32(run->context, NULL, s.size, 12, s.noisy, NULL, out, noise)))
        for (size_t k = 0; k < s.voxels * s.width; k++)
            CHECK_ITEM(run, k / s.width, fabs((double)out[k] - (double)s.noisy[k]) <= 0.01 + 5 * sigma, "%g became %g",
                       (double)s.noisy[k], (double)out[k]);
    check_case_end(run);
    free_scene(&s);
}

static void check_arguments(check_run *run)
{
    check_case_begin(run, "arguments", 0);
    float x[64 * 4] = {0}, y[64 * 4];
    const size_t size[3] = {4, 4, 4}, none[3] = {4, 0, 4};
    hot_denoise_options options = {.size = sizeof options};
#define REFUSED(SIZE, VOLUMES, STATUS)                                                                                 \
    CHECK_ITEM(run, 0, hot_denoise_f32(run->context, &options, SIZE, VOLUMES, x, NULL, y, NULL) == (STATUS),           \
               "line %d", __LINE__);                                                                                   \
    options = (hot_denoise_options){.size = sizeof options}
    REFUSED(none, 4, HOT_ERROR_ARGUMENT);
    REFUSED(size, 1, HOT_ERROR_DATA);
    options.window[0] = 3;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
    options.window[0] = options.window[1] = options.window[2] = 1;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
    options.slices = 9, options.first = 2, options.begin = 4, options.end = 7;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
    options.slices = 9, options.first = 3, options.begin = 3, options.end = 5;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
    options.estimator = (hot_denoise_estimator)7;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
    options.size = 5;
    REFUSED(size, 4, HOT_ERROR_ARGUMENT);
#undef REFUSED
    check_case_end(run);
}

static void check(check_run *run)
{
    const size_t small[3] = {6, 5, 5}, flat[3] = {7, 6, 1}, row[3] = {23, 4, 3};
    hot_denoise_options cube = {.window = {3, 3, 3}}, every = {.window = {3, 3, 3}, .step = {1, 1, 1}};
    hot_denoise_options veraart = {.window = {3, 3, 3}, .estimator = HOT_DENOISE_EXP1},
                        uneven = {.window = {4, 3, 2}, .step = {3, 1, 2}};
    check_reference(run, "windows of 27", small, 11, cube, 0);
    check_reference(run, "windows of 27", row, 16, cube, 0);
    check_reference(run, "windows of 27, every voxel", small, 7, every, 0);
    check_reference(run, "windows of 27, Exp1", small, 11, veraart, 0);
    check_reference(run, "more volumes than voxels", small, 33, cube, 0);
    check_reference(run, "as many volumes as voxels", small, 27, cube, 0);
    check_reference(run, "uneven windows", small, 17, uneven, 0);
    check_reference(run, "one slice", flat, 9, cube, 0);
    check_reference(run, "the default window", small, 12, (hot_denoise_options){0}, 0);
    check_reference(run, "mask, NaN and Inf", small, 13, cube, 1);
    check_reference(run, "mask, NaN and Inf", row, 30, cube, 1);
    hot_denoise_options complex_cube = {.window = {3, 3, 3}, .is_complex = 1};
    check_reference(run, "complex", small, 8, complex_cube, 0);
    check_reference(run, "complex, more volumes than voxels", small, 30, complex_cube, 0);
    check_reference(run, "complex, mask, NaN and Inf", flat, 6, complex_cube, 1);
    check_truth(run, 30, 0);
    check_truth(run, 64, 0);
    check_truth(run, 20, 1);
    check_slabs(run, 10, 3, 0);
    check_slabs(run, 40, 3, 0);
    check_slabs(run, 6, 4, 1);
    check_ways(run);
    check_equal(run, 9, 0);
    check_equal(run, 40, 0);
    check_equal(run, 7, 1);
    if (run->cuda) {
        check_batches(run, 0);
        check_batches(run, 1);
    }
    check_clean(run, 0);
    check_clean(run, 1e-3);
    if (!run->device) /* refused calls have no size that could be copied there */
        check_arguments(run);
}

const check_family family_denoise = {"denoise", 0, 1, check, NULL};

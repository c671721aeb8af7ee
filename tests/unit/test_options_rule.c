/* The one rule of all options structs (hotfiber/context.h): NULL, zeros with the size set and HOT_..._INIT are the same
 * defaults, byte for byte; HOT_ZERO is 0; a size that is not the struct's is refused at any depth, and so is every
 * other negative number, NaN and a value that an enum does not have. */
#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/heev.h>
#include <hotfiber/hotfiber.h>
#include <hotfiber/tridiag.h>

#include <stddef.h>

#include "check.h"

enum { SIDE = 4, VOXELS = SIDE * SIDE * SIDE, ROOM = 1 << 16 };

static hot_context *context;
static hot_phantom *phantom;
static const hot_dwi *dwi;
static hot_tensor_field *tensors;
static hot_mask *all;
static double numbers[3 * 4096];
static float floats[3 * 4096];

/* The outputs of a call. */
static unsigned char bytes[ROOM];
static size_t used;

static void put(const void *from, size_t size)
{
    CHECK(used + size <= ROOM, "room");
    memcpy(bytes + used, from, size);
    used += size;
}

/* ---- One function for each struct: a call with these options, whose results are put into bytes. ------------------ */

static hot_status call_contract(const void *options)
{
    const size_t stride[3] = {3, 1, 9};
    double c[36] = {0};
    hot_status status = hot_contract_matrices_f64(context, options, 3, 3, 3, 4, 1, numbers, stride, numbers + 50,
                                                  stride, 0, c, stride);
    put(c, sizeof c);
    return status;
}

static hot_status call_cpd(const void *options)
{
    double lambda[2], a[8], b[8], c[8];
    hot_cpd_options own = HOT_CPD_OPTIONS_INIT;
    if (!options)
        options = &own; /* rank has no default */
    memcpy(&own, options, sizeof own);
    own.rank = 2;
    hot_status status = hot_cpd_f64(context, &own, 4, 4, 4, numbers, lambda, a, b, c, NULL);
    if (status == HOT_OK)
        put(lambda, sizeof lambda), put(a, sizeof a), put(b, sizeof b), put(c, sizeof c);
    return status;
}

static hot_status call_denoise(const void *options)
{
    static float out[27 * 12], noise[27];
    const size_t size[3] = {3, 3, 3};
    hot_status status = hot_denoise_f32(context, options, size, 12, floats, NULL, out, noise);
    put(out, sizeof out), put(noise, sizeof noise);
    return status;
}

static hot_status call_directions(const void *options)
{
    float out[50 * 48] = {0};
    hot_status status = hot_directions_f32(context, options, 4, 50, floats, 15, NULL, out, NULL);
    put(out, sizeof out);
    return status;
}

static hot_status call_heev(const void *options)
{
    double values[20] = {0};
    hot_status status = hot_syev_f64(context, options, 5, 4, numbers, values, NULL, NULL);
    put(values, sizeof values);
    return status;
}

static hot_status call_lowrank(const void *options)
{
    float out[50 * 9] = {0};
    hot_status status = hot_lowrank_f32(context, options, 4, 50, floats, 15, NULL, out, NULL, NULL);
    put(out, sizeof out);
    return status;
}

static hot_status call_sshopm(const void *options)
{
    double lambda[30] = {0};
    hot_status status = hot_sshopm_f64(context, options, 4, 3, 3, numbers, 15, 10, numbers + 100, lambda, NULL, NULL,
                                       NULL);
    put(lambda, sizeof lambda);
    return status;
}

static hot_status call_eigenpairs(const void *options)
{
    double pairs[3 * 13 * 6] = {0};
    hot_status status = hot_eigenpairs_f64(context, options, 4, 3, 3, numbers, 15, 0, NULL, 13, pairs, NULL);
    put(pairs, sizeof pairs);
    return status;
}

static hot_status call_tridiag(const void *options)
{
    double values[40] = {0};
    hot_status status = hot_tridiag_f64(context, options, 10, 4, numbers, numbers + 100, 10, values, 10, NULL);
    put(values, sizeof values);
    return status;
}

static hot_status put_field(hot_status status, hot_tensor_field *field)
{
    if (field)
        put(hot_tensor_field_values(field), VOXELS * sizeof(float));
    hot_tensor_field_destroy(&field);
    return status;
}

static hot_status call_fit(const void *options)
{
    hot_tensor_field *field = NULL;
    hot_status status = hot_tensor_field_fit(context, dwi, all, options, &field);
    return put_field(status, field);
}

static hot_status put_fibers(hot_status status, hot_fiber_field *fibers)
{
    if (fibers)
        put(hot_fiber_field_peaks(fibers), VOXELS * 9 * sizeof(float));
    hot_fiber_field_destroy(&fibers);
    return status;
}

static hot_status call_peaks(const void *options)
{
    hot_fiber_field *fibers = NULL;
    hot_status status = hot_fiber_field_find(context, tensors, options, &fibers);
    return put_fibers(status, fibers);
}

static hot_status call_signal(const void *options)
{
    hot_fiber_field *fibers = NULL;
    hot_status status = hot_fiber_field_signal(context, dwi, all, NULL, options, NULL, &fibers);
    return put_fibers(status, fibers);
}

static hot_status call_phantom(const void *options)
{
    hot_phantom *made = NULL;
    hot_status status = hot_phantom_create(context, options, &made);
    if (made)
        put(hot_fiber_field_peaks(hot_phantom_truth(made)), 9 * 50 * sizeof(float));
    hot_phantom_destroy(&made);
    return status;
}

static hot_status call_score(const void *options)
{
    hot_score *score = NULL;
    hot_status status = hot_score_create(context, hot_phantom_truth(phantom), hot_phantom_truth(phantom), options,
                                         &score);
    const double mean = hot_score_mean(score, NULL);
    put(&mean, sizeof mean);
    hot_score_destroy(&score);
    return status;
}

static hot_status compute(const hot_run_options *options)
{
    hot_run_fields fields = {0};
    hot_status status = hot_run_compute(context, dwi, options, &fields, NULL);
    if (status == HOT_OK)
        put(hot_fiber_field_peaks(fields.fibers), VOXELS * 9 * sizeof(float));
    hot_run_fields_free(&fields);
    return status;
}

static hot_status call_run(const void *options) { return compute(options); }

static hot_status call_run_fit(const void *options)
{
    const hot_run_options run = {.size = sizeof run, .fit = options};
    return compute(&run);
}

static hot_status call_run_peaks(const void *options)
{
    const hot_run_options run = {.size = sizeof run, .peaks = options};
    return compute(&run);
}

static hot_status call_run_signal(const void *options)
{
    const hot_run_options run = {.size = sizeof run, .signal = options};
    return compute(&run);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const hot_contract_options init_contract = HOT_CONTRACT_OPTIONS_INIT;
static const hot_cpd_options init_cpd = HOT_CPD_OPTIONS_INIT;
static const hot_denoise_options init_denoise = HOT_DENOISE_OPTIONS_INIT;
static const hot_directions_options init_directions = HOT_DIRECTIONS_OPTIONS_INIT;
static const hot_heev_options init_heev = HOT_HEEV_OPTIONS_INIT;
static const hot_lowrank_options init_lowrank = HOT_LOWRANK_OPTIONS_INIT;
static const hot_sshopm_options init_sshopm = HOT_SSHOPM_OPTIONS_INIT;
static const hot_tridiag_options init_tridiag = HOT_TRIDIAG_OPTIONS_INIT;
static const hot_fit_options init_fit = HOT_FIT_OPTIONS_INIT;
static const hot_peaks_options init_peaks = HOT_PEAKS_OPTIONS_INIT;
static const hot_signal_find_options init_signal = HOT_SIGNAL_FIND_OPTIONS_INIT;
static const hot_phantom_options init_phantom = HOT_PHANTOM_OPTIONS_INIT;
static const hot_score_options init_score = HOT_SCORE_OPTIONS_INIT;
static const hot_run_options init_run = HOT_RUN_OPTIONS_INIT;

/* A field that is refused where it is negative (but for HOT_ZERO, where zero is set), NaN, or 77. */
typedef enum kind { END, NUMBER, ENUM, WHOLE } kind;
typedef struct field { const char *name; size_t at; kind kind; int zero; } field;
#define F(type, name, kind, zero) {#name, offsetof(type, name), kind, zero}

static const struct row {
    const char *name;
    hot_status (*call)(const void *options);
    size_t size;
    const void *init;
    field fields[10];
} rows[] = {
    {"contract", call_contract, sizeof init_contract, &init_contract, {{0}}},
    {"cpd", call_cpd, sizeof init_cpd, &init_cpd,
     {F(hot_cpd_options, tolerance, NUMBER, 1), F(hot_cpd_options, iterations, WHOLE, 0),
      F(hot_cpd_options, start, ENUM, 0), F(hot_cpd_options, arithmetic, ENUM, 0),
      F(hot_cpd_options, non_negative, ENUM, 0)}},
    {"denoise", call_denoise, sizeof init_denoise, &init_denoise,
     {F(hot_denoise_options, estimator, ENUM, 0), F(hot_denoise_options, is_complex, ENUM, 0)}},
    {"directions", call_directions, sizeof init_directions, &init_directions,
     {F(hot_directions_options, threshold, NUMBER, 1), F(hot_directions_options, min_angle, NUMBER, 1),
      F(hot_directions_options, min_relative_range, NUMBER, 1), F(hot_directions_options, shift, ENUM, 0),
      F(hot_directions_options, max_directions, WHOLE, 0)}},
    {"heev", call_heev, sizeof init_heev, &init_heev, {F(hot_heev_options, uplo, ENUM, 0)}},
    {"lowrank", call_lowrank, sizeof init_lowrank, &init_lowrank,
     {F(hot_lowrank_options, min_weight, NUMBER, 1), F(hot_lowrank_options, min_angle, NUMBER, 1),
      F(hot_lowrank_options, drop, NUMBER, 1), F(hot_lowrank_options, floor, NUMBER, 1),
      F(hot_lowrank_options, max_rank, ENUM, 0), F(hot_lowrank_options, exact_rank, ENUM, 0)}},
    {"sshopm", call_sshopm, sizeof init_sshopm, &init_sshopm,
     {F(hot_sshopm_options, tolerance, NUMBER, 1), F(hot_sshopm_options, change, NUMBER, 1),
      F(hot_sshopm_options, shift, ENUM, 0), F(hot_sshopm_options, seek, ENUM, 0),
      F(hot_sshopm_options, max_iterations, WHOLE, 0)}},
    {"eigenpairs", call_eigenpairs, sizeof init_sshopm, &init_sshopm,
     {F(hot_sshopm_options, same_angle, NUMBER, 1), F(hot_sshopm_options, tolerance, NUMBER, 1),
      F(hot_sshopm_options, seek, ENUM, 0)}},
    {"tridiag", call_tridiag, sizeof init_tridiag, &init_tridiag,
     {F(hot_tridiag_options, absolute, NUMBER, 1), F(hot_tridiag_options, relative, NUMBER, 1),
      F(hot_tridiag_options, range, ENUM, 0)}},
    {"fit", call_fit, sizeof init_fit, &init_fit,
     {F(hot_fit_options, regularise, NUMBER, 1), F(hot_fit_options, weighted, WHOLE, 1),
      F(hot_fit_options, constraint, ENUM, 0), F(hot_fit_options, kernel, ENUM, 0), F(hot_fit_options, order, ENUM, 0),
      F(hot_fit_options, positive, ENUM, 0), F(hot_fit_options, estimate_s0, ENUM, 0),
      F(hot_fit_options, normalise, ENUM, 0)}},
    {"peaks", call_peaks, sizeof init_peaks, &init_peaks,
     {F(hot_peaks_options, threshold, NUMBER, 1), F(hot_peaks_options, min_angle, NUMBER, 1),
      F(hot_peaks_options, min_amplitude, NUMBER, 1), F(hot_peaks_options, shift, ENUM, 0),
      F(hot_peaks_options, max_fibers, ENUM, 0)}},
    {"signal", call_signal, sizeof init_signal, &init_signal,
     {F(hot_signal_find_options, sigma, NUMBER, 0), F(hot_signal_find_options, noise_model, ENUM, 0),
      F(hot_signal_find_options, max_fibers, ENUM, 0), F(hot_signal_find_options, order, ENUM, 0),
      F(hot_signal_find_options, samples, WHOLE, 0), F(hot_signal_find_options, keep_cones, ENUM, 0)}},
    {"phantom", call_phantom, sizeof init_phantom, &init_phantom,
     {F(hot_phantom_options, layout, ENUM, 0), F(hot_phantom_options, tissue, ENUM, 0),
      F(hot_phantom_options, s0, NUMBER, 0), F(hot_phantom_options, axial, NUMBER, 0),
      F(hot_phantom_options, vary, NUMBER, 0)}},
    {"score", call_score, sizeof init_score, &init_score,
     {F(hot_score_options, threshold, NUMBER, 1), F(hot_score_options, tolerance, NUMBER, 1),
      F(hot_score_options, max_fibers, WHOLE, 0), F(hot_score_options, slice, ENUM, 0)}},
    {"run", call_run, sizeof init_run, &init_run,
     {F(hot_run_options, axial_diffusivity, NUMBER, 0), F(hot_run_options, denoise, ENUM, 0)}},
    {"run.fit", call_run_fit, sizeof init_fit, &init_fit,
     {F(hot_fit_options, regularise, NUMBER, 1), F(hot_fit_options, order, ENUM, 0)}},
    {"run.peaks", call_run_peaks, sizeof init_peaks, &init_peaks,
     {F(hot_peaks_options, threshold, NUMBER, 0), F(hot_peaks_options, min_angle, NUMBER, 0)}},
    {"run.signal", call_run_signal, sizeof init_signal, &init_signal,
     {F(hot_signal_find_options, sigma, NUMBER, 0), F(hot_signal_find_options, samples, WHOLE, 0)}},
};

static void check_sizes(const struct row *row, void *options)
{
    const size_t wrong[] = {0, 1, sizeof(size_t), row->size - 1, row->size + 1, row->size + 8, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(options, 0, row->size);
        memcpy(options, &wrong[i], sizeof *wrong);
        used = 0;
        CHECK(row->call(options) == HOT_ERROR_ARGUMENT && strcmp(hot_context_parameter(context), "size") == 0 &&
                  strstr(hot_context_message(context), ".size is "),
              "%s of size %zu: %s", row->name, wrong[i], hot_context_message(context));
    }
}

static void check_defaults(const struct row *row, void *options)
{
    static unsigned char first[ROOM];
    used = 0;
    CHECK(row->call(NULL) == HOT_OK && used > 0, "%s: %s", row->name, hot_context_message(context));
    const size_t length = used;
    memcpy(first, bytes, length);
    memset(options, 0, row->size);
    memcpy(options, &row->size, sizeof row->size);
    CHECK(memcmp(options, row->init, row->size) == 0, "%s: INIT is the size and zeros", row->name);
    used = 0;
    CHECK(row->call(options) == HOT_OK && used == length && memcmp(first, bytes, length) == 0,
          "%s: zeros are the defaults: %s", row->name, hot_context_message(context));
    used = 0;
    CHECK(row->call(row->init) == HOT_OK && used == length && memcmp(first, bytes, length) == 0,
          "%s: INIT is the defaults: %s", row->name, hot_context_message(context));
}

static void check_field(const struct row *row, const field *f, void *options)
{
    const double refused[] = {-1, -1e-300, NAN, -INFINITY, INFINITY};
    const int whole[] = {-1, -77, 77};
    const size_t count = f->kind == NUMBER ? 5 : f->kind == ENUM ? 3 : 2;
    for (size_t i = 0; i <= count; i++) {
        const int is_zero = i == count; /* the last: HOT_ZERO */
        const double number = is_zero ? HOT_ZERO : refused[i < 5 ? i : 0];
        const int value = is_zero ? HOT_ZERO : whole[i < 3 ? i : 0];
        memcpy(options, row->init, row->size);
        memcpy((char *)options + f->at, f->kind == NUMBER ? (const void *)&number : (const void *)&value,
               f->kind == NUMBER ? sizeof number : sizeof value);
        used = 0;
        const hot_status status = row->call(options);
        CHECK(is_zero && f->zero ? status == HOT_OK : status == HOT_ERROR_ARGUMENT, "%s.%s = %g: %d %s", row->name,
              f->name, f->kind == NUMBER ? number : value, (int)status,
              status == HOT_OK ? "" : hot_context_message(context));
    }
}

static void set_up(void)
{
    uint64_t state = 5;
    const hot_context_options settings = {.size = sizeof settings, .threads = 2, .device = HOT_DEVICE_CPU};
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (double)(state >> 40) * 0x1p-24 + .1;
        floats[i] = (float)numbers[i];
    }
    static const size_t volume[3] = {SIDE, SIDE, SIDE};
    static const hot_phantom_condition conditions[] = {{.fibers = 1},
                                                       {.fibers = 2, .angle = {70, 90}, .fraction = {.5, .6}}};
    hot_phantom_options options = {.size = sizeof options, .layout = HOT_PHANTOM_MIXTURE, .conditions = conditions,
                                   .condition_count = 2, .directions = 32, .b0 = 2};
    memcpy(options.volume, volume, sizeof volume);
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK, "%s", hot_context_message(context));
    dwi = hot_phantom_dwi(phantom);
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &all) == HOT_OK, "%s", hot_context_message(context));
    const hot_fit_options fit = {.size = sizeof fit, .order = 4};
    CHECK(hot_tensor_field_fit(context, dwi, all, &fit, &tensors) == HOT_OK, "%s", hot_context_message(context));
}

/* Exactly 0 is another thing than the default: more directions, another fit. */
static void test_zero(void)
{
    static unsigned char usual[ROOM];
    const hot_directions_options every = {.size = sizeof every, .threshold = HOT_ZERO, .min_angle = HOT_ZERO};
    const hot_fit_options adc = {.size = sizeof adc, .model = "adc", .order = 2};
    hot_fit_options plain = adc;
    plain.weighted = HOT_ZERO;
    used = 0;
    CHECK(call_directions(NULL) == HOT_OK, "%s", hot_context_message(context));
    memcpy(usual, bytes, used);
    used = 0;
    CHECK(call_directions(&every) == HOT_OK && memcmp(usual, bytes, used) != 0, "no threshold");
    hot_tensor_field *fields[2] = {NULL, NULL};
    CHECK(hot_tensor_field_fit(context, dwi, all, &adc, &fields[0]) == HOT_OK &&
              hot_tensor_field_fit(context, dwi, NULL, &plain, &fields[1]) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(memcmp(hot_tensor_field_values(fields[0]), hot_tensor_field_values(fields[1]), 7 * VOXELS * sizeof(float)),
          "plain weights, in all voxels");
    hot_tensor_field_destroy(&fields[0]), hot_tensor_field_destroy(&fields[1]);
}

/* Grids that cannot be, in every function that takes one from its caller. */
static void test_grids(void)
{
    const hot_grid good = {{2, 2, 2}, {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, HOT_SPACE_RAS};
    static const double b[1] = {0}, gradients[3];
    static const uint8_t inside[8];
    for (int k = 0; k < 9; k++) {
        hot_grid bad = good;
        switch (k) {
        case 0: bad.size[1] = 0; break;
        case 1: bad.size[2] = SIZE_MAX / 2; break;
        case 2: bad.to_world[1][1] = 0; break;
        case 3: bad.to_world[0][3] = NAN; break;
        case 4: bad.to_world[2][2] = INFINITY; break;
        case 5: bad.space = (hot_space)77; break;
        case 6: bad.space = (hot_space)-1; break;
        case 7: memset(bad.to_world, 0, sizeof bad.to_world); break;
        case 8: memcpy(bad.to_world[1], bad.to_world[0], sizeof bad.to_world[0]); break;
        }
        hot_dwi *d = NULL;
        hot_mask *m = NULL;
        hot_fiber_field *f = NULL;
        hot_tensor_field *t = NULL;
        float *map = NULL;
        const hot_status found[] = {hot_dwi_create(context, &bad, 1, b, gradients, floats, &d),
                                    hot_mask_create(context, &bad, inside, &m), hot_mask_full(context, &bad, &m),
                                    hot_mask_load(context, "/dev/null", &bad, &m),
                                    hot_noise_map_load(context, "/dev/null", &bad, &map),
                                    hot_fiber_field_create(context, &bad, 1, floats, &f),
                                    hot_tensor_field_create(context, &bad, 2, "adc", floats, &t)};
        for (size_t i = 0; i < sizeof found / sizeof *found; i++)
            CHECK(found[i] == HOT_ERROR_ARGUMENT, "grid %d, function %zu: %d", k, i, (int)found[i]);
        CHECK(!d && !m && !f && !t && !map && strcmp(hot_context_parameter(context), "grid") == 0, "grid %d: %s", k,
              hot_context_message(context));
    }
    const double endless[1] = {INFINITY};
    hot_dwi *d = NULL;
    CHECK(hot_dwi_create(context, &good, 1, endless, gradients, floats, &d) == HOT_ERROR_DATA && !d, "b = inf");
    CHECK(hot_dwi_highest_order(context, dwi, HOT_ANY_SHELL) >= 4 && hot_dwi_highest_order(context, dwi, 77) == -1 &&
              hot_dwi_highest_order(context, dwi, -2) == -1, "shells");
}

int main(void)
{
    static _Alignas(16) unsigned char room[1024];
    set_up();
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        CHECK(rows[r].size <= sizeof room, "room");
        check_defaults(&rows[r], room);
        check_sizes(&rows[r], room);
        for (const field *f = rows[r].fields; f < rows[r].fields + 10 && f->kind != END; f++)
            check_field(&rows[r], f, room);
    }
    test_zero();
    test_grids();
    hot_tensor_field_destroy(&tensors);
    hot_mask_destroy(&all);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

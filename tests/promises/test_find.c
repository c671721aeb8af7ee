/* The promises of hot_fiber_field_find: number of fibres, options of the methods, voxels without fibres, defaults for
 * fod, masks, threads; and the voxels of hot_fiber_field_fod_amplitude and hot_tensor_field_fit. */
#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { ORDER = 8, TERMS = 45, VOXELS = 12 };

static const hot_grid grid = {.size = {VOXELS, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

static void add_power(double w, double x, double y, double z, float *tensor)
{
    int exponents[3 * TERMS];
    const double length = sqrt(x * x + y * y + z * z);
    hot_symtensor_exponents(ORDER, 3, exponents);
    for (int t = 0; t < TERMS; t++)
        tensor[t] += (float)(w * pow(x / length, exponents[3 * t]) * pow(y / length, exponents[3 * t + 1]) *
                             pow(z / length, exponents[3 * t + 2]));
}

/* 0 nothing fitted; 1 one fibre; 2 two; 3 four; 4 NaN; 5 isotropic; 6 nowhere positive; 7 .11 and .05; 8 .5 and .11;
 * 9 seven; 10 Inf; 11 as 2. */
static void fill(float values[VOXELS][TERMS + 1])
{
    hot_context *context = context_of(1);
    double to_tensor[TERMS * TERMS];
    memset(values, 0, VOXELS * sizeof *values);
    CHECK(hot_sh_to_symtensor(context, ORDER, to_tensor) == HOT_OK, "matrix");
    hot_context_destroy(&context);
    for (int n = 1; n < VOXELS; n++)
        values[n][0] = 1;
    add_power(1, 0, 0, 1, values[0] + 1);
    add_power(.8, 1, 2, 3, values[1] + 1);
    for (int n = 2; n < VOXELS; n += 9)
        add_power(.6, 1, 0, 0, values[n] + 1), add_power(.4, 0, 1, 1, values[n] + 1);
    for (int n = 3; n <= 9; n += 6) {
        add_power(.9, 1, 0, 0, values[n] + 1), add_power(.8, 0, 1, 0, values[n] + 1);
        add_power(.7, 0, 0, 1, values[n] + 1), add_power(.6, 1, 1, 1, values[n] + 1);
    }
    add_power(.5, -1, 1, 1, values[9] + 1), add_power(.4, 1, -1, 1, values[9] + 1);
    add_power(.35, 1, 1, -1, values[9] + 1);
    add_power(1, 0, 1, 0, values[4] + 1), add_power(1, 0, 1, 0, values[10] + 1);
    values[4][7] = NAN, values[10][9] = INFINITY;
    for (int t = 0; t < TERMS; t++)
        values[5][1 + t] = (float)to_tensor[t * TERMS];
    add_power(-1, 1, 0, 0, values[6] + 1), add_power(-.5, 0, 1, 0, values[6] + 1);
    add_power(.11, 1, 0, 0, values[7] + 1), add_power(.05, 0, 1, 0, values[7] + 1);
    add_power(.5, 1, 0, 0, values[8] + 1), add_power(.11, 0, 0, 1, values[8] + 1);
}

static hot_fiber_field *find(hot_context *context, const char *model, const hot_peaks_options *o)
{
    static float values[VOXELS][TERMS + 1];
    hot_tensor_field *field = NULL;
    hot_fiber_field *fibers = NULL;
    fill(values);
    CHECK(hot_tensor_field_create(context, &grid, ORDER, model, values[0], &field) == HOT_OK &&
              hot_fiber_field_find(context, field, o, &fibers) == HOT_OK, "%s", hot_context_message(context));
    hot_tensor_field_destroy(&field);
    return fibers;
}

static void check_counts(const char *what, const hot_fiber_field *fibers, const uint8_t right[VOXELS])
{
    for (int n = 0; n < VOXELS; n++)
        CHECK(hot_fiber_field_counts(fibers)[n] == right[n], "%s: voxel %d has %d, not %d", what, n,
              hot_fiber_field_counts(fibers)[n], right[n]);
}

static double length_at(const hot_fiber_field *fibers, int voxel, int number)
{
    const float *v = hot_fiber_field_peaks(fibers) + 3 * (voxel * hot_fiber_field_max(fibers) + number);
    return hypot(hypot((double)v[0], (double)v[1]), (double)v[2]);
}

static void test_find(hot_context *context)
{
    static const uint8_t by_default[VOXELS] = {0, 1, 2, 3, 0, 0, 0, 1, 1, 3, 0, 2};
    static const uint8_t all_of_odf[VOXELS] = {0, 1, 2, 3, 0, 0, 0, 2, 1, 3, 0, 2};
    hot_fiber_field *fibers = find(context, "fod", NULL);
    check_counts("fod, defaults", fibers, by_default);
    CHECK(hot_fiber_field_max(fibers) == 3, "3 per voxel, not %d", hot_fiber_field_max(fibers));
    CHECK_NEAR(length_at(fibers, 1, 0), .8, 1e-5, "a fibre of .8: %g", length_at(fibers, 1, 0));
    CHECK_NEAR(length_at(fibers, 2, 0), .6, 1e-5, "the longest first: %g", length_at(fibers, 2, 0));
    hot_fiber_field_destroy(&fibers);
    /* fod: peaks below .1 are dropped; other models: none is for its height alone (.05 is .45 of .11) */
    fibers = find(context, "odf", NULL);
    check_counts("odf, defaults", fibers, all_of_odf);
    hot_fiber_field_destroy(&fibers);
    for (int most = 1; most <= 16; most++) {
        const hot_peaks_options o = {.size = sizeof o, .max_fibers = most, .threshold = .01, .min_angle = 20,
                                     .min_amplitude = .3};
        fibers = find(context, "fod", &o);
        CHECK(hot_fiber_field_max(fibers) == most, "%d per voxel", hot_fiber_field_max(fibers));
        CHECK(hot_fiber_field_counts(fibers)[9] == (most < 7 ? most : 7), "at most %d: %d", most,
              hot_fiber_field_counts(fibers)[9]);
        for (int f = 1; f < hot_fiber_field_counts(fibers)[9]; f++)
            CHECK(length_at(fibers, 9, f) <= length_at(fibers, 9, f - 1), "longest first");
        hot_fiber_field_destroy(&fibers);
    }
    for (double least = .35; least < .85; least += .1) { /* absolute */
        const hot_peaks_options o = {.size = sizeof o, .threshold = .01, .min_angle = 20, .min_amplitude = least};
        fibers = find(context, "fod", &o);
        CHECK(hot_fiber_field_counts(fibers)[1] == (least < .8) && hot_fiber_field_counts(fibers)[2] ==
                  (least < .4) + (least < .6), "peaks from %g: %d, %d", least, hot_fiber_field_counts(fibers)[1],
              hot_fiber_field_counts(fibers)[2]);
        hot_fiber_field_destroy(&fibers);
    }
    uint8_t inside[VOXELS] = {[2] = 1, [0] = 1};
    hot_mask *mask = NULL;
    CHECK(hot_mask_create(context, &grid, inside, &mask) == HOT_OK, "mask");
    const hot_peaks_options masked = {.size = sizeof masked, .threshold = .25, .min_angle = 15, .min_amplitude = .1,
                                      .mask = mask};
    fibers = find(context, "fod", &masked);
    for (int n = 0; n < VOXELS; n++)
        CHECK(hot_fiber_field_counts(fibers)[n] == (n == 2 ? 2 : 0), "outside the mask: voxel %d", n);
    hot_fiber_field_destroy(&fibers);
    hot_mask_destroy(&mask);
}

static void test_methods(hot_context *context)
{
    static float values[VOXELS][TERMS + 1];
    hot_tensor_field *field = NULL;
    hot_fiber_field *fibers = NULL;
    int seen = 0;
    fill(values);
    CHECK(hot_tensor_field_create(context, &grid, ORDER, "fod", values[0], &field) == HOT_OK, "field");
    for (size_t m = 0;; m++) {
        const char *help = NULL, *name = hot_peaks_method_name(m, &help);
        if (!name)
            break;
        CHECK(strcmp(name, hot_peaks_method_name(m, NULL)) == 0 && help && help[0], "help may be NULL");
        const int lowrank = strcmp(name, "lowrank") == 0;
        const int any = strcmp(name, "maxima") == 0 || strcmp(name, "sshopm") == 0;
        seen += lowrank ? 1 : any ? 10 : strcmp(name, "signal") == 0 ? 100 : 1000;
        for (int most = 1; most <= 17; most++) {
            hot_peaks_options o = {.size = sizeof o, .method = name, .max_fibers = most, .threshold = .3,
                                   .min_angle = 20, .min_amplitude = .1};
            const hot_status status = hot_fiber_field_find(context, field, &o, &fibers);
            const int good = (lowrank && most <= 3) || (any && most <= 16);
            CHECK((status == HOT_OK) == good, "%s, %d: %d %s", name, most, status, hot_context_message(context));
            CHECK(good || (status == HOT_ERROR_ARGUMENT && !fibers), "%s, %d", name, most);
            if (!good && strcmp(name, "signal") != 0)
                CHECK(strcmp(hot_context_parameter(context), "max_fibers") == 0, "%s: '%s'", name,
                      hot_context_parameter(context));
            if (good && most == 3) /* all methods find the two of voxel 2, with these weights */
                CHECK(hot_fiber_field_counts(fibers)[2] == 2 && fabs(length_at(fibers, 2, 0) - .6) < .01 &&
                          fabs(length_at(fibers, 2, 1) - .4) < .01, "%s: %d of %g and %g", name,
                      hot_fiber_field_counts(fibers)[2], length_at(fibers, 2, 0), length_at(fibers, 2, 1));
            hot_fiber_field_destroy(&fibers);
        }
        if (any || lowrank) { /* starts: sshopm's alone */
            const hot_peaks_options o = {.size = sizeof o, .method = name, .threshold = .3, .min_angle = 20,
                                         .min_amplitude = .1, .starts = 64};
            const hot_status status = hot_fiber_field_find(context, field, &o, &fibers);
            CHECK((status == HOT_OK) == (strcmp(name, "sshopm") == 0), "%s with starts: %d", name, status);
            CHECK(status == HOT_OK || strcmp(hot_context_parameter(context), "starts") == 0, "%s: '%s'", name,
                  hot_context_parameter(context));
            hot_fiber_field_destroy(&fibers);
        }
    }
    CHECK(seen == 121, "signal, lowrank, maxima and sshopm: %d", seen);
    const hot_peaks_options none = {.size = sizeof none, .method = "nothing"};
    CHECK(hot_fiber_field_find(context, field, &none, &fibers) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "method") == 0, "'%s'", hot_context_parameter(context));
    const hot_grid other = {.size = {VOXELS - 1, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    hot_mask *mask = NULL;
    CHECK(hot_mask_full(context, &other, &mask) == HOT_OK, "mask");
    const hot_peaks_options o = {.size = sizeof o, .threshold = .3, .min_angle = 20, .min_amplitude = .1, .mask = mask};
    CHECK(hot_fiber_field_find(context, field, &o, &fibers) == HOT_ERROR_DATA && !fibers, "a mask of other sizes");
    hot_mask_destroy(&mask);
    hot_tensor_field_destroy(&field);
}

static hot_status all_methods(hot_context *context, void *out)
{
    float *to = out;
    for (int m = 0; m < 3; m++) {
        static const char *const methods[] = {"maxima", "sshopm", "lowrank"};
        const hot_peaks_options o = {.size = sizeof o, .method = methods[m], .threshold = .1, .min_angle = 20,
                                     .min_amplitude = .01};
        hot_fiber_field *fibers = find(context, "odf", &o);
        memcpy(to + m * VOXELS * 9, hot_fiber_field_peaks(fibers), VOXELS * 9 * sizeof *to);
        hot_fiber_field_destroy(&fibers);
    }
    return HOT_OK;
}

int main(void)
{
    hot_context *context = context_of(2);
    test_find(context);
    test_methods(context);
    check_threads("directions of all methods", all_methods, 3 * VOXELS * 9 * sizeof(float));
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

/* The whole pipeline with each instruction set that the machine has (common/cpu.h), and on one thread and several: on
 * one set the same bytes for any number of threads; between sets the tolerances that docs/releases.md speaks of. */
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "check.h"
#include "common/context_internal.h"
#include "common/cpu.h"

/* Between instruction sets: tensors, of the largest value; directions, of their lengths; voxels that may have another
 * number of fibres, where two numbers are as good as equally probable. */
static const double tensors_apart = 1e-5, directions_apart = 1e-2, others = .005;
enum { SIZE = 9, TERMS = 28, FIBERS = 3 };

static hot_context *make_context(int threads, int level)
{
    const hot_context_options settings = {.size = sizeof settings, .threads = threads, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "a context");
    hot_context_set_cpu_limit(context, level);
    return context;
}

static hot_dwi *make_data(hot_context *context)
{
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_MIXTURE,
                                       .volume = {SIZE, SIZE, SIZE}, .directions = 40, .b0 = 4};
    char name[] = "/tmp/test_levels_XXXXXX.nrrd";
    const int file = mkstemps(name, 5);
    hot_phantom *phantom = NULL;
    hot_dwi *dwi = NULL;
    close(file);
    CHECK(file >= 0 && hot_phantom_create(context, &shape, &phantom) == HOT_OK &&
              hot_phantom_save(context, phantom, NULL, name) == HOT_OK &&
              hot_dwi_load(context, name, NULL, NULL, &dwi) == HOT_OK,
          "data: %s", hot_context_message(context));
    hot_phantom_destroy(&phantom);
    unlink(name);
    return dwi;
}

static void compute(hot_context *context, const hot_dwi *dwi, const char *method, hot_run_fields *fields)
{
    const hot_fit_options fit = {.size = sizeof fit, .order = 6};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = method, .max_fibers = FIBERS};
    const hot_run_options options = {.size = sizeof options, .fit = &fit, .peaks = &peaks};
    CHECK(hot_run_compute(context, dwi, &options, fields, NULL) == HOT_OK, "%s: %s", method,
          hot_context_message(context));
}

/* FNV-1a of tensors and directions, to be compared with what another machine prints. */
static unsigned long long sum_of(const hot_run_fields *fields)
{
    const size_t voxels = SIZE * SIZE * SIZE, sizes[] = {voxels * TERMS, voxels * 3 * FIBERS};
    const float *values[] = {hot_tensor_field_values(fields->tensors), hot_fiber_field_peaks(fields->fibers)};
    unsigned long long sum = 14695981039346656037u;
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < sizes[part] * sizeof(float); i++)
            sum = (sum ^ ((const unsigned char *)values[part])[i]) * 1099511628211u;
    return sum;
}

static void compare(const hot_run_fields *one, const hot_run_fields *two, const char *method, int level)
{
    const size_t voxels = SIZE * SIZE * SIZE;
    const float *a = hot_tensor_field_values(one->tensors), *b = hot_tensor_field_values(two->tensors);
    const float *p = hot_fiber_field_peaks(one->fibers), *q = hot_fiber_field_peaks(two->fibers);
    const uint8_t *m = hot_fiber_field_counts(one->fibers), *n = hot_fiber_field_counts(two->fibers);
    double largest = 0, apart = 0, turned = 0;
    size_t other = 0;
    for (size_t i = 0; i < voxels * TERMS; i++) {
        largest = fmax(largest, fabs((double)b[i]));
        apart = fmax(apart, fabs((double)a[i] - (double)b[i]));
        apart = isnan(a[i]) == isnan(b[i]) ? apart : INFINITY;
    }
    CHECK(apart <= tensors_apart * largest, "%s, level %d: tensors %g of %g apart", method, level, apart, largest);
    for (size_t v = 0; v < voxels; v++) {
        other += m[v] != n[v];
        for (size_t f = 0; m[v] == n[v] && f < n[v]; f++) {
            const float *x = p + 3 * (v * FIBERS + f), *y = q + 3 * (v * FIBERS + f);
            double length = 0, plus = 0, minus = 0; /* a fibre may be on the border of the half sphere */
            for (int d = 0; d < 3; d++) {
                length += (double)y[d] * (double)y[d];
                plus += ((double)x[d] - (double)y[d]) * ((double)x[d] - (double)y[d]);
                minus += ((double)x[d] + (double)y[d]) * ((double)x[d] + (double)y[d]);
            }
            turned = fmax(turned, sqrt(fmin(plus, minus) / length));
        }
    }
    CHECK((double)other <= others * (double)voxels, "%s, level %d: %zu of %zu voxels", method, level, other, voxels);
    CHECK(turned <= directions_apart, "%s, level %d: directions %g apart", method, level, turned);
    printf("%-8s level %d: tensors %.1e, directions %.1e, %zu of %zu voxels with another number; sum %016llx\n", method,
           level, apart / largest, turned, other, voxels, sum_of(one));
}

int main(void)
{
    static const char *const methods[] = {"signal", "lowrank", "maxima", "sshopm"};
    hot_context *best = make_context(1, (int)hot_cpu_best());
    hot_dwi *dwi = make_data(best);
    for (size_t i = 0; dwi && i < sizeof methods / sizeof *methods; i++) {
        hot_run_fields kept = {0};
        compute(best, dwi, methods[i], &kept);
        for (int level = 0; level <= (int)hot_cpu_best() && check_failures == 0; level++) {
            hot_context *one = make_context(1, level), *several = make_context(5, level);
            hot_run_fields fields = {0}, again = {0};
            compute(one, dwi, methods[i], &fields);
            compute(several, dwi, methods[i], &again);
            if (check_failures == 0) {
                compare(&fields, &kept, methods[i], level);
                CHECK(memcmp(hot_fiber_field_peaks(fields.fibers), hot_fiber_field_peaks(again.fibers),
                             sizeof(float) * 3 * FIBERS * SIZE * SIZE * SIZE) == 0,
                      "%s, level %d: other directions on several threads", methods[i], level);
            }
            hot_run_fields_free(&fields);
            hot_run_fields_free(&again);
            hot_context_destroy(&one);
            hot_context_destroy(&several);
        }
        hot_run_fields_free(&kept);
    }
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&best);
    HOT_TEST_END();
}

/* Volumes without a signal are found whatever lies around the head; a data set that is borrowed stays as it is, and a
 * run of it finds what one without these volumes finds. A limit of b=0 signals is that of tissue. */
#include "check.h"
#include "core/fields.h"
#include "dwi/empty.h"
#include "dwi/summary.h"

enum { SIDE = 12, VOXELS = SIDE * SIDE * SIDE, VOLUMES = 36 };

static const hot_grid grid = {.size = {SIDE, SIDE, SIDE},
                              .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                              .space = HOT_SPACE_RAS};

static int in_head(size_t n)
{
    const double x = (double)(n % SIDE) - 5, y = (double)(n / SIDE % SIDE) - 5, z = (double)(n / SIDE / SIDE) - 5;
    return x * x + y * y + z * z < 18;
}

/* A head of single fibres in the dark, which is `around`; volumes of lost[] are `value`. */
static hot_dwi *make_dwi(hot_context *context, float around, const int *lost, float value, size_t *volumes)
{
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    float *signals = malloc(VOXELS * VOLUMES * sizeof *signals);
    uint64_t state = 7;
    hot_dwi *dwi = NULL;
    size_t kept = 0;
    for (size_t v = 0; v < VOLUMES; v++) {
        double unit[3];
        check_random_unit(&state, unit);
        const int out = volumes && lost[v];
        for (size_t n = 0; n < VOXELS; n++) {
            const double along = n % 2 ? unit[0] : unit[1], noise = 15 * check_random_normal(&state);
            const double signal = v < 4 ? 1000 : 1000 * exp(-2 * (0.3 + 1.4 * along * along));
            signals[kept * VOXELS + n] = lost[v] ? value : in_head(n) ? (float)fabs(signal + noise) : around;
        }
        b[kept] = v < 4 ? 0 : 2000;
        memcpy(g + 3 * kept, unit, sizeof unit);
        kept += !out;
    }
    if (volumes)
        *volumes = kept;
    CHECK(hot_dwi_create(context, &grid, kept, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    free(signals);
    return dwi;
}

static void test_find(hot_context *context, float around, const int *lost, float value, size_t expected)
{
    hot_dwi *dwi = make_dwi(context, around, lost, value, NULL), *rest = NULL;
    CHECK(hot_dwi_without_empty(context, dwi, &rest) == HOT_OK, "%s", hot_context_message(context));
    CHECK((rest ? rest->volumes : VOLUMES) == expected, "%g around, %g: %zu volumes, not %zu", (double)around,
          (double)value, rest ? rest->volumes : VOLUMES, expected);
    CHECK(hot_dwi_drop_empty(context, dwi) == HOT_OK && dwi->volumes == expected, "%zu volumes", dwi->volumes);
    for (size_t v = 0; rest && v < expected; v++)
        CHECK(dwi->position[v] == rest->position[v] && dwi->b[v] == rest->b[v] && dwi->shell_of[v] == rest->shell_of[v]
                  && memcmp(dwi->gradients + 3 * v, rest->gradients + 3 * v, 3 * sizeof(double)) == 0,
              "volume %zu differs between the two forms", v);
    hot_dwi_destroy(&rest);
    hot_dwi_destroy(&dwi);
}

/* A head that the first columns miss: 16,000 voxels in 400 steps would be the first of every second row. */
static void test_columns(hot_context *context)
{
    enum { ROW = 20, ALL = ROW * ROW * 40 };
    const hot_grid rows = {.size = {ROW, ROW, 40}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                           .space = HOT_SPACE_RAS};
    const double b[3] = {0, 1000, 1000}, g[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    float *signals = calloc(ALL, 3 * sizeof *signals);
    hot_dwi *dwi = NULL;
    for (size_t n = 0; n < ALL; n++)
        signals[n] = signals[ALL + n] = n % ROW < 5 ? 0 : 500;
    CHECK(hot_dwi_create(context, &rows, 3, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_dwi_drop_empty(context, dwi) == HOT_OK && dwi->volumes == 2, "%zu volumes, not 2", dwi->volumes);
    hot_dwi_destroy(&dwi);
    free(signals);
}

/* The fibres of a run: counts, and directions of all voxels. */
static size_t run(hot_context *context, const hot_dwi *dwi, float *directions)
{
    hot_run_fields fields;
    hot_run_result result;
    CHECK(hot_run_compute(context, dwi, NULL, &fields, &result) == HOT_OK, "%s", hot_context_message(context));
    for (size_t n = 0; n < VOXELS && fields.fibers; n++)
        for (int c = 0; c < 3; c++) {
            const hot_fiber_field *f = fields.fibers;
            directions[3 * n + (size_t)c] = hot_fiber_field_counts(f)[n] ? hot_fiber_field_peaks(f)[9 * n + (size_t)c]
                                                                         : 0;
        }
    hot_run_fields_free(&fields);
    return result.fibers[1];
}

static void test_borrowed(hot_context *context, const int *lost)
{
    static float whole[3 * VOXELS], rest[3 * VOXELS];
    size_t kept;
    hot_dwi *dwi = make_dwi(context, 5, lost, 0, NULL), *without = make_dwi(context, 5, lost, 0, &kept);
    const size_t single = run(context, dwi, whole), as = run(context, without, rest);
    CHECK(dwi->volumes == VOLUMES && without->volumes == kept && kept < VOLUMES, "a borrowed data set was changed");
    CHECK(single == as && single > 100 && memcmp(whole, rest, sizeof whole) == 0,
          "%zu single fibres; without the empty volumes %zu", single, as);
    hot_dwi_destroy(&dwi);
    hot_dwi_destroy(&without);
}

static void test_limit(void)
{
    enum { MANY = 9001 };
    static float value[2 * MANY];
    static uint8_t inside[MANY];
    for (size_t n = 0; n < MANY; n++) {
        value[2 * n] = n % 11 ? 200 : 900; /* brain and fluid */
        value[2 * n + 1] = NAN;
        inside[n] = n % 3 != 0;
    }
    for (size_t n = 0; n < MANY; n += 100)
        value[2 * n] = n % 200 ? 1e20f : n % 400 ? INFINITY : NAN;
    const double limit = hot_b0_limit(value, 2, inside, MANY);
    CHECK(limit == 9000, "limit %g", limit);
    CHECK(hot_b0_limit(value, 2, inside, 1) == INFINITY, "nothing inside");
    CHECK(hot_b0_limit(value + 2, 2, inside + 1, 1) == 2000, "one voxel");
}

int main(void)
{
    const int none[VOLUMES] = {0}, some[VOLUMES] = {[1] = 1, [10] = 1, [VOLUMES - 1] = 1}, b0[VOLUMES] = {[0] = 1};
    hot_context *context = NULL;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    for (int around = 0; around < 2; around++) {
        test_find(context, around ? 5 : 0, none, 0, VOLUMES);
        test_find(context, around ? 5 : 0, some, 0, VOLUMES - 3);
        test_find(context, around ? 5 : 0, some, NAN, VOLUMES - 3);
        test_find(context, around ? 5 : 0, b0, INFINITY, VOLUMES - 1);
    }
    test_columns(context);
    test_borrowed(context, some);
    test_limit();
    hot_context_destroy(&context);
    HOT_TEST_END();
}

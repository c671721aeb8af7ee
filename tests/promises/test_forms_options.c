/* The promises of symtensor.h, directions.h, sshopm.h and lowrank.h about defaults and HOT_ZERO, each just below and
 * just above its bound, about starts that are not given, and about many threads. */
#include <float.h>

#include <hotfiber/directions.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/symtensor.h>

#include "threads.h"

static const double degree = 57.295779513082321;

/* sum of w (v.x)^4 as a packed tensor; added to the output */
static void add_power(double w, const double v[3], float tensor[15])
{
    int exponents[3 * 15];
    hot_symtensor_exponents(4, 3, exponents);
    for (int t = 0; t < 15; t++)
        tensor[t] += (float)(w * pow(v[0], exponents[3 * t]) * pow(v[1], exponents[3 * t + 1]) *
                             pow(v[2], exponents[3 * t + 2]));
}

/* ---- directions: which forms are isotropic ----------------------------------------------------------------------- */

static int directions_of(hot_context *context, double range, size_t starts, const float matrix[6])
{
    const hot_directions_options o = {.size = sizeof o, .min_relative_range = range, .starts = starts};
    float directions[9];
    uint8_t found = 77;
    CHECK(hot_directions_f32(context, &o, 2, 1, matrix, 6, NULL, directions, &found) == HOT_OK, "%s",
          hot_context_message(context));
    return found;
}

/* A form flat by `range` of its maximum has no direction below the bound, and one above it; with HOT_ZERO all have
 * one. */
static void test_range(hot_context *context)
{
    for (size_t starts = 0; starts <= 32; starts += 32)
        for (int i = 0; i < 2; i++) {
            const float flat[6] = {1 - (i ? 1.1e-4f : .9e-4f), 0, 0, 1, 0, 1 - (i ? 1.1e-4f : .9e-4f)};
            const float hardly[6] = {1, 0, 0, 1 + (starts ? 0x1p-12f : 0x1p-23f), 0, 1},
                        same[6] = {.75f, 0, 0, .75f, 0, .75f};
            CHECK(directions_of(context, 0, starts, flat) == i, "%zu starts: flat by %g", starts, 1 - (double)flat[0]);
            CHECK(directions_of(context, 2e-4, starts, flat) == 0, "%zu starts: flat by less than 2e-4", starts);
            CHECK(directions_of(context, HOT_ZERO, starts, hardly) == 1, "%zu starts: hardly a maximum", starts);
            CHECK(directions_of(context, 0, starts, same) == 0, "%zu starts: all values are the same", starts);
            CHECK(directions_of(context, HOT_ZERO, starts, same) == 1, "%zu starts: all the same, no bound", starts);
        }
}

/* ---- lowrank: floor and drop ------------------------------------------------------------------------------------- */

static int terms_of(hot_context *context, double drop, double floor, double second)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, .6, .8};
    const hot_lowrank_options o = {.size = sizeof o, .drop = drop, .floor = floor, .min_weight = HOT_ZERO};
    float tensor[15] = {0}, directions[9];
    uint8_t found = 77;
    add_power(1, x, tensor), add_power(second, y, tensor);
    CHECK(hot_lowrank_f32(context, &o, 4, 1, tensor, 15, NULL, directions, &found, NULL) == HOT_OK, "%s",
          hot_context_message(context));
    return found;
}

/* Two terms at a right angle: the residual of the first is the second, and that of both is 0. */
static void test_terms(hot_context *context)
{
    CHECK(terms_of(context, 0, 0, .5) == 2 && terms_of(context, HOT_ZERO, 0, .5) == 1 &&
              terms_of(context, HOT_ZERO, 0, 1) == 1,
          "HOT_ZERO: a further term is never added");
    CHECK(terms_of(context, 0, 0, .9e-4) == 1 && terms_of(context, 0, 0, 1.1e-4) > 1, "the floor is 1e-4: %d, %d",
          terms_of(context, 0, 0, .9e-4), terms_of(context, 0, 0, 1.1e-4));
    CHECK(terms_of(context, 0, 1e-2, .9e-2) == 1 && terms_of(context, 0, 1e-2, 1.1e-2) == 2, "a floor of 1e-2");
    CHECK(terms_of(context, 0, HOT_ZERO, .5e-4) > 1, "no floor");
}

/* ---- sshopm ------------------------------------------------------------------------------------------------------ */

static void test_steps(hot_context *context)
{
    double tensor[15], starts[3 * 8], lambda[8];
    int32_t steps[8];
    uint64_t state = 5;
    for (int t = 0; t < 15; t++)
        tensor[t] = check_random_normal(&state);
    hot_starts_random(3, 3, 8, starts);
    for (int most = 1; most <= 400; most = 3 * most + 1) {
        const hot_sshopm_options o = {.size = sizeof o, .tolerance = HOT_ZERO, .max_iterations = most};
        CHECK(hot_sshopm_f64(context, &o, 4, 3, 1, tensor, 15, 8, starts, lambda, NULL, NULL, steps) == HOT_OK, "%s",
              hot_context_message(context));
        for (int s = 0; s < 8; s++)
            CHECK(abs(steps[s]) == most, "start %d: %d steps of exactly %d", s, steps[s], most);
    }
    /* the default ends long before that, at a residual of 1e-13 of the scale */
    CHECK(hot_sshopm_f64(context, NULL, 4, 3, 1, tensor, 15, 8, starts, lambda, NULL, NULL, steps) == HOT_OK, "usual");
    for (int s = 0; s < 8; s++)
        CHECK(steps[s] > 0 && steps[s] < 1000, "start %d: %d steps", s, steps[s]);
}

/* f(cos t, sin t) with f' = B cos 2t - cos 4t, which is 0 at t = +-apart / 2 and near 60 and 120 degrees: four pairs,
 * of which two are `apart` degrees from each other. */
static int pairs_of(hot_context *context, double same_angle, double apart)
{
    const double t = apart / 2 / degree, B = cos(4 * t) / cos(2 * t);
    const double tensor[5] = {0, (B - 1) / 4, 0, (B + 1) / 4, 0};
    const hot_sshopm_options o = {.size = sizeof o, .seek = HOT_ALL_PAIRS, .same_angle = same_angle};
    double pairs[40][5];
    int32_t found = 0;
    CHECK(hot_eigenpairs_f64(context, &o, 4, 2, 1, tensor, 5, 0, NULL, 40, pairs[0], &found) == HOT_OK, "%s",
          hot_context_message(context));
    return found;
}

static void test_same_angle(hot_context *context)
{
    CHECK(pairs_of(context, 0, .06) == 4 && pairs_of(context, 0, .04) == 3, "0 = .05 degrees: %d at .06, %d at .04",
          pairs_of(context, 0, .06), pairs_of(context, 0, .04));
    CHECK(pairs_of(context, 2, 2.1) == 4 && pairs_of(context, 2, 1.9) == 3, "2 degrees: %d at 2.1, %d at 1.9",
          pairs_of(context, 2, 2.1), pairs_of(context, 2, 1.9));
    /* HOT_ZERO: also what rounding alone keeps apart */
    CHECK(pairs_of(context, HOT_ZERO, .01) >= 4, "HOT_ZERO: %d pairs, two of them .01 degrees apart",
          pairs_of(context, HOT_ZERO, .01));
}

/* starts NULL: start_count vectors, evenly spread (dim 3) or by the context's seed: the same pairs as from these
 * vectors. Few starts find few pairs, so that other vectors show. */
static void test_starts(void)
{
    enum { STARTS = 3, MOST = 30 };
    int32_t by_seed[6][3];
    uint64_t state = 9;
    for (int dim = 2; dim <= 5; dim++) {
        double tensor[70], starts[STARTS * 5], pairs[2][MOST * 8];
        int32_t found[2];
        for (int t = 0; t < 70; t++)
            tensor[t] = check_random_normal(&state);
        const size_t terms = hot_symtensor_count(4, dim), width = (size_t)dim + 3;
        for (int seed = 0; seed < 3; seed++) {
            const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .seed = (uint64_t)seed};
            hot_context *context = NULL;
            CHECK(hot_context_create(&how, &context) == HOT_OK, "a context");
            if (dim == 3)
                hot_starts_even(STARTS, starts);
            else
                hot_starts_random((uint64_t)seed, dim, STARTS, starts);
            for (int given = 0; given < 2; given++)
                CHECK(hot_eigenpairs_f64(context, NULL, 4, dim, 1, tensor, terms, STARTS, given ? starts : NULL, MOST,
                                         pairs[given], &found[given]) == HOT_OK,
                      "%s", hot_context_message(context));
            CHECK(found[0] == found[1] && found[0] > 0, "dim %d, seed %d: %d and %d pairs", dim, seed, found[0],
                  found[1]);
            for (int32_t p = 0; p < found[0] && p < found[1]; p++)
                CHECK_NEAR(pairs[0][(size_t)p * width], pairs[1][(size_t)p * width], 1e-11, "dim %d, seed %d", dim,
                           seed);
            by_seed[dim][seed] = (int32_t)(1e6 * pairs[0][0]);
            const double none[5] = {0}, wrong[5] = {1, NAN, 1, 1, 1};
            for (int bad = 0; bad < 2; bad++)
                CHECK(hot_eigenpairs_f64(context, NULL, 4, dim, 1, tensor, terms, 1, bad ? wrong : none, MOST, pairs[0],
                                         NULL) == HOT_ERROR_ARGUMENT,
                      "a start that is zero or not finite");
            hot_context_destroy(&context);
        }
    }
    CHECK(by_seed[5][0] != by_seed[5][1] || by_seed[5][0] != by_seed[5][2] || by_seed[4][0] != by_seed[4][1],
          "no seed matters: this test sees nothing");
    CHECK(by_seed[3][0] == by_seed[3][1] && by_seed[3][0] == by_seed[3][2], "dim 3 does not depend on the seed");
}

/* Order 2: all eigenvalues of a matrix, also where they are as close as rounding lets them be. */
static void test_matrix(hot_context *context)
{
    const double close = 1 + 64 * DBL_EPSILON, matrix[6] = {1, 0, 0, close, 0, -2};
    const hot_sshopm_options all_pairs = {.size = sizeof all_pairs, .seek = HOT_ALL_PAIRS};
    double pairs[5][6];
    int32_t found;
    CHECK(hot_eigenpairs_f64(context, &all_pairs, 2, 3, 1, matrix, 6, 0, NULL, 5, pairs[0], &found) == HOT_OK &&
              found == 3,
          "%d eigenvalues", found);
    CHECK(pairs[0][0] == close && pairs[1][0] == 1 && pairs[2][0] == -2, "%.17g %.17g %g", pairs[0][0], pairs[1][0],
          pairs[2][0]);
}

/* ---- symtensor: any number of threads ---------------------------------------------------------------------------- */

enum { ORDER = 6, TERMS = 28 };
typedef struct answers {
    size_t counts[8];
    int exponents[3 * TERMS];
    double multiplicity[TERMS], value, gradient[3], hessian[9], values[20], harmonics[20 * TERMS], there[TERMS * TERMS],
        back[TERMS * TERMS];
} answers;
static double form[TERMS], points[60];

static void *ask(void *to)
{
    hot_context *context = context_of(1);
    answers *a = to;
    for (int round = 0; round < 20; round++) {
        memset(a, 0, sizeof *a);
        for (int order = 0; order < 8; order++)
            a->counts[order] = hot_symtensor_count(order + 1, 3);
        hot_symtensor_exponents(ORDER, 3, a->exponents);
        hot_symtensor_multiplicity(ORDER, 3, a->multiplicity);
        a->value = hot_symtensor_value_f64(ORDER, 3, form, points);
        hot_symtensor_gradient_f64(ORDER, 3, form, points, a->gradient);
        hot_symtensor_hessian_f64(ORDER, 3, form, points, a->hessian);
        hot_symtensor_values_f64(ORDER, 3, form, 20, points, a->values);
        hot_sh_values_f64(ORDER, 20, points, a->harmonics);
        CHECK(hot_sh_to_symtensor(context, ORDER, a->there) == HOT_OK &&
                  hot_symtensor_to_sh(context, ORDER, a->back) == HOT_OK,
              "matrices");
    }
    hot_context_destroy(&context);
    return NULL;
}

static void test_threads(void)
{
    static answers alone;
    uint64_t state = 12;
    for (int t = 0; t < TERMS; t++)
        form[t] = check_random_normal(&state);
    for (int p = 0; p < 20; p++)
        check_random_unit(&state, points + 3 * p);
    check_at_once(ask, &alone, sizeof alone);
    CHECK(alone.counts[5] == TERMS && isfinite(alone.value) && alone.values[0] == alone.values[0], "results");
}

int main(void)
{
    hot_context *context = context_of(2);
    test_threads(); /* first: what is made once is made by all of them */
    test_range(context);
    test_terms(context);
    test_steps(context);
    test_same_angle(context);
    test_starts();
    test_matrix(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

/* The promises of symtensor.h, directions.h, sshopm.h and lowrank.h: bounds of sizes, NULL and zeros, signs, orders of
 * results, thresholds just missed and just met, invalid tensors. */
#include <hotfiber/directions.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/symtensor.h>

#include "threads.h"

enum { ORDER = 6, TERMS = 28, COUNT = 40 };

static const double degree = 57.295779513082321;

/* sum of w (v.x)^order as a packed tensor; added to the output */
static void add_power(int order, double w, const double v[3], double *tensor)
{
    const size_t terms = hot_symtensor_count(order, 3);
    int exponents[3 * 200];
    hot_symtensor_exponents(order, 3, exponents);
    for (size_t t = 0; t < terms; t++)
        tensor[t] += w * pow(v[0], exponents[3 * t]) * pow(v[1], exponents[3 * t + 1]) *
                     pow(v[2], exponents[3 * t + 2]);
}

static void as_floats(size_t count, const double *from, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static double choose(int n, int k)
{
    double product = 1;
    for (int i = 1; i <= k; i++)
        product = product * (n - k + i) / i;
    return floor(product + .5);
}

static void test_symtensor(hot_context *context)
{
    for (int order = 1; order <= HOT_ORDER_MAX; order++)
        for (int dim = 1; dim <= HOT_DIM_MAX; dim++)
            CHECK((double)hot_symtensor_count(order, dim) == choose(order + dim - 1, order), "order %d, dim %d: %zu",
                  order, dim, hot_symtensor_count(order, dim));
    static const int beyond[][2] = {{HOT_ORDER_MAX + 1, 3}, {-1, 3}, {4, 0}, {4, -1}, {4, HOT_DIM_MAX + 1}};
    for (int i = 0; i < 5; i++) {
        const int order = beyond[i][0], dim = beyond[i][1];
        double x[HOT_DIM_MAX + 1] = {1}, tensor[8] = {1, 1}, gradient[HOT_DIM_MAX + 1] = {0}, multiplicity[8];
        int exponents[64];
        CHECK(hot_symtensor_count(order, dim) == 0, "order %d, dim %d has %zu", order, dim,
              hot_symtensor_count(order, dim));
        CHECK(hot_symtensor_exponents(order, dim, exponents) == HOT_ERROR_ARGUMENT, "exponents %d %d", order, dim);
        CHECK(hot_symtensor_multiplicity(order, dim, multiplicity) == HOT_ERROR_ARGUMENT, "multiplicity");
        CHECK(isnan(hot_symtensor_value_f64(order, dim, tensor, x)), "a value of order %d, dim %d", order, dim);
        CHECK(isnan(hot_symtensor_gradient_f64(order, dim, tensor, x, gradient)), "a gradient of %d, %d", order, dim);
    }
    double matrix[4], values[4];
    CHECK(hot_sh_values_f64(HOT_ORDER_MAX + 2, 0, NULL, values) == HOT_ERROR_ARGUMENT, "harmonics beyond");
    CHECK(hot_sh_values_f64(3, 1, (double[]){0, 0, 1}, values) == HOT_ERROR_ARGUMENT, "harmonics of an odd order");
    CHECK(hot_sh_to_symtensor(context, 3, matrix) == HOT_ERROR_ARGUMENT &&
              hot_symtensor_to_sh(context, HOT_ORDER_MAX + 2, matrix) == HOT_ERROR_ARGUMENT, "matrices of harmonics");
}

static hot_status find(hot_context *context, const hot_directions_options *o, int order, const double *tensor,
                       float *directions, uint8_t *found)
{
    float packed[200];
    as_floats(hot_symtensor_count(order, 3), tensor, packed);
    return hot_directions_f32(context, o, order, 1, packed, hot_symtensor_count(order, 3), NULL, directions, found);
}

static hot_directions_options directions_defaults(void)
{
    return (hot_directions_options){.size = sizeof(hot_directions_options), .threshold = .25, .min_angle = 15,
                                    .min_relative_range = 1e-4};
}

/* z > 0; z = 0: y > 0; y = 0 too: x > 0 */
static int upper(const float v[3])
{
    return v[2] > 0 || (v[2] == 0 && (v[1] > 0 || (v[1] == 0 && v[0] > 0)));
}

static void test_directions(hot_context *context)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    float directions[48];
    uint8_t found;
    hot_directions_options o = directions_defaults();
    /* thresholds: 1 and w along axes are maxima of exactly these heights */
    for (double w = .2; w <= .3; w += .01) {
        double tensor[TERMS] = {0};
        add_power(ORDER, 1, x, tensor), add_power(ORDER, w, y, tensor);
        CHECK(find(context, &o, ORDER, tensor, directions, &found) == HOT_OK, "%s", hot_context_message(context));
        if (fabs(w - .25) > 1e-6)
            CHECK(found == (w > .25 ? 2 : 1), "by default %d directions, the lower %g of the higher", found, w);
        CHECK(find(context, NULL, ORDER, tensor, directions, &found) == HOT_OK &&
                  (fabs(w - .25) < 1e-6 || found == (w > .25 ? 2 : 1)), "NULL are the defaults");
        CHECK_NEAR(fabs((double)directions[0]), 1, 1e-5, "the longer first: %g", (double)directions[0]);
        for (double threshold = .205; threshold < .3; threshold += .03) {
            hot_directions_options t = o;
            t.threshold = threshold;
            CHECK(find(context, &t, ORDER, tensor, directions, &found) == HOT_OK, "threshold");
            CHECK(found == (w > threshold ? 2 : 1), "threshold %g, %g: %d", threshold, w, found);
            if (found == 1)
                CHECK(directions[3] == 0 && directions[4] == 0 && directions[5] == 0, "absent ones are 0");
        }
    }
    /* a threshold of nearly 0 keeps small maxima, but none below 1e-6 of the largest */
    for (int lower = 0; lower < 2; lower++) {
        double tensor[TERMS] = {0};
        hot_directions_options t = o;
        t.threshold = 1e-9;
        add_power(ORDER, 1, x, tensor), add_power(ORDER, lower ? 1e-8 : .02, y, tensor);
        CHECK(find(context, &t, ORDER, tensor, directions, &found) == HOT_OK, "tiny");
        CHECK(found == (lower ? 1 : 2), "a maximum of %g: %d", lower ? 1e-8 : .02, found);
    }
    /* the number: 0 = 3; of four the three longest are returned; 1 to 16 */
    double four[45] = {0};
    const double d1[3] = {.57735026918962576, .57735026918962576, .57735026918962576};
    add_power(8, 1, x, four), add_power(8, .9, y, four), add_power(8, .8, z, four), add_power(8, .7, d1, four);
    for (int most = 0; most <= 16; most++) {
        hot_directions_options t = o;
        t.max_directions = most;
        CHECK(find(context, &t, 8, four, directions, &found) == HOT_OK, "most");
        CHECK(found == (most == 0 ? 3 : most < 4 ? most : 4), "at most %d: %d", most, found);
    }
    o.max_directions = 17;
    CHECK(find(context, &o, 8, four, directions, &found) == HOT_ERROR_ARGUMENT, "17 directions");
    o = directions_defaults();
    /* angles: of two maxima closer than this the lower is dropped */
    for (double angle = 60; angle <= 80; angle += 4) {
        double tensor[45] = {0}, v[3] = {cos(angle / degree), sin(angle / degree), 0};
        add_power(8, 1, x, tensor), add_power(8, .8, v, tensor);
        hot_directions_options t = o;
        t.min_angle = 1e-9;
        CHECK(find(context, &t, 8, tensor, directions, &found) == HOT_OK && found == 2, "both are maxima: %d", found);
        const double dot = (double)(directions[0] * directions[3] + directions[1] * directions[4] +
                                    directions[2] * directions[5]);
        const double first = sqrt(pow(directions[0], 2) + pow(directions[1], 2) + pow(directions[2], 2));
        const double second = sqrt(pow(directions[3], 2) + pow(directions[4], 2) + pow(directions[5], 2));
        const double apart = degree * acos(fabs(dot) / first / second);
        for (double limit = -.05; limit <= .05; limit += .1) {
            t.min_angle = apart + limit;
            CHECK(find(context, &t, 8, tensor, directions, &found) == HOT_OK, "angle");
            CHECK(found == (limit < 0 ? 2 : 1), "maxima %g apart with min_angle %g: %d", apart, t.min_angle, found);
        }
    }
    /* an isotropic form with a ripple: range / max against min_relative_range */
    for (double ripple = 2e-5; ripple < 1e-3; ripple *= 2) {
        double tensor[TERMS] = {0};
        hot_directions_options t = o;
        t.threshold = 1e-9;
        double to_tensor[TERMS * TERMS]; /* 1 everywhere is harmonic 0; then ripple x^6 */
        CHECK(hot_sh_to_symtensor(context, ORDER, to_tensor) == HOT_OK, "matrix");
        for (int i = 0; i < TERMS; i++)
            tensor[i] = to_tensor[i * TERMS] * sqrt(4 * 3.14159265358979323846);
        add_power(ORDER, ripple, x, tensor);
        CHECK(find(context, &t, ORDER, tensor, directions, &found) == HOT_OK, "ripple");
        if (ripple < .9e-4 || ripple > 1.1e-4)
            CHECK(found == (ripple > 1e-4), "a ripple of %g: %d", ripple, found);
        t.min_relative_range = ripple * 1.5;
        CHECK(find(context, &t, ORDER, tensor, directions, &found) == HOT_OK && found == 0, "range %g", ripple);
    }
    /* which of v and -v: z > 0; z = 0: y > 0; y = 0 too: x > 0 */
    static const double signs[][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {-.6, -.8, 0}, {.6, -.8, 0}, {.6, 0, -.8}};
    for (int i = 0; i < 6; i++) {
        double tensor[TERMS] = {0};
        add_power(ORDER, 2, signs[i], tensor);
        CHECK(find(context, NULL, ORDER, tensor, directions, &found) == HOT_OK && found == 1, "one");
        const float *v = directions;
        CHECK(upper(v), "sign %d: %g %g %g", i, (double)v[0], (double)v[1], (double)v[2]);
        CHECK_NEAR(fabs(v[0] * signs[i][0] + v[1] * signs[i][1] + v[2] * signs[i][2]), 2, 2e-6, "length %d", i);
    }
    /* masks, NaN, Inf: their own outputs alone */
    float tensors[4][TERMS], alone[9], out[4][9];
    uint8_t founds[4];
    double tensor[TERMS] = {0};
    add_power(ORDER, 1, d1, tensor), add_power(ORDER, .5, x, tensor);
    for (int n = 0; n < 4; n++)
        as_floats(TERMS, tensor, tensors[n]);
    tensors[1][3] = NAN, tensors[2][20] = -INFINITY;
    CHECK(hot_directions_f32(context, NULL, ORDER, 1, tensors[0], TERMS, NULL, alone, NULL) == HOT_OK, "found NULL");
    memset(out, 1, sizeof out);
    CHECK(hot_directions_f32(context, NULL, ORDER, 4, tensors[0], TERMS, (uint8_t[]){1, 1, 1, 0}, out[0], founds) ==
              HOT_OK, "four");
    CHECK(memcmp(out[0], alone, sizeof alone) == 0, "beside NaN other bits");
    for (int n = 1; n < 4; n++)
        for (int i = 0; i < 9; i++)
            CHECK(out[n][i] == 0 && founds[n] == (n == 3 ? 0 : 255), "tensor %d: %d", n, founds[n]);
    CHECK(hot_directions_f32(context, NULL, ORDER, 0, NULL, TERMS, NULL, NULL, NULL) == HOT_OK, "none at all");
    CHECK(hot_directions_f32(context, NULL, ORDER, 1, tensors[0], TERMS - 1, NULL, alone, NULL) == HOT_ERROR_ARGUMENT,
          "a stride that is too short");
    for (int order = 0; order <= 16; order++) {
        float zeros[200] = {0};
        hot_directions_options t = o;
        t.starts = 8;
        const int scan = order >= 2 && order <= 12 && order % 2 == 0, many = scan && order <= 8;
        CHECK((hot_directions_f32(context, NULL, order, 1, zeros, 200, NULL, directions, &found) == HOT_OK) == scan,
              "order %d by scan", order);
        CHECK((hot_directions_f32(context, &t, order, 1, zeros, 200, NULL, directions, &found) == HOT_OK) == many,
              "order %d by starts", order);
    }
}

static const float *random_tensors(uint64_t state)
{
    static float tensors[COUNT * TERMS];
    for (int t = 0; t < COUNT * TERMS; t++)
        tensors[t] = (float)check_random_normal(&state);
    return tensors;
}

static hot_status many_directions(hot_context *context, void *out)
{
    return hot_directions_f32(context, NULL, ORDER, COUNT, random_tensors(12), TERMS, NULL, out, NULL);
}

static hot_status many_terms(hot_context *context, void *out)
{
    return hot_lowrank_f32(context, NULL, ORDER, COUNT, random_tensors(13), TERMS, NULL, out, NULL, NULL);
}

static hot_status many_pairs(hot_context *context, void *out)
{
    static double tensors[4][15];
    uint64_t state = 14;
    for (int n = 0; n < 4; n++)
        for (int t = 0; t < 15; t++)
            tensors[n][t] = check_random_normal(&state);
    return hot_eigenpairs_f64(context, NULL, 4, 3, 4, tensors[0], 15, 0, NULL, 16, out, NULL);
}

static void test_sshopm(hot_context *context)
{
    enum { STARTS = 12 };
    double tensor[2][15], starts[STARTS][3], scaled[STARTS][3], lambda[2][STARTS], again[2][STARTS], x[2][STARTS][3];
    double residual[2][STARTS];
    int32_t steps[2][STARTS];
    uint64_t state = 9;
    for (int t = 0; t < 15; t++)
        tensor[0][t] = check_random_normal(&state), tensor[1][t] = 0;
    hot_starts_random(7, 3, STARTS, starts[0]);
    hot_sshopm_options o = {.size = sizeof o, .tolerance = HOT_ZERO, .max_iterations = 17};
    CHECK(hot_sshopm_f64(context, &o, 4, 3, 1, tensor[0], 15, STARTS, starts[0], lambda[0], x[0][0], residual[0],
                         steps[0]) == HOT_OK, "%s", hot_context_message(context));
    for (int s = 0; s < STARTS; s++)
        CHECK(abs(steps[0][s]) == 17, "exactly 17 steps, not %d", steps[0][s]);
    /* starts are normalised; a zero tensor gives lambda 0 and x = start */
    for (int s = 0; s < STARTS; s++)
        for (int d = 0; d < 3; d++)
            scaled[s][d] = starts[s][d] * (s % 2 ? 8 : .125);
    CHECK(hot_sshopm_f64(context, NULL, 4, 3, 2, tensor[0], 15, STARTS, starts[0], lambda[0], x[0][0], residual[0],
                         steps[0]) == HOT_OK, "defaults");
    CHECK(hot_sshopm_f64(context, NULL, 4, 3, 2, tensor[0], 15, STARTS, scaled[0], again[0], NULL, NULL, NULL) ==
              HOT_OK, "NULL outputs");
    double scale = 0, multiplicity[15];
    hot_symtensor_multiplicity(4, 3, multiplicity);
    for (int t = 0; t < 15; t++)
        scale = fmax(scale, fabs(tensor[0][t]) * multiplicity[t]);
    for (int s = 0; s < STARTS; s++) {
        double gradient[3], off = 0, dot = 0;
        const double value = hot_symtensor_gradient_f64(4, 3, tensor[0], x[0][s], gradient);
        for (int d = 0; d < 3; d++)
            off += pow(gradient[d] - lambda[0][s] * x[0][s][d], 2), dot += x[1][s][d] * starts[s][d];
        CHECK_NEAR(value, lambda[0][s], 1e-12 * scale, "lambda");
        CHECK_NEAR(residual[0][s], sqrt(off), 1e-13 * scale, "residual %g, not %g", residual[0][s], sqrt(off));
        CHECK(steps[0][s] < 0 || residual[0][s] <= 1.01e-13 * scale, "converged with %g", residual[0][s] / scale);
        CHECK_NEAR(again[0][s], lambda[0][s], 1e-9 * scale, "starts of another length");
        CHECK(lambda[1][s] == 0 && fabs(dot - 1) < 1e-12, "the zero tensor");
    }
    for (int s = 1; s < STARTS; s++) { /* unit vectors, the same for the same seed */
        double one[STARTS][3];
        hot_starts_random(7, 3, STARTS, one[0]);
        CHECK(memcmp(one, starts, sizeof starts) == 0, "the same seed");
        CHECK_NEAR(hypot(hypot(starts[s][0], starts[s][1]), starts[s][2]), 1, 1e-14, "unit");
    }
    static double even[500][3];
    hot_starts_even(500, even[0]);
    double nearest = 2;
    for (int s = 0; s < 500; s++) {
        const double *v = even[s];
        CHECK(v[2] >= 0 && fabs(hypot(hypot(v[0], v[1]), v[2]) - 1) < 1e-14, "start %d", s);
        for (int t = 0; t < s; t++)
            nearest = fmin(nearest, hypot(hypot(v[0] - even[t][0], v[1] - even[t][1]), v[2] - even[t][2]));
    }
    CHECK(nearest > .07, "evenly: two of 500 starts are %g apart", nearest);
    const struct {
        int order, dim;
        size_t bound;
    } bounds[] = {{2, 5, 5}, {3, 3, 7}, {4, 3, 13}, {6, 3, 31}, {4, 2, 4}, {3, 1, 1}};
    for (int i = 0; i < 6; i++)
        CHECK(hot_eigenpairs_bound(bounds[i].order, bounds[i].dim) == bounds[i].bound, "bound of %d, %d: %zu",
              bounds[i].order, bounds[i].dim, hot_eigenpairs_bound(bounds[i].order, bounds[i].dim));
    CHECK(hot_eigenpairs_bound(16, 1000) == SIZE_MAX, "overflow");
}

static void test_eigenpairs(hot_context *context)
{
    const hot_sshopm_options all_pairs = {.size = sizeof all_pairs, .seek = HOT_ALL_PAIRS};
    enum { MOST = 16 };
    double tensor[4][15], pairs[4][MOST][6], few[2][6];
    int32_t found[4], all;
    uint64_t state = 21;
    for (int n = 0; n < 4; n++)
        for (int t = 0; t < 15; t++)
            tensor[n][t] = check_random_normal(&state);
    tensor[2][4] = NAN;
    CHECK(hot_eigenpairs_f64(context, &all_pairs, 4, 3, 4, tensor[0], 15, 0, NULL, MOST, pairs[0][0], found) == HOT_OK,
          "%s", hot_context_message(context));
    for (int n = 0; n < 4; n++) {
        int kinds[3] = {0};
        CHECK(n == 2 ? found[n] == -1 : found[n] >= 3 && (size_t)found[n] <= hot_eigenpairs_bound(4, 3), "tensor %d: "
              "%d", n, found[n]);
        for (int p = 0; p < MOST; p++) {
            const double *row = pairs[n][p];
            if (p >= found[n]) {
                CHECK(isnan(row[0]) && isnan(row[5]), "an unused row is NaN");
                continue;
            }
            CHECK(p == 0 || row[0] <= pairs[n][p - 1][0], "by descending lambda");
            CHECK(row[4] <= 1e-10 * 30, "residual %g", row[4]);
            kinds[(int)row[5] + 1]++;
        }
        if (n != 2) /* on the projective plane maxima - saddles + minima = 1 */
            CHECK(kinds[2] - kinds[1] + kinds[0] == 1, "Euler: %d maxima, %d saddles, %d minima", kinds[2], kinds[1],
                  kinds[0]);
    }
    CHECK(hot_eigenpairs_f64(context, &all_pairs, 4, 3, 1, tensor[0], 15, 0, NULL, 2, few[0], &all) == HOT_OK &&
              all == found[0],
          "found is the number of all: %d", all);
    CHECK_NEAR(few[0][0], pairs[0][0][0], 1e-9, "the largest first");
    CHECK_NEAR(few[1][0], pairs[0][1][0], 1e-9, "the next");
    /* of order 2: a matrix's eigenvalues */
    const double matrix[6] = {2, 1, 0, 2, 0, 5};
    CHECK(hot_eigenpairs_f64(context, &all_pairs, 2, 3, 1, matrix, 6, 0, NULL, MOST, pairs[0][0], &all) == HOT_OK &&
              all == 3, "a matrix: %d", all);
    CHECK_NEAR(pairs[0][0][0], 5, 1e-12, "5");
    CHECK_NEAR(pairs[0][1][0], 3, 1e-12, "3");
    CHECK_NEAR(pairs[0][2][0], 1, 1e-12, "1");
}

/* sum_i w_i (q_i.x)^4 with orthonormal q_i: for every set S of them and every choice of signs there is one eigenpair,
 * x = sum_S +-q_i / sqrt(w_i / lambda), lambda = 1 / sum_S 1 / w_i. Single ones are maxima, all of them minima. */
static void test_decomposable(hot_context *context)
{
    enum { N = 4, PAIRS = 40, TERMS_4 = 35, WIDTH = N + 3 };
    uint64_t state = 19;
    for (int n = 2; n <= N; n++)
        for (int trial = 0; trial < 4; trial++) {
            double q[N][N], w[N], tensor[TERMS_4], pairs[PAIRS + 3][WIDTH];
            int exponents[TERMS_4 * N], expected = 0;
            int32_t found;
            for (int i = 0; i < n; i++) { /* Gram-Schmidt */
                w[i] = .5 + check_random(&state);
                double length = 0;
                for (int d = 0; d < n; d++)
                    q[i][d] = check_random_normal(&state);
                for (int j = 0; j < i; j++) {
                    double dot = 0;
                    for (int d = 0; d < n; d++)
                        dot += q[i][d] * q[j][d];
                    for (int d = 0; d < n; d++)
                        q[i][d] -= dot * q[j][d];
                }
                for (int d = 0; d < n; d++)
                    length += q[i][d] * q[i][d];
                for (int d = 0; d < n; d++)
                    q[i][d] /= sqrt(length);
            }
            const size_t terms = hot_symtensor_count(4, n);
            hot_symtensor_exponents(4, n, exponents);
            for (size_t t = 0; t < terms; t++) {
                tensor[t] = 0;
                for (int i = 0; i < n; i++) {
                    double product = w[i];
                    for (int d = 0; d < n; d++)
                        product *= pow(q[i][d], exponents[t * (size_t)n + (size_t)d]);
                    tensor[t] += product;
                }
            }
            const hot_sshopm_options o = {.size = sizeof o, .seek = HOT_ALL_PAIRS};
            CHECK(hot_eigenpairs_f64(context, &o, 4, n, 1, tensor, terms, 0, NULL, PAIRS + 3, pairs[0], &found) ==
                      HOT_OK, "%s", hot_context_message(context));
            for (int set = 1; set < 1 << n; set++) {
                double inverse = 0;
                int members = 0, there = 0;
                for (int i = 0; i < n; i++)
                    if (set >> i & 1)
                        inverse += 1 / w[i], members++;
                for (int p = 0; p < found && p < PAIRS + 3; p++) {
                    const double *row = pairs[0] + p * (n + 3);
                    int same = fabs(row[0] - 1 / inverse) < 1e-10;
                    for (int i = 0; i < n && same; i++) {
                        double dot = 0;
                        for (int d = 0; d < n; d++)
                            dot += q[i][d] * row[1 + d];
                        same = fabs(dot * dot - (set >> i & 1 ? 1 / inverse / w[i] : 0)) < 1e-9;
                    }
                    there += same;
                    const int kind = members == 1 ? 1 : members == n ? -1 : 0;
                    CHECK(!same || row[n + 2] == kind, "dim %d: a set of %d is %g", n, members, row[n + 2]);
                }
                expected += 1 << (members - 1);
                CHECK(there == 1 << (members - 1), "dim %d: %d pairs of a set of %d", n, there, members);
            }
            CHECK(found == expected && (size_t)found == hot_eigenpairs_bound(4, n), "dim %d: %d pairs, not %d", n,
                  found, expected);
        }
}

static void test_lowrank(hot_context *context)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, -1};
    for (int order = 4; order <= 8; order += 2) {
        const size_t terms = hot_symtensor_count(order, 3);
        double tensor[45] = {0};
        float packed[45], directions[9], residual;
        uint8_t found;
        add_power(order, 1, x, tensor), add_power(order, .6, y, tensor), add_power(order, .5, z, tensor);
        as_floats(terms, tensor, packed);
        CHECK(hot_lowrank_f32(context, NULL, order, 1, packed, terms, NULL, directions, &found, &residual) == HOT_OK,
              "%s", hot_context_message(context));
        CHECK(found == 3 && residual < 1e-4f, "order %d: %d terms, residual %g", order, found, (double)residual);
        CHECK_NEAR(fabsf(directions[0]), 1, 1e-4, "the heaviest first: %g", (double)directions[0]);
        CHECK_NEAR(fabsf(directions[4]), .6, 1e-4, "the next: %g", (double)directions[4]);
        CHECK_NEAR(directions[8], .5, 1e-4, "z > 0: %g", (double)directions[8]);
        CHECK(upper(directions) && upper(directions + 3), "order %d: signs", order);
        for (int most = 1; most <= 3; most++) {
            const hot_lowrank_options o = {.size = sizeof o, .max_rank = most, .exact_rank = 1, .min_weight = .2,
                                           .min_angle = 25};
            float few[9];
            memset(few, 1, sizeof few);
            CHECK(hot_lowrank_f32(context, &o, order, 1, packed, terms, NULL, few, &found, &residual) == HOT_OK, "k");
            const double norm = sqrt(1 + .36 + .25), rest = sqrt(most < 2 ? .36 + .25 : most < 3 ? .25 : 0) / norm;
            CHECK(found == most, "exactly %d: %d", most, found);
            CHECK_NEAR(residual, rest, 2e-4, "rank %d: residual %g, not %g", most, (double)residual, rest);
        }
        /* a term below min_weight of the largest is dropped */
        for (double w = .1; w < .35; w += .08) {
            hot_lowrank_options o = {.size = sizeof o, .exact_rank = 0, .drop = 1, .min_weight = .2, .min_angle = 25,
                                     .max_rank = 2};
            memset(tensor, 0, sizeof tensor);
            add_power(order, 1, x, tensor), add_power(order, w, y, tensor);
            as_floats(terms, tensor, packed);
            CHECK(hot_lowrank_f32(context, &o, order, 1, packed, terms, NULL, directions, &found, NULL) == HOT_OK, "w");
            CHECK(found == (w < .2 ? 1 : 2), "order %d: a term of %g: %d", order, w, found);
        }
        /* terms closer than min_angle are rejected */
        for (double angle = 40; angle <= 60; angle += 20) {
            double v[3] = {cos(angle / degree), sin(angle / degree), 0};
            hot_lowrank_options o = {.size = sizeof o, .max_rank = 2, .min_weight = .2, .min_angle = 50};
            memset(tensor, 0, sizeof tensor);
            add_power(order, 1, x, tensor), add_power(order, .9, v, tensor);
            as_floats(terms, tensor, packed);
            CHECK(hot_lowrank_f32(context, &o, order, 1, packed, terms, NULL, directions, &found, NULL) == HOT_OK, "a");
            CHECK(found == (angle < 50 ? 1 : 2), "order %d: %g degrees apart: %d", order, angle, found);
        }
        packed[2] = NAN;
        CHECK(hot_lowrank_f32(context, NULL, order, 1, packed, terms, NULL, directions, &found, NULL) == HOT_OK &&
                  found == 255 && directions[0] == 0 && directions[8] == 0, "NaN: %d", found);
        CHECK(hot_lowrank_f32(context, NULL, order, 1, packed, terms, (uint8_t[]){0}, directions, &found, NULL) ==
                  HOT_OK && found == 0, "masked: %d", found);
        CHECK(hot_lowrank_f32(context, NULL, order, 1, packed, terms - 1, NULL, directions, &found, NULL) ==
                  HOT_ERROR_ARGUMENT, "stride");
    }
    for (int order = 2; order <= 12; order++) {
        float packed[100] = {1}, directions[9];
        CHECK((hot_lowrank_f32(context, NULL, order, 1, packed, 100, NULL, directions, NULL, NULL) == HOT_OK) ==
                  (order == 4 || order == 6 || order == 8), "order %d", order);
    }
}

int main(void)
{
    hot_context *context = context_of(2);
    test_symtensor(context);
    test_directions(context);
    test_sshopm(context);
    test_eigenpairs(context);
    test_decomposable(context);
    test_lowrank(context);
    check_threads("directions", many_directions, COUNT * 9 * sizeof(float));
    check_threads("rank-1 terms", many_terms, COUNT * 9 * sizeof(float));
    check_threads("eigenpairs", many_pairs, 4 * 16 * 6 * sizeof(double));
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

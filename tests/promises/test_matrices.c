/* The promises of tridiag.h, heev.h, fit.h, msmt.h, contract.h, fem.h and cpd.h: tolerances just kept, the elements
 * that are read, sizes of 0 and beyond the bounds, invalid matrices among others. */
#include <float.h>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/fem.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/msmt.h>
#include <hotfiber/tridiag.h>

#include "common/context_internal.h"
#include "threads.h"

static const double pi = 3.14159265358979323846;

/* ---- tridiag ---------------------------------------------------------------------------------------------------- */

/* Eigenvalues of the matrix with diagonal a and off-diagonal b, ascending. */
static double toeplitz(int n, double a, double b, int number)
{
    return a - 2 * fabs(b) * cos((number + 1) * pi / (n + 1));
}

static void test_tridiag(hot_context *context)
{
    enum { N = 30, STRIDE = N + 5 };
    double a[3][STRIDE], b[3][STRIDE], values[3][N], alone[N];
    int64_t found[3];
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < STRIDE; i++)
            a[m][i] = i < N ? 3 : NAN, b[m][i] = i + 1 < N ? -1.5 : NAN; /* the rest is not read */
    a[1][7] = INFINITY;
    for (int first = 0; first < N; first += 7)
        for (int last = first; last < N; last += 5) {
            const hot_tridiag_options o = {.size = sizeof o, .range = HOT_TRIDIAG_INDEX, .first = (size_t)first,
                                           .last = (size_t)last};
            const size_t width = (size_t)(last - first + 1);
            memset(values, 0, sizeof values);
            CHECK(hot_tridiag_f64(context, &o, N, 3, a[0], b[0], STRIDE, values[0], width, found) == HOT_OK, "index");
            CHECK(found[0] == (int64_t)width && found[1] == -1 && found[2] == found[0], "found %ld", (long)found[0]);
            for (size_t i = 0; i < width; i++) {
                CHECK_NEAR(values[0][i], toeplitz(N, 3, -1.5, first + (int)i), 6 * 4 * DBL_EPSILON, "number %zu", i);
                CHECK(isnan((&values[0][0])[width + i]), "values of a matrix with Inf");
            }
            if (width > 1)
                CHECK(hot_tridiag_f64(context, &o, N, 1, a[0], b[0], STRIDE, alone, width - 1, NULL) ==
                          HOT_ERROR_ARGUMENT, "too narrow");
        }
    CHECK(hot_tridiag_f64(context, NULL, N, 3, a[0], b[0], STRIDE, values[0], N, NULL) == HOT_OK, "all");
    CHECK(hot_tridiag_f64(context, NULL, N, 1, a[0], b[0], STRIDE, alone, N, NULL) == HOT_OK, "alone");
    CHECK(memcmp(alone, values[0], sizeof alone) == 0 && memcmp(alone, values[2], sizeof alone) == 0,
          "next to a matrix with Inf other bits");
    CHECK(hot_tridiag_f64(context, NULL, N, 1, a[0], b[0], N - 1, alone, N, NULL) == HOT_ERROR_ARGUMENT, "stride");
    CHECK(hot_tridiag_f64(context, NULL, 0, 3, a[0], b[0], 0, values[0], 0, found) == HOT_OK && found[2] == 0, "n = 0");
    CHECK(hot_tridiag_f64(context, NULL, N, 0, NULL, NULL, N, NULL, N, NULL) == HOT_OK, "none");
    for (double absolute = 1e-9; absolute < 1e-1; absolute *= 10) { /* within it; the bound is used */
        const hot_tridiag_options o = {.size = sizeof o, .range = HOT_TRIDIAG_INDEX, .last = N - 1,
                                       .absolute = absolute};
        CHECK(hot_tridiag_f64(context, &o, N, 1, a[0], b[0], STRIDE, values[0], N, NULL) == HOT_OK, "absolute");
        for (int i = 0; i < N; i++)
            CHECK_NEAR(values[0][i], toeplitz(N, 3, -1.5, i), absolute, "tolerance %g, number %d", absolute, i);
    }
    const hot_tridiag_options everywhere = {.size = sizeof everywhere, .range = HOT_TRIDIAG_VALUE, .low = -INFINITY,
                                            .high = INFINITY};
    CHECK(hot_tridiag_f64(context, &everywhere, N, 1, a[0], b[0], STRIDE, values[0], N, found) == HOT_OK &&
              found[0] == N, "from -Inf to Inf: %ld", (long)found[0]);
    const hot_tridiag_options part = {.size = sizeof part, .range = HOT_TRIDIAG_VALUE, .low = 2.9, .high = 5};
    CHECK(hot_tridiag_f64(context, &part, N, 1, a[0], b[0], STRIDE, values[0], N, found) == HOT_OK, "part");
    int inside = 0;
    for (int i = 0; i < N; i++) {
        const double right = toeplitz(N, 3, -1.5, i);
        if (right >= 2.9 && right < 5) {
            CHECK_NEAR(values[0][inside], right, 24 * DBL_EPSILON, "value %d", i);
            inside++;
        }
    }
    CHECK(found[0] == inside && isnan(values[0][inside]), "%ld in the interval, not %d", (long)found[0], inside);
}

/* Vectors: the values and counts of hot_tridiag_*, orthonormal, whatever the tolerance; bits with 1 thread and 3. */
static void test_tridiag_vectors(hot_context *context)
{
    enum { N = 90, STRIDE = N + 2, MOST = 20 };
    static double a[3][STRIDE], b[3][STRIDE], values[3][N], alone[3][N], vectors[3][N][N], again[3][N][N];
    int64_t found[3], counts[3];
    uint64_t state = 8;
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < STRIDE; i++)
            for (int k = 0; k < 2; k++)
                (k ? b : a)[m][i] = i + k < N ? check_random_normal(&state) : NAN;
    b[1][3] = NAN;
    const hot_tridiag_options ranges[] = {
        {.size = sizeof ranges[0]},
        {.size = sizeof ranges[0], .range = HOT_TRIDIAG_INDEX, .first = 5, .last = 4 + MOST},
        {.size = sizeof ranges[0], .range = HOT_TRIDIAG_VALUE, .low = -.3, .high = .1, .absolute = 1e-3},
        {.size = sizeof ranges[0], .range = HOT_TRIDIAG_VALUE, .low = -INFINITY, .high = INFINITY, .relative = 1e-3}};
    for (int o = 0; o < 4; o++) {
        const hot_tridiag_options *options = &ranges[o];
        const size_t width = o == 1 ? MOST : N;
        CHECK(hot_tridiag_f64(context, options, N, 3, a[0], b[0], STRIDE, alone[0], width, counts) == HOT_OK, "values");
        for (int threads = 1; threads <= 3; threads += 2) {
            hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = threads};
            hot_context *own = NULL;
            CHECK(hot_context_create(&how, &own) == HOT_OK &&
                      hot_tridiag_vectors_f64(own, options, N, 3, a[0], b[0], STRIDE, values[0],
                                              threads == 1 ? vectors[0][0] : again[0][0], width, found) == HOT_OK,
                  "vectors");
            hot_context_destroy(&own);
        }
        const double *v = vectors[0][0], *all = values[0];
        CHECK(memcmp(vectors, again, 3 * width * N * sizeof(double)) == 0, "the number of threads shows");
        CHECK(memcmp(found, counts, sizeof found) == 0 && memcmp(values, alone, 3 * width * sizeof(double)) == 0,
              "values and counts differ from those of hot_tridiag_f64");
        CHECK(found[1] == -1 && isnan(v[width * N]) && isnan(all[width]), "NaN");
        for (size_t k = 0; k < width; k++) {
            double length = 0, along = 0, off = 0;
            for (size_t i = 0; i < N; i++) {
                const double *x = v + k * N;
                double left = a[0][i] * x[i] + (i ? b[0][i - 1] * x[i - 1] : 0) + (i + 1 < N ? b[0][i] * x[i + 1] : 0);
                left -= all[k] * x[i];
                length += x[i] * x[i], off += left * left;
                along += k ? x[i] * v[(k - 1) * N + i] : 0;
            }
            if ((int64_t)k >= found[0])
                CHECK(isnan(length), "vector %zu beyond those found", k);
            else if (o < 2)
                CHECK(sqrt(off) < 100 * N * DBL_EPSILON, "T v = lambda v: %g", sqrt(off));
            if ((int64_t)k < found[0])
                CHECK(fabs(length - 1) + fabs(along) < 16 * N * DBL_EPSILON, "orthonormal: %g %g", length - 1, along);
        }
        hot_tridiag_options exact = *options;
        exact.absolute = exact.relative = 0;
        CHECK(hot_tridiag_vectors_f64(context, &exact, N, 3, a[0], b[0], STRIDE, values[0], again[0][0], width,
                                      found) == HOT_OK && memcmp(vectors, again, 3 * width * N * sizeof(double)) == 0,
              "the vectors depend on the tolerance");
    }
    CHECK(hot_tridiag_vectors_f64(context, NULL, N, 1, a[0], b[0], STRIDE, values[0], NULL, N, NULL) ==
              HOT_ERROR_ARGUMENT, "no memory for vectors");
    CHECK(hot_tridiag_vectors_f64(context, NULL, N, 1, a[0], b[0], STRIDE, values[0], vectors[0][0], N - 1, NULL) ==
              HOT_ERROR_ARGUMENT, "too narrow");
    CHECK(hot_tridiag_vectors_f64(context, NULL, 0, 3, NULL, NULL, 0, NULL, NULL, 0, found) == HOT_OK && found[2] == 0,
          "n = 0");
    float one[1] = {3}, value[1], vector[1];
    CHECK(hot_tridiag_vectors_f32(context, NULL, 1, 1, one, NULL, 1, value, vector, 1, NULL) == HOT_OK &&
              value[0] == 3 && fabsf(vector[0]) == 1, "n = 1");
}

/* ---- heev, fit -------------------------------------------------------------------------------------------------- */

static void test_heev(hot_context *context)
{
    enum { N = 7 };
    double a[2][N][N][2], values[2][N], vectors[2][N][N][2], top[N];
    uint8_t flags[2];
    uint64_t state = 4;
    for (int m = 0; m < 2; m++)
        for (int c = 0; c < N; c++)
            for (int r = 0; r < N; r++)
                for (int p = 0; p < 2; p++)
                    a[m][c][r][p] = r < c ? NAN : r == c && p ? 1e9 : check_random_normal(&state);
    CHECK(hot_heev_f64(context, NULL, N, 2, a[0][0][0], values[0], vectors[0][0][0], flags) == HOT_OK, "heev");
    CHECK(!flags[0] && !flags[1], "the upper triangle and Im of the diagonal are read");
    for (int k = 0; k < N; k++) { /* A v = lambda v with the lower triangle alone */
        CHECK(k == 0 || values[0][k] >= values[0][k - 1], "ascending");
        for (int r = 0; r < N; r++) {
            double re = 0, im = 0;
            for (int c = 0; c < N; c++) {
                const double *e = r >= c ? a[0][c][r] : a[0][r][c], *v = vectors[0][k][c];
                const double y = r == c ? 0 : r > c ? e[1] : -e[1];
                re += e[0] * v[0] - y * v[1], im += e[0] * v[1] + y * v[0];
            }
            CHECK_NEAR(re, values[0][k] * vectors[0][k][r][0], 1e-13 * 20, "pair %d", k);
            CHECK_NEAR(im, values[0][k] * vectors[0][k][r][1], 1e-13 * 20, "pair %d", k);
        }
    }
    for (size_t largest = 1; largest <= N; largest++) {
        const hot_heev_options o = {.size = sizeof o, .largest = largest};
        CHECK(hot_heev_f64(context, &o, N, 1, a[0][0][0], top, NULL, NULL) == HOT_OK, "largest");
        for (size_t k = 0; k < largest; k++)
            CHECK_NEAR(top[k], values[0][N - largest + k], 1e-13 * 20, "the %zu largest", largest);
    }
    const hot_heev_options more = {.size = sizeof more, .largest = N + 1};
    CHECK(hot_heev_f64(context, &more, N, 1, a[0][0][0], top, NULL, NULL) == HOT_ERROR_ARGUMENT, "more than n");
    a[1][2][3][1] = NAN;
    double both[2][N];
    CHECK(hot_heev_f64(context, NULL, N, 2, a[0][0][0], both[0], NULL, flags) == HOT_OK && flags[1] == 1 && !flags[0],
          "a matrix with NaN is flagged");
    for (int k = 0; k < N; k++)
        CHECK(isnan(both[1][k]) && fabs(both[0][k] - values[0][k]) < 1e-12, "beside NaN");
    /* The upper triangle alone: column i of the lower one is row i of it, conjugated. */
    double turned[N][N][2];
    for (int c = 0; c < N; c++)
        for (int r = 0; r < N; r++)
            for (int p = 0; p < 2; p++)
                turned[c][r][p] = r > c ? NAN : p && r != c ? -a[0][r][c][p] : a[0][r][c][p];
    const hot_heev_options upper = {.size = sizeof upper, .uplo = HOT_HEEV_UPPER};
    CHECK(hot_heev_f64(context, &upper, N, 1, turned[0][0], both[0], vectors[1][0][0], flags) == HOT_OK && !flags[0],
          "the lower triangle is read");
    CHECK(memcmp(both[0], values[0], sizeof both[0]) == 0 && memcmp(vectors[1], vectors[0], sizeof vectors[0]) == 0,
          "another result of the upper triangle");
    CHECK(hot_syev_f64(context, NULL, 0, 5, NULL, NULL, NULL, NULL) == HOT_OK, "n = 0");
    hot_context_note_memory(context, HOT_MEMORY_DEVICE, NULL); /* flags there could not be set */
    CHECK(hot_syev_f64(context, NULL, 0, 5, NULL, NULL, NULL, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "size 0 in device memory"), "n = 0: %s",
          hot_context_message(context));
    CHECK(hot_syev_f64(context, NULL, 0, 0, NULL, NULL, NULL, NULL) == HOT_OK, "none of them");
    hot_context_note_memory(context, HOT_MEMORY_HOST, NULL);
    CHECK(hot_syev_f64(context, NULL, HOT_HEEV_MAX + 1, 0, NULL, NULL, NULL, NULL) == HOT_ERROR_ARGUMENT, "beyond");
    CHECK(hot_syev_f64(context, NULL, HOT_HEEV_MAX, 0, NULL, NULL, NULL, NULL) == HOT_OK, "the largest");
}

static void test_fit(hot_context *context)
{
    enum { ROWS = 9, COLUMNS = 3 };
    double design[ROWS][COLUMNS], inverse[COLUMNS][ROWS], condition;
    uint64_t state = 2;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            design[r][c] = check_random_normal(&state) * (c == 2 ? 1e-3 : 1);
    for (int with = 0; with < 2; with++) {
        const double penalty[COLUMNS] = {.5, 0, 2};
        CHECK(hot_fit_pseudo_inverse(context, ROWS, COLUMNS, design[0], with ? penalty : NULL, inverse[0],
                                     &condition) == HOT_OK, "%s", hot_context_message(context));
        for (int i = 0; i < COLUMNS; i++) /* (D^T D + P) X = D^T */
            for (int r = 0; r < ROWS; r++) {
                double sum = with ? penalty[i] * inverse[i][r] : 0;
                for (int c = 0; c < COLUMNS; c++)
                    for (int q = 0; q < ROWS; q++)
                        sum += design[q][i] * design[q][c] * inverse[c][r];
                CHECK_NEAR(sum, design[r][i], 1e-12, "penalty %d: %g, not %g", with, sum, design[r][i]);
            }
        if (!with)
            CHECK(condition > 300 && condition < 5000, "columns of 1 and 1e-3: condition %g", condition);
    }
    for (int r = 0; r < ROWS; r++)
        design[r][2] = design[r][0] - 2 * design[r][1];
    CHECK(hot_fit_pseudo_inverse(context, ROWS, COLUMNS, design[0], NULL, inverse[0], NULL) == HOT_ERROR_DATA, "2");
    CHECK(hot_fit_pseudo_inverse(context, ROWS, COLUMNS, design[0], (double[]){1, 1, 1}, inverse[0], NULL) == HOT_OK,
          "rank 2 with a penalty");
    /* sums are double: 1e8 + 1 - 1e8 */
    const double ones[2][3] = {{1, 1, 1}, {0, 3, 0}};
    const float input[5] = {1e8f, 1, -1e8f, NAN, NAN};
    float output[4] = {7, 7, 7, 7};
    CHECK(hot_fit_linear_f32(context, 2, 3, ones[0], 1, input, 5, output, 4) == HOT_OK, "linear");
    CHECK(output[0] == 1 && output[1] == 3 && output[2] == 7 && output[3] == 7, "%g %g %g", (double)output[0],
          (double)output[1], (double)output[2]);
    /* weighted: a row of weight 0 counts for nothing; two unknowns from one row cannot be solved */
    const double line[4][2] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    const float data[3][4] = {{5, 7, 9, 100}, {5, 7, 9, 100}, {1, 3, 2, 4}}, weight[3][4] = {{1, 2, 3, 0}, {0, 0, 1, 0},
                                                                                       {1, 1, 1, 1}};
    float c[3][3];
    uint8_t flags[3];
    CHECK(hot_fit_weighted_f32(context, 4, 2, line[0], 3, data[0], weight[0], c[0], 3, flags) == HOT_OK, "weighted");
    CHECK_NEAR(c[0][0], 5, 1e-5, "intercept %g", (double)c[0][0]);
    CHECK_NEAR(c[0][1], 2, 1e-5, "slope %g", (double)c[0][1]);
    CHECK(flags[0] == 0 && flags[1] == 1 && flags[2] == 0 && c[1][0] == 0 && c[1][1] == 0, "unsolvable: %d", flags[1]);
    CHECK_NEAR(c[2][0], 1.3, 1e-5, "intercept %g", (double)c[2][0]);
    CHECK_NEAR(c[2][1], .8, 1e-5, "slope %g", (double)c[2][1]);
}

/* ---- contract, fem, cpd ----------------------------------------------------------------------------------------- */

static void test_contract(hot_context *context)
{
    /* beta = 0: C may hold NaN; alpha = 0: A and B are not read; k = 0: beta C; a stride of 0 repeats B */
    const double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, -1, 3, 1};
    double c[8];
    const size_t wide[3] = {3, 1, 0}, tall[3] = {2, 1, 0}, out[3] = {2, 1, 4};
    for (int i = 0; i < 8; i++)
        c[i] = NAN;
    CHECK(hot_contract_matrices_f64(context, NULL, 2, 2, 3, 2, 2, a, wide, b, tall, 0, c, out) == HOT_OK, "product");
    const double right[4] = {2 * (1 + 4 + 9), 2 * (0 - 2 + 3), 2 * (4 + 10 + 18), 2 * (0 - 5 + 6)};
    for (int i = 0; i < 8; i++)
        CHECK(c[i] == right[i % 4], "element %d: %g", i, c[i]);
    CHECK(hot_contract_matrices_f64(context, NULL, 2, 2, 3, 2, 0, NULL, wide, NULL, tall, .5, c, out) == HOT_OK, "A");
    for (int i = 0; i < 8; i++)
        CHECK(c[i] == .5 * right[i % 4], "alpha 0, element %d: %g", i, c[i]);
    CHECK(hot_contract_matrices_f64(context, NULL, 2, 2, 0, 2, 3, a, wide, b, tall, 2, c, out) == HOT_OK, "k = 0");
    for (int i = 0; i < 8; i++)
        CHECK(c[i] == right[i % 4], "k 0, element %d: %g", i, c[i]);
    const size_t overlapping[3] = {0, 1, 4};
    CHECK(hot_contract_matrices_f64(context, NULL, 2, 2, 3, 2, 1, a, wide, b, tall, 0, c, overlapping) ==
              HOT_ERROR_ARGUMENT, "C overlaps itself");
    /* transposed by strides: the first two exchanged */
    const size_t turned[3] = {1, 2, 0};
    double square[9];
    CHECK(hot_contract_matrices_f64(context, NULL, 3, 3, 2, 1, 1, a, (size_t[]){1, 3, 0}, b, turned, 0, square,
                                    (size_t[]){3, 1, 9}) == HOT_OK, "turned");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            CHECK(square[3 * i + j] == a[i] * b[2 * j] + a[3 + i] * b[2 * j + 1], "turned %d %d", i, j);
    /* a letter in all three multiplies elementwise; the axes' limit */
    const size_t two[2] = {2, 3};
    hot_contract_layout x = hot_contract_dense(2, two), y;
    CHECK(hot_contract_shape(context, "ij,ij->i", &x, &x, &y) == HOT_OK && y.axes == 1 && y.size[0] == 2, "shape");
    double dots[2];
    CHECK(hot_contract_f64(context, NULL, "ij,ij->i", 1, 1, a, &x, b, &x, 0, dots, &y) == HOT_OK, "elementwise");
    CHECK(dots[0] == 1 * 1 + 3 * 2 + 5 * 3 && dots[1] == 2 * 0 + 4 * -1 + 6 * 1, "%g %g", dots[0], dots[1]);
    static const struct { const char *spec, *text; } bad[] = {
        {"ij,ij->k", "operand C has 1 axes there, and 2 in its layout"},
        {"ijk,ij->ij", "operand A has 3 axes there, and 2 in its layout"},
        {"ij,j->ij", "operand B has 1 axes there, and 2 in its layout"},
        {"ii,ij->j", "'i' stands twice in one operand"}, {"ij,jk->ik,", "',' is not understood"},
        {"", "two inputs and a result are needed"}, {"ij->ij", "'->ij' is not understood"},
        {"ij,jk>ik", "'>ik' is not understood"}, {"ij,kl->ijkz", "operand C has 4 axes there, and 2 in its layout"},
        {"ij,abcdefghi->ij", "an operand has more than 8 axes"},
        {"ij,abcdefgh->ij", "operand B has 8 axes there, and 2 in its layout"},
        {"ij,jk->ik", "'j' has size 3 in A and 2 in B"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[120];
        snprintf(text, sizeof text, "spec '%s': %s", bad[i].spec, bad[i].text);
        CHECK(hot_contract_f64(context, NULL, bad[i].spec, 1, 1, a, &x, b, &x, 0, c, &x) == HOT_ERROR_ARGUMENT &&
                  strncmp(hot_context_message(context), text, strlen(text)) == 0, "'%s', not '%s'",
              hot_context_message(context), text);
    }
    hot_contract_tuning *tuning = NULL;
    CHECK(hot_contract_tuning_create(context, NULL, &tuning) == HOT_OK && tuning, "an empty table");
    hot_contract_tuning_destroy(&tuning);
    CHECK(!tuning, "set to NULL");
    hot_contract_tuning_destroy(&tuning);
    tuning = (hot_contract_tuning *)&tuning;
    CHECK(hot_contract_tuning_create(context, "no table", &tuning) == HOT_ERROR_FORMAT && !tuning, "no table");
}

/* Items of more than one block of rows, columns and sums, several of them, in every order of axes, against sums. */
static void test_large_products(hot_context *context)
{
    static const size_t shapes[][4] = {{1, 1, 700, 3}, {150, 170, 20, 3}, {70, 9, 300, 4}, {5, 530, 7, 2},
                                       {300, 3, 3, 2}, {97, 101, 260, 1}};
    enum { MOST = 120000 };
    static double x[MOST], y[MOST], z[MOST], was[MOST];
    static float xf[MOST], yf[MOST], zf[MOST];
    uint64_t state = 15;
    for (size_t i = 0; i < MOST; i++) {
        xf[i] = (float)check_random_normal(&state), yf[i] = (float)check_random_normal(&state);
        x[i] = (double)xf[i], y[i] = (double)yf[i], was[i] = check_random_normal(&state);
    }
    for (size_t which = 0; which < sizeof shapes / sizeof *shapes; which++)
        for (int turn = 0; turn < 8; turn++) {
            const size_t m = shapes[which][0], n = shapes[which][1], k = shapes[which][2], batch = shapes[which][3];
            const size_t a[3] = {turn & 1 ? 1 : k, turn & 1 ? m : 1, m * k};
            const size_t b[3] = {turn & 2 ? 1 : n, turn & 2 ? k : 1, k * n};
            const size_t c[3] = {turn & 4 ? 1 : n, turn & 4 ? m : 1, m * n};
            for (size_t i = 0; i < m * n * batch; i++)
                z[i] = was[i], zf[i] = (float)was[i];
            CHECK(hot_contract_matrices_f64(context, NULL, m, n, k, batch, 1.5, x, a, y, b, -.5, z, c) == HOT_OK &&
                      hot_contract_matrices_f32(context, NULL, m, n, k, batch, 1.5f, xf, a, yf, b, -.5f, zf, c) ==
                          HOT_OK, "%s", hot_context_message(context));
            double worst = 0, worst_f = 0;
            for (size_t item = 0; item < batch; item++)
                for (size_t i = 0; i < m; i += 1 + m / 40)
                    for (size_t j = 0; j < n; j += 1 + n / 40) {
                        const size_t at = i * c[0] + j * c[1] + item * c[2];
                        double sum = 0;
                        for (size_t s = 0; s < k; s++)
                            sum += x[i * a[0] + s * a[1] + item * a[2]] * y[s * b[0] + j * b[1] + item * b[2]];
                        sum = 1.5 * sum - .5 * was[at];
                        worst = fmax(worst, fabs(z[at] - sum));
                        worst_f = fmax(worst_f, fabs((double)zf[at] - sum));
                    }
            CHECK(worst < 1e-12 * sqrt((double)k) * 10, "%zu x %zu x %zu, order %d: %g", m, n, k, turn, worst);
            CHECK(worst_f < 1e-5 * sqrt((double)k), "%zu x %zu x %zu, order %d, float: %g", m, n, k, turn, worst_f);
        }
}

static void test_fem(hot_context *context)
{
    static double basis[HOT_FEM_POINTS * HOT_FEM_POINTS], weights[HOT_FEM_POINTS];
    for (size_t dofs = 2; dofs <= HOT_FEM_POINTS; dofs++)
        for (size_t points = 1; points <= HOT_FEM_POINTS; points += 5) {
            double all = 0;
            CHECK(hot_fem_basis(context, dofs, points, basis, weights) == HOT_OK, "%zu dofs, %zu points", dofs, points);
            for (size_t k = 0; k < points; k++) {
                double one = 0;
                for (size_t i = 0; i < dofs; i++)
                    one += basis[k + points * i];
                CHECK_NEAR(one, 1, 1e-12, "a partition of unity: %g", one);
                all += weights[k];
            }
            CHECK_NEAR(all, 1, 1e-13, "weights: %g", all);
            /* Gauss-Legendre: exact for x^(2 points - 1) over [0, 1]; x is the basis' own combination with dofs 2 */
            double linear[2 * HOT_FEM_POINTS], power = 0;
            CHECK(hot_fem_basis(context, 2, points, linear, NULL) == HOT_OK, "weights NULL");
            for (size_t k = 0; k < points; k++)
                power += weights[k] * pow(linear[k + points], 2. * (double)points - 1);
            CHECK_NEAR(power, 1 / (2. * (double)points), 1e-13, "x^%zu: %g", 2 * points - 1, power);
        }
    CHECK(hot_fem_basis(context, 1, 3, basis, NULL) == HOT_ERROR_ARGUMENT, "1 function");
    CHECK(hot_fem_basis(context, HOT_FEM_POINTS + 1, 3, basis, NULL) == HOT_ERROR_ARGUMENT, "too many functions");
    CHECK(hot_fem_basis(context, 3, HOT_FEM_POINTS + 1, basis, NULL) == HOT_ERROR_ARGUMENT, "too many points");
    CHECK(hot_fem_basis(context, 3, 0, basis, NULL) == HOT_ERROR_ARGUMENT, "no point");
    double u[16], v[16] = {1};
    for (int dim = 1; dim <= 4; dim++)
        CHECK((hot_fem_mass_action_f64(context, dim, 2, 2, basis, 0, weights, v, u) == HOT_OK) ==
                  (dim == 2 || dim == 3), "dim %d", dim);
}

static void test_cpd(hot_context *context)
{
    enum { I = 4, J = 5, K = 6, R = 2 };
    double x[I * J * K], truth[3][R][K], lambda[R], a[I * R], b[J * R], c[K * R];
    uint64_t state = 31;
    for (int f = 0; f < 3; f++)
        for (int r = 0; r < R; r++)
            for (int n = 0; n < K; n++)
                truth[f][r][n] = check_random_normal(&state);
    for (int i = 0; i < I * J * K; i++) {
        const int p = i % I, q = i / I % J, s = i / I / J;
        x[i] = 0;
        for (int r = 0; r < R; r++)
            x[i] += truth[0][r][p] * truth[1][r][q] * truth[2][r][s];
    }
    hot_cpd_options o = {.size = sizeof o, .rank = R};
    CHECK(hot_cpd_f64(context, NULL, I, J, K, x, lambda, a, b, c, NULL) == HOT_ERROR_ARGUMENT, "options are not NULL");
    CHECK(hot_cpd_f64(context, &o, I, J, K, x, lambda, a, b, c, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK(lambda[0] >= lambda[1] && lambda[1] >= 0, "descending: %g %g", lambda[0], lambda[1]);
    double *factors[3] = {a, b, c};
    const int rows[3] = {I, J, K};
    for (int f = 0; f < 3; f++)
        for (int r = 0; r < R; r++) {
            double length = 0;
            for (int n = 0; n < rows[f]; n++)
                length += pow(factors[f][n + r * rows[f]], 2);
            CHECK_NEAR(length, 1, 1e-12, "columns of unit length: %g", length);
        }
    double worst = 0;
    for (int i = 0; i < I * J * K; i++) {
        double sum = 0;
        for (int r = 0; r < R; r++)
            sum += lambda[r] * a[i % I + r * I] * b[i / I % J + r * J] * c[i / I / J + r * K];
        worst = fmax(worst, fabs(sum - x[i]));
    }
    CHECK(worst < 1e-3, "a tensor of rank 2 is off by %g", worst);
    x[17] = NAN;
    CHECK(hot_cpd_f64(context, &o, I, J, K, x, lambda, a, b, c, NULL) == HOT_ERROR_DATA, "NaN");
    o.rank = 0;
    CHECK(hot_cpd_f64(context, &o, I, J, K, x, lambda, a, b, c, NULL) == HOT_ERROR_ARGUMENT, "rank 0");
    for (int mode = 0; mode <= 4; mode++) { /* the factor of the mode itself may be NULL */
        double product[K * R];
        x[17] = 1;
        const hot_status status = hot_mttkrp_f64(context, mode, I, J, K, R, x, mode == 1 ? NULL : a,
                                                 mode == 2 ? NULL : b, mode == 3 ? NULL : c, product);
        CHECK(status == (mode >= 1 && mode <= 3 ? HOT_OK : HOT_ERROR_ARGUMENT), "mode %d: %d", mode, status);
    }
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static double noise[4000];

static hot_status many_tridiag(hot_context *context, void *out)
{
    const hot_tridiag_options o = {.size = sizeof o, .range = HOT_TRIDIAG_INDEX, .last = 9};
    return hot_tridiag_f64(context, &o, 50, 8, noise, noise + 1000, 50, out, 10, NULL);
}
static hot_status many_heev(hot_context *context, void *out)
{
    return hot_syev_f64(context, NULL, 12, 20, noise, out, NULL, NULL);
}
static hot_status many_fits(hot_context *context, void *out)
{
    float data[1200], weight[1200];
    for (int i = 0; i < 1200; i++)
        data[i] = (float)noise[i], weight[i] = (float)fabs(noise[i + 1200]);
    return hot_fit_weighted_f32(context, 12, 4, noise + 3000, 100, data, weight, out, 4, NULL);
}
static hot_status many_products(hot_context *context, void *out)
{
    return hot_contract_matrices_f64(context, NULL, 9, 7, 11, 30, 1, noise, (size_t[]){11, 1, 99}, noise,
                                     (size_t[]){7, 1, 77}, 0, out, (size_t[]){7, 1, 63});
}
static hot_status many_actions(hot_context *context, void *out)
{
    double basis[20];
    hot_status status = hot_fem_basis(context, 4, 5, basis, NULL);
    return status == HOT_OK ? hot_fem_mass_action_f64(context, 3, 4, 5, basis, 30, noise, noise, out) : status;
}
static hot_status many_mttkrp(hot_context *context, void *out)
{
    return hot_mttkrp_f64(context, 2, 12, 13, 14, 5, noise, noise, NULL, noise + 99, out);
}

int main(void)
{
    hot_context *context = context_of(2);
    uint64_t state = 77;
    for (int i = 0; i < 4000; i++)
        noise[i] = check_random_normal(&state);
    test_tridiag(context);
    test_tridiag_vectors(context);
    test_heev(context);
    test_fit(context);
    test_contract(context);
    test_large_products(context);
    test_fem(context);
    test_cpd(context);
    check_threads("tridiag", many_tridiag, 8 * 10 * sizeof(double));
    check_threads("syev", many_heev, 20 * 12 * sizeof(double));
    check_threads("weighted fits", many_fits, 100 * 4 * sizeof(float));
    check_threads("products", many_products, 30 * 63 * sizeof(double));
    check_threads("mass operators", many_actions, 30 * 64 * sizeof(double));
    check_threads("MTTKRP", many_mttkrp, 13 * 5 * sizeof(double));
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}

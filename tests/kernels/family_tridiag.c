/* Tridiagonal eigenvalues against the reference's bisection in long double, and against what is known in closed
 * form. */
#include "tridiag_matrices.h"

#include <float.h>

static void check_against(check_run *run, const char *name, maker *make, size_t n, size_t count, int f64,
                          const hot_tridiag_options *options)
{
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, n);
    double *a = calloc(n * count + 1, sizeof *a), *b = calloc(n * count + 1, sizeof *b);
    for (size_t i = 0; i < count && n > 0; i++)
        make(&run->seed, n, a + i * n, b + i * n);
    for (size_t k = 0; k < n * count && !f64; k++) /* the norm is that of the float matrix */
        a[k] = (double)(float)a[k], b[k] = (double)(float)b[k];
    void *rows_a = make_rows(f64, n, count, a), *rows_b = make_rows(f64, n, count, b);
    const size_t stride = n + 3, value = f64 ? sizeof(double) : sizeof(float);
    const size_t width = options->range == HOT_TRIDIAG_INDEX ? options->last - options->first + 1 : n + 1;
    const void *in_a = check_input(run, rows_a, count * stride * value),
               *in_b = check_input(run, rows_b, count * stride * value);
    void *out = check_output(run, count * width * value);
    char what[120];
    int known[2];
    snprintf(what, sizeof what - 8, "f%d, %zu of %zu, range %d, %zu %zu, %g %g", f64 ? 64 : 32, width, count,
             (int)options->range, options->first, options->last, options->low, options->high);
    int64_t *found = check_output(run, count * sizeof *found),
            *expected_found = check_remembered(run, what, count * sizeof *found, &known[0]);
    strcat(what, " values");
    void *expected = check_remembered(run, what, count * width * value, &known[1]);
    if (!known[1] &&
        compute(run->reference, options, f64, n, count, in_a, in_b, stride, expected, width, expected_found) != HOT_OK)
        check_fail(run, 0, "the reference failed: %s", hot_context_message(run->reference));
    if (check_call(run, compute(run->context, options, f64, n, count, in_a, in_b, stride, out, width, found))) {
        const double epsilon = f64 ? DBL_EPSILON : (double)FLT_EPSILON;
        CHECK_ITEM(run, 0, check_unwritten(found, count, sizeof *found) == 0, "counts were not written");
        for (size_t i = 0; i < count; i++) {
            const double norm = norm_of(n, a + i * n, b + i * n);
            CHECK_ITEM(run, i, found[i] == expected_found[i], "%lld eigenvalues, not %lld", (long long)found[i],
                       (long long)expected_found[i]);
            for (size_t k = 0; k < width; k++) {
                double x = get(f64, out, i * width + k), y = get(f64, expected, i * width + k);
                double allowed = options->relative > 0
                                     ? fmax(options->relative, 6 * epsilon) * fabs(y) + options->absolute
                                     : fmax(options->absolute, (10 + sqrt((double)n)) * epsilon * norm);
                if (isnan(y))
                    CHECK_ITEM(run, i, isnan(x), "eigenvalue %zu is %g; there is none", k, x);
                else
                    CHECK_ITEM(run, i, fabs(x - y) <= allowed,
                               "eigenvalue %zu is %.17g, not %.17g (%g of the norm off)", k, x, y, fabs(x - y) / norm);
                CHECK_ITEM(run, i, k == 0 || isnan(y) || x >= get(f64, out, i * width + k - 1), "value %zu descends",
                           k);
            }
        }
    }
    check_case_end(run);
    FREE(a, b, rows_a, rows_b);
}

/* 2 + 2 cos(k pi / (n + 1)): all at a middling size, some at a large one. */
static void check_closed_form(check_run *run, size_t n, size_t first, size_t last, int f64)
{
    if (!check_begin(run, n, "Toeplitz (1, 2, 1), closed form"))
        return;
    void *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
    const size_t many = last - first + 1, value = f64 ? sizeof(double) : sizeof(float);
    for (size_t i = 0; i < n; i++) {
        if (f64)
            ((double *)a)[i] = 2, ((double *)b)[i] = 1;
        else
            ((float *)a)[i] = 2, ((float *)b)[i] = 1;
    }
    hot_tridiag_options options = {.size = sizeof options, .range = many == n ? HOT_TRIDIAG_ALL : HOT_TRIDIAG_INDEX,
                                   .first = first, .last = last};
    void *values = check_output(run, many * value);
    if (check_call(run, compute(run->context, &options, f64, n, 1, a, b, n, values, many, NULL)))
        for (size_t k = 0; k < many; k++) {
            double expected = 2 - 2 * cos((double)(first + k + 1) * 3.141592653589793 / (double)(n + 1));
            double x = get(f64, values, k);
            CHECK_ITEM(run, first + k, fabs(x - expected) <= 80 * (f64 ? DBL_EPSILON : (double)FLT_EPSILON),
                       "%.17g, not %.17g", x, expected);
        }
    check_case_end(run);
    FREE(a, b);
}

/* NaN or Inf flags its own matrix; the others keep every bit. */
static void check_flags(check_run *run, int f64, size_t n, size_t count)
{
    if (!check_begin(run, n, "NaN and Inf"))
        return;
    const size_t value = f64 ? sizeof(double) : sizeof(float), stride = n + 3;
    double *a = calloc(n * count, sizeof *a), *b = calloc(n * count, sizeof *b);
    make_random(&run->seed, n * count, a, b);
    void *clean_a = make_rows(f64, n, count, a), *clean_b = make_rows(f64, n, count, b);
    for (size_t i = 0; i < count; i++) {
        if (i % 5 == 1)
            a[i * n + i % n] = i % 2 ? (double)NAN : (double)INFINITY;
        if (i % 5 == 3)
            b[i * n + i % (n - 1)] = i % 2 ? (double)NAN : -(double)INFINITY;
    }
    void *bad_a = make_rows(f64, n, count, a), *bad_b = make_rows(f64, n, count, b);
    void *x = check_output(run, count * n * value), *y = check_output(run, count * n * value);
    int64_t *found = check_output(run, count * sizeof *found);
    check_call(run, compute(run->context, NULL, f64, n, count, clean_a, clean_b, stride, x, n, NULL));
    if (check_call(run, compute(run->context, NULL, f64, n, count, bad_a, bad_b, stride, y, n, found)))
        for (size_t i = 0; i < count; i++) {
            int bad = i % 5 == 1 || i % 5 == 3;
            CHECK_ITEM(run, i, found[i] == (bad ? -1 : (int64_t)n), "found %lld", (long long)found[i]);
            if (!bad)
                CHECK_ITEM(run, i, memcmp((char *)x + i * n * value, (char *)y + i * n * value, n * value) == 0,
                           "a neighbour's NaN changed it");
            for (size_t k = 0; k < n && bad; k++)
                CHECK_ITEM(run, i, isnan(get(f64, y, i * n + k)), "value %zu of a flagged matrix is %g", k,
                           get(f64, y, i * n + k));
        }
    check_case_end(run);
    FREE(a, b, clean_a, clean_b, bad_a, bad_b);
}

/* One thread and three give the same bits. */
static void check_threads(check_run *run, size_t n, size_t count, hot_tridiag_range range)
{
    if (!check_begin(run, n, "threads"))
        return;
    double *a = calloc(n * count, sizeof *a), *b = calloc(n * count, sizeof *b);
    make_random(&run->seed, n * count, a, b);
    hot_tridiag_options options = {
        .size = sizeof options, .range = range, .first = 1, .last = n - 2, .low = -1, .high = 2};
    double *out[2];
    for (int k = 0; k < 2; k++) {
        hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = k ? 3 : 1};
        hot_context *context = NULL;
        out[k] = check_output(run, n * count * sizeof(double));
        if (hot_context_create(&how, &context) != HOT_OK)
            exit(2);
        check_call(run, hot_tridiag_f64(context, &options, n, count, a, b, n, out[k], n, NULL));
        hot_context_destroy(&context);
    }
    CHECK_ITEM(run, 0, memcmp(out[0], out[1], n * count * sizeof(double)) == 0, "the number of threads shows");
    check_case_end(run);
    FREE(a, b);
}

static void check_arguments(check_run *run)
{
    if (run->device) /* calls are refused before the arrays are read: tested with host arrays */
        return;
    check_case_begin(run, "arguments", 0);
    double a[4] = {1, 2, 3, 4}, b[4] = {1, 1, 1, 1}, x[4] = {7, 7, 7, 7};
    hot_tridiag_options options = {.size = sizeof options};
#define REFUSED(N, STRIDE, WIDTH)                                                                                      \
    CHECK_ITEM(run, 0,                                                                                                 \
               hot_tridiag_f64(run->context, &options, N, 1, a, b, STRIDE, x, WIDTH, NULL) == HOT_ERROR_ARGUMENT,      \
               "line %d was not refused", __LINE__);                                                                   \
    options = (hot_tridiag_options){.size = sizeof options}
    REFUSED(4, 3, 4);
    REFUSED(4, 4, 3);
    options.range = HOT_TRIDIAG_INDEX, options.first = 2, options.last = 1;
    REFUSED(4, 4, 4);
    options.range = HOT_TRIDIAG_INDEX, options.last = 4;
    REFUSED(4, 4, 8);
    options.range = HOT_TRIDIAG_VALUE, options.low = 2, options.high = 1;
    REFUSED(4, 4, 4);
    options.range = HOT_TRIDIAG_VALUE, options.low = NAN;
    REFUSED(4, 4, 4);
    options.absolute = -1;
    REFUSED(4, 4, 4);
    options.relative = NAN;
    REFUSED(4, 4, 4);
    options.size = 4096;
    REFUSED(4, 4, 4);
#undef REFUSED
    CHECK_ITEM(run, 0, x[0] == 7 && x[3] == 7, "a refused call wrote values");
    check_call(run, hot_tridiag_f64(run->context, NULL, 0, 3, NULL, NULL, 0, NULL, 0, NULL));
    check_call(run, hot_tridiag_f64(run->context, NULL, 4, 0, NULL, NULL, 4, NULL, 4, NULL));
    check_case_end(run);
}

/* ---- Bounds on eigenvalues --------------------------------------------------------------------------------------- */

/* Blocks whose eigenvalues are known, side by side, with 0 between them: integers, shifted by `at` from the values
 * here, except two of the last block's. Its pivots at 0 are 3, 5/3 and 0, of which doubles do not hold the second. */
static const struct {
    int n;
    double a[5], b[4], values[5];
} blocks[] = {{1, {0}, {0}, {0}},
              {2, {0, 0}, {1}, {-1, 1}},
              {2, {1, 4}, {2}, {0, 5}},
              {3, {0, 0, 0}, {3, 4}, {-5, 0, 5}},
              {3, {1, 2, 1}, {-1, -1}, {0, 1, 3}}, /* a path: its Laplacian */
              {5, {0, 0, 0, 0, 0}, {1, 1, 1, 1}, {-1.7320508075688772, -1, 0, 1, 1.7320508075688772}},
              {3, {3, 2, 15}, {1, 5}, {0, 3.2917960675006310, 16.708203932499369}}};

static int ascending(const void *x, const void *y)
{
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

/* The eigenvalues in [low, high), with bounds on eigenvalues, next to them, equal, infinite; one: only blocks of one
 * value. */
static void check_bounds(check_run *run, int f64, size_t n, int one, int exponent)
{
    enum { COUNT = 3, MOST = 90 };
    double a[COUNT * MOST] = {0}, b[COUNT * MOST] = {0}, known[COUNT][MOST];
    check_case_begin(run, one ? "bounds of a diagonal" : "bounds", n);
    const double scale = ldexp(1, exponent);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t at = 0; at < n;) {
            size_t which = one ? 0 : check_random_bits(&run->seed) % (sizeof blocks / sizeof blocks[0]);
            which = at + (size_t)blocks[which].n > n ? 0 : which;
            const double shift = (double)(check_random_bits(&run->seed) % 7) - 3;
            for (int k = 0; k < blocks[which].n; k++) {
                a[i * n + at + (size_t)k] = scale * (blocks[which].a[k] + shift);
                b[i * n + at + (size_t)k] = k + 1 < blocks[which].n ? scale * blocks[which].b[k] : 0;
                known[i][at + (size_t)k] = scale * (blocks[which].values[k] + shift);
            }
            at += (size_t)blocks[which].n;
        }
        qsort(known[i], n, sizeof known[i][0], ascending);
    }
    void *diagonal = narrow(a, COUNT * n, f64), *off = narrow(b, COUNT * n, f64);
    const size_t size = f64 ? sizeof(double) : sizeof(float);
    const void *there = check_input(run, diagonal, COUNT * n * size), *beside = check_input(run, off, COUNT * n * size);
    void *values = check_output(run, COUNT * n * size);
    int64_t *found = check_output(run, COUNT * sizeof *found);
    for (int trial = 0; trial < 40; trial++) {
        double ends[2];
        for (int e = 0; e < 2; e++) {
            const double on = scale * ((double)(check_random_bits(&run->seed) % 13) - 6);
            const uint64_t how = check_random_bits(&run->seed) % 8;
            const double up = on == 0 ? 1e-15 * scale : nextafter(on, INFINITY);
            const double down = on == 0 ? -1e-15 * scale : nextafter(on, -INFINITY);
            ends[e] = how == 0 ? -INFINITY : how == 1 ? INFINITY : how == 2 ? up : how == 3 ? down : on;
        }
        ends[1] = trial % 10 == 9 ? ends[0] : ends[1];
        const hot_tridiag_options options = {.size = sizeof options, .range = HOT_TRIDIAG_VALUE,
                                             .low = fmin(ends[0], ends[1]), .high = fmax(ends[0], ends[1]),
                                             .absolute = trial % 3 == 2 ? .3 * scale : 0,
                                             .relative = trial % 3 == 1 ? 1e-3 : 0};
        for (int backend = 0; backend < (n < 11 && trial < 15 ? 2 : 1); backend++) { /* and the reference's */
            hot_context *context = backend ? run->reference : run->context;
            if (!check_call(run, compute(context, &options, f64, n, COUNT, there, beside, n, values, n, found)))
                continue;
            for (size_t i = 0; i < COUNT; i++) {
                size_t first = 0, last = 0;
                for (size_t k = 0; k < n; k++) {
                    first += known[i][k] < options.low;
                    last += known[i][k] < options.high;
                }
                CHECK_ITEM(run, i, found[i] == (int64_t)(last - first), "%s[%.17g, %.17g): %lld eigenvalues, not %zu",
                           backend ? "reference, " : "", options.low, options.high, (long long)found[i], last - first);
                for (size_t k = 0; k < n; k++) {
                    const double v = f64 ? ((double *)values)[i * n + k] : (double)((float *)values)[i * n + k];
                    const double near = scale * (trial % 3 ? .3 : 1e-4);
                    CHECK_ITEM(run, i, k < last - first ? v >= options.low && v < options.high &&
                                                          fabs(v - known[i][first + k]) <= near
                                                        : isnan(v),
                               "%s[%.17g, %.17g): value %zu is %.17g", backend ? "reference, " : "", options.low,
                               options.high, k, v);
                }
            }
        }
    }
    check_case_end(run);
    FREE(diagonal, off);
}

static void check(check_run *run)
{
    static const size_t sizes[] = {1, 2, 3, 4, 21, 31, 64, 105};
    for (int f64 = 0; f64 < 2; f64++) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                const size_t n = sizes[s];
                hot_tridiag_options options = {.size = sizeof options};
                if (kinds[k].make == make_glued && n < 21)
                    continue;
                check_against(run, kinds[k].name, kinds[k].make, n, n > 50 ? 2 : 5, f64, &options);
                if (n > 31 && k > 2)
                    continue;
                options.range = HOT_TRIDIAG_INDEX, options.first = n - 1 - n / 3, options.last = n - 1;
                check_against(run, kinds[k].name, kinds[k].make, n, 2, f64, &options);
                options.first = options.last = n / 2;
                check_against(run, kinds[k].name, kinds[k].make, n, 2, f64, &options);
                options.range = HOT_TRIDIAG_VALUE, options.low = -0.61234, options.high = 1.71234;
                check_against(run, kinds[k].name, kinds[k].make, n, 3, f64, &options);
                options.low = -INFINITY, options.high = INFINITY, options.absolute = 1e-3;
                check_against(run, kinds[k].name, kinds[k].make, n, 1, f64, &options);
            }
        }
        hot_tridiag_options all = {.size = sizeof all}, exact = {.size = sizeof exact, .relative = 1e-30};
        hot_tridiag_options rough = {.size = sizeof rough, .relative = 1e-4};
        check_against(run, "random", make_random, 257, 1, f64, &all);
        check_against(run, "random", make_random, 33, 0, f64, &all);
        check_against(run, "random", make_random, 7, 257, f64, &all);
        check_against(run, "graded, relative accuracy", make_graded, 90, 2, f64, &exact);
        check_against(run, "graded, relative accuracy", make_graded, 5, 3, f64, &rough);
        check_against(run, "glued, relative accuracy", make_glued, 63, 1, f64, &rough);
        static const size_t bounded[] = {1, 2, 5, 10, 33, 90};
        for (size_t k = 0; k < sizeof bounded / sizeof bounded[0]; k++)
            for (int one = 0; one < 2; one++) {
                check_bounds(run, f64, bounded[k], one, 0);
                check_bounds(run, f64, bounded[k], one, f64 ? 990 : 100);
                check_bounds(run, f64, bounded[k], one, f64 ? -990 : -100);
            }
        check_flags(run, f64, 20, 23);
        check_closed_form(run, 500, 0, 499, f64);
        check_closed_form(run, 100000, 49990, 49995, f64);
        check_closed_form(run, 100000, 99999, 99999, f64);
        if (run->cuda) {
            check_closed_form(run, 4099, 0, 4098, f64);
            check_closed_form(run, 100000, 0, 99999, f64);
        }
    }
    if (!run->cuda) {
        check_threads(run, 90, 7, HOT_TRIDIAG_ALL);
        check_threads(run, 300, 2, HOT_TRIDIAG_INDEX);
        check_threads(run, 90, 7, HOT_TRIDIAG_VALUE);
    }
    check_arguments(run);
}

const check_family family_tridiag = {"tridiag", 0, 1, check, NULL};

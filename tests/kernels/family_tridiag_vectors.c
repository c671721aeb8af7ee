/* Eigenvectors of tridiagonal matrices: residual, orthogonality, and the values of calls without vectors. */
#include "tridiag_matrices.h"

#include <float.h>
#include "heev/heev_tridiagonal.h"

/* Residual and orthogonality of `many` pairs of a matrix, in units of n epsilon. */
static void check_pairs(check_run *run, size_t item, int f64, size_t n, size_t many, const double *a, const double *b,
                        const void *values, const void *vectors)
{
    const double unit = (double)n * (f64 ? DBL_EPSILON : (double)FLT_EPSILON), norm = norm_of(n, a, b);
    for (size_t k = 0; k < many; k++) {
        double left = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t at = k * n + i;
            double sum = (a[i] - get(f64, values, k)) * get(f64, vectors, at);
            sum += i ? b[i - 1] * get(f64, vectors, at - 1) : 0;
            sum += i + 1 < n ? b[i] * get(f64, vectors, at + 1) : 0;
            left = sum * sum >= 0 ? fmax(left, fabs(sum)) : (double)NAN;
        }
        CHECK_ITEM(run, item, left <= 8 * unit * norm, "vector %zu: residual %g n epsilon ||T||", k,
                   left / (unit * norm));
        for (size_t j = 0; j <= k; j++) {
            double along = j == k ? -1 : 0;
            for (size_t i = 0; i < n; i++)
                along += get(f64, vectors, j * n + i) * get(f64, vectors, k * n + i);
            CHECK_ITEM(run, item, fabs(along) <= 8 * unit, "vectors %zu and %zu: %g n epsilon from orthonormal", j, k,
                       along / unit);
        }
    }
}

static hot_status compute_vectors(hot_context *context, const hot_tridiag_options *options, int f64, size_t n,
                                  size_t count, const void *a, const void *b, size_t stride, void *values,
                                  void *vectors, size_t width, int64_t *found)
{
    return f64 ? hot_tridiag_vectors_f64(context, options, n, count, a, b, stride, values, vectors, width, found)
               : hot_tridiag_vectors_f32(context, options, n, count, a, b, stride, values, vectors, width, found);
}

/* Some matrices, one of them with NaN. The values are those without vectors, bit for bit. */
static void check_vectors(check_run *run, const char *name, maker *make, size_t n, size_t count, int f64,
                          const hot_tridiag_options *options)
{
    if (!check_wanted(run, name) || run->device)
        return;
    check_case_begin(run, name, n);
    double *a = calloc(n * count, sizeof *a), *b = calloc(n * count, sizeof *b);
    for (size_t i = 0; i < count; i++)
        make(&run->seed, n, a + i * n, b + i * n);
    for (size_t k = 0; k < n * count && !f64; k++)
        a[k] = (double)(float)a[k], b[k] = (double)(float)b[k];
    if (count > 2)
        a[n + n / 2] = NAN;
    void *rows_a = make_rows(f64, n, count, a), *rows_b = make_rows(f64, n, count, b);
    const size_t stride = n + 3, value = f64 ? sizeof(double) : sizeof(float);
    const size_t width = options->range == HOT_TRIDIAG_INDEX ? options->last - options->first + 1 : n + 1;
    void *values = check_output(run, count * width * value), *alone = check_output(run, count * width * value);
    char *vectors = check_output(run, count * width * n * value);
    int64_t *found = check_output(run, count * sizeof *found), *expected = check_output(run, count * sizeof *found);
    hot_context *contexts[2] = {run->context, run->reference};
    for (int c = 0; c < (n <= 21 ? 2 : 1); c++) {
        if (!check_call(run, compute(contexts[c], options, f64, n, count, rows_a, rows_b, stride, alone, width,
                                     expected)) ||
            !check_call(run, compute_vectors(contexts[c], options, f64, n, count, rows_a, rows_b, stride, values,
                                             vectors, width, found)))
            continue;
        CHECK_ITEM(run, 0, check_unwritten(vectors, count * width * n, value) == 0, "vectors were not written");
        CHECK_ITEM(run, 0, memcmp(values, alone, count * width * value) == 0, "other values than without vectors");
        CHECK_ITEM(run, 0, memcmp(found, expected, count * sizeof *found) == 0, "another count than without vectors");
        for (size_t i = 0; i < count; i++) {
            const size_t many = found[i] < 0 ? 0 : (size_t)found[i];
            check_pairs(run, i, f64, n, many, a + i * n, b + i * n, (char *)values + i * width * value,
                        vectors + i * width * n * value);
            for (size_t k = many * n; k < width * n; k++)
                CHECK_ITEM(run, i, isnan(get(f64, vectors, i * width * n + k)), "a number beyond the vectors found");
        }
    }
    check_case_end(run);
    FREE(a, b, rows_a, rows_b);
}

/* The solvers behind a call, each on every kind of matrix: our own QL, and inverse iteration for all vectors. */
static void check_solvers(check_run *run, const char *name, maker *make, size_t n)
{
    if (!check_wanted(run, name) || run->device)
        return;
    check_case_begin(run, name, n);
    double *a = calloc(4 * n, sizeof *a), *b = a + n, *d = b + n, *e = d + n;
    double *z = calloc(n * n, sizeof *z), *lambda = malloc(n * sizeof *lambda);
    double *memory = malloc((hot_tridiagonal_workspace(n) + 8 * n) * sizeof *memory);
    make(&run->seed, n, a, b);
    b[n - 1] = 0;
    const double norm = norm_of(n, a, b);
    for (size_t k = 0; k < n && norm > 0; k++)
        a[k] /= norm, b[k] /= norm;
    memcpy(d, a, 2 * n * sizeof *d);
    CHECK_ITEM(run, 0, hot_tridiagonal_all(0, n, d, e, z, memory), "QL does not converge");
    for (size_t k = 1; k < n; k++)
        CHECK_ITEM(run, k, d[k] >= d[k - 1], "QL: value %zu descends", k);
    check_pairs(run, 0, 1, n, n, a, b, d, z);
    check_call(run, hot_tridiag_f64(run->context, NULL, n, 1, a, b, n, lambda, n, NULL));
    CHECK_ITEM(run, 0, hot_tridiagonal_inverse(run->context, n, a, b, n, lambda, z, memory) == 1,
               "inverse iteration does not converge");
    check_pairs(run, 0, 1, n, n, a, b, lambda, z);
    check_case_end(run);
    FREE(a, z, lambda, memory);
}

static void check(check_run *run)
{
    static const size_t sizes[] = {1, 2, 21, 65, 105};
    for (int f64 = 0; f64 < 2; f64++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                const size_t n = sizes[s];
                hot_tridiag_options options = {.size = sizeof options};
                if (kinds[k].make == make_glued && n < 21)
                    continue;
                check_vectors(run, kinds[k].name, kinds[k].make, n, 3, f64, &options);
                options.range = HOT_TRIDIAG_INDEX, options.first = n - 1 - n / 6, options.last = n - 1;
                check_vectors(run, kinds[k].name, kinds[k].make, n, 4, f64, &options);
                options.range = HOT_TRIDIAG_VALUE, options.low = -.61234, options.high = .01234;
                check_vectors(run, kinds[k].name, kinds[k].make, n, 3, f64, &options);
                if (f64)
                    check_solvers(run, kinds[k].name, kinds[k].make, n);
            }
}

const check_family family_tridiag_vectors = {"tridiag_vectors", 0, 0, check, NULL};

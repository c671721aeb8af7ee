/* Hermitian eigenproblems by their residual and the orthogonality of the vectors, and against Jacobi's rotations in
 * long double. */
#include "checker.h"

#include <complex.h>
#include <float.h>
#include "heev/heev.h"

typedef double complex entry;
typedef enum kind { RANDOM, CLUSTERED, REPEATED, DEFICIENT, GRADED, DIAGONAL, ZERO, TINY, FAINT, BLOCKS, KINDS } kind;
static const char *const kind_names[] = {"random", "clustered", "repeated", "rank-deficient",
                                         "graded", "diagonal",  "zero",     "tiny",
                                         "faint beside one", "blocks"};

static entry random_entry(uint64_t *seed, int is_complex)
{
    double re = check_random_normal(seed), im = is_complex ? check_random_normal(seed) : 0;
    return re + I * im;
}

/* A <- H A H for a few random reflections H: dense, with the same eigenvalues. */
static void mix(uint64_t *seed, int is_complex, size_t n, entry *a)
{
    entry *v = malloc(n * sizeof *v), *w = malloc(n * sizeof *w);
    for (int times = 0; times < 3; times++) {
        double norm = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] = random_entry(seed, is_complex);
            norm += creal(v[i] * conj(v[i]));
        }
        entry s = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] *= sqrt(2 / norm);
            w[i] = 0;
        }
        for (size_t c = 0; c < n; c++)
            for (size_t r = 0; r < n; r++)
                w[r] += a[c * n + r] * v[c];
        for (size_t i = 0; i < n; i++)
            s += conj(v[i]) * w[i];
        for (size_t c = 0; c < n; c++) /* A - w v^H - v w^H + s v v^H */
            for (size_t r = 0; r < n; r++)
                a[c * n + r] += creal(s) * v[r] * conj(v[c]) - w[r] * conj(v[c]) - v[r] * conj(w[c]);
    }
    FREE(v, w);
}

/* Two dense blocks, one fainter by up to `ends` orders of magnitude, their rows at random places. While such a matrix
 * is reduced, the rest grows fainter with each block of rounding errors, down to squares that are nothing. */
static void make_blocks(uint64_t *seed, double ends, int is_complex, size_t n, entry *a)
{
    const double faint = pow(10, -ends * check_random(seed)), share = check_random(seed);
    unsigned char *block = malloc(n);
    for (size_t i = 0; i < n; i++)
        block[i] = check_random(seed) < share;
    for (size_t c = 0; c < n; c++)
        for (size_t r = c; r < n; r++)
            if (block[c] == block[r])
                a[c * n + r] = random_entry(seed, is_complex) * (block[c] ? 1 : faint);
    free(block);
}

static void make(uint64_t *seed, kind which, int f64, int is_complex, size_t n, entry *a)
{
    memset(a, 0, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) {
        double value = 0, u = check_random_normal(seed);
        switch (which) {
        case CLUSTERED: value = (double)(i % 3) + (i % 2 ? 1e-13 : 1e-7) * u; break;
        case REPEATED: value = i % 4 == 0 ? 2 : i % 4 == 1 ? -1 : 0.5; break;
        case DEFICIENT: value = i % 3 == 0 ? u : 0; break;
        case DIAGONAL: value = i % 5 == 2 ? 1 : u; break;
        default: break;
        }
        a[i * n + i] = value;
    }
    if (which == CLUSTERED || which == REPEATED || which == DEFICIENT)
        mix(seed, is_complex, n, a);
    if (which == RANDOM || which == GRADED || which == TINY)
        for (size_t c = 0; c < n; c++)
            for (size_t r = c; r < n; r++) {
                /* entries from 1e-150 to 1e150, in single precision from 1e-18 to 1e18 */
                double ends = f64 ? 150 : 18, place = n > 1 ? (double)(r + c) / (double)(n - 1) - 1 : 0;
                a[c * n + r] = random_entry(seed, is_complex) * (which == GRADED ? pow(10, ends * place)
                                                                 : which == TINY ? pow(10, -ends)
                                                                                 : 1);
            }
    /* Beside one entry of 2 a chain whose squares are nothing: diagonal and couplings around the number whose square is
     * just above the rounding of anything (heev_tiny_limits). */
    const double faint = f64 ? 1e-140 : 1e-15;
    for (size_t i = 0; i < n && which == FAINT; i++) {
        a[i * n + i] = i + 1 < n ? check_random_normal(seed) * faint * pow(10, 6 * check_random(seed) - 3) : 2;
        if (i + 1 < n)
            a[i * n + i + 1] = faint * pow(10, 5 * check_random(seed) - 1);
    }
    if (which == BLOCKS)
        make_blocks(seed, f64 ? 300 : 36, is_complex, n, a);
    for (size_t c = 0; c < n; c++) {
        a[c * n + c] = creal(a[c * n + c]);
        for (size_t r = c + 1; r < n; r++)
            a[r * n + c] = conj(a[c * n + r]);
    }
}

/* The triangle that calls read: the other holds NaN. */
static hot_heev_uplo uplo;

static hot_status compute(hot_context *context, size_t largest, int f64, int is_complex, size_t n, size_t count,
                          const void *matrices, void *values, void *vectors, uint8_t *flags)
{
    hot_heev_options options = {.size = sizeof options, .largest = largest, .uplo = uplo};
    if (f64)
        return is_complex ? hot_heev_f64(context, &options, n, count, matrices, values, vectors, flags)
                          : hot_syev_f64(context, &options, n, count, matrices, values, vectors, flags);
    return is_complex ? hot_heev_f32(context, &options, n, count, matrices, values, vectors, flags)
                      : hot_syev_f32(context, &options, n, count, matrices, values, vectors, flags);
}

static double value_at(int f64, const void *values, size_t at)
{
    return f64 ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

static entry entry_at(int f64, int is_complex, const void *values, size_t at)
{
    return is_complex ? value_at(f64, values, 2 * at) + I * value_at(f64, values, 2 * at + 1)
                      : value_at(f64, values, at);
}

/* The matrix in the caller's type. The triangle that is not read is full of NaN. Rounds a to that type. */
static void pack(int f64, int is_complex, size_t n, entry *a, void *to)
{
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            entry x = a[c * n + r];
            double parts[2] = {creal(x), r == c ? (double)NAN : cimag(x)};
            if (!f64)
                a[c * n + r] = (double)(float)creal(x) + I * (double)(float)cimag(x);
            for (int part = 0; part < 1 + is_complex; part++) {
                const int is_read = r == c || (r > c) == (uplo == HOT_HEEV_LOWER);
                double value = is_read ? parts[part] : (double)NAN;
                size_t at = (c * n + r) * (size_t)(1 + is_complex) + (size_t)part;
                if (f64)
                    ((double *)to)[at] = value;
                else
                    ((float *)to)[at] = (float)value;
            }
        }
}

/* The 1-norm bounds the largest |eigenvalue|, by at most sqrt(n). */
static double norm_of(size_t n, const entry *a)
{
    double norm = 0;
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++)
            sum += cabs(a[c * n + r]);
        norm = fmax(norm, sum);
    }
    return norm > 0 ? norm / sqrt((double)n) : 1;
}

/* Residual and orthogonality of `kept` pairs, in units of n epsilon ||A||; every column when n is small, else 48 of
 * them. */
static void check_pairs(check_run *run, size_t item, int f64, int is_complex, size_t n, size_t kept, const entry *a,
                        const void *values, const void *vectors, size_t at)
{
    const double epsilon = f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    double norm, scale = 0, residual = 0, orthogonal = 0;
    for (size_t k = 0; k < n * n; k++)
        scale = fmax(scale, cabs(a[k]));
    scale = scale > 0 ? scale : 1;
    norm = norm_of(n, a) / scale;
    entry *v = malloc(kept * n * sizeof *v), *x = malloc(n * sizeof *x);
    for (size_t k = 0; k < kept * n; k++)
        v[k] = entry_at(f64, is_complex, vectors, at * kept * n + k);
    const size_t step = kept > 80 ? kept / 48 : 1;
    for (size_t k = 0; k < kept; k += step) {
        double lambda = value_at(f64, values, at * kept + k), sum = 0;
        CHECK_ITEM(run, item, k == 0 || lambda >= value_at(f64, values, at * kept + k - 1), "eigenvalue %zu descends",
                   k);
        for (size_t r = 0; r < n; r++)
            x[r] = -(lambda / scale) * v[k * n + r];
        for (size_t c = 0; c < n; c++) {
            const entry f = v[k * n + c] / scale;
            for (size_t r = 0; r < n; r++)
                x[r] += a[c * n + r] * f;
        }
        for (size_t r = 0; r < n; r++)
            sum += creal(x[r] * conj(x[r]));
        residual = sum >= 0 ? fmax(residual, sum) : (double)NAN;
        for (size_t j = 0; j < kept; j++) {
            entry s = j == k ? -1 : 0;
            for (size_t r = 0; r < n; r++)
                s += conj(v[j * n + r]) * v[k * n + r];
            double size = cabs(s);
            orthogonal = size >= 0 ? fmax(orthogonal, size) : (double)NAN;
        }
        if (isnan(sum) || isnan(orthogonal))
            break;
    }
    residual = sqrt(residual) / ((double)n * epsilon * norm);
    orthogonal /= (double)n * epsilon;
    CHECK_ITEM(run, item, residual <= 10, "residual %.3g n epsilon ||A||", residual);
    CHECK_ITEM(run, item, orthogonal <= 10, "vectors %.3g n epsilon from orthonormal", orthogonal);
    FREE(v, x);
}

static void check_kind(check_run *run, kind which, int f64, int is_complex, size_t n, size_t count, size_t largest,
                       int reference)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s, %s%s", f64 ? "double" : "single", is_complex ? "complex" : "real",
             kind_names[which], largest ? ", the largest" : "");
    check_case_begin(run, name, n);
    const size_t value = f64 ? sizeof(double) : sizeof(float), one = value * (size_t)(1 + is_complex);
    const size_t kept = largest ? largest : n;
    entry *a = malloc((count * n * n + 1) * sizeof *a);
    char *packed = malloc(count * n * n * one + 1);
    for (size_t i = 0; i < count && n > 0; i++) {
        make(&run->seed, which, f64, is_complex, n, a + i * n * n);
        pack(f64, is_complex, n, a + i * n * n, packed + i * n * n * one);
    }
    const void *matrices = check_input(run, packed, count * n * n * one);
    void *values = check_output(run, count * kept * value), *vectors = check_output(run, count * kept * n * one);
    void *alone = check_output(run, count * kept * value);
    uint8_t *flags = check_output(run, count);
    if (check_call(run, compute(run->context, largest, f64, is_complex, n, count, matrices, values, vectors, flags)) &&
        check_call(run, compute(run->context, largest, f64, is_complex, n, count, matrices, alone, NULL, NULL))) {
        CHECK_ITEM(run, 0, check_unwritten(vectors, count * kept * n, value) + check_unwritten(flags, count, 1) == 0,
                   "outputs were not written");
        for (size_t i = 0; i < count; i++) {
            CHECK_ITEM(run, i, flags[i] == 0, "flag %d", flags[i]);
            check_pairs(run, i, f64, is_complex, n, kept, a + i * n * n, values, vectors, i);
            const double norm = norm_of(n, a + i * n * n);
            for (size_t k = 0; k < kept; k++) {
                double x = value_at(f64, values, i * kept + k), y = value_at(f64, alone, i * kept + k);
                CHECK_ITEM(run, i, fabs(x - y) <= 10 * (double)n * (f64 ? DBL_EPSILON : (double)FLT_EPSILON) * norm,
                           "eigenvalue %zu is %g with vectors and %g without", k, x, y);
            }
        }
        if (reference) {
            void *expected = malloc(count * kept * value + 1);
            if (compute(run->reference, largest, f64, is_complex, n, count, matrices, expected, NULL, NULL) != HOT_OK)
                check_fail(run, 0, "the reference failed: %s", hot_context_message(run->reference));
            for (size_t i = 0; i < count; i++) {
                const double norm = norm_of(n, a + i * n * n);
                for (size_t k = 0; k < kept; k++) {
                    double x = value_at(f64, values, i * kept + k), y = value_at(f64, expected, i * kept + k);
                    CHECK_ITEM(run, i, fabs(x - y) <= 10 * (double)n * (f64 ? DBL_EPSILON : (double)FLT_EPSILON) * norm,
                               "eigenvalue %zu is %.17g, not %.17g", k, x, y);
                }
            }
            free(expected);
        }
    }
    check_case_end(run);
    FREE(a, packed);
}

/* Our own code, which a build with LAPACK would never test. */
static void check_own(check_run *run, kind which, size_t n)
{
    check_case_begin(run, "without LAPACK", n);
    entry *a = malloc(n * n * sizeof *a);
    double *matrix = malloc(n * n * sizeof *a), *values = malloc(n * sizeof *values);
    void *room = malloc(hot_heev_workspace(n));
    make(&run->seed, which, 1, 1, n, a);
    pack(1, 1, n, a, matrix);
    CHECK_ITEM(run, 0, hot_heev_own(NULL, n, 1, matrix, values, room), "no convergence");
    check_pairs(run, 0, 1, 1, n, n, a, values, matrix, 0);
    pack(1, 1, n, a, matrix);
    double *alone = malloc(n * sizeof *alone);
    CHECK_ITEM(run, 0, hot_heev_own(NULL, n, 0, matrix, alone, room), "no convergence without vectors");
    for (size_t k = 0; k < n; k++)
        CHECK_ITEM(run, k, fabs(alone[k] - values[k]) <= 1e-14 * (double)n * fmax(fabs(values[0]), fabs(values[n - 1])),
                   "%g without vectors, %g with", alone[k], values[k]);
    check_case_end(run);
    FREE(a, matrix, values, alone, room);
}

#if defined(HOT_TESTS_ARITHMETIC)
/* heev_arithmetic.cc */
void heev_test_tiny_f32(int is_complex, int n, size_t count, const float *matrices, float *values, float *vectors,
                        uint8_t *flags);
void heev_test_tiny_f64(int is_complex, int n, size_t count, const double *matrices, double *values, double *vectors,
                        uint8_t *flags);

/* The GPU's code for few rows, on the CPU. */
static void check_arithmetic(check_run *run, kind which, int f64, int is_complex, size_t n)
{
    enum { COUNT = 40, MOST = 16 * 16 * COUNT };
    static double matrices[2 * MOST], vectors[2 * MOST], values[16 * COUNT];
    static entry a[MOST];
    uint8_t flags[COUNT];
    char name[64];
    snprintf(name, sizeof name, "the GPU's arithmetic, %s %s, %s", f64 ? "double" : "single",
             is_complex ? "complex" : "real", kind_names[which]);
    check_case_begin(run, name, n);
    const size_t bytes = (f64 ? sizeof(double) : sizeof(float)) * (size_t)(1 + is_complex);
    for (size_t i = 0; i < COUNT; i++) {
        make(&run->seed, which, f64, is_complex, n, a + i * n * n);
        pack(f64, is_complex, n, a + i * n * n, (char *)matrices + i * n * n * bytes);
    }
    if (f64)
        heev_test_tiny_f64(is_complex, (int)n, COUNT, matrices, values, vectors, flags);
    else
        heev_test_tiny_f32(is_complex, (int)n, COUNT, (float *)matrices, (float *)values, (float *)vectors, flags);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_ITEM(run, i, flags[i] == 0, "flag %d", flags[i]);
        check_pairs(run, i, f64, is_complex, n, n, a + i * n * n, values, vectors, i);
    }
    check_case_end(run);
}
#endif

static void check_flags(check_run *run, int f64, int is_complex, size_t n, size_t count)
{
    check_case_begin(run, "NaN and Inf", n);
    const size_t value = f64 ? sizeof(double) : sizeof(float), one = value * (size_t)(1 + is_complex);
    entry *a = malloc(n * n * sizeof *a);
    char *clean = malloc(count * n * n * one), *bad = malloc(count * n * n * one);
    for (size_t i = 0; i < count; i++) {
        make(&run->seed, RANDOM, f64, is_complex, n, a);
        pack(f64, is_complex, n, a, clean + i * n * n * one);
        a[(i % n) * n + n - 1] = a[(n - 1) * n + i % n] = i % 2 ? (double)NAN : (double)INFINITY;
        pack(f64, is_complex, n, a, bad + i * n * n * one);
        if (i % 3 != 1)
            memcpy(bad + i * n * n * one, clean + i * n * n * one, n * n * one);
    }
    const size_t sizes[2] = {count * n * value, count * n * n * one};
    char *out[2][2];
    uint8_t *flags = check_output(run, count);
    for (int k = 0; k < 4; k++)
        out[k / 2][k % 2] = check_output(run, sizes[k % 2]);
    check_call(run, compute(run->context, 0, f64, is_complex, n, count, clean, out[0][0], out[0][1], NULL));
    check_call(run, compute(run->context, 0, f64, is_complex, n, count, bad, out[1][0], out[1][1], flags));
    for (size_t i = 0; i < count; i++) {
        CHECK_ITEM(run, i, flags[i] == (i % 3 == 1), "flag %d", flags[i]);
        for (int k = 0; k < 2; k++) {
            size_t each = sizes[k] / count;
            if (i % 3 != 1)
                CHECK_ITEM(run, i, memcmp(out[0][k] + i * each, out[1][k] + i * each, each) == 0,
                           "a neighbour's NaN changed it");
            else
                for (size_t v = 0; v < each / value; v++)
                    CHECK_ITEM(run, i, isnan(value_at(f64, out[1][k] + i * each, v)), "a flagged matrix has a number");
        }
    }
    check_case_end(run);
    FREE(a, clean, bad);
}

static void check_arguments(check_run *run)
{
    if (run->device) /* calls are refused before the arrays are read: tested with host arrays */
        return;
    check_case_begin(run, "arguments", 0);
    double a[8] = {1, 0, 0, 0, 0, 0, 1, 0}, w[2] = {7, 7}, v[8];
    hot_heev_options options = {.size = sizeof options};
#define REFUSED(N)                                                                                           \
    CHECK_ITEM(run, 0, hot_heev_f64(run->context, &options, N, 1, a, w, v, NULL) == HOT_ERROR_ARGUMENT, \
               "line %d was not refused", __LINE__);                                                         \
    options = (hot_heev_options){.size = sizeof options}
    REFUSED(HOT_HEEV_MAX + 1);
    options.largest = 3;
    REFUSED(2);
    options.uplo = (hot_heev_uplo)2;
    REFUSED(2);
    options.size = 3;
    REFUSED(2);
#undef REFUSED
    CHECK_ITEM(run, 0, w[0] == 7, "a refused call wrote values");
    check_call(run, hot_heev_f64(run->context, NULL, 0, 2, NULL, NULL, NULL, NULL));
    check_call(run, hot_heev_f64(run->context, NULL, 3, 0, NULL, NULL, NULL, NULL));
    check_case_end(run);
}

/* Few sizes, small ones, for tools that slow a GPU down a hundredfold. */
static void check_briefly(check_run *run)
{
    static const size_t sizes[] = {1, 3, 7, 12, 16, 31, 64, 81, 132, 259};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            if (!run->cuda && sizes[s] > 100)
                continue;
            check_kind(run, RANDOM, s % 2 == 0, is_complex, sizes[s], sizes[s] > 100 ? 1 : 2, 0, 0);
            if (sizes[s] < 100)
                check_kind(run, REPEATED, 1, is_complex, sizes[s], 1, sizes[s] / 2, 0);
        }
    if (run->cuda) /* by cuSOLVER */
        check_kind(run, RANDOM, 1, 0, 1025, 1, 3, 0);
    check_flags(run, 1, 1, 21, 4);
}

static void check(check_run *run)
{
    const char *brief = getenv("HOT_TEST_BRIEF");
    if (brief && brief[0] == '1') {
        check_briefly(run);
        return;
    }
    /* the GPU reduces by clusters up to 512, which halve at 256 and 128 */
    static const size_t large[] = {96, 127, 128, 129, 160, 200, 255, 256, 257, 300, 385, 511, 512, 513, 1000, 1024};
    /* LAPACK does not care which vectors our own code may use: the other levels take a part. */
    const int full = run->cuda || strcmp(run->backend, "cpu baseline") == 0;
    for (size_t n = 1; n <= 70; n += full ? 1 : 23)
        for (int which = 0; which < KINDS; which++)
            check_kind(run, (kind)which, 1, 1, n, n % 3 + 1, 0, n <= 12 || n == 33);
    static const size_t some[] = {1, 2, 3, 16, 31, 32, 33, 64, 65};
    for (size_t s = 0; s < sizeof some / sizeof some[0]; s += full ? 1 : 3)
        for (int type = 0; type < 3; type++)
            for (int which = 0; which < KINDS; which++) {
                check_kind(run, (kind)which, type == 2, type == 1, some[s], 3, 0, some[s] <= 16);
                if (some[s] > 2)
                    check_kind(run, (kind)which, type == 2, type == 1, some[s], 2, some[s] / 3, 0);
            }
    /* matrices in registers: every size and type, more of them than a block takes */
    for (size_t n = 1; n <= 17 && full; n++)
        for (int type = 0; type < 4; type++)
            for (int which = 0; which < KINDS; which += run->cuda ? 1 : 3)
                check_kind(run, (kind)which, type / 2, type % 2, n, n <= 4 ? 67 : 19, which % 2 ? (n + 1) / 2 : 0,
                           n <= 4);
    /* on the CPU in lanes because there are eight of them */
    for (size_t n = 32; n <= 64 && !run->cuda; n += 8)
        for (int type = 0; type < 4; type++)
            check_kind(run, (kind)(n / 8 % KINDS), type / 2, type % 2, n + n / 32 % 2, 8 + n / 8 % 3, n / 3, 0);
    for (size_t s = 0; s < sizeof large / sizeof large[0] && full; s++) {
        check_kind(run, RANDOM, 1, 1, large[s], large[s] < 130 ? 3 : 1, 0, 0);
        if (large[s] < 512 || run->cuda)
            check_kind(run, (kind)(1 + s % (KINDS - 1)), 1, s % 2 == 0, large[s], 1, 0, 0);
    }
    check_kind(run, RANDOM, 1, 1, 20, 0, 0, 1);
    check_kind(run, RANDOM, 1, 1, 20, 257, 7, 0);
    if (run->cuda) { /* more than are worked on at a time */
        check_kind(run, RANDOM, 1, 1, 130, 150, 5, 0);
        check_kind(run, RANDOM, 0, 0, 130, 150, 5, 0);
        check_kind(run, RANDOM, 1, 1, 260, 40, 5, 0);
        check_kind(run, RANDOM, 0, 1, 300, 3, 0, 0);
        check_kind(run, REPEATED, 0, 0, 512, 2, 0, 0);
        check_flags(run, 1, 1, 140, 7);
        check_flags(run, 0, 0, 270, 4);
    }
    for (int type = 0; type < 4 && run->cuda; type++) /* by cuSOLVER */
        for (int i = 0; i < 3; i++)
            check_kind(run, BLOCKS, type / 2, type % 2, 1030 + 60 * (size_t)i, 1, 0, 0);
    /* on the CPU by pieces of LAPACK, by threads that share a matrix or not; on the GPU by cuSOLVER above 1,024 rows */
    for (int type = 0; type < 4 && full; type++)
        for (int which = run->cuda ? type % 2 : 0; which < KINDS; which += run->cuda ? 2 : 1) {
            const size_t n = run->cuda ? 1025 + 7 * (size_t)which : 512 + (size_t)(which % 3);
            check_kind(run, (kind)which, type / 2, type % 2, n, which % 3 == 1 ? 3 : 1, which % 4 > 1 ? n / 5 : 0, 0);
        }
    if (full)
        check_flags(run, 1, 1, run->cuda ? 1026 : 515, 4);
    if (run->cuda) {
        check_flags(run, 0, 0, 1100, 4);
        check_kind(run, RANDOM, 1, 1, 1500, 2, 0, 0);
        check_kind(run, RANDOM, 1, 0, 2048, 1, 0, 0);
        check_kind(run, RANDOM, 0, 0, HOT_HEEV_MAX, 1, 0, 0);
    }
    check_flags(run, 1, 1, 21, 10);
    check_flags(run, 0, 0, 40, 5);
    for (int type = 0; type < 4; type++)
        for (size_t n = 3; n <= 16; n += n < 5 ? 1 : 4)
            check_flags(run, type / 2, type % 2, n, 40);
    uplo = HOT_HEEV_UPPER;
    static const size_t upper[] = {1, 2, 5, 17, 33, 70, 140, 300, 530, 1027};
    for (size_t s = 0; s < sizeof upper / sizeof upper[0] && full; s++)
        for (int type = 0; type < 4 && (run->cuda || upper[s] < 1000); type++)
            check_kind(run, s % 2 ? RANDOM : GRADED, type / 2, type % 2, upper[s], upper[s] < 100 ? 34 : 1, 0,
                       upper[s] < 20);
    check_flags(run, 1, 1, 21, 10);
    check_flags(run, 0, 1, 40, 5);
    uplo = HOT_HEEV_LOWER;
    if (!run->cuda && full)
        for (int which = 0; which < KINDS; which++) {
            check_own(run, (kind)which, 1);
            check_own(run, (kind)which, 2);
            check_own(run, (kind)which, 37);
            check_own(run, (kind)which, 130);
#if defined(HOT_TESTS_ARITHMETIC)
            for (int type = 0; type < 4; type++)
                for (size_t n = 1; n <= 16; n++)
                    check_arithmetic(run, (kind)which, type / 2, type % 2, n);
#endif
        }
    check_arguments(run);
}

const check_family family_heev = {"heev", 0, 1, check, NULL};

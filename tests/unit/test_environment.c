/* A host with traps, another rounding mode, flushed denormals or a team of threads in that state: results are those of
 * the default floating-point environment, bit for bit, and the host's is restored afterwards and in callbacks. */
#define _GNU_SOURCE /* feenableexcept */
#include "check.h"

#include <fenv.h>
#include <omp.h>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/fem.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/hotfiber.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

enum { NUMBERS = 60000, RESULTS = 300000, THREADS = 3 };

static double x[NUMBERS], denormal[NUMBERS], large[NUMBERS], small[NUMBERS];
static float xf[NUMBERS];

/* How the host's threads are set. */
typedef void environment(void);
static void plain(void) { fesetenv(FE_DFL_ENV); }
#ifdef __GLIBC__
static void traps(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW); }
static void all_traps(void) { feenableexcept(FE_ALL_EXCEPT & ~FE_INEXACT); fesetround(FE_TOWARDZERO); }
#endif
static void upward(void) { fesetround(FE_UPWARD); }
#ifdef __x86_64__
static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
static unsigned state(void) { return _mm_getcsr() & ~0x3fu; }
#else
static unsigned state(void) { return (unsigned)fegetround(); }
#endif

static unsigned outside; /* the host's state, which its callbacks see */

static int progress(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    CHECK(state() == outside, "progress: %#x, not %#x", state(), outside);
    return 0;
}

static void log_line(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level, (void)line;
    CHECK(state() == outside, "log: %#x, not %#x", state(), outside);
}

/* The jobs: results into y, floats as pairs of them. */
typedef hot_status job(hot_context *context, double *y);

static hot_status eigenpairs(hot_context *c, double *y)
{
    const hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
    return hot_eigenpairs_f64(c, &options, 4, 3, 40, x, 15, 0, NULL, 13, y, NULL);
}
static hot_status iterations(hot_context *c, double *y)
{
    return hot_sshopm_f32(c, NULL, 3, 4, 500, xf, 20, 4, xf, (float *)y, (float *)y + 3000, NULL, NULL);
}
static hot_status tridiagonal(hot_context *c, double *y)
{
    return hot_tridiag_f64(c, NULL, 100, 20, x, x + 5000, 100, y, 100, NULL);
}
static hot_status denormal_tridiagonal(hot_context *c, double *y)
{
    return hot_tridiag_f64(c, NULL, 100, 1, denormal, denormal + 150, 100, y, 100, NULL);
}
static hot_status overflowing(hot_context *c, double *y) /* and invalid: what IEEE arithmetic gives */
{
    const size_t stride[3] = {30, 1, 0};
    return hot_contract_matrices_f64(c, NULL, 30, 30, 30, 1, 1, large, stride, large + 900, stride, 0, y, stride);
}
static hot_status underflowing(hot_context *c, double *y)
{
    const size_t stride[3] = {20, 1, 400};
    return hot_contract_matrices_f64(c, NULL, 20, 20, 20, 60, 1, small, stride, small + 24000, stride, 0, y, stride);
}
static hot_status hermitian(hot_context *c, double *y) { return hot_heev_f64(c, NULL, 12, 100, x, y, y + 1200, NULL); }
static hot_status terms(hot_context *c, double *y)
{
    return hot_lowrank_f32(c, NULL, 4, 500, xf, 15, NULL, (float *)y, NULL, NULL);
}
static hot_status maxima(hot_context *c, double *y)
{
    return hot_directions_f32(c, NULL, 6, 500, xf, 28, NULL, (float *)y, NULL);
}
static hot_status clean(hot_context *c, double *y)
{
    const size_t size[3] = {7, 7, 7};
    return hot_denoise_f32(c, NULL, size, 12, xf, NULL, (float *)y, NULL);
}
static hot_status decomposition(hot_context *c, double *y)
{
    const hot_cpd_options options = {.size = sizeof options, .rank = 4, .iterations = 5, .tolerance = HOT_ZERO};
    return hot_cpd_f64(c, &options, 20, 30, 25, x, y, y + 4, y + 100, y + 300, NULL);
}
static hot_status product(hot_context *c, double *y) { return hot_mttkrp_f64(c, 2, 30, 30, 30, 8, x, x, x, x, y); }
static hot_status mass(hot_context *c, double *y)
{
    hot_status status = hot_fem_basis(c, 4, 5, y, y + 40);
    return status == HOT_OK ? hot_fem_mass_action_f64(c, 3, 4, 5, y, 60, x, x + 20000, y + 100) : status;
}
static hot_status weighted(hot_context *c, double *y)
{
    return hot_fit_weighted_f32(c, 30, 10, x, 300, xf, xf + 20000, (float *)y, 10, NULL);
}
static hot_status inverse(hot_context *c, double *y) { return hot_fit_pseudo_inverse(c, 30, 10, x, NULL, y, y + 400); }
static hot_status harmonics(hot_context *c, double *y) { return hot_sh_to_symtensor(c, 8, y); }

static hot_status scores(hot_context *c, const hot_fiber_field *found, const hot_fiber_field *truth, double *y)
{
    hot_score *score = NULL;
    size_t groups = 0;
    const hot_status status = hot_score_create(c, found, truth, NULL, &score);
    const hot_score_group *group = hot_score_groups(score, &groups);
    y[0] = hot_score_mean(score, NULL);
    for (size_t i = 0; i < groups; i++) {
        const double values[] = {group[i].plus, group[i].minus, group[i].error_mean, group[i].error_median,
                                 group[i].error_95};
        memcpy(y + 1 + 5 * i, values, sizeof values);
    }
    hot_score_destroy(&score);
    return status;
}

/* The whole pipeline: simulated, fitted, found by each method. */
static hot_status pipeline(hot_context *c, double *y, const char *model, const char *method)
{
    hot_phantom *phantom = NULL;
    hot_run_fields fields = {0};
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES, .volume = {10, 10, 3},
                                       .directions = 30, .b0 = 3};
    hot_run_options options = {.size = sizeof options};
    const hot_fit_options fit = {.size = sizeof fit, .model = model, .order = 4};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = method};
    options.fit = &fit;
    options.peaks = &peaks;
    hot_status status = hot_phantom_create(c, &shape, &phantom);
    if (status == HOT_OK)
        status = hot_run_compute(c, hot_phantom_dwi(phantom), &options, &fields, NULL);
    if (status == HOT_OK) {
        memcpy(y, hot_fiber_field_peaks(fields.fibers), 300 * 9 * sizeof(float));
        memcpy(y + 2000, hot_tensor_field_values(fields.tensors), 300 * 15 * sizeof(float));
        status = scores(c, fields.fibers, hot_phantom_truth(phantom), y + 5000);
    }
    hot_run_fields_free(&fields);
    hot_phantom_destroy(&phantom);
    return status;
}
static hot_status by_signal(hot_context *c, double *y) { return pipeline(c, y, "fod", "signal"); }
static hot_status by_lowrank(hot_context *c, double *y) { return pipeline(c, y, "odf", "lowrank"); }
static hot_status by_sshopm(hot_context *c, double *y) { return pipeline(c, y, "adc", "sshopm"); }

#define JOB(name) {#name, name}
static const struct { const char *name; job *job; } jobs[] = {
    JOB(eigenpairs), JOB(iterations), JOB(tridiagonal), JOB(denormal_tridiagonal), JOB(overflowing), JOB(underflowing),
    JOB(hermitian), JOB(terms), JOB(maxima), JOB(clean), JOB(decomposition), JOB(product), JOB(mass), JOB(weighted),
    JOB(inverse), JOB(harmonics), JOB(by_signal), JOB(by_lowrank), JOB(by_sshopm)};
enum { JOBS = sizeof jobs / sizeof *jobs };
static double *expected[JOBS];

/* team: the host has had a team of such threads before. */
static void test_environment(const char *name, environment *set, int team)
{
    double *y = malloc(RESULTS * sizeof *y);
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = THREADS,
                                         .seed = 7, .progress = progress, .log = log_line};
    CHECK(y && hot_context_create(&options, &context) == HOT_OK, "context");
    for (int j = 0; j < JOBS; j++) {
        unsigned worker = 0, after = 0;
        memset(y, 0, RESULTS * sizeof *y);
        if (team) {
#pragma omp parallel num_threads(THREADS)
            {
                set();
                if (omp_get_thread_num() == 1)
                    worker = state();
            }
        }
        set();
        fesetenv(FE_DFL_ENV); /* without flags that are raised */
        set();
        outside = state();
        const hot_status status = jobs[j].job(context, y);
        const unsigned now = state();
        const int raised = fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
        if (team) {
#pragma omp parallel num_threads(THREADS)
            if (omp_get_thread_num() == 1)
                after = state();
            CHECK(worker == after, "%s, %s: a thread of the host's has %#x, not %#x", name, jobs[j].name, after,
                  worker);
        }
#pragma omp parallel num_threads(THREADS)
        plain();
        plain();
        CHECK(status == HOT_OK, "%s, %s: %s", name, jobs[j].name, hot_context_message(context));
        CHECK(now == outside, "%s, %s: %#x before, %#x after", name, jobs[j].name, outside, now);
        CHECK(!raised, "%s, %s: flags %#x are raised", name, jobs[j].name, raised);
        if (!expected[j]) {
            expected[j] = y;
            y = malloc(RESULTS * sizeof *y);
        } else {
            size_t differ = 0;
            for (size_t i = 0; i < RESULTS; i++)
                differ += memcmp(&y[i], &expected[j][i], sizeof *y) != 0;
            CHECK(differ == 0, "%s, %s: %zu of the results differ", name, jobs[j].name, differ);
        }
    }
    hot_context_destroy(&context);
    free(y);
}

int main(void)
{
    uint64_t seed = 11;
    for (int i = 0; i < NUMBERS; i++) {
        x[i] = check_random(&seed) - .5;
        xf[i] = (float)check_random(&seed) + .01f;
        denormal[i] = x[i] * 1e-309;
        large[i] = i == 5 ? INFINITY : x[i] * 1e200;
        small[i] = x[i] * 1e-155; /* denormal products */
    }
    test_environment("default", plain, 0);
    size_t some = 0;
    for (int j = 0; j < JOBS; j++)
        for (size_t i = 0; i < RESULTS; i++)
            some += expected[j][i] != 0;
    CHECK(some > 20000, "only %zu results", some);
    for (int team = 0; team < 2; team++) {
        test_environment("upward", upward, team);
#ifdef __GLIBC__
        test_environment("traps", traps, team);
        if (team)
            test_environment("traps, towards zero", all_traps, team);
#endif
#ifdef __x86_64__
        test_environment("flush to zero", flush, team);
#endif
    }
    for (int j = 0; j < JOBS; j++)
        free(expected[j]);
    HOT_TEST_END();
}

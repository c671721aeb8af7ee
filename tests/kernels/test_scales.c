/* Arrays in any unit: every family with its data times a power of two that brings floats to about 1e+-30 and doubles to
 * about 1e+-300. Results must be the same in every bit, times the power if they have the unit of the data; but
 *   heev, tridiag   LAPACK's drivers scale such matrices, by a number that is no power of two
 *   sshopm, eigenpairs of doubles at 2^-990: what is 1e-10 of such values has lost digits, below 2^-1022; the residual
 *   of sshopm is nothing else */
#include <float.h>

#include "check.h"

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/directions.h>
#include <hotfiber/fem.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/msmt.h>
#include <hotfiber/signal.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

enum { COUNT = 12, MOST = 4096 };

static hot_context *context;
static uint64_t seed = 3;

#define RANDOM(to, count)                       \
    for (size_t at_ = 0; at_ < (count); at_++)  \
    (to)[at_] = check_random_normal(&seed)

/* The `count` numbers of `scaled`, which have the unit of the data to the `unit`-th power, are those of `plain`, up to
 * `units` of rounding of the largest. */
#define NEAR(TYPE, BITS, EPSILON)                                                                              \
    static void near_##BITS(const char *what, int power, int unit, double units, size_t count, const TYPE *plain, \
                            const TYPE *scaled)                                                                \
    {                                                                                                          \
        double largest = 0, most = 0;                                                                          \
        for (size_t i = 0; i < count; i++) {                                                                   \
            const double off = fabs(ldexp((double)scaled[i], -unit * power) - (double)plain[i]);               \
            const int none = isnan(plain[i]) && isnan(scaled[i]);                                              \
            largest = none ? largest : fmax(largest, fabs((double)plain[i]));                                  \
            most = none || off <= most ? most : isnan(off) ? INFINITY : off;                                   \
        }                                                                                                      \
        CHECK(most <= units * EPSILON * largest, "f%d %s times 2^%d: %g off of %g", BITS, what, power, most,   \
              largest);                                                                                        \
    }                                                                                                          \
    static void same_##BITS(const char *what, int power, int unit, size_t count, const TYPE *plain,            \
                            const TYPE *scaled)                                                                \
    {                                                                                                          \
        near_##BITS(what, power, unit, 0, count, plain, scaled);                                               \
    }
NEAR(float, 32, (double)FLT_EPSILON)
NEAR(double, 64, DBL_EPSILON)

#define WORKS(call) CHECK((call) == HOT_OK, "%s", hot_context_message(context))

/* Runs `call` on data[0] into a[0], b[0], c[0], and for either power on data[1] into a[1], b[1], c[1]. */
#define FAMILIES(TYPE, BITS)                                                                                    \
    static TYPE data##BITS[2][MOST], a##BITS[2][MOST], b##BITS[2][MOST], c##BITS[2][MOST], d##BITS[2][MOST];     \
    static void scale##BITS(size_t count, int power)                                                            \
    {                                                                                                           \
        for (size_t i = 0; i < count; i++)                                                                      \
            data##BITS[1][i] = (TYPE)ldexp((double)data##BITS[0][i], power);                                    \
    }                                                                                                           \
    static void tensors##BITS(int power)                                                                        \
    {                                                                                                           \
        TYPE starts[3 * 7];                                                                                     \
        int32_t steps[2][COUNT * 7];                                                                            \
        RANDOM(data##BITS[0], COUNT * 15);                                                                      \
        RANDOM(starts, 21);                                                                                     \
        scale##BITS(COUNT * 15, power);                                                                         \
        for (int s = 0; s < 2; s++)                                                                             \
            WORKS(hot_sshopm_f##BITS(context, NULL, 4, 3, COUNT, data##BITS[s], 15, 7, starts, a##BITS[s],      \
                                     b##BITS[s], c##BITS[s], steps[s]));                                        \
        near_##BITS("sshopm: lambda", power, 1, power < -900 ? 16 : 0, COUNT * 7, a##BITS[0], a##BITS[1]); \
        near_##BITS("sshopm: x", power, 0, power < -900 ? 16 : 0, COUNT * 21, b##BITS[0], b##BITS[1]); \
        for (int i = 0; i < COUNT * 7; i++) /* at 2^-990 it is of the size of what doubles leave off: 2^-1074 */ \
            CHECK_NEAR(ldexp((double)c##BITS[1][i], -power), c##BITS[0][i], power < -900 ? 1e-14 : 0,           \
                       "sshopm times 2^%d", power);                                                             \
    }                                                                                                           \
    static void matrices##BITS(int power)                                                                       \
    {                                                                                                           \
        enum { N = 9 };                                                                                         \
        int64_t found[2][COUNT];                                                                                \
        RANDOM(data##BITS[0], COUNT * N * N * 2);                                                               \
        scale##BITS(COUNT * N * N * 2, power);                                                                  \
        for (int pairs = 0; pairs < 2; pairs++)     {                                                         \
            for (int s = 0; s < 2; s++)                                                                         \
                WORKS((pairs ? hot_heev_f##BITS : hot_syev_f##BITS)(context, NULL, N, COUNT, data##BITS[s],   \
                                                                      a##BITS[s], b##BITS[s], NULL));           \
            for (int s = 0; s < 2; s++) /* sign and phase are arbitrary */                                         \
            for (size_t i = 0; i < COUNT * N * N; i++)                                                         \
                b##BITS[s][i] = (TYPE)(pairs ? hypot((double)b##BITS[s][2 * i], (double)b##BITS[s][2 * i + 1]) \
                                             : fabs((double)b##BITS[s][i]));                                   \
            near_##BITS("heev: values", power, 1, N, COUNT * N, a##BITS[0], a##BITS[1]);                           \
            near_##BITS("heev: vectors", power, 0, 16 * N, COUNT * N * N, b##BITS[0], b##BITS[1]);                     \
        }                                                                                                       \
        for (int s = 0; s < 2; s++)                                                                             \
            WORKS(hot_tridiag_f##BITS(context, NULL, N, COUNT, data##BITS[s], data##BITS[s] + COUNT * N, N,     \
                                      a##BITS[s], N, found[s]));                                                \
        near_##BITS("tridiag", power, 1, N, COUNT * N, a##BITS[0], a##BITS[1]);                                    \
    }                                                                                                           \
    static void products##BITS(int power)                                                                       \
    {                                                                                                           \
        enum { N = 6, R = 2 };                                                                                  \
        const size_t stride[3] = {N, 1, N * N};                                                                 \
        RANDOM(data##BITS[0], COUNT * N * N);                                                                   \
        RANDOM(d##BITS[0], COUNT * N * N);                                                                      \
        scale##BITS(COUNT * N * N, power);                                                                      \
        for (int s = 0; s < 2; s++)                                                                             \
            WORKS(hot_contract_matrices_f##BITS(context, NULL, N, N, N, COUNT, 1, data##BITS[s], stride,        \
                                                d##BITS[0], stride, 0, a##BITS[s], stride));                    \
        same_##BITS("contract", power, 1, COUNT * N * N, a##BITS[0], a##BITS[1]);                               \
        for (int s = 0; s < 2; s++) /* 3 nodes, 4 points, 2 dimensions */                                       \
            WORKS(hot_fem_mass_action_f##BITS(context, 2, 3, 4, d##BITS[0], COUNT, d##BITS[0], data##BITS[s],   \
                                              a##BITS[s]));                                                     \
        same_##BITS("fem", power, 1, COUNT * 9, a##BITS[0], a##BITS[1]);                                        \
        for (int s = 0; s < 2; s++)                                                                             \
            MTTKRP##BITS(N, R, data##BITS[s], a##BITS[s]);                                                      \
        same_##BITS("mttkrp", power, 1, N * R, a##BITS[0], a##BITS[1]);                                         \
        hot_cpd_options options = {.size = sizeof options, .rank = R, .iterations = 20};                        \
        hot_cpd_report report[2];                                                                               \
        TYPE lambda[2][R];                                                                                      \
        for (int s = 0; s < 2; s++)                                                                             \
            WORKS(hot_cpd_f##BITS(context, &options, N, N, N, data##BITS[s], lambda[s], a##BITS[s], b##BITS[s], \
                                  c##BITS[s], report + s));                                                     \
        for (int i = 0; i < R; i++)                                                                             \
            CHECK_NEAR(ldexp((double)lambda[1][i], -power), lambda[0][i], 0, "cpd times 2^%d", power);  \
        CHECK_NEAR(report[0].fit, report[1].fit, 0, "cpd times 2^%d: fit", power);                           \
    }

#define MTTKRP32(n, r, x, to) \
    WORKS(hot_mttkrp_f32(context, 0, 1, n, n, n, r, x, d32[0], d32[0] + 40, d32[0] + 80, to))
#define MTTKRP64(n, r, x, to) WORKS(hot_mttkrp_f64(context, 1, n, n, n, r, x, d64[0], d64[0] + 40, d64[0] + 80, to))
FAMILIES(float, 32)
FAMILIES(double, 64)

static void eigenpairs(int power)
{
    int32_t found[2][COUNT];
    const hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
    RANDOM(data64[0], COUNT * 15);
    scale64(COUNT * 15, power);
    for (int s = 0; s < 2; s++)
        WORKS(hot_eigenpairs_f64(context, &options, 4, 3, COUNT, data64[s], 15, 0, NULL, 13, a64[s], found[s]));
    CHECK(memcmp(found[0], found[1], sizeof found[0]) == 0, "eigenpairs times 2^%d: their number", power);
    for (size_t row = 0; row < COUNT * 13; row++) {
        near_64("eigenpairs: lambda", power, 1, power < 0 ? 4 : 0, 1, a64[0] + 6 * row, a64[1] + 6 * row);
        near_64("eigenpairs: x", power, 0, power < 0 ? 16 : 0, 3, a64[0] + 6 * row + 1, a64[1] + 6 * row + 1);
    }
    for (size_t t = 0; t < COUNT; t++) {
        const double x[3] = {0.3, -0.5, 0.7};
        for (int s = 0; s < 2; s++)
            b64[s][0] = hot_symtensor_gradient_f64(4, 3, data64[s] + 15 * t, x, b64[s] + 1);
        same_64("symtensor", power, 1, 4, b64[0], b64[1]);
    }
}

static void forms(int power)
{
    uint8_t found[2][COUNT];
    RANDOM(data32[0], COUNT * 15);
    scale32(COUNT * 15, power);
    for (size_t starts = 0; starts <= 64; starts += 64) {
        const hot_directions_options options = {.size = sizeof options, .starts = starts};
        for (int s = 0; s < 2; s++)
            WORKS(hot_directions_f32(context, &options, 4, COUNT, data32[s], 15, NULL, a32[s], found[s]));
        same_32(starts ? "directions from starts" : "directions", power, 1, COUNT * 9, a32[0], a32[1]);
    }
    for (int exact = 0; exact < 2; exact++) {
        const hot_lowrank_options options = {.size = sizeof options, .exact_rank = exact};
        for (int s = 0; s < 2; s++)
            WORKS(hot_lowrank_f32(context, &options, 4, COUNT, data32[s], 15, NULL, a32[s], found[s], b32[s]));
        for (int i = 0; i < COUNT * 9; i++)
            CHECK_NEAR(ldexp((double)a32[1][i], -power), a32[0][i], 0, "lowrank");
        same_32("lowrank: residual", power, 0, COUNT, b32[0], b32[1]);
    }
}

static void fits(int power)
{
    enum { ROWS = 20, COLUMNS = 6 };
    double design[ROWS * COLUMNS], scaled[ROWS * COLUMNS], inverse[2][ROWS * COLUMNS];
    RANDOM(design, ROWS * COLUMNS);
    RANDOM(data32[0], COUNT * ROWS);
    for (int i = 0; i < COUNT * ROWS; i++)
        b32[0][i] = (float)(0.1 + check_random(&seed)), b32[1][i] = ldexpf(b32[0][i], power);
    scale32(COUNT * ROWS, power);
    for (int s = 0; s < 2; s++)
        WORKS(hot_fit_linear_f32(context, COLUMNS, ROWS, design, COUNT, data32[s], ROWS, a32[s], COLUMNS));
    same_32("fit: linear", power, 1, COUNT * COLUMNS, a32[0], a32[1]);
    for (int s = 0; s < 2; s++)
        WORKS(hot_fit_weighted_f32(context, ROWS, COLUMNS, design, COUNT, data32[s], b32[0], a32[s], COLUMNS, NULL));
    same_32("fit: weighted", power, 1, COUNT * COLUMNS, a32[0], a32[1]);
    for (int s = 0; s < 2; s++)
        WORKS(hot_fit_weighted_f32(context, ROWS, COLUMNS, design, COUNT, data32[0], b32[s], a32[s], COLUMNS, NULL));
    same_32("fit: weights", power, 0, COUNT * COLUMNS, a32[0], a32[1]);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        scaled[i] = ldexp(design[i], power * 9);
    for (int s = 0; s < 2; s++)
        WORKS(hot_fit_pseudo_inverse(context, ROWS, COLUMNS, s ? scaled : design, NULL, inverse[s], NULL));
    same_64("fit: pseudo-inverse", power * 9, -1, ROWS * COLUMNS, inverse[0], inverse[1]);
}

static void images(int power)
{
    enum { VOLUMES = 12 };
    const size_t size[3] = {4, 4, 4};
    for (int i = 0; i < 64 * VOLUMES; i++)
        data32[0][i] = (float)(100 * (i % VOLUMES + 1) + check_random_normal(&seed));
    scale32(64 * VOLUMES, power);
    for (int s = 0; s < 2; s++)
        WORKS(hot_denoise_f32(context, NULL, size, VOLUMES, data32[s], NULL, a32[s], b32[s]));
    same_32("denoise", power, 1, 64 * VOLUMES, a32[0], a32[1]);
    for (int i = 0; i < 64; i++)
        CHECK_NEAR(ldexp((double)b32[1][i], -power), b32[0][i], 0, "noise %g, %g times 2^%d",
                   (double)b32[0][i], (double)b32[1][i], power);
}

static void tissues(int power)
{
    enum { ROWS = 30, TERMS = 6, TISSUES = 1 };
    double design[ROWS * (TERMS + TISSUES)];
    RANDOM(design, ROWS * (TERMS + TISSUES));
    RANDOM(data32[0], COUNT * ROWS);
    scale32(COUNT * ROWS, power);
    for (int constraint = 0; constraint < 3; constraint++) {
        const hot_msmt_problem problem = {.size = sizeof problem, .order = 2, .tissues = TISSUES, .rows = ROWS,
                                          .design = design, .constraint = (hot_constraint)constraint};
        for (int s = 0; s < 2; s++)
            WORKS(hot_msmt_f32(context, &problem, COUNT, data32[s], ROWS, NULL, a32[s], TERMS, b32[s], NULL, NULL));
        for (int i = 0; i < COUNT * TERMS; i++)
            CHECK_NEAR(ldexp((double)a32[1][i], -power), a32[0][i], 0,
                       "msmt, constraint %d, times 2^%d", constraint, power);
    }
}

int main(void)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU};
    CHECK(hot_context_create(&how, &context) == HOT_OK, "context");
    for (int sign = -1; sign <= 1; sign += 2) {
        tensors32(100 * sign), matrices32(100 * sign), products32(100 * sign);
        tensors64(990 * sign), matrices64(990 * sign), products64(990 * sign);
        eigenpairs(990 * sign);
        forms(100 * sign);
        fits(100 * sign);
        images(100 * sign);
        tissues(100 * sign);
    }
    hot_context_destroy(&context);
    HOT_TEST_END();
}

/* A call on the CPU checks for cancellation many times within one large item, and then stops: otherwise a job of one
 * large matrix or tensor could not be ended. How often is counted, not timed. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

#include <time.h>

typedef struct asked {
    long times, until; /* answers yes from the until-th time on; 0: never */
} asked;

static int stop(void *user)
{
    asked *self = user;
    long now;
#pragma omp atomic capture
    now = ++self->times;
    return self->until && now >= self->until;
}

static double *random_numbers(size_t count)
{
    uint64_t seed = 3;
    double *x = malloc(count * sizeof *x);
    CHECK(x != NULL, "no memory");
    for (size_t i = 0; x && i < count; i++)
        x[i] = check_random(&seed) - 0.5;
    return x;
}

/* The jobs: about a tenth of a second each. x: the operands; y: results. */
typedef hot_status job(hot_context *context, const double *x, double *y);

static hot_status one_tridiagonal(hot_context *context, const double *x, double *y)
{
    return hot_tridiag_f64(context, NULL, 4000, 1, x, x + 4000, 4000, y, 4000, NULL);
}
static hot_status medium_tridiagonals(hot_context *context, const double *x, double *y)
{
    return hot_tridiag_f64(context, NULL, 1000, 12, x, x + 12000, 1000, y, 1000, NULL);
}
static hot_status matrices(hot_context *context, const double *x, double *y)
{
    return hot_heev_f64(context, NULL, 150, 8, x, y, y + 2000, NULL);
}
static hot_status product(hot_context *context, const double *x, double *y)
{
    const size_t stride[3] = {1000, 1, 0};
    return hot_contract_matrices_f64(context, NULL, 1000, 1000, 1000, 1, 1, x, stride, x + 1000000, stride, 0, y,
                                     stride);
}
static hot_status mttkrp(hot_context *context, const double *x, double *y)
{
    return hot_mttkrp_f64(context, 1, 150, 150, 150, 20, x, x, x + 3000, x + 6000, y);
}
static hot_status decomposition(hot_context *context, const double *x, double *y)
{
    const hot_cpd_options options = {.size = sizeof options, .rank = 20, .iterations = 1, .tolerance = HOT_ZERO};
    return hot_cpd_f64(context, &options, 150, 150, 150, x, y, y + 20, y + 3020, y + 6020, NULL);
}

static hot_status run(job *what, asked *how_often, const double *x, double *y)
{
    const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .threads = 2, .stop = stop,
                                          .stop_user = how_often};
    hot_context *context = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "no context");
    const hot_status status = what(context, x, y);
    hot_context_destroy(&context);
    return status;
}

/* ---- One item that takes seconds or more: asked again and again, and stopped. The time is that of the calling thread,
 * and the limit is many times the promised one: other programs do not matter. */
static struct {
    double last, longest, limit;
    long asked;
} meter;

static double thread_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int stop_at_limit(void *user)
{
    (void)user;
    const double now = thread_time();
    meter.longest = fmax(meter.longest, now - meter.last);
    meter.last = now;
    meter.asked++;
    return now > meter.limit;
}

static hot_status pairs(hot_context *context, int order, int dim, const double *x, double *y)
{
    const hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
    return hot_eigenpairs_f64(context, &options, order, dim, 1, x, hot_symtensor_count(order, dim), 0, NULL, 100, y,
                              NULL);
}
static hot_status pairs_4_6(hot_context *c, const double *x, double *y) { return pairs(c, 4, 6, x, y); }
static hot_status pairs_8_6(hot_context *c, const double *x, double *y) { return pairs(c, 8, 6, x, y); }
static hot_status pairs_16_3(hot_context *c, const double *x, double *y) { return pairs(c, 16, 3, x, y); }
static hot_status pairs_12_11(hot_context *c, const double *x, double *y) { return pairs(c, 12, 11, x, y); }
static hot_status one_start(hot_context *context, int order, int dim, hot_shift shift, const double *x, double *y)
{
    const hot_sshopm_options options = {.size = sizeof options, .shift = shift, .tolerance = HOT_ZERO,
                                        .max_iterations = INT32_MAX};
    return hot_sshopm_f64(context, &options, order, dim, 1, x, hot_symtensor_count(order, dim), 1, x, y, y + 1, NULL,
                          NULL);
}
static hot_status start_8_12(hot_context *c, const double *x, double *y)
{
    return one_start(c, 8, 12, HOT_SHIFT_ADAPTIVE, x, y);
}
static hot_status start_5_9(hot_context *c, const double *x, double *y)
{
    return one_start(c, 5, 9, HOT_SHIFT_NONE, x, y);
}
static hot_status start_12_11(hot_context *c, const double *x, double *y)
{
    return one_start(c, 12, 11, HOT_SHIFT_NONE, x, y);
}
static hot_status start_4_3(hot_context *c, const double *x, double *y)
{
    return one_start(c, 4, 3, HOT_SHIFT_NONE, x, y);
}
static hot_status start_4_6(hot_context *c, const double *x, double *y)
{
    return one_start(c, 4, 6, HOT_SHIFT_ADAPTIVE, x, y);
}
static hot_status matrix_1024(hot_context *c, const double *x, double *y)
{
    return hot_syev_f64(c, NULL, 1024, 1, x, y, y + 1024, NULL);
}
static hot_status rows_2000000(hot_context *c, const double *x, double *y)
{
    return hot_tridiag_f64(c, NULL, 2000000, 1, x, x + 2000000, 2000000, y, 2000000, NULL);
}
static hot_status rank_900(hot_context *c, const double *x, double *y)
{
    const hot_cpd_options options = {.size = sizeof options, .rank = 900, .iterations = 50, .tolerance = HOT_ZERO};
    return hot_cpd_f64(c, &options, 1000, 30, 30, x, y, y + 900, y + 901000, y + 930000, NULL);
}
static hot_status inverse(hot_context *c, const double *x, double *y)
{
    return hot_fit_pseudo_inverse(c, 1500, 1000, x, NULL, y, y + 1600000);
}
static hot_status volumes_1000(hot_context *c, const double *x, double *y)
{
    const size_t size[3] = {15, 15, 15};
    return hot_denoise_f32(c, NULL, size, 1000, (const float *)x, NULL, (float *)y, NULL);
}

static void test_large(const double *x, double *y)
{
    static const struct { const char *name; job *job; } large[] = {
        {"eigenpairs, order 4, dim 6", pairs_4_6}, {"eigenpairs, order 8, dim 6", pairs_8_6},
        {"eigenpairs, order 16, dim 3", pairs_16_3}, {"eigenpairs, order 12, dim 11", pairs_12_11},
        {"one start, order 8, dim 12", start_8_12}, {"one start, order 12, dim 11", start_12_11},
        {"one start, order 5, dim 9", start_5_9},
        {"one start, order 4, dim 3", start_4_3}, {"one start, order 4, dim 6", start_4_6},
        {"a matrix of 1024 rows", matrix_1024}, {"a tridiagonal matrix of 2,000,000 rows", rows_2000000},
        {"CP of rank 900", rank_900}, {"a pseudo-inverse of 1500 x 1000", inverse},
        {"denoising 1000 volumes", volumes_1000}};
    for (int device = 0; device < 2; device++) /* the reference can be stopped, too, where it is slow */
        for (size_t i = 0; i < (device ? 9 : sizeof large / sizeof *large); i++) {
            const hot_context_options settings = {.size = sizeof settings, .threads = 1, .stop = stop_at_limit,
                                                  .device = device ? HOT_DEVICE_REFERENCE : HOT_DEVICE_CPU};
            hot_context *context = NULL;
            CHECK(hot_context_create(&settings, &context) == HOT_OK, "no context");
            meter.last = thread_time();
            meter.longest = 0;
            meter.limit = meter.last + .15;
            meter.asked = 0;
            const hot_status status = large[i].job(context, x, y);
            const double end = thread_time() - meter.last;
            CHECK(status == HOT_ERROR_CANCELLED || status == HOT_OK, "%s: %s", large[i].name,
                  hot_context_message(context));
            CHECK(fmax(meter.longest, end) < 1.5, "%s: %.1f s between two polls", large[i].name,
                  fmax(meter.longest, end));
            if (getenv("HOT_TEST_TALK"))
                printf("%-45s %5ld polls, longest %6.1f ms\n", large[i].name, meter.asked,
                       1e3 * fmax(meter.longest, end));
            hot_context_destroy(&context);
        }
}

int main(void)
{
    static const struct { const char *name; job *job; long least; } jobs[] = {
        {"one tridiagonal matrix", one_tridiagonal, 100}, {"tridiagonal matrices", medium_tridiagonals, 12},
        {"matrices", matrices, 8}, {"a product", product, 3}, {"MTTKRP", mttkrp, 10}, {"CP", decomposition, 30}};
    double *x = random_numbers(4000000), *y = random_numbers(4000000);
    for (size_t i = 0; x && y && i < sizeof jobs / sizeof *jobs; i++) {
        asked never = {0, 0}, soon = {0, 2};
        CHECK(run(jobs[i].job, &never, x, y) == HOT_OK, "%s: failed", jobs[i].name);
        CHECK(never.times >= jobs[i].least, "%s: asked %ld times, at least %ld expected", jobs[i].name, never.times,
              jobs[i].least);
        CHECK(run(jobs[i].job, &soon, x, y) == HOT_ERROR_CANCELLED, "%s: not cancelled", jobs[i].name);
        CHECK(soon.times <= 4, "%s: asked %ld times after it was cancelled", jobs[i].name, soon.times - 2);
    }
    if (x && y)
        test_large(x, y);
    FREE(x, y);
    HOT_TEST_END();
}

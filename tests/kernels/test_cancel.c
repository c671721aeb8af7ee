/* A call on the CPU asks whether it is cancelled many times within one large item, and then stops: otherwise nobody
 * could end the job of one large matrix or tensor. How often is counted, not timed. */
#include "check.h"

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/heev.h>
#include <hotfiber/tridiag.h>

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
    free(x);
    free(y);
    HOT_TEST_END();
}

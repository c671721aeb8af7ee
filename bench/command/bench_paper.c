/* hotfiber bench paper: the sizes of the five papers' tables, arrays of the host in and out, with the paper's time as a
 * further figure where its text states one (docs/papers.md). On the CPU unless --device cuda is given. */
#include <stdio.h>
#include <string.h>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/heev.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

#include "bench.h"
#include "common/context_internal.h"

typedef struct paper_job {
    size_t n, count;
    void *a, *b, *c, *d;
    int iterations;  /* SS-HOPM: exactly so many, or 0: the paper's stop */
    hot_context *context;
} paper_job;

static hot_status sshopm(hot_context *unused, void *user)
{
    const paper_job *job = user;
    const hot_sshopm_options options = {.size = sizeof options, .shift = HOT_SHIFT_NONE,
                                        .tolerance = job->iterations ? HOT_ZERO : 0,
                                        .change = job->iterations ? 0 : 1e-6, .max_iterations = job->iterations};
    (void)unused;
    return hot_sshopm_f32(job->context, &options, 4, 3, job->count, job->a, 15, 128, job->b, job->c, job->d, NULL,
                          NULL);
}

static hot_status heev(hot_context *unused, void *user)
{
    const paper_job *job = user;
    (void)unused;
    return hot_heev_f64(job->context, NULL, job->n, job->count, job->a, job->b, job->c, NULL);
}

static hot_status tridiag(hot_context *unused, void *user)
{
    const paper_job *job = user;
    const hot_tridiag_options options = {.size = sizeof options, .absolute = 1e-5};
    (void)unused;
    return hot_tridiag_f32(job->context, &options, job->n, 1, job->a, job->b, job->n, job->c, job->n, NULL);
}

static hot_status products(hot_context *unused, void *user)
{
    const paper_job *job = user;
    const size_t stride[3] = {job->n, 1, job->n * job->n};
    (void)unused;
    return hot_contract_matrices_f64(job->context, NULL, job->n, job->n, job->n, job->count, 1, job->a, stride, job->b,
                                     stride, 0, job->c, stride);
}

static hot_status cpd(hot_context *unused, void *user)
{
    const paper_job *job = user;
    const hot_cpd_options options = {.size = sizeof options, .rank = job->n / 10, .iterations = 10,
                                     .tolerance = HOT_ZERO};
    float *factors = job->c;
    const size_t factor = job->n * options.rank;
    (void)unused;
    return hot_cpd_f32(job->context, &options, job->n, job->n, job->n, job->a, job->b, factors, factors + factor,
                       factors + 2 * factor, NULL);
}

typedef struct paper_case {
    const char *name, *paper; /* paper: whose time it is, "" if it states none */
    bench_body body;
    size_t n, count;
    int iterations, gpu;      /* gpu: only there, since a CPU takes minutes */
    double seconds;           /* the paper's; 0: none in its text */
    size_t values[4];         /* numbers in a, b, c, d */
    int f32;
} paper_case;

static const paper_case cases[] = {
    {"SS-HOPM, 1,024 x 128, to the stop", "C2050, s", sshopm, 3, 1024, 0, 0, 1.9e-3,
     {1024 * 15, 128 * 3, 1024 * 128, 1024 * 128 * 3}, 1},
    {"SS-HOPM, 1,024 x 128, 50 steps", "", sshopm, 3, 1024, 50, 0, 0,
     {1024 * 15, 128 * 3, 1024 * 128, 1024 * 128 * 3}, 1},
    {"Hermitian 64 x 180", "M2070, s", heev, 64, 180, 0, 0, 45.1e-3,
     {2 * 64 * 64 * 180, 64 * 180, 2 * 64 * 64 * 180, 1}, 0},
    {"Hermitian 128 x 180", "M2070, s", heev, 128, 180, 0, 0, 263.9e-3,
     {2 * 128 * 128 * 180, 128 * 180, 2 * 128 * 128 * 180, 1}, 0},
    {"Hermitian 256 x 180", "M2070, s", heev, 256, 180, 0, 1, 1979.8e-3,
     {2 * 256 * 256 * 180, 256 * 180, 2 * 256 * 256 * 180, 1}, 0},
    {"Hermitian 512 x 180", "M2070, s", heev, 512, 180, 0, 1, 15183.5e-3,
     {2 * 512 * 512 * 180, 512 * 180, 2 * 512 * 512 * 180, 1}, 0},
    {"tridiagonal 2,048, to 1e-5", "its GPU, s", tridiag, 2048, 1, 0, 0, 11.679418e-3, {2048, 2048, 2048, 1}, 1},
    {"products 8 x 8, 100,000", "", products, 8, 100000, 0, 0, 0, {6400000, 6400000, 6400000, 1}, 0},
    {"CP 100^3, rank 10, ten iterations", "", cpd, 100, 1, 0, 0, 0, {1000000, 10, 3000, 1}, 1},
    {"CP 200^3, rank 20, ten iterations", "", cpd, 200, 1, 0, 0, 0, {8000000, 20, 12000, 1}, 1},
};

static hot_status run_case(hot_context *context, const bench_options *options, bench_report *report,
                           const paper_case *c, hot_context *own, const char *backend)
{
    bench_memory memory = {0};
    paper_job job = {.n = c->n, .count = c->count, .iterations = c->iterations, .context = own};
    void **const arrays[4] = {&job.a, &job.b, &job.c, &job.d};
    for (int i = 0; i < 4; i++)
        *arrays[i] = c->f32 ? (void *)bench_alloc_f32(context, &memory, c->values[i])
                            : (void *)bench_alloc_f64(context, &memory, c->values[i]);
    bench_row *row;
    hot_status status = memory.failed ? HOT_ERROR_MEMORY
                                      : bench_measure_row(context, options, report, c->name, backend,
                                                          (double)c->count, "items", c->body, &job, &row);
    if (status == HOT_OK && c->seconds > 0) {
        bench_note(row, c->paper, c->seconds);
        bench_note(row, "ratio", c->seconds / row->seconds);
    }
    bench_free(context, &memory);
    return status;
}

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    const int gpu = hot_context_device(context) == HOT_DEVICE_CUDA;
    hot_context_options how = {.size = sizeof how, .device = gpu ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU,
                               .device_number = gpu ? hot_context_device_number(context) : 0,
                               .threads = hot_context_threads(context)};
    hot_context *own = NULL;
    if (hot_context_create(&how, &own) != HOT_OK)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    hot_status status = HOT_OK;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && status == HOT_OK; i++)
        if (gpu || !cases[i].gpu)
            status = run_case(context, options, report, &cases[i], own, gpu ? "cuda" : "cpu");
    hot_context_destroy(&own);
    return status;
}

const bench_entry bench_paper = {"paper", "the sizes of the five papers, beside their times (docs/papers.md)", run};

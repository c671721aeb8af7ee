/* hotfiber bench heev: eigenvalues and eigenvectors of batches of complex Hermitian matrices; --peer cusolver times its
 * XsyevBatched as well. */
#include <hotfiber/heev.h>
#include <stdio.h>

#include "common/flow.h"
#include "bench/kernels/heev_measure.h"
#include "core/random.h"
#include "bench.h"

typedef struct heev_job {
    size_t n, count;
    double *matrices, *values, *vectors;
} heev_job;

static hot_status body(hot_context *context, void *user)
{
    heev_job *job = user;
    return hot_heev_f64(context, NULL, job->n, job->count, job->matrices, job->values, job->vectors, NULL);
}

/* With all arrays in the GPU's memory. */
static hot_status measure_resident(hot_context *context, bench_report *report, const heev_job *job,
                                   hot_heev_solver solver, const char *name)
{
    enum { REPEATS = 9 };
    double seconds[REPEATS];
    HOT_TRY(hot_heev_measure(context, solver, job->n, job->count, REPEATS, seconds));
    const double median = bench_median(seconds, REPEATS); /* sorts them */
    bench_row *row = bench_add_measured(report, name, solver == HOT_HEEV_OURS ? "cuda, resident" : "cusolver", median,
                                        seconds[0], REPEATS, (double)job->count, "matrices");
    row->slowest = seconds[REPEATS - 1];
    return HOT_OK;
}

static hot_status measure(hot_context *context, const bench_options *options, bench_report *report, heev_job *job,
                          int gpu)
{
    char name[64];
    hot_status status = HOT_OK;
    snprintf(name, sizeof name, "%zu x %zu, values and vectors", job->n, job->count);
    if (gpu)
        status = measure_resident(context, report, job, HOT_HEEV_OURS, name);
    if (gpu && options->peer && status == HOT_OK)
        status = measure_resident(context, report, job, HOT_HEEV_CUSOLVER, name);
    return status == HOT_OK ? bench_measure_row(context, options, report, name, gpu ? "cuda" : "cpu",
                                                (double)job->count, "matrices", body, job, NULL)
                            : status;
}

static hot_status run_heev(hot_context *context, const bench_options *options, bench_report *report)
{
    static const struct { size_t n, count; } jobs[] = {{32, 1000}, {64, 180}, {128, 180}, {128, 1000}, {256, 180},
                                                       {512, 180}};
    const hot_device device = hot_context_device(context);
    double probe;
    const int gpu = device != HOT_DEVICE_CPU && hot_heev_measure(context, HOT_HEEV_OURS, 2, 1, 1, &probe) == HOT_OK;
    if (device == HOT_DEVICE_CUDA && !gpu)
        return HOT_ERROR_DEVICE;
    hot_status status = bench_check_peer(context, options, "cusolver");
    if (status == HOT_OK && options->peer && !gpu)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "--peer cusolver needs a GPU, and there is none here");
    for (size_t j = 0; j < (gpu ? 6 : 3) && status == HOT_OK; j++) {
        const size_t usual = gpu ? jobs[j].count : jobs[j].count / 4;
        heev_job job = {.n = jobs[j].n, .count = options->count ? options->count : usual};
        const size_t numbers = job.count * job.n * job.n;
        bench_memory memory = {0};
        job.matrices = bench_alloc(context, &memory, numbers, 2 * sizeof *job.matrices);
        job.vectors = bench_alloc(context, &memory, numbers, 2 * sizeof *job.vectors);
        job.values = bench_alloc(context, &memory, job.count, job.n * sizeof *job.values);
        status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
        hot_random random = hot_random_start(hot_context_seed(context), 0, j);
        for (size_t k = 0; k < numbers && status == HOT_OK; k++) /* the lower triangle is what counts */
            hot_random_normals(&random, &job.matrices[2 * k], &job.matrices[2 * k + 1]);
        if (status == HOT_OK)
            status = measure(context, options, report, &job, gpu);
        bench_free(context, &memory);
    }
    return status;
}

const bench_entry bench_heev = {"heev", "eigenvalues and eigenvectors of complex Hermitian matrices; --peer cusolver",
                                run_heev};

/* hotfiber bench heev: batches of complex Hermitian matrices, values and vectors */
#include <hotfiber/heev.h>
#include <stdio.h>

#include "../../kernels/heev/heev_measure.h"
#include "../common/random.h"
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

/* On the GPU from its memory to its memory, then from the host's to the host's. */
static hot_status measure(hot_context *context, const bench_options *options, bench_report *report, heev_job *job, int gpu)
{
    enum { REPEATS = 9 };
    char name[64];
    double seconds[REPEATS];
    snprintf(name, sizeof name, "%zu x %zu, values and vectors", job->n, job->count);
    if (gpu) {
        hot_status status = hot_heev_measure(context, job->n, job->count, REPEATS, seconds);
        if (status != HOT_OK)
            return status;
        bench_row *row = bench_add(report, name, "cuda, resident");
        row->seconds = bench_median(seconds, REPEATS);
        row->fastest = seconds[0];
        row->slowest = seconds[REPEATS - 1];
        row->repeats = REPEATS;
        row->items = (double)job->count;
        row->item = "matrices";
    }
    bench_row *row = bench_add(report, name, gpu ? "cuda" : "cpu");
    row->items = (double)job->count;
    row->item = "matrices";
    return bench_measure(context, options, body, job, row);
}

static hot_status run_heev(hot_context *context, const bench_options *options, bench_report *report)
{
    static const struct { size_t n, count; } jobs[] = {{32, 1000}, {64, 180}, {128, 180}, {128, 1000}, {256, 180}, {512, 180}};
    const hot_device device = hot_context_device(context);
    double probe;
    const int gpu = device != HOT_DEVICE_CPU && hot_heev_measure(context, 2, 1, 1, &probe) == HOT_OK;
    if (device == HOT_DEVICE_CUDA && !gpu)
        return HOT_ERROR_DEVICE;
    hot_status status = HOT_OK;
    for (size_t j = 0; j < (gpu ? 6 : 3) && status == HOT_OK; j++) {
        heev_job job = {.n = jobs[j].n, .count = options->count ? options->count : gpu ? jobs[j].count : jobs[j].count / 4};
        const size_t numbers = job.count * job.n * job.n;
        job.matrices = hot_context_alloc(context, numbers, 2 * sizeof *job.matrices);
        job.vectors = hot_context_alloc(context, numbers, 2 * sizeof *job.vectors);
        job.values = hot_context_alloc(context, job.count, job.n * sizeof *job.values);
        status = job.matrices && job.vectors && job.values ? HOT_OK : HOT_ERROR_MEMORY;
        hot_random random = hot_random_start(hot_context_seed(context), 0, j);
        for (size_t k = 0; k < numbers && status == HOT_OK; k++) /* the lower triangle is what counts */
            hot_random_normals(&random, &job.matrices[2 * k], &job.matrices[2 * k + 1]);
        if (status == HOT_OK)
            status = measure(context, options, report, &job, gpu);
        hot_context_free(context, job.matrices);
        hot_context_free(context, job.vectors);
        hot_context_free(context, job.values);
    }
    return status;
}

const bench_entry bench_heev = {"heev", "batches of complex Hermitian matrices, double precision", run_heev};

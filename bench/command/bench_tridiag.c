/* hotfiber bench tridiag: all eigenvalues of one symmetric tridiagonal matrix, FP32 to 1e-5 and FP64 to
 * 1e-13 of the norm. */
#include <hotfiber/tridiag.h>
#include <math.h>
#include <stdio.h>

#include "core/random.h"
#include "bench.h"

typedef struct tridiag_job {
    hot_tridiag_options options;
    size_t n;
    int f64;
    double *a, *b, *values;
    float *a32, *b32, *values32;
} tridiag_job;

static hot_status body(hot_context *context, void *user)
{
    tridiag_job *job = user;
    return job->f64
        ? hot_tridiag_f64(context, &job->options, job->n, 1, job->a, job->b, job->n, job->values, job->n, NULL)
        : hot_tridiag_f32(context, &job->options, job->n, 1, job->a32, job->b32, job->n, job->values32, job->n, NULL);
}

static hot_status run_tridiag(hot_context *context, const bench_options *options, bench_report *report)
{
    static const size_t sizes[] = {2048, 4096, 8192, 16384};
    const size_t largest = options->count ? options->count : sizes[3];
    tridiag_job job = {.options.size = sizeof job.options};
    bench_memory memory = {0};
    job.a = bench_alloc(context, &memory, largest, sizeof *job.a);
    job.b = bench_alloc(context, &memory, largest, sizeof *job.b);
    job.values = bench_alloc(context, &memory, largest, sizeof *job.values);
    job.a32 = bench_alloc(context, &memory, largest, sizeof *job.a32);
    job.b32 = bench_alloc(context, &memory, largest, sizeof *job.b32);
    job.values32 = bench_alloc(context, &memory, largest, sizeof *job.values32);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
    hot_random random = hot_random_start(hot_context_seed(context), 0, 0);
    for (size_t i = 0; i < largest && status == HOT_OK; i++) {
        hot_random_normals(&random, &job.a[i], &job.b[i]);
        job.a32[i] = (float)job.a[i];
        job.b32[i] = (float)job.b[i];
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && status == HOT_OK; s++) {
        if (s > 1 && hot_context_device_used(context) != HOT_DEVICE_CUDA)
            break; /* seconds each on a CPU */
        for (job.f64 = 0; job.f64 < 2 && status == HOT_OK; job.f64++) {
            char name[64];
            double norm = 0;
            job.n = options->count ? options->count : sizes[s];
            for (size_t i = 0; i < job.n; i++)
                norm = fmax(norm, fabs(job.a[i]) + fabs(job.b[i]) + (i ? fabs(job.b[i - 1]) : 0));
            job.options.absolute = (job.f64 ? 1e-13 : 1e-5) * norm;
            snprintf(name, sizeof name, "n %zu, all, %s", job.n, job.f64 ? "FP64 to 1e-13" : "FP32 to 1e-5");
            bench_row *row;
            status =
                bench_measure_row(context, options, report, name, "cpu", (double)job.n, "values", body, &job, &row);
            if (hot_context_device_used(context) == HOT_DEVICE_CUDA)
                snprintf(row->backend, sizeof row->backend, "cuda");
            if (options->count && job.f64)
                s = sizeof sizes / sizeof sizes[0];
        }
    }
    bench_free(context, &memory);
    return status;
}

const bench_entry bench_tridiag = {"tridiag", "all eigenvalues of a symmetric tridiagonal matrix, host to host",
                                   run_tridiag};

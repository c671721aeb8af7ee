/* hotfiber bench cpd: products of a cube with two factors, and ten iterations of the decomposition. */
#include <cpd/cpd_measure.h>
#include <stdio.h>

#include "bench.h"

typedef struct cpd_job {
    int mode; /* 0: the decomposition */
    size_t n, rank;
    float *x, *f, *out, *lambda;
} cpd_job;

static hot_status body(hot_context *context, void *user)
{
    const cpd_job *job = user;
    const size_t n = job->n, each = n * job->rank;
    const hot_cpd_options options = {.size = sizeof options, .rank = job->rank, .iterations = 10, .tolerance = -1};
    if (job->mode)
        return hot_mttkrp_f32(context, HOT_CPD_FULL, job->mode, n, n, n, job->rank, job->x, job->f, job->f + each,
                              job->f + 2 * each, job->out);
    return hot_cpd_f32(context, &options, n, n, n, job->x, job->lambda, job->f, job->f + each, job->f + 2 * each, NULL);
}

static float *values(hot_context *context, size_t count)
{
    float *made = hot_context_alloc(context, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++)
        made[i] = .1f + .7f * (float)(i * 2654435761u % 1000003u) / 1000003.f;
    return made;
}

static hot_status cpu_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const size_t sizes[] = {100, 200, 400};
    hot_status status = HOT_OK;
    for (size_t s = 0; s < (options->count ? 1 : 3) && status == HOT_OK; s++) {
        const size_t n = options->count ? options->count : sizes[s], rank = n / 10 ? n / 10 : 1;
        cpd_job job = {.n = n, .rank = rank, .x = values(context, n * n * n), .f = values(context, 3 * n * rank),
                       .out = values(context, n * rank), .lambda = values(context, rank)};
        status = job.x && job.f && job.out && job.lambda ? HOT_OK : HOT_ERROR_MEMORY;
        for (int mode = 1; mode <= 4 && status == HOT_OK; mode++) {
            char name[64];
            job.mode = mode % 4;
            snprintf(name, sizeof name,
                     mode < 4 ? "%zu^3, rank %zu, FP32, product, mode %d" : "%zu^3, rank %zu, FP32, 10 iterations", n,
                     rank, mode);
            bench_row *row = bench_add(report, name, "cpu");
            status = bench_measure(context, options, body, &job, row);
            row->flops = (mode < 4 ? 2. : 40.) * (double)(n * n * n * rank);
            row->peak = bench_peak_f32(hot_context_threads(context));
        }
        hot_context_free(context, job.x);
        hot_context_free(context, job.f);
        hot_context_free(context, job.out);
        hot_context_free(context, job.lambda);
    }
    return status;
}

static hot_status cuda_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const size_t sizes[] = {100, 200, 400, 800, 1200};
    static const char *const names[] = {"FP32", "TF32", "split"};
    const double seconds = options->seconds > 0 ? options->seconds : .3;
    const int peer = options->peer != NULL;
    hot_status status = HOT_OK;
    for (size_t s = 0; s < (options->count ? 1 : 5) && status == HOT_OK; s++)
        for (int arithmetic = HOT_CPD_FULL; arithmetic <= HOT_CPD_SPLIT && status == HOT_OK; arithmetic++) {
            const size_t n = options->count ? options->count : sizes[s], rank = n / 10 ? n / 10 : 1;
            hot_cpd_bench *bench = NULL;
            status = hot_cpd_bench_create(context, n, rank, (hot_cpd_arithmetic)arithmetic, &bench);
            for (int mode = 1; mode <= 4 && status == HOT_OK; mode++) {
                double median = 0, error = 0;
                char name[64];
                status = hot_cpd_bench_run(context, bench, mode % 4, seconds, &median, &error);
                if (status != HOT_OK)
                    break;
                snprintf(name, sizeof name,
                         mode < 4 ? "%zu^3, rank %zu, %s, product, mode %d" : "%zu^3, rank %zu, %s, 10 iterations", n,
                         rank, names[arithmetic], mode);
                bench_row *row = bench_add(report, name, "cuda");
                row->seconds = row->fastest = row->slowest = median;
                row->flops = (mode < 4 ? 2. : 40.) * (double)(n * n * n * rank);
                if (mode < 4)
                    bench_note(row, "error", error);
                /* In float one product and a sum is our own way, too. */
                const int one = arithmetic == HOT_CPD_TF32;
                if (peer && (one ? mode < 4 : (mode == 1 || mode == 3) && arithmetic == HOT_CPD_FULL)) {
                    status = hot_cpd_bench_peer(context, bench, mode, one ? HOT_CPD_ONE_FACTOR : HOT_CPD_KHATRI_RAO,
                                                seconds, &median);
                    bench_row *other = bench_add(report, name, "cublas");
                    other->seconds = other->fastest = other->slowest = median;
                }
            }
            hot_cpd_bench_destroy(context, &bench);
        }
    return status;
}

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    return bench_gpu_or_cpu(context, options, report, cuda_rows, cpu_rows);
}

const bench_entry bench_cpd = {
    "cpd", "CP decomposition of cubes of rank a tenth of the side: products and ten iterations", run};

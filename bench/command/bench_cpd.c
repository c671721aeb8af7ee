/* hotfiber bench cpd: MTTKRP of a cube, from its floats and from a hot_mttkrp_tensor, and ten iterations of the
 * decomposition. */
#include "bench/kernels/cpd_measure.h"
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
    const hot_cpd_options options = {.size = sizeof options, .rank = job->rank, .iterations = 10,
                                     .tolerance = HOT_ZERO};
    if (job->mode)
        return hot_mttkrp_f32(context, HOT_CPD_FULL, job->mode, n, n, n, job->rank, job->x, job->f, job->f + each,
                              job->f + 2 * each, job->out);
    return hot_cpd_f32(context, &options, n, n, n, job->x, job->lambda, job->f, job->f + each, job->f + 2 * each, NULL);
}

static hot_status cpu_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const size_t sizes[] = {100, 200, 400};
    hot_status status = HOT_OK;
    for (size_t s = 0; s < (options->count ? 1 : 3) && status == HOT_OK; s++) {
        const size_t n = options->count ? options->count : sizes[s], rank = n / 10 ? n / 10 : 1;
        bench_memory memory = {0};
        cpd_job job = {.n = n, .rank = rank};
        job.x = bench_alloc_f32(context, &memory, n * n * n);
        job.f = bench_alloc_f32(context, &memory, 3 * n * rank);
        job.out = bench_alloc_f32(context, &memory, n * rank);
        job.lambda = bench_alloc_f32(context, &memory, rank);
        status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
        for (int mode = 1; mode <= 4 && status == HOT_OK; mode++) {
            bench_row *row;
            char name[64];
            job.mode = mode % 4;
            snprintf(name, sizeof name,
                     mode < 4 ? "%zu^3, rank %zu, FP32, product, mode %d" : "%zu^3, rank %zu, FP32, 10 iterations", n,
                     rank, mode);
            status = bench_measure_row(context, options, report, name, "cpu", 0, NULL, body, &job, &row);
            row->flops = (mode < 4 ? 2. : 40.) * (double)(n * n * n * rank);
            row->peak = bench_peak_f32(hot_context_threads(context));
        }
        bench_free(context, &memory);
    }
    return status;
}

/* Products of one cube in one arithmetic, from its floats and from a hot_mttkrp_tensor, and ten iterations. */
static hot_status cube_rows(hot_context *context, hot_cpd_bench *bench, size_t n, hot_cpd_arithmetic arithmetic,
                            double seconds, int peer, bench_report *report)
{
    static const char *const names[] = {"FP32", "TF32", "split"};
    const size_t rank = n / 10 ? n / 10 : 1;
    hot_status status = HOT_OK;
    for (int kept = 0; kept < (arithmetic == HOT_CPD_FULL ? 1 : 2); kept++)
        for (int mode = 1; mode <= 3 && status == HOT_OK; mode++) {
            double median = 0, with = 0, error = 0;
            char name[96];
            status = hot_cpd_bench_run(context, bench, mode, kept, seconds, &median, &error);
            if (status == HOT_OK)
                status = hot_cpd_bench_run(context, bench, mode, kept | HOT_CPD_AND_FACTORS, seconds, &with, NULL);
            if (status != HOT_OK)
                break;
            snprintf(name, sizeof name, "%zu^3, rank %zu, %s, %s, mode %d", n, rank, names[arithmetic],
                     !kept                         ? "from floats"
                     : arithmetic == HOT_CPD_SPLIT ? "kept floats"
                                                   : "kept halves",
                     mode);
            bench_row *row = bench_add_measured(report, name, "cuda", median, median, 0, 0, NULL);
            row->flops = 2. * (double)(n * n * n * rank);
            bench_note(row, "error", error);
            bench_note(row, "with_factors", with);
            /* In FP32 our own product is that of cuBLAS with one factor and a sum with the other. */
            if (peer && arithmetic == HOT_CPD_TF32) {
                status = hot_cpd_bench_cublas(context, bench, mode, HOT_CPD_CUBLAS_GEMM, seconds, &median);
                bench_add_measured(report, name, "cublas", median, median, 0, 0, NULL);
                if (status == HOT_OK && kept) {
                    status = hot_cpd_bench_cublas(context, bench, mode, HOT_CPD_CUBLAS_GEMM_HALF, seconds, &median);
                    bench_add_measured(report, name, "cublas, halves", median, median, 0, 0, NULL);
                }
            } else if (peer && arithmetic == HOT_CPD_FULL && mode != 2) {
                status = hot_cpd_bench_cublas(context, bench, mode, HOT_CPD_CUBLAS_KHATRI_RAO, seconds, &median);
                bench_add_measured(report, name, "cublas", median, median, 0, 0, NULL);
            }
        }
    double median = 0;
    if (status == HOT_OK)
        status = hot_cpd_bench_run(context, bench, 0, 0, seconds, &median, NULL);
    if (status == HOT_OK) {
        char name[96];
        snprintf(name, sizeof name, "%zu^3, rank %zu, %s, 10 iterations", n, rank, names[arithmetic]);
        bench_row *row = bench_add_measured(report, name, "cuda", median, median, 0, 0, NULL);
        row->flops = 40. * (double)(n * n * n * rank);
    }
    return status;
}

static hot_status cuda_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const size_t sizes[] = {100, 200, 400, 800, 1200};
    const double seconds = options->seconds > 0 ? options->seconds : .3;
    hot_status status = HOT_OK;
    for (size_t s = 0; s < (options->count ? 1 : 5) && status == HOT_OK; s++)
        for (int arithmetic = HOT_CPD_FULL; arithmetic <= HOT_CPD_SPLIT && status == HOT_OK; arithmetic++) {
            const size_t n = options->count ? options->count : sizes[s], rank = n / 10 ? n / 10 : 1;
            hot_cpd_bench *bench = NULL;
            status = hot_cpd_bench_create(context, n, rank, (hot_cpd_arithmetic)arithmetic, &bench);
            if (status == HOT_OK)
                status = cube_rows(context, bench, n, (hot_cpd_arithmetic)arithmetic, seconds, options->peer != NULL,
                                   report);
            hot_cpd_bench_destroy(context, &bench);
        }
    return status;
}

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    return bench_gpu_or_cpu(context, options, report, cuda_rows, cpu_rows);
}

const bench_entry bench_cpd = {
    "cpd", "CP decomposition of cubes, rank a tenth of the side: MTTKRP and ten iterations; --peer cublas", run};

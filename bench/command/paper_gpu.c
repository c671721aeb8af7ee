/* hotfiber bench paper, the rows of a GPU: see paper.h. */
#include <math.h>
#include <stdio.h>

#include <hotfiber/tridiag.h>

#include "common/flow.h"
#include "bench/kernels/contract_measure.h"
#include "bench/kernels/cpd_measure.h"
#include "bench/kernels/gpu_machine.h"
#include "bench/kernels/heev_measure.h"
#include "bench/kernels/sshopm_measure.h"
#include "bench/kernels/tridiag_measure.h"
#include "paper.h"

enum { REPEATS = 7, STARTS = 128 };

/* Measured once: what the arithmetic needs is compared with it. */
static const hot_gpu_peaks *known_peaks(hot_context *context)
{
    static hot_gpu_peaks peaks;
    if (peaks.f32 <= 0 && hot_gpu_measure_peaks(context, &peaks) != HOT_OK)
        peaks.f32 = 0;
    return &peaks;
}

static double row_seconds(const bench_options *options) { return options->seconds < .05 ? options->seconds : .05; }

/* A missing library becomes a row without a time; other failures end the benchmark. */
static hot_status absent(hot_context *context, bench_report *report, const paper_case *c, const char *backend,
                         hot_status status)
{
    if (status != HOT_ERROR_DEVICE)
        return status;
    bench_row *row = bench_add(report, c->name, backend);
    snprintf(row->missing, sizeof row->missing, "%s", hot_context_message(context));
    return HOT_OK;
}

static hot_status sshopm(hot_context *context, const bench_options *options, bench_report *report, const paper_case *c)
{
    const int steps = c->argument;
    const struct {
        const char *backend;
        hot_sshopm_algorithm algorithm;
        double change; /* the paper's stop; 0: the residual's */
        int peer;
    } ways[] = {{steps ? "cuda" : "cuda, residual 5e-6", HOT_ALGORITHM_GNOMONIC, 0, 0},
                {steps ? "cuda, any shape" : "cuda, any shape, change 1e-6", HOT_ALGORITHM_GENERAL, 1e-6, 0},
                {steps ? "the paper's kernel" : "the paper's kernel, change 1e-6", HOT_ALGORITHM_PAPER, 1e-6, 1}};
    hot_sshopm_bench *bench = NULL;
    hot_status status = hot_sshopm_bench_create(context, 4, c->count, STARTS, &bench);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && status == HOT_OK; i++) {
        hot_sshopm_figure figure;
        if (ways[i].peer && !paper_wants(options, "paper"))
            continue;
        status = hot_sshopm_bench_run(context, bench, ways[i].algorithm, steps, 5e-6, steps ? 0 : ways[i].change,
                                      row_seconds(options), &figure);
        if (status != HOT_OK)
            break;
        bench_row *row = paper_row(report, c, ways[i].backend, figure.seconds, figure.fastest, figure.repeats);
        const double all = figure.iterations * (double)c->count * STARTS, peak = known_peaks(context)->f32;
        row->items = (double)c->count, row->item = "tensors";
        row->floor = peak > 0 && steps ? PAPER_STEP_SLOTS * all / peak : 0;
        bench_note(row, "steps", figure.iterations);
        bench_note(row, "agreement of converged starts", figure.limited_agreement);
        if (ways[i].algorithm == HOT_ALGORITHM_GENERAL && c->seconds > 0)
            row->paper_seconds = 35e-3; /* its general code */
    }
    hot_sshopm_bench_destroy(context, &bench);
    return status;
}

static hot_status heev(hot_context *context, const bench_options *options, bench_report *report, const paper_case *c)
{
    hot_status status = HOT_OK;
    for (int peer = 0; peer < 2 && status == HOT_OK; peer++) {
        const char *backend = peer ? "cusolver" : "cuda";
        double seconds[REPEATS];
        if (peer && !paper_wants(options, backend))
            break;
        status = hot_heev_measure(context, peer ? HOT_HEEV_CUSOLVER : HOT_HEEV_OURS, c->n, c->count, REPEATS, seconds);
        if (status == HOT_OK) {
            const double median = bench_median(seconds, REPEATS); /* sorts them */
            paper_row(report, c, backend, median, seconds[0], REPEATS)->items = (double)c->count;
        } else if (peer) {
            status = absent(context, report, c, backend, status);
        }
    }
    return status;
}

/* Plain bisection, its values compared with those of our CPU code. */
static hot_status bisection(hot_context *context, bench_report *report, const paper_case *c, const double *a,
                            const double *b, double absolute)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU};
    const hot_tridiag_options exact = {.size = sizeof exact, .absolute = absolute};
    double seconds[REPEATS], largest = 0;
    hot_context *own = NULL;
    bench_memory memory = {0};
    float *found = bench_alloc_f32(context, &memory, c->n);
    double *values = bench_alloc_f64(context, &memory, c->n);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : hot_context_create(&how, &own);
    if (status == HOT_OK)
        status = hot_gpu_bisect(context, c->n, a, b, absolute, REPEATS, seconds, found);
    if (status == HOT_OK)
        status = hot_tridiag_f64(own, &exact, c->n, 1, a, b, c->n, values, c->n, NULL);
    for (size_t i = 0; i < c->n && status == HOT_OK; i++) {
        const double difference = fabs(values[i] - found[i]);
        largest = difference <= largest ? largest : difference; /* NaN stays */
    }
    if (status == HOT_OK && !(largest <= 2 * absolute + 1e-5)) /* 1e-5: float's rounding in sums of so many terms */
        status = hot_context_fail(context, HOT_ERROR_DATA, "bisection is off by %g, not %g at most", largest, absolute);
    if (status == HOT_OK) {
        const double median = bench_median(seconds, REPEATS);
        bench_note(paper_row(report, c, "bisection", median, seconds[0], REPEATS), "difference", largest);
    }
    hot_context_destroy(&own);
    bench_free(context, &memory);
    return status;
}

static hot_status tridiag(hot_context *context, const bench_options *options, bench_report *report,
                          const paper_case *c)
{
    double seconds[REPEATS], absolute = 1;
    bench_memory memory = {0};
    double *a = bench_alloc_f64(context, &memory, c->n), *b = bench_alloc_f64(context, &memory, c->n);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
    for (int digit = 0; digit < c->argument; digit++)
        absolute *= .1;
    for (size_t i = 0; i < c->n && status == HOT_OK; i++) /* about the paper's interval, -2.9 to 2.9 */
        a[i] = 2.5 * (a[i] - .45), b[i] = 2.5 * (b[i] - .45);
    if (status == HOT_OK)
        status = hot_tridiag_measure(context, 0, c->n, a, b, absolute, REPEATS, seconds);
    if (status == HOT_OK) {
        const double median = bench_median(seconds, REPEATS);
        paper_row(report, c, "cuda", median, seconds[0], REPEATS);
    }
    if (status == HOT_OK && paper_wants(options, "bisection"))
        status = bisection(context, report, c, a, b, absolute);
    bench_free(context, &memory);
    return status;
}

static hot_status products(hot_context *context, const bench_options *options, bench_report *report,
                           const paper_case *c)
{
    hot_contract_figure figure;
    HOT_TRY(hot_contract_bench(context, 1, c->n, c->count, 0, row_seconds(options), &figure));
    bench_row *row = paper_row(report, c, "cuda", figure.seconds, figure.fastest, 0);
    row->flops = 2. * (double)(c->n * c->n * c->n * c->count);
    row->floor = figure.floor;
    if (!paper_wants(options, "cublas"))
        return HOT_OK;
    hot_status status = hot_contract_bench_cublas(context, 1, c->n, c->count, row_seconds(options), &figure);
    if (status != HOT_OK)
        return absent(context, report, c, "cublas", status);
    row = paper_row(report, c, "cublas", figure.seconds, figure.fastest, 0);
    row->flops = 2. * (double)(c->n * c->n * c->n * c->count);
    return HOT_OK;
}

static hot_status mass(hot_context *context, const bench_options *options, bench_report *report, const paper_case *c)
{
    hot_contract_figure figure;
    size_t elements = 0;
    const hot_status status = hot_fem_bench(context, 1, c->argument, c->n + 1, c->n + 1, c->kind == PAPER_ASSEMBLY, 300,
                                            row_seconds(options), &elements, &figure);
    if (status == HOT_OK) {
        bench_row *row = paper_row(report, c, "cuda", figure.seconds, figure.fastest, 0);
        row->items = (double)elements, row->item = "elements";
        row->floor = figure.floor;
    }
    return status;
}

/* One arithmetic: 0 float, 1 TF32. */
static hot_status cube(hot_context *context, const bench_options *options, bench_report *report, const paper_case *c,
                       int tf32)
{
    const char *const backend = tf32 ? "cuda, TF32" : "cuda, FP32";
    const char *const peer = tf32 ? "cublas, TF32" : "cublas, FP32";
    const int mode = c->kind == PAPER_CP ? 0 : c->argument;
    const size_t rank = c->n / 10;
    hot_cpd_bench *bench = NULL;
    double median = 0;
    hot_status status = hot_cpd_bench_create(context, c->n, rank, tf32 ? HOT_CPD_TF32 : HOT_CPD_FULL, &bench);
    if (status == HOT_OK)
        status = hot_cpd_bench_run(context, bench, mode, mode ? HOT_CPD_AND_FACTORS : 0, row_seconds(options), &median,
                                   NULL);
    if (status == HOT_OK) {
        bench_row *row = paper_row(report, c, backend, median, median, 0);
        row->flops = (mode ? 2. : 6. * c->argument) * (double)(c->n * c->n * c->n * rank);
        double read = 0; /* of the tensor, once for a product */
        if (hot_cpd_bench_read(context, bench, sizeof(float), row_seconds(options), &read) == HOT_OK && mode)
            row->floor = read;
    }
    /* float: the unfolding times the Khatri-Rao product in memory, where the tensor is its own unfolding; TF32: a
     * product with one factor, summed with the other */
    if (status == HOT_OK && mode && (tf32 || mode != 2) && paper_wants(options, "cublas")) {
        status = hot_cpd_bench_cublas(context, bench, mode, tf32 ? HOT_CPD_CUBLAS_GEMM : HOT_CPD_CUBLAS_KHATRI_RAO,
                                      row_seconds(options), &median);
        if (status == HOT_OK)
            paper_row(report, c, peer, median, median, 0);
        else
            status = absent(context, report, c, peer, status);
    }
    hot_cpd_bench_destroy(context, &bench);
    return status;
}

hot_status paper_gpu_rows(hot_context *context, const bench_options *options, bench_report *report,
                          const paper_case *c)
{
    hot_status status = HOT_OK;
    switch (c->kind) {
    case PAPER_SSHOPM: return sshopm(context, options, report, c);
    case PAPER_HEEV: return heev(context, options, report, c);
    case PAPER_TRIDIAG: return tridiag(context, options, report, c);
    case PAPER_PRODUCTS: return products(context, options, report, c);
    case PAPER_ACTION:
    case PAPER_ASSEMBLY: return mass(context, options, report, c);
    case PAPER_MTTKRP:
    case PAPER_CP:
        for (int tf32 = 1; tf32 >= 0 && status == HOT_OK; tf32--)
            status = cube(context, options, report, c, tf32);
    }
    return status;
}

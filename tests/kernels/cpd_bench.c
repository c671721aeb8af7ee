/* The checker's benchmarks of the CP decomposition and its products: on the GPU beside cuBLAS, and on one core. */
#include "values.h"

#include "bench/kernels/cpd_measure.h"
#include "common/context_internal.h"
#include <hotfiber/cpd.h>

void check_cpd_bench(check_run *run);

/* One side and arithmetic: products from floats, those from a kept tensor, ten iterations. */
static hot_status bench_rows(check_run *run, hot_cpd_bench *bench, size_t n, size_t rank, int arithmetic)
{
    static const char *const names[] = {"float", "TF32", "split"};
    const double s = run->seconds, values = (double)(n * n * n);
    double empty = 0, median, error;
    char what[100], note[240];
    hot_status status = hot_cpd_bench_read(run->context, bench, 0, s, &empty);
    for (int kept = 0; kept < (arithmetic == HOT_CPD_FULL ? 1 : 2) && status == HOT_OK; kept++) {
        const int half = kept && arithmetic == HOT_CPD_TF32;
        double reading = 0;
        status = hot_cpd_bench_read(run->context, bench, half ? 2 : 4, s, &reading);
        for (int mode = 1; mode <= 3 && status == HOT_OK; mode++) {
            double with = 0, turn = 0, peer = 0, peer_half = 0, khatri_rao = 0;
            status = hot_cpd_bench_run(run->context, bench, mode, kept, s, &median, &error);
            if (status == HOT_OK)
                status = hot_cpd_bench_run(run->context, bench, mode, kept | HOT_CPD_AND_FACTORS, s, &with, NULL);
            if (status != HOT_OK)
                break;
            int at = snprintf(note, sizeof note, "error %.1e, %.0f GB/s; with factors %.4f, reading %.4f, empty %.4f",
                              error, 1e-9 * (half ? 2 : 4) * values / median, 1e3 * with, 1e3 * reading, 1e3 * empty);
            if (arithmetic == HOT_CPD_TF32 && hot_cpd_bench_cublas(run->context, bench, mode, HOT_CPD_CUBLAS_GEMM, s,
                                                                   &peer) == HOT_OK)
                at += snprintf(note + at, sizeof note - (size_t)at, ", cuBLAS TF32 %.4f", 1e3 * peer);
            if (half && mode == 3 && hot_cpd_bench_run(run->context, bench, 4, kept | HOT_CPD_AND_FACTORS, s, &turn,
                                                       NULL) == HOT_OK)
                at += snprintf(note + at, sizeof note - (size_t)at, ", modes in turn %.4f", 1e3 * turn);
            if (half && hot_cpd_bench_cublas(run->context, bench, mode, HOT_CPD_CUBLAS_GEMM_HALF, s, &peer_half) ==
                            HOT_OK)
                at += snprintf(note + at, sizeof note - (size_t)at, ", halves %.4f", 1e3 * peer_half);
            if (!kept && mode != 2 && arithmetic != HOT_CPD_SPLIT &&
                hot_cpd_bench_cublas(run->context, bench, mode, HOT_CPD_CUBLAS_KHATRI_RAO, s, &khatri_rao) == HOT_OK)
                snprintf(note + at, sizeof note - (size_t)at, ", with Khatri-Rao %.4f ms", 1e3 * khatri_rao);
            snprintf(what, sizeof what, "%zu^3, rank %zu, %s, %s, mode %d", n, rank, names[arithmetic],
                     !kept ? "from floats" : half ? "kept halves" : "kept floats", mode);
            check_report(run, what, median, 1, note);
        }
    }
    snprintf(what, sizeof what, "%zu^3, rank %zu, %s, 10 iterations", n, rank, names[arithmetic]);
    if (status == HOT_OK && check_wanted(run, what)) {
        status = hot_cpd_bench_run(run->context, bench, 0, 0, s, &median, NULL);
        if (status == HOT_OK)
            check_report(run, what, median, 1, "");
    }
    return status;
}

static void bench_cuda(check_run *run)
{
    static const size_t sides[] = {100, 200, 400, 800, 1200};
    static const char *const names[] = {"float", "TF32", "split"};
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++)
        for (int arithmetic = HOT_CPD_FULL; arithmetic <= HOT_CPD_SPLIT; arithmetic++) {
            hot_cpd_bench *bench = NULL;
            const size_t n = sides[s], rank = n / 10;
            char what[80];
            snprintf(what, sizeof what, "%zu^3, rank %zu, %s", n, rank, names[arithmetic]);
            if (!check_wanted(run, what))
                continue;
            hot_status status = hot_cpd_bench_create(run->context, n, rank, (hot_cpd_arithmetic)arithmetic, &bench);
            if (status == HOT_OK)
                status = bench_rows(run, bench, n, rank, arithmetic);
            if (status != HOT_OK)
                printf("  %s: %s\n", what, hot_context_message(run->context));
            hot_cpd_bench_destroy(run->context, &bench);
        }
}

static void bench_cpu(check_run *run)
{
    const size_t n = 200, rank = 20, total = n * n * n;
    const hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    hot_context *one = NULL;
    if (hot_context_create(&settings, &one) != HOT_OK)
        return;
    hot_context_set_cpu_limit(one, hot_context_cpu_limit(run->context));
    double *x = normals(run, total), *f = normals(run, 3 * n * rank), *out = normals(run, n * rank);
    for (int mode = 1; mode <= 3; mode++) {
        double fastest = 1e9;
        char what[80], note[80];
        for (double begin = check_now(); check_now() - begin < run->seconds || fastest == 1e9;) {
            const double before = check_now();
            if (hot_mttkrp_f64(one, mode, n, n, n, rank, x, f, f + n * rank, f + 2 * n * rank, out) != HOT_OK)
                break;
            fastest = fmin(fastest, check_now() - before);
        }
        snprintf(what, sizeof what, "200^3, rank 20, f64, product, mode %d, 1 thread", mode);
        snprintf(note, sizeof note, "%.1f GFLOP/s", 2e-9 * (double)(total * rank) / fastest);
        check_report(run, what, fastest, 1, note);
    }
    hot_context_destroy(&one);
    FREE(x, f, out);
}

void check_cpd_bench(check_run *run)
{
    if (run->cuda)
        bench_cuda(run);
    else
        bench_cpu(run);
}

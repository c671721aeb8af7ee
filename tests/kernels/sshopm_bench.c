/* The checker's benchmarks of SS-HOPM: every algorithm on the GPU, and one core. */
#include "sshopm_cases.h"

#include "common/context_internal.h"
#include "bench/kernels/sshopm_measure.h"

static void bench_cuda(check_run *run)
{
    const struct {
        const char *name;
        hot_sshopm_algorithm algorithm;
        int iterations;
        double tolerance, change;
    } jobs[] = {
        {"paper, 50 iterations", HOT_ALGORITHM_PAPER, 50, 1e-5, 0},
        {"gnomonic, 50 iterations", HOT_ALGORITHM_GNOMONIC, 50, 1e-5, 0},
        {"paper, change 1e-6", HOT_ALGORITHM_PAPER, 0, 1e-5, 1e-6},
        {"gnomonic, residual 1e-5", HOT_ALGORITHM_GNOMONIC, 0, 5e-6, 0},
        {"gnomonic, residual 1e-6", HOT_ALGORITHM_GNOMONIC, 0, 1e-6, 0},
        {"gnomonic, residual 1e-3 (like change 1e-6)", HOT_ALGORITHM_GNOMONIC, 0, 1e-3, 0},
        {"general, residual 1e-5", HOT_ALGORITHM_GENERAL, 0, 5e-6, 0},
    };
    const struct { int order; size_t count; } sizes[] = {{4, 1024}, {4, 65536}, {4, 1048576}, {6, 262144}, {8, 262144}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        hot_sshopm_bench *bench = NULL;
        char what[80], note[240];
        int wanted = 0;
        for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
            snprintf(what, sizeof what, "order %d, %zu x 128, %s", sizes[s].order, sizes[s].count, jobs[j].name);
            wanted |= check_wanted(run, what);
        }
        if (!wanted)
            continue;
        if (hot_sshopm_bench_create(run->context, sizes[s].order, sizes[s].count, 128, &bench) != HOT_OK) {
            printf("  no benchmark: %s\n", hot_context_message(run->context));
            return;
        }
        for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
            hot_sshopm_figure figure;
            snprintf(what, sizeof what, "order %d, %zu x 128, %s", sizes[s].order, sizes[s].count, jobs[j].name);
            if (!check_wanted(run, what))
                continue;
            hot_status status = hot_sshopm_bench_run(run->context, bench, jobs[j].algorithm, jobs[j].iterations,
                                                     jobs[j].tolerance, jobs[j].change, run->seconds, &figure);
            snprintf(
                note, sizeof note,
                "%.4f agree (of %.4f with a limit %.4f), %.4f residual <= 1e-5 (%.4f), %.1f iterations, %.0f GFLOP/s%s",
                figure.agreement, figure.limited, figure.limited_agreement, figure.settled, figure.limited_settled,
                figure.iterations,
                1e-9 * hot_sshopm_flops(sizes[s].order) * figure.iterations * 128 * (double)sizes[s].count /
                    figure.seconds,
                status == HOT_OK ? "" : hot_context_message(run->context));
            check_report(run, what, figure.seconds, (double)sizes[s].count, note);
        }
        hot_sshopm_bench_destroy(run->context, &bench);
    }
}

/* One core: 50 fixed iterations, and to convergence. */
static void bench_cpu(check_run *run)
{
    hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    hot_context *one = NULL;
    if (hot_context_create(&settings, &one) != HOT_OK)
        return;
    hot_context_set_cpu_limit(one, hot_context_cpu_limit(run->context));
    for (int order = 4; order <= 8; order += 2)
        for (int job = 0; job < 2; job++) {
            check_case_begin(run, "bench", 500);
            problem p = make_problem(run, order, 3, 0, 500, 128);
            hot_sshopm_options options = {.size = sizeof options, .shift = HOT_SHIFT_NONE,
                                          .tolerance = job ? 1e-5 : HOT_ZERO,
                                          .max_iterations = job ? 1000 : 50};
            double best = 1e9, steps = 0;
            for (double begin = check_now(); check_now() - begin < run->seconds / 4 || best == 1e9;) {
                double before = check_now();
                if (call(one, &options, &p) != HOT_OK)
                    break;
                best = fmin(best, check_now() - before);
            }
            for (size_t i = 0; i < 500 * 128; i++)
                steps += abs(p.iterations[i]);
            char what[80], note[80];
            snprintf(what, sizeof what, "order %d, 500 x 128, %s, 1 thread", order,
                     job ? "residual 1e-5" : "50 iterations");
            snprintf(note, sizeof note, "%.1f GFLOP/s that a plain step needs",
                     1e-9 * hot_sshopm_flops(order) * steps / best);
            check_report(run, what, best, 500, note);
            check_case_end(run);
        }
    hot_context_destroy(&one);
}

void check_sshopm_bench(check_run *run)
{
    if (run->cuda)
        bench_cuda(run);
    else
        bench_cpu(run);
}

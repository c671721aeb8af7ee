/* hotfiber bench sshopm: SS-HOPM from many starts, on the CPU and on the GPU; --algorithm paper for the
 * one of Ballard, Kolda and Plantenga (2011). */
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/cpu.h"
#include "bench/kernels/sshopm_measure.h"
#include "bench.h"
#include "bench_sshopm_dim.h"

typedef struct cpu_job {
    hot_sshopm_options options;
    int order;
    size_t count, unique, starts;
    float *tensors, *start, *lambda, *x;
    int32_t *iterations;
} cpu_job;

static hot_status cpu_body(hot_context *context, void *user)
{
    cpu_job *job = user;
    return hot_sshopm_f32(context, &job->options, job->order, 3, job->count, job->tensors, job->unique, job->starts,
                          job->start, job->lambda, job->x, NULL, job->iterations);
}

/* Sums of one to three rank-1 tensors, as of fibres. */
static void make_tensors(cpu_job *job, double *v)
{
    int exponents[45 * 3];
    hot_symtensor_exponents(job->order, 3, exponents);
    for (size_t t = 0; t < job->count; t++) {
        hot_starts_random(t, 3, 3, v);
        for (size_t i = 0; i < job->unique; i++) {
            double sum = 0;
            for (size_t f = 0; f <= t % 3; f++)
                sum += pow(v[3 * f], exponents[3 * i]) * pow(v[3 * f + 1], exponents[3 * i + 1]) *
                       pow(v[3 * f + 2], exponents[3 * i + 2]);
            job->tensors[t * job->unique + i] = (float)sum;
        }
    }
}

static hot_status bench_cpu(hot_context *context, const bench_options *options, bench_report *report, int order)
{
    static const struct { const char *name; double tolerance; int iterations; hot_shift shift; } jobs[] = {
        {"50 iterations", HOT_ZERO, 50, HOT_SHIFT_NONE},
        {"residual 1e-5", 1e-5, 1000, HOT_SHIFT_NONE},
        {"residual 1e-5, adaptive shift", 1e-5, 1000, HOT_SHIFT_ADAPTIVE},
    };
    cpu_job job = {.order = order, .unique = hot_symtensor_count(order, 3)};
    job.count = options->count ? options->count : 2048;
    job.starts = options->starts ? options->starts : 128;
    bench_memory memory = {0};
    int threads = hot_context_threads(context);
    double *wide = bench_alloc(context, &memory, job.starts + 3, 3 * sizeof *wide);
    job.tensors = bench_alloc(context, &memory, job.count, job.unique * sizeof *job.tensors);
    job.start = bench_alloc(context, &memory, job.starts, 3 * sizeof *job.start);
    job.lambda = bench_alloc(context, &memory, job.count, job.starts * sizeof *job.lambda);
    job.x = bench_alloc(context, &memory, job.count, 3 * job.starts * sizeof *job.x);
    job.iterations = bench_alloc(context, &memory, job.count, job.starts * sizeof *job.iterations);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
    if (status != HOT_OK)
        goto cleanup;
    make_tensors(&job, wide);
    hot_starts_random(hot_context_seed(context), 3, job.starts, wide);
    for (size_t i = 0; i < 3 * job.starts; i++)
        job.start[i] = (float)wide[i];
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        char name[64], backend[24];
        job.options = (hot_sshopm_options){.size = sizeof job.options, .shift = jobs[j].shift,
                                           .tolerance = jobs[j].tolerance, .max_iterations = jobs[j].iterations};
        snprintf(name, sizeof name, "order %d, %zu starts, %s", order, job.starts, jobs[j].name);
        snprintf(backend, sizeof backend, "cpu %s", hot_cpu_level_name(hot_cpu_best()));
        bench_row *row;
        status = bench_measure_row(context, options, report, name, backend, (double)job.count, "tensors", cpu_body,
                                   &job, &row);
        if (status != HOT_OK)
            goto cleanup;
        double steps = 0;
        for (size_t i = 0; i < job.count * job.starts; i++)
            steps += fabs((double)job.iterations[i]);
        row->flops = hot_sshopm_flops(order) * steps;
        row->peak = bench_peak_f32(threads);
        bench_note(row, "iterations", steps / (double)(job.count * job.starts));
    }
cleanup:
    bench_free(context, &memory);
    return status;
}

static hot_status bench_gpu(hot_context *context, const bench_options *options, bench_report *report, int order)
{
    static const struct {
        const char *name, *algorithm_name;
        hot_sshopm_algorithm algorithm;
        int iterations;
        double tolerance, change;
    } jobs[] = {
        {"50 iterations", "paper", HOT_ALGORITHM_PAPER, 50, 1e-5, 0},
        {"50 iterations", "gnomonic", HOT_ALGORITHM_GNOMONIC, 50, 1e-5, 0},
        {"change 1e-6", "paper", HOT_ALGORITHM_PAPER, 0, 1e-5, 1e-6},
        {"residual 5e-6 of scale, every start iterated", "gnomonic", HOT_ALGORITHM_GNOMONIC, 0, 5e-6, 0},
        {"residual 1e-6 of scale, every start iterated", "gnomonic", HOT_ALGORITHM_GNOMONIC, 0, 1e-6, 0},
        {"residual 5e-6 of scale, any shape", "general", HOT_ALGORITHM_GENERAL, 0, 5e-6, 0},
    };
    int known = !options->algorithm;
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0] && !known; j++)
        known = strcmp(options->algorithm, jobs[j].algorithm_name) == 0;
    if (!known)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "there is no algorithm '%s': paper, gnomonic or general", options->algorithm);
    size_t count = options->count ? options->count : 1048576, starts = options->starts ? options->starts : 128;
    hot_sshopm_bench *bench = NULL;
    hot_status status = hot_sshopm_bench_create(context, order, count, starts, &bench);
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0] && status == HOT_OK; j++) {
        if (options->algorithm && strcmp(options->algorithm, jobs[j].algorithm_name) != 0)
            continue;
        hot_sshopm_figure figure;
        char name[64], backend[24];
        status = hot_sshopm_bench_run(context, bench, jobs[j].algorithm, jobs[j].iterations, jobs[j].tolerance,
                                      jobs[j].change, options->seconds > 0 ? options->seconds : 0.5, &figure);
        if (status != HOT_OK)
            break;
        snprintf(name, sizeof name, "order %d, %zu x %zu, %s", order, count, starts, jobs[j].name);
        snprintf(backend, sizeof backend, "cuda %s", jobs[j].algorithm_name);
        bench_row *row = bench_add_measured(report, name, backend, figure.seconds, figure.fastest, figure.repeats,
                                            (double)count, "tensors");
        row->flops = hot_sshopm_flops(order) * figure.iterations * (double)count * (double)starts;
        bench_note(row, "agreement", figure.agreement);
        bench_note(row, "agreement of converged starts", figure.limited_agreement);
        bench_note(row, "residual <= 1e-5", figure.settled);
        bench_note(row, "iterations", figure.iterations);
    }
    hot_sshopm_bench_destroy(context, &bench);
    return status;
}

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    hot_device device = hot_context_device(context);
    if (options->dim)
        return bench_sshopm_dim(context, options, report);
    hot_status status = options->peer ? hot_context_fail(context, HOT_ERROR_ARGUMENT, "--peer needs --dim") : HOT_OK;
    for (int order = 4; order <= 8 && status == HOT_OK; order += 2) {
        if (options->order && options->order != order)
            continue;
        /* The GPU if there is one and --device allows it; else the CPU. */
        int gpu = device == HOT_DEVICE_CUDA || device == HOT_DEVICE_AUTO;
        if (gpu) {
            status = bench_gpu(context, options, report, order);
            if (device == HOT_DEVICE_AUTO && status == HOT_ERROR_DEVICE)
                gpu = 0, status = HOT_OK;
        }
        if (!gpu) {
            if (options->algorithm)
                return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--algorithm %s runs on a GPU, and none is used",
                                        options->algorithm);
            status = bench_cpu(context, options, report, order);
        }
    }
    return status;
}

const bench_entry bench_sshopm = {"sshopm",
                                  "SS-HOPM from many starts: 50 iterations, and to convergence; --algorithm NAME; "
                                  "--dim N --peer numpy|torch", run};

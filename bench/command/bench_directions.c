/* hotfiber bench directions: all maxima of many forms, by order and kind of tensor, and by many starts of SS-HOPM, on
 * the CPU (one thread and all) and on the GPU (the kernels alone with their data there, and from host memory). */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/cpu.h"
#include "bench/kernels/directions_measure.h"

enum { TERMS = 45, SAMPLE = 4096 };

typedef struct bench_job {
    hot_directions_options options;
    int order;
    size_t count, cpu_count, stride; /* cpu_count: of the tensors, on the CPU */
    float *tensors, *directions;
    uint8_t *found;
} bench_job;

/* splitmix64 */
static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double u = 1 - uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

typedef enum tensor_kind { CROSSINGS, NOISE, ISOTROPIC, KINDS } tensor_kind;
static const char *const kind_names[KINDS] = {"1-3 fibres, 3 % noise", "pure noise", "isotropic"};

/* One tensor: up to three lines in random directions with 5 % isotropic part and 3 % noise; noise alone; a sphere. */
static void make(int order, tensor_kind kind, size_t item, const int *exponents, const double *multiplicity,
                 uint64_t *seed, float *row)
{
    static const double factorial[5] = {1, 1, 2, 6, 24};
    const size_t terms = hot_symtensor_count(order, 3);
    const int fibers = 1 + (int)(item % 3);
    double v[3][3];
    for (int f = 0; f < 3; f++) {
        double norm = 0;
        for (int d = 0; d < 3; d++) {
            v[f][d] = normal(seed);
            norm += v[f][d] * v[f][d];
        }
        for (int d = 0; d < 3; d++)
            v[f][d] /= sqrt(norm);
    }
    for (size_t k = 0; k < terms; k++) {
        const int *e = exponents + 3 * k;
        double value = 0, sphere = 0;
        if (!((e[0] | e[1] | e[2]) & 1))
            sphere = factorial[order / 2] / (factorial[e[0] / 2] * factorial[e[1] / 2] * factorial[e[2] / 2]) /
                multiplicity[k];
        if (kind == CROSSINGS) {
            for (int f = 0; f < fibers; f++)
                value += 0.95 / fibers * pow(v[f][0], e[0]) * pow(v[f][1], e[1]) * pow(v[f][2], e[2]);
            value += 0.05 * sphere + 0.03 * normal(seed) / sqrt(multiplicity[k]);
        } else if (kind == NOISE)
            value = normal(seed) / sqrt(multiplicity[k]);
        else
            value = sphere;
        row[k] = (float)value;
    }
}

static hot_status body(hot_context *context, void *user)
{
    const bench_job *job = user;
    return hot_directions_f32(context, &job->options, job->order, job->count, job->tensors, job->stride, NULL,
                              job->directions, job->found);
}

/* The same job on a new context: device, its number (-1: all), and threads. */
static hot_status measure_on(hot_context *context, const bench_options *options, hot_device device, int number,
                             int threads, bench_job *job, bench_row *row)
{
    const hot_context_options settings = {.size = sizeof settings, .device = device, .threads = threads,
                                          .device_number = number};
    hot_context *own = NULL;
    if (hot_context_create(&settings, &own) != HOT_OK)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    hot_status status = bench_measure(own, options, body, job, row);
    if (status != HOT_OK)
        status = hot_context_fail(context, status, "%s", hot_context_message(own));
    hot_context_destroy(&own);
    return status;
}

static hot_status run_job(hot_context *context, const bench_options *options, bench_report *report, const char *what,
                          bench_job *job)
{
    const size_t full = job->count, small = full < job->cpu_count ? full : job->cpu_count;
    const int threads = hot_context_threads(context), cuda = hot_context_device(context) != HOT_DEVICE_CPU &&
                                                             hot_cuda_count() > 0;
    char name[96], backend[24];
    hot_status status = HOT_OK;
    snprintf(name, sizeof name, "order %d, %s", job->order, what);
    for (int pass = 0; pass < 2 && status == HOT_OK; pass++) {
        const int with = pass ? threads : 1;
        if (pass && threads == 1)
            break;
        snprintf(backend, sizeof backend, "cpu %s x%d", hot_cpu_level_name(hot_cpu_best()), with);
        bench_row *row = bench_add(report, name, backend);
        job->count = small;
        row->items = (double)small;
        row->item = "tensors";
        status = measure_on(context, options, HOT_DEVICE_CPU, -1, with, job, row);
    }
    job->count = full;
    if (cuda && status == HOT_OK) {
        hot_directions_args plan;
        double milliseconds;
        status = hot_directions_resolve(context, &job->options, job->order, full, job->tensors, job->stride, NULL,
                                        job->directions, job->found, &plan);
        if (status == HOT_OK)
            status = hot_cuda_select(context, hot_context_device_number(context));
        if (status == HOT_OK)
            status = hot_directions_cuda_time(context, &plan, 21, &milliseconds);
        if (status == HOT_OK) {
            bench_add_measured(report, name, "cuda, resident", 1e-3 * milliseconds, 1e-3 * milliseconds, 21,
                               (double)full, "tensors");
            const int number = hot_context_device_number(context), gpus = number < 0 ? hot_cuda_count() : 1;
            /* one, and all */
            for (int used = 1; used <= gpus && status == HOT_OK; used += used < gpus ? gpus - 1 : 1) {
                snprintf(backend, sizeof backend, "cuda x%d, from the host", used);
                bench_row *row = bench_add(report, name, backend);
                row->items = (double)full;
                row->item = "tensors";
                status = measure_on(context, options, HOT_DEVICE_CUDA, used < gpus ? 0 : number, threads, job, row);
            }
        }
    }
    return status;
}

static const hot_directions_options defaults = {.size = sizeof defaults};

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    const size_t count = options->count ? options->count : 1 << 20;
    bench_job job = {.options = defaults, .count = count, .stride = TERMS};
    bench_memory memory = {0};
    job.tensors = bench_alloc(context, &memory, count, TERMS * sizeof *job.tensors);
    job.directions = bench_alloc(context, &memory, count, 9 * sizeof *job.directions);
    job.found = bench_alloc(context, &memory, count, 1);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
    for (int order = 4; order <= 8 && status == HOT_OK; order += 2) {
        if (options->order && options->order != order)
            continue;
        int exponents[3 * TERMS];
        double multiplicity[TERMS];
        status = hot_symtensor_exponents(order, 3, exponents);
        if (status == HOT_OK)
            status = hot_symtensor_multiplicity(order, 3, multiplicity);
        job.order = order;
        job.stride = hot_symtensor_count(order, 3);
        /* the kinds, the fibres last; and these by many starts */
        static const struct {
            tensor_kind kind;
            int by_starts;
            hot_shift shift;
            const char *shift_name;
        } jobs[] = {{ISOTROPIC, 0, 0, ""}, {NOISE, 0, 0, ""}, {CROSSINGS, 0, 0, ""},
                    {CROSSINGS, 1, HOT_SHIFT_NONE, "no shift"}, {CROSSINGS, 1, HOT_SHIFT_ADAPTIVE, "adaptive shift"}};
        for (size_t j = 0; j < sizeof jobs / sizeof jobs[0] && status == HOT_OK; j++) {
            const tensor_kind kind = jobs[j].kind;
            char name[64];
            uint64_t seed = 1;
            /* repeated: what a tensor costs does not depend on it */
            const size_t made = count < SAMPLE ? count : SAMPLE;
            for (size_t i = 0; i < made; i++)
                make(order, kind, i, exponents, multiplicity, &seed, job.tensors + i * job.stride);
            for (size_t i = made; i < count; i++)
                memcpy(job.tensors + i * job.stride, job.tensors + (i - made) * job.stride, job.stride * sizeof(float));
            job.options.starts = jobs[j].by_starts ? options->starts ? options->starts : 128 : 0;
            job.options.shift = jobs[j].shift;
            job.count = count;
            job.cpu_count = jobs[j].by_starts ? 1 << 12 : 1 << 16;
            snprintf(name, sizeof name, "%s", kind_names[kind]);
            if (jobs[j].by_starts)
                snprintf(name, sizeof name, "%zu starts, %s", job.options.starts, jobs[j].shift_name);
            status = run_job(context, options, report, name, &job);
        }
    }
    bench_free(context, &memory);
    return status;
}

const bench_entry bench_directions = {
    "directions", "all maxima of tensors of order 4, 6 and 8: by scanning, and by many starts", run};

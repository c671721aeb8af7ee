/* hotfiber bench sshopm --dim N: SS-HOPM for tensors of any order in N dimensions, on the GPU or the CPU; --peer numpy
 * times the same steps as dense products in NumPy, --peer torch in PyTorch on the GPU. */
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_sshopm_dim.h"
#include "common/backend.h"
#include "bench/kernels/sshopm_measure.h"
#include "common/context_internal.h"
#include "common/cpu.h"

enum { STEPS = 50 };

typedef struct dim_job {
    hot_sshopm_options options;
    int order, dim;
    size_t count, unique, starts;
    float *tensors, *start, *lambda, *x;
    hot_context *context;
} dim_job;

static hot_status body(hot_context *context, void *user)
{
    dim_job *job = user;
    (void)context;
    return hot_sshopm_f32(job->context, &job->options, job->order, job->dim, job->count, job->tensors, job->unique,
                          job->starts, job->start, job->lambda, job->x, NULL, NULL);
}

/* The same steps on one tensor, all starts together: a dense matrix times the Kronecker powers of the starts. Prints
 * the median of the seconds that a run of all steps takes. Arguments: order, dim, starts, steps, adaptive, seconds. */
static const char numpy_script[] =
    "import sys, time, numpy as np\n"
    "m, n, s, steps, adaptive = map(int, sys.argv[1:6])\n"
    "rng = np.random.default_rng(1)\n"
    "a = rng.standard_normal((n * n, n ** (m - 2)), dtype=np.float32)\n"
    "start = rng.standard_normal((n, s), dtype=np.float32)\n"
    "start /= np.linalg.norm(start, axis=0)\n"
    "def run():\n"
    "    x = start\n"
    "    for _ in range(steps):\n"
    "        k = np.ones((1, s), np.float32)\n"
    "        for _ in range(m - 2):\n"
    "            k = (k[:, None] * x).reshape(-1, s)\n"
    "        h = (a @ k).reshape(n, n, s)\n"
    "        y = (h * x).sum(1)\n"
    "        if adaptive:\n"
    "            mean = np.trace(h) / n\n"
    "            spread = np.maximum((h * h).sum((0, 1)) / n - mean * mean, 0)\n"
    "            y += np.maximum(np.sqrt(spread * (n - 1)) - mean, 0) * (m - 1) * x\n"
    "        x = y / np.linalg.norm(y, axis=0)\n"
    "run()\n"
    "times, end = [], time.perf_counter() + float(sys.argv[6])\n"
    "while len(times) < 3 or time.perf_counter() < end:\n"
    "    t = time.perf_counter(); run(); times.append(time.perf_counter() - t)\n"
    "print(np.median(times), min(times), len(times))\n";

static hot_status time_numpy(hot_context *context, const dim_job *job, const bench_options *options, const char *name,
                             bench_report *report)
{
    char command[sizeof numpy_script + 300];
    const int threads = hot_context_threads(context);
    double median, fastest;
    int repeats;
    snprintf(command, sizeof command,
             "OPENBLAS_NUM_THREADS=%d OMP_NUM_THREADS=%d MKL_NUM_THREADS=%d python3 - %d %d %zu %d %d %g "
             "<<'END'\n%sEND",
             threads, threads, threads, job->order, job->dim, job->starts, STEPS,
             job->options.shift == HOT_SHIFT_ADAPTIVE, options->seconds, numpy_script);
    FILE *output = popen(command, "r");
    const int read = output ? fscanf(output, "%lf %lf %d", &median, &fastest, &repeats) : 0;
    if (output)
        pclose(output);
    if (read != 3)
        return hot_context_fail(context, HOT_ERROR_FILE, "--peer numpy: python3 with NumPy is not here, or failed");
    bench_row *row = bench_add_measured(report, name, "numpy", median, fastest, repeats, 1, "tensors");
    bench_note(row, "ns per start and step", 1e9 * median / ((double)job->starts * STEPS));
    return HOT_OK;
}

/* The same on the GPU, for as many tensors as a matrix product of a few GB has; the seconds are for `count` of them.
 * Arguments: order, dim, starts, steps, adaptive, seconds, count. */
static const char torch_script[] =
    "import sys, time, torch\n"
    "m, n, s, steps, adaptive = map(int, sys.argv[1:6])\n"
    "seconds, count = float(sys.argv[6]), int(sys.argv[7])\n"
    "b = max(1, min(count, 2 ** 28 // (n ** m + 2 * s * n ** (m - 2) + 2 * s * n * n)))\n"
    "a = torch.randn(b, n * n, n ** (m - 2), device='cuda')\n"
    "start = torch.randn(b, n, s, device='cuda')\n"
    "start /= start.norm(dim=1, keepdim=True)\n"
    "def run():\n"
    "    x = start\n"
    "    for _ in range(steps):\n"
    "        k = torch.ones(b, 1, s, device='cuda')\n"
    "        for _ in range(m - 2):\n"
    "            k = (k[:, :, None] * x[:, None]).reshape(b, -1, s)\n"
    "        h = torch.bmm(a, k).reshape(b, n, n, s)\n"
    "        y = (h * x[:, None]).sum(2)\n"
    "        if adaptive:\n"
    "            mean = h.diagonal(dim1=1, dim2=2).sum(-1) / n\n"
    "            spread = ((h * h).sum((1, 2)) / n - mean * mean).clamp_min(0)\n"
    "            y = y + ((spread * (n - 1)).sqrt() - mean).clamp_min(0)[:, None] * (m - 1) * x\n"
    "        x = y / y.norm(dim=1, keepdim=True)\n"
    "    torch.cuda.synchronize()\n"
    "run()\n"
    "times, end = [], time.perf_counter() + seconds\n"
    "while len(times) < 3 or time.perf_counter() < end:\n"
    "    t = time.perf_counter(); run(); times.append((time.perf_counter() - t) * count / b)\n"
    "times.sort()\n"
    "print(times[len(times) // 2], times[0], len(times))\n";

static hot_status time_torch(hot_context *context, const hot_sshopm_shape *shape, const char *name,
                             bench_report *report)
{
    char command[sizeof torch_script + 200];
    double median, fastest;
    int repeats;
    snprintf(command, sizeof command, "python3 - %d %d %zu %d %d %g %zu <<'END'\n%sEND", shape->order, shape->dim,
             shape->starts, shape->iterations, shape->shift == HOT_SHIFT_ADAPTIVE, shape->seconds, shape->count,
             torch_script);
    FILE *output = popen(command, "r");
    const int read = output ? fscanf(output, "%lf %lf %d", &median, &fastest, &repeats) : 0;
    if (output)
        pclose(output);
    if (read != 3)
        return hot_context_fail(context, HOT_ERROR_FILE, "--peer torch: python3 with PyTorch for CUDA is not here, or "
                                "failed");
    bench_add_measured(report, name, "torch bmm", median, fastest, repeats, (double)shape->count, "tensors");
    return HOT_OK;
}

/* On the GPU, with all data there. The flops are those of the unfolded tensor's products: for each monomial of degree
 * m - 2 a product and a sum in each row of the Hessian, of which it has n (n + 1) / 2. */
static hot_status gpu_rows(hot_context *context, const bench_options *options, bench_report *report, int order)
{
    static const struct { const char *name; hot_shift shift; double tolerance; int iterations; } jobs[] = {
        {"no shift, 50 steps", HOT_SHIFT_NONE, 0, STEPS},
        {"adaptive shift, 50 steps", HOT_SHIFT_ADAPTIVE, 0, STEPS},
        {"adaptive shift, residual 1e-5", HOT_SHIFT_ADAPTIVE, 1e-5, 1000},
    };
    static const struct { const char *name; hot_sshopm_algorithm algorithm; } ways[] = {
        {"auto", HOT_ALGORITHM_AUTO}, {"blocks", HOT_ALGORITHM_BLOCKS}, {"general", HOT_ALGORITHM_GENERAL}};
    const char *only = options->algorithm ? options->algorithm : "auto";
    const double n = options->dim, rows = n * (n + 1) / 2,
                 monomials = (double)(order > 2 ? hot_symtensor_count(order - 2, options->dim) : 1);
    hot_sshopm_shape shape = {.order = order, .dim = options->dim, .count = options->count ? options->count : 10000,
                              .starts = options->starts ? options->starts : 128,
                              .seconds = options->seconds > 0 ? options->seconds : 0.5};
    int known = 0;
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
        if (strcmp(only, ways[way].name) == 0)
            shape.algorithm = ways[way].algorithm, known = 1;
    if (!known)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no algorithm '%s' for --dim: auto, blocks or "
                                "general", only);
    hot_status status = HOT_OK;
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0] && status == HOT_OK; j++) {
        hot_sshopm_figure figure;
        char name[96], backend[24];
        shape.shift = jobs[j].shift, shape.tolerance = jobs[j].tolerance, shape.iterations = jobs[j].iterations;
        status = hot_sshopm_shape_time(context, &shape, &figure);
        if (status != HOT_OK)
            break;
        snprintf(name, sizeof name, "order %d, dim %d, %zu x %zu, %s", order, options->dim, shape.count, shape.starts,
                 jobs[j].name);
        snprintf(backend, sizeof backend, "cuda %s", only);
        bench_row *row = bench_add_measured(report, name, backend, figure.seconds, figure.fastest, figure.repeats,
                                            (double)shape.count, "tensors");
        row->flops = 2 * rows * monomials * figure.iterations * (double)shape.count * (double)shape.starts;
        row->peak = figure.peak;
        bench_note(row, "iterations", figure.iterations);
        if (options->peer && jobs[j].tolerance == 0 && pow(options->dim, order) <= 1 << 27)
            status = time_torch(context, &shape, name, report);
    }
    return status;
}

static hot_status order_rows(hot_context *context, const bench_options *options, bench_report *report, dim_job *job)
{
    static const struct { const char *name; hot_shift shift; } shifts[] = {{"no shift", HOT_SHIFT_NONE},
                                                                           {"adaptive shift", HOT_SHIFT_ADAPTIVE}};
    bench_memory memory = {0};
    double *wide = bench_alloc(context, &memory, job->starts, (size_t)job->dim * sizeof *wide);
    job->unique = hot_symtensor_count(job->order, job->dim);
    job->tensors = bench_alloc_f32(context, &memory, job->count * job->unique);
    job->start = bench_alloc(context, &memory, job->starts, (size_t)job->dim * sizeof *job->start);
    job->lambda = bench_alloc(context, &memory, job->count, job->starts * sizeof *job->lambda);
    job->x = bench_alloc(context, &memory, job->count * (size_t)job->dim, job->starts * sizeof *job->x);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : HOT_OK;
    if (status == HOT_OK)
        hot_starts_random(hot_context_seed(context), job->dim, job->starts, wide);
    for (size_t i = 0; i < job->starts * (size_t)job->dim && status == HOT_OK; i++)
        job->start[i] = (float)wide[i];
    for (size_t i = 0; i < job->count * job->unique && status == HOT_OK; i++)
        job->tensors[i] -= 0.45f;
    for (size_t j = 0; j < sizeof shifts / sizeof shifts[0] && status == HOT_OK; j++) {
        char name[64], backend[24];
        bench_row *row;
        job->options = (hot_sshopm_options){.size = sizeof job->options, .shift = shifts[j].shift,
                                            .tolerance = HOT_ZERO, .max_iterations = STEPS};
        snprintf(name, sizeof name, "order %d, dim %d, %zu starts, %s", job->order, job->dim, job->starts,
                 shifts[j].name);
        snprintf(backend, sizeof backend, "cpu %s", hot_cpu_level_name(hot_cpu_best()));
        status = bench_measure_row(context, options, report, name, backend, (double)job->count, "tensors", body, job,
                                   &row);
        if (status != HOT_OK)
            break;
        bench_note(row, "ns per start and step",
                   1e9 * row->seconds / ((double)job->count * (double)job->starts * STEPS));
        if (options->peer && pow(job->dim, job->order) <= 1 << 27)
            status = time_numpy(context, job, options, name, report);
    }
    bench_free(context, &memory);
    return status;
}

hot_status bench_sshopm_dim(hot_context *context, const bench_options *options, bench_report *report)
{
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = hot_context_threads(context)};
    dim_job job = {.dim = options->dim, .count = options->count ? options->count : 1,
                   .starts = options->starts ? options->starts : 128};
    const hot_device device = hot_context_device(context);
    const int gpu = device == HOT_DEVICE_CUDA || (device == HOT_DEVICE_AUTO && hot_cuda_count() > 0);
    hot_status status = bench_check_peer(context, options, gpu ? "torch" : "numpy");
    if (status == HOT_OK && options->algorithm && !gpu)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "--algorithm %s runs on a GPU, and none is used",
                                  options->algorithm);
    for (int order = options->order ? options->order : 3; gpu && status == HOT_OK; order++) {
        status = gpu_rows(context, options, report, order);
        if (options->order || order == 8)
            return status;
    }
    if (status != HOT_OK)
        return status;
    if (hot_context_create(&how, &job.context) != HOT_OK)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    for (job.order = options->order ? options->order : 3; status == HOT_OK; job.order++) {
        status = order_rows(context, options, report, &job);
        if (options->order || job.order == 8)
            break;
    }
    hot_context_destroy(&job.context);
    return status;
}

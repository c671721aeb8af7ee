/* See sshopm_measure.h. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "cuda_timing.h"
#include "sshopm_measure.h"
#include "sshopm_paper.cuh"

enum { SAMPLE = 2048, REPEATS = 60 };

struct hot_sshopm_bench {
    int order;
    size_t count, starts, unique, sample;
    hot_sshopm_tables tables;
    float *tensors, *start, *lambda, *x;      /* on the device */
    float *residual;                          /* on the device */
    int32_t *iterations;
    double *limits;                           /* sample x starts x 3, on the host */
    int32_t *limit_steps;                     /* sample x starts, there; negative: has no limit */
};

/* hot_sshopm_launch and the paper's algorithm. */
static hot_status launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                         hot_sshopm_algorithm algorithm, cudaStream_t stream)
{
    if (algorithm != HOT_ALGORITHM_PAPER)
        return hot_sshopm_launch(context, args, tables, algorithm, stream);
    if (args->dim != 3 || (args->order != 4 && args->order != 6 && args->order != 8) || args->f64 ||
        args->shift == HOT_SHIFT_ADAPTIVE || !(args->exact || args->change > 0) || args->count >= 1u << 31)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the paper's algorithm does float, dimension 3, orders 4 6 "
                                "8, no adaptive shift, a stop on lambda alone");
    void (*kernel)(hot_sshopm_args) =
        args->order == 4 ? paper_kernel<4> : args->order == 6 ? paper_kernel<6> : paper_kernel<8>;
    kernel<<<(unsigned)args->count, 128, 0, stream>>>(*args);
    return hot_cuda_status(context, cudaGetLastError(), "starting SS-HOPM");
}

static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double uniform(uint64_t *state) { return (double)(next_bits(state) >> 11) * 0x1p-53; }

/* One tensor: fibres at least 30 degrees apart. */
static void make_tensor(int order, uint64_t seed, const double *multiplicity, float *tensor)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 12345;
    const int fibres = 1 + (int)(uniform(&state) * 3);
    const double isotropic = 0.05 * uniform(&state);
    double v[3][3], weight[3], value[45] = {0};
    for (int f = 0; f < fibres; f++) {
        for (int far = 0; !far;) {
            double n = 0;
            do {
                n = 0;
                for (int d = 0; d < 3; d++)
                    v[f][d] = 2 * uniform(&state) - 1, n += v[f][d] * v[f][d];
            } while (n > 1 || n < 0.01);
            for (int d = 0; d < 3; d++)
                v[f][d] /= sqrt(n);
            far = 1;
            for (int g = 0; g < f; g++)
                far &= fabs(v[f][0] * v[g][0] + v[f][1] * v[g][1] + v[f][2] * v[g][2]) < 0.866;
        }
        weight[f] = 0.3 + 0.7 * uniform(&state);
    }
    for (int s = 0, i = 0; s <= order; s++)
        for (int t = 0; t <= s; t++, i++) {
            const int k[3] = {order - s, s - t, t};
            for (int f = 0; f < fibres; f++) {
                double term = weight[f];
                for (int d = 0; d < 3; d++)
                    for (int p = 0; p < k[d]; p++)
                        term *= v[f][d];
                value[i] += term;
            }
            if (k[0] % 2 == 0 && k[1] % 2 == 0 && k[2] % 2 == 0)
                value[i] += isotropic * tgamma(order / 2 + 1.0) / tgamma(k[0] / 2 + 1.0) / tgamma(k[1] / 2 + 1.0) /
                            tgamma(k[2] / 2 + 1.0) / multiplicity[i];
            value[i] += 0.02 * sqrt(3.0) * (2 * uniform(&state) - 1) / sqrt(multiplicity[i]);
            tensor[i] = (float)value[i];
        }
}

/* The limits in double of the sample. */
static hot_status make_limits(hot_context *context, hot_sshopm_bench *bench, const float *tensors, const double *starts)
{
    size_t values = bench->sample * bench->unique, results = bench->sample * bench->starts;
    double *wide = (double *)hot_context_alloc(context, values, sizeof *wide), *device[3] = {NULL, NULL, NULL};
    int32_t *steps = bench->iterations;
    hot_status status = wide ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; status == HOT_OK && i < values; i++)
        wide[i] = tensors[i];
    const size_t sizes[3] = {values, bench->starts * 3, results * 3};
    for (int k = 0; k < 3 && status == HOT_OK; k++)
        status = hot_cuda_status(context, cudaMalloc((void **)&device[k], sizes[k] * sizeof(double)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(device[0], wide, values * sizeof(double), cudaMemcpyHostToDevice),
                                 "copy");
    if (status == HOT_OK)
        status = hot_cuda_status(
            context, cudaMemcpy(device[1], starts, sizes[1] * sizeof(double), cudaMemcpyHostToDevice), "copy");
    hot_sshopm_args args;
    memset(&args, 0, sizeof args);
    args.shift = HOT_SHIFT_NONE, args.sign = 1, args.tolerance = 1e-11, args.max_iterations = 100000;
    args.order = bench->order, args.dim = 3, args.unique = args.stride = bench->unique, args.count = bench->sample;
    args.starts = bench->starts, args.f64 = 1, args.tensors = device[0], args.start = device[1], args.x = device[2];
    args.iterations = steps;
    if (status == HOT_OK)
        status = launch(context, &args, &bench->tables, HOT_ALGORITHM_GENERAL, NULL);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(bench->limits, device[2], sizes[2] * sizeof(double),
                                                     cudaMemcpyDeviceToHost), "limits in double");
    if (status == HOT_OK)
        status = hot_cuda_status(context,
                                 cudaMemcpy(bench->limit_steps, steps, results * sizeof *steps, cudaMemcpyDeviceToHost),
                                 "limits in double");
    for (int k = 0; k < 3; k++)
        cudaFree(device[k]);
    hot_context_free(context, wide);
    return status;
}

hot_status hot_sshopm_bench_create(hot_context *context, int order, size_t count, size_t starts, hot_sshopm_bench **out)
{
    *out = NULL;
    double multiplicity[45], *wide_starts = NULL;
    float *tensors = NULL, *narrow_starts = NULL;
    hot_sshopm_bench *bench = NULL;
    if (hot_cuda_count() == 0 || (order != 4 && order != 6 && order != 8))
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU, or order %d is not 4, 6 or 8", order);
    bench = (hot_sshopm_bench *)hot_context_calloc(context, 1, sizeof *bench);
    if (!bench)
        return HOT_ERROR_MEMORY;
    bench->order = order;
    bench->count = count;
    bench->starts = starts;
    bench->unique = hot_symtensor_count(order, 3);
    bench->sample = count < (size_t)SAMPLE ? count : (size_t)SAMPLE;
    hot_symtensor_multiplicity(order, 3, multiplicity);
    hot_status status = hot_sshopm_tables_create(context, order, 3, &bench->tables);
    tensors = (float *)hot_context_alloc(context, count, bench->unique * sizeof *tensors);
    wide_starts = (double *)hot_context_alloc(context, starts, 3 * sizeof *wide_starts);
    narrow_starts = (float *)hot_context_alloc(context, starts, 3 * sizeof *narrow_starts);
    bench->limits = (double *)hot_context_alloc(context, bench->sample * starts, 3 * sizeof *bench->limits);
    bench->limit_steps = (int32_t *)hot_context_alloc(context, bench->sample, starts * sizeof *bench->limit_steps);
    if (status == HOT_OK && (!tensors || !wide_starts || !narrow_starts || !bench->limits || !bench->limit_steps))
        status = HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    for (size_t t = 0; t < count; t++)
        make_tensor(order, t, multiplicity, tensors + t * bench->unique);
    hot_starts_random(7, 3, starts, wide_starts);
    for (size_t i = 0; i < 3 * starts; i++)
        wide_starts[i] = narrow_starts[i] = (float)wide_starts[i];
    status =
        hot_cuda_status(context, cudaMalloc((void **)&bench->tensors, count * bench->unique * sizeof(float)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&bench->start, 3 * starts * sizeof(float)), "memory");
    if (status == HOT_OK)
        status =
            hot_cuda_status(context, cudaMalloc((void **)&bench->lambda, count * starts * sizeof(float)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&bench->x, 3 * count * starts * sizeof(float)), "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&bench->residual, count * starts * sizeof(float)),
                                 "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&bench->iterations, count * starts * sizeof(int32_t)),
                                 "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(bench->tensors, tensors, count * bench->unique * sizeof(float),
                                                     cudaMemcpyHostToDevice), "copy");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(bench->start, narrow_starts, 3 * starts * sizeof(float),
                                                     cudaMemcpyHostToDevice), "copy");
    if (status == HOT_OK)
        status = make_limits(context, bench, tensors, wide_starts);
cleanup:
    hot_context_free(context, tensors);
    hot_context_free(context, wide_starts);
    hot_context_free(context, narrow_starts);
    if (status == HOT_OK)
        *out = bench;
    else
        hot_sshopm_bench_destroy(context, &bench);
    return status;
}

void hot_sshopm_bench_destroy(hot_context *context, hot_sshopm_bench **bench)
{
    if (!*bench)
        return;
    hot_sshopm_tables_destroy(context, &(*bench)->tables);
    cudaFree((*bench)->tensors);
    cudaFree((*bench)->start);
    cudaFree((*bench)->lambda);
    cudaFree((*bench)->x);
    cudaFree((*bench)->residual);
    cudaFree((*bench)->iterations);
    hot_context_free(context, (*bench)->limits);
    hot_context_free(context, (*bench)->limit_steps);
    hot_context_free(context, *bench);
    *bench = NULL;
}

/* Results of the sample against the limits, out of the whole batch: a smaller one may go another way. */
static hot_status judge(hot_context *context, hot_sshopm_bench *bench, hot_sshopm_args args,
                        hot_sshopm_algorithm algorithm, hot_sshopm_figure *figure)
{
    size_t results = bench->sample * bench->starts, near = 0, settled = 0, limited = 0, near_limit = 0,
           settled_limit = 0;
    double steps = 0;
    float *x = (float *)hot_context_alloc(context, results, 3 * sizeof *x);
    float *residual = (float *)hot_context_alloc(context, results, sizeof *residual);
    int32_t *iterations = (int32_t *)hot_context_alloc(context, results, sizeof *iterations);
    hot_status status = x && residual && iterations ? HOT_OK : HOT_ERROR_MEMORY;
    args.residual = bench->residual;
    args.iterations = bench->iterations;
    if (status == HOT_OK) /* poison: results that are not written do not agree */
        status = hot_cuda_status(context, cudaMemset(bench->x, 0xff, results * 3 * sizeof(float)), "poison");
    if (status == HOT_OK)
        status = launch(context, &args, &bench->tables, algorithm, NULL);
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(x, bench->x, results * 3 * sizeof *x, cudaMemcpyDeviceToHost),
                                 "results");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(residual, bench->residual, results * sizeof *residual,
                                                     cudaMemcpyDeviceToHost), "results");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(iterations, bench->iterations, results * sizeof *iterations,
                                                     cudaMemcpyDeviceToHost), "results");
    const double cosine = cos(0.1 * 3.14159265358979323846 / 180);
    for (size_t i = 0; i < results && status == HOT_OK; i++) {
        const double *y = bench->limits + 3 * i;
        double dot = fabs(x[3 * i] * y[0] + x[3 * i + 1] * y[1] + x[3 * i + 2] * y[2]);
        const size_t is_near = dot >= cosine && dot < 1.001, is_settled = residual[i] <= 1e-5f,
                     has_limit = bench->limit_steps[i] >= 0;
        near += is_near;
        settled += is_settled;
        limited += has_limit;
        near_limit += is_near && has_limit;
        settled_limit += is_settled && has_limit;
        steps += abs(iterations[i]);
    }
    if (status == HOT_OK) {
        figure->agreement = (double)near / (double)results;
        figure->settled = (double)settled / (double)results;
        figure->limited = (double)limited / (double)results;
        figure->limited_agreement = (double)near_limit / (double)(limited > 0 ? limited : 1);
        figure->limited_settled = (double)settled_limit / (double)(limited > 0 ? limited : 1);
        figure->iterations = steps / (double)results;
    }
    hot_context_free(context, x);
    hot_context_free(context, residual);
    hot_context_free(context, iterations);
    return status;
}

hot_status hot_sshopm_bench_run(hot_context *context, hot_sshopm_bench *bench, hot_sshopm_algorithm algorithm,
                                int iterations, double tolerance, double change, double seconds,
                                hot_sshopm_figure *figure)
{
    hot_sshopm_args args;
    double times[REPEATS];
    memset(figure, 0, sizeof *figure);
    memset(&args, 0, sizeof args);
    args.shift = HOT_SHIFT_NONE, args.sign = 1, args.tolerance = tolerance, args.change = change;
    args.exact = iterations > 0, args.max_iterations = iterations > 0 ? iterations : 1000;
    args.order = bench->order, args.dim = 3, args.unique = args.stride = bench->unique, args.count = bench->count;
    args.starts = bench->starts, args.tensors = bench->tensors, args.start = bench->start;
    args.lambda = bench->lambda, args.x = bench->x;
    cudaStream_t stream = NULL;
    hot_status status = hot_cuda_status(context, cudaStreamCreate(&stream), "stream");
    const hot_cuda_work work = [&] { return launch(context, &args, &bench->tables, algorithm, stream); };
    hot_cuda_timing timing;
    timing.stream = stream;
    if (status == HOT_OK) /* once, to see how long it takes */
        status = hot_cuda_time_runs(context, timing, work, times, &figure->repeats);
    /* Short kernels are called many times in one graph: between two events the wait for the host would be measured. */
    if (status == HOT_OK && times[0] < 1e-4) {
        status = hot_cuda_time(context, stream, 20, work, seconds, &figure->seconds, &figure->fastest,
                               &figure->repeats);
    } else if (status == HOT_OK) {
        timing.warm_up = 0, timing.least = 5, timing.most = REPEATS, timing.seconds = seconds;
        status = hot_cuda_time_runs(context, timing, work, times, &figure->repeats);
        if (status == HOT_OK) {
            std::sort(times, times + figure->repeats);
            figure->seconds = times[figure->repeats / 2];
            figure->fastest = times[0];
        }
    }
    if (status == HOT_OK)
        status = judge(context, bench, args, algorithm, figure);
    if (stream)
        cudaStreamDestroy(stream);
    return status;
}

hot_status hot_sshopm_run_whole(hot_context *context, const hot_sshopm_args *args, hot_sshopm_algorithm algorithm)
{
    enum { IN = 2, ALL = 6 };
    const size_t item = args->f64 ? sizeof(double) : sizeof(float), results = args->count * args->starts,
                 dim = (size_t)args->dim;
    void *const host[ALL] = {(void *)args->tensors, (void *)args->start, args->lambda,
                             args->x,               args->residual,      args->iterations};
    const size_t bytes[ALL] = {args->count * args->stride * item, args->starts * dim * item, results * item,
                               results * dim * item,              results * item,            results * sizeof(int32_t)};
    void *device[ALL] = {NULL};
    hot_sshopm_tables tables;
    hot_status status = hot_sshopm_tables_create(context, args->order, args->dim, &tables);
    for (int k = 0; k < ALL && status == HOT_OK; k++) {
        if (host[k])
            status = hot_cuda_status(context, cudaMalloc(&device[k], bytes[k]), "memory");
        if (host[k] && status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy(device[k], host[k], bytes[k], cudaMemcpyHostToDevice), "copy");
    }
    hot_sshopm_args there = *args;
    there.scratch_bytes = hot_sshopm_scratch(args);
    if (status == HOT_OK && there.scratch_bytes)
        status = hot_cuda_status(context, cudaMalloc(&there.scratch, there.scratch_bytes), "memory");
    there.tensors = device[0], there.start = device[1], there.lambda = device[2], there.x = device[3];
    there.residual = device[4], there.iterations = (int32_t *)device[5];
    if (status == HOT_OK)
        status = launch(context, &there, &tables, algorithm, NULL);
    for (int k = IN; k < ALL && status == HOT_OK; k++)
        if (host[k])
            status =
                hot_cuda_status(context, cudaMemcpy(host[k], device[k], bytes[k], cudaMemcpyDeviceToHost), "results");
    for (int k = 0; k < ALL; k++)
        cudaFree(device[k]);
    cudaFree(there.scratch);
    hot_sshopm_tables_destroy(context, &tables);
    return status;
}

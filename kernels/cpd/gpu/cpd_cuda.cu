/* The decomposition on the GPU: the backend. This is one tensor that every iteration reads, and no batch for
 * common/batch_pipeline.h: it is copied to one GPU once, an iteration is one graph of launches, and between iterations
 * the host checks the fit, reports progress and notices cancellation. Arrays in device memory: the same launches on the
 * caller's stream, one by one, and what the host does at the end is done there (cpd_queue.h). */
#include <algorithm>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/cuda_status.h"
#include "common/free.h"
#include "cpd_memory.h"
#include "cpd_queue.h"
#include "cpd/cpu/cpd_factors.h"

/* f (n x rank, double, host) becomes the factor of a mode. */
static hot_status put_factor(hot_context *context, hot_cpd_device *d, int mode, const double *f)
{
    cudaStream_t stream = (cudaStream_t)d->stream;
    const size_t bytes = d->n[mode] * d->rank * sizeof(double);
    void *there = NULL; /* a copy that does not wait */
    hot_status status = d->queued ? hot_device_upload(context, f, bytes, &there, "copying a factor") : HOT_OK;
    const void *const from = there ? there : f;
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpyAsync(d->f[mode], from, bytes, cudaMemcpyDefault, stream),
                                 "copying a factor");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpyAsync(d->before, from, bytes, cudaMemcpyDefault, stream),
                                 "copying a factor");
    if (status == HOT_OK)
        status = hot_cpd_device_publish(context, d, mode);
    hot_device_release(context, there);
    if (status != HOT_OK || d->queued)
        return status;
    return hot_cuda_status(context, cudaStreamSynchronize(stream), "copying a factor");
}

/* A start that is on the GPU already. */
static hot_status start_given(hot_context *context, const hot_cpd_args *args, hot_cpd_device *d)
{
    hot_status status = HOT_OK;
    for (int mode = 0; mode < 3 && status == HOT_OK; mode++) {
        status = hot_cpd_queue_given(context, args, d, mode);
        if (status == HOT_OK)
            status = hot_cpd_device_publish(context, d, mode);
    }
    return status;
}

static hot_status start(hot_context *context, hot_cpd_args *args, hot_cpd_device *d, int zero)
{
    enum { ROUNDS = 4 };
    const size_t longest = std::max(d->n[0], std::max(d->n[1], d->n[2]));
    double *f = (double *)hot_context_alloc(context, longest * d->rank, sizeof *f);
    double *spare = (double *)hot_context_alloc(context, longest * d->rank, sizeof *spare);
    double *lengths = (double *)hot_context_alloc(context, d->rank, sizeof *lengths); /* which nobody reads */
    cudaStream_t stream = (cudaStream_t)d->stream;
    uint64_t random = hot_cpd_seed(context);
    hot_status status = f && spare && lengths ? HOT_OK : HOT_ERROR_MEMORY;
    for (int mode = 0; mode < 3 && status == HOT_OK; mode++) {
        hot_cpd_first(args, mode, &random, f);
        for (int round = 0; round < ROUNDS && args->options.start == HOT_CPD_HOSVD && !zero && status == HOT_OK;
             round++) {
            status = put_factor(context, d, mode, f);
            if (status == HOT_OK)
                status = hot_cpd_device_unfold_twice(context, d, mode);
            if (status == HOT_OK)
                status = hot_cuda_status(
                    context, cudaMemcpyAsync(f, d->product, d->n[mode] * d->rank * sizeof *f, cudaMemcpyDeviceToHost,
                                             stream),
                    "the start");
            if (status == HOT_OK)
                status = hot_cuda_status(context, cudaStreamSynchronize(stream), "the start");
            if (status == HOT_OK)
                hot_cpd_orthonormalise(d->n[mode], d->rank, f, &random);
        }
        if (status == HOT_OK) {
            hot_cpd_first_end(args, mode, f, spare, lengths);
            status = put_factor(context, d, mode, f);
        }
    }
    HOT_FREE(context, f, spare, lengths);
    return status;
}

static hot_status iterate(hot_context *context, hot_cpd_args *args, hot_cpd_device *d)
{
    enum { UNCHECKED = 4 }; /* iterations between two convergence checks without a tolerance */
    const hot_cpd_options *options = &args->options;
    cudaStream_t stream = (cudaStream_t)d->stream;
    cudaGraph_t graph[2] = {NULL, NULL}; /* of iterations with an even and an odd number */
    cudaGraphExec_t ready[2] = {NULL, NULL};
    double fit = 0, last = -INFINITY;
    /* The first iteration is not captured: libraries initialise themselves, which a capture does not allow. */
    hot_status status = hot_context_progress(context, "CP decomposition", 0);
    for (int iteration = 0; iteration < options->iterations && status == HOT_OK; iteration++) {
        const int which = iteration % 2;
        if (iteration == 0 || d->queued) {
            status = hot_cpd_device_iterate(context, d, options->non_negative);
        } else {
            if (!ready[which]) {
                status = hot_cuda_status(context, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                                         "capture");
                if (status == HOT_OK) {
                    status = hot_cpd_device_iterate(context, d, options->non_negative);
                    const hot_status ended =
                        hot_cuda_status(context, cudaStreamEndCapture(stream, &graph[which]), "capture");
                    status = status == HOT_OK ? ended : status;
                }
                if (status == HOT_OK)
                    status = hot_cuda_status(context, cudaGraphInstantiate(&ready[which], graph[which], 0), "graph");
            }
            if (status == HOT_OK)
                status = hot_cuda_status(context, cudaGraphLaunch(ready[which], stream), "an iteration");
        }
        if (status != HOT_OK)
            break;
        args->report.iterations = iteration + 1;
        if (options->tolerance < 0 && d->queued)
            continue;
        if (options->tolerance < 0 && iteration % UNCHECKED != 0 && iteration + 1 < options->iterations)
            continue;
        status = hot_cuda_status(
            context, cudaMemcpyAsync(&fit, d->fits + iteration, sizeof fit, cudaMemcpyDeviceToHost, stream), "the fit");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaStreamSynchronize(stream), "an iteration");
        if (status == HOT_OK && fabs(fit - last) < options->tolerance) {
            args->report.converged = 1;
            break;
        }
        last = fit;
        if (status == HOT_OK)
            status = hot_context_progress(context, "CP decomposition", (iteration + 1.) / options->iterations);
    }
    if (status == HOT_OK)
        status = hot_context_progress(context, "CP decomposition", 1);
    for (int which = 0; which < 2; which++) {
        if (ready[which])
            cudaGraphExecDestroy(ready[which]);
        if (graph[which])
            cudaGraphDestroy(graph[which]);
    }
    return status;
}

/* Results to the host, and the report. */
static hot_status finish(hot_context *context, hot_cpd_args *args, hot_cpd_device *d, const void *x, double square)
{
    const size_t rank = d->rank;
    hot_cpd_report *report = &args->report;
    double *gram = (double *)hot_context_alloc(context, 3 * rank * rank, sizeof *gram), residual = 0;
    double *wide =
        (double *)hot_context_alloc(context, std::max(d->n[0], std::max(d->n[1], d->n[2])) * rank, sizeof *wide);
    hot_status status = gram && wide ? HOT_OK : HOT_ERROR_MEMORY;
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        const size_t count = d->n[m] * rank;
        status = hot_cuda_status(context, cudaMemcpy(wide, d->f[m], count * sizeof *wide, cudaMemcpyDeviceToHost),
                                 "results");
        for (size_t i = 0; i < count && status == HOT_OK; i++) {
            if (args->f64)
                ((double *)args->factor[m])[i] = wide[i];
            else
                ((float *)args->factor[m])[i] = (float)wide[i];
        }
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy(gram + m * rank * rank, d->gram[m], rank * rank * sizeof *gram,
                                                         cudaMemcpyDeviceToHost), "results");
    }
    if (status == HOT_OK && square > 0)
        status = hot_cuda_status(
            context, cudaMemcpy(args->lambda, d->lambda, rank * sizeof(double), cudaMemcpyDeviceToHost), "results");
    else
        memset(args->lambda, 0, rank * sizeof(double));
    if (status == HOT_OK)
        status = hot_cuda_status(
            context, cudaMemcpy(&report->regularised, d->counters, sizeof(int), cudaMemcpyDeviceToHost), "results");
    if (status == HOT_OK && args->options.fits && report->iterations)
        status = hot_cuda_status(context,
                                 cudaMemcpy(args->options.fits, d->fits, (size_t)report->iterations * sizeof(double),
                                            cudaMemcpyDeviceToHost),
                                 "results");
    if (status == HOT_OK && square > 0)
        status = hot_cpd_device_residual(context, d, x, &residual);
    report->norm = sqrt(square);
    report->fit = square > 0 ? 1 - sqrt(residual / square) : 1;
    report->nulls = 0, report->congruence = 0;
    for (size_t r = 0; r < rank && status == HOT_OK; r++) {
        report->nulls += args->lambda[r] == 0;
        for (size_t q = 0; q < r; q++) {
            const size_t at = r * rank + q;
            const double cosine = fabs(gram[at] * gram[at + rank * rank] * gram[at + 2 * rank * rank]);
            if (args->lambda[r] > 0 && args->lambda[q] > 0)
                report->congruence = fmax(report->congruence, fmin(cosine, 1));
        }
    }
    HOT_FREE(context, gram, wide);
    return status;
}

hot_status hot_cpd_fits_kernels(hot_context *context, const size_t n[3], size_t rank)
{
    if (n[0] > INT_MAX / 2 || n[1] > INT_MAX / 2 || n[2] > INT_MAX / 2 || rank > 700)
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                "%zu x %zu x %zu at rank %zu is more than the GPU's kernels count; use the "
                                "CPU",
                                n[0], n[1], n[2], rank);
    return HOT_OK;
}

hot_status hot_cpd_put_tensor(hot_context *context, int f64, const size_t n[3], const void *x, void **device)
{
    const size_t bytes = n[0] * n[1] * n[2] * (f64 ? sizeof(double) : sizeof(float));
    hot_status status = hot_cuda_status(context, cudaMalloc(device, bytes), "memory for the tensor");
    return status == HOT_OK ? hot_cuda_copy(context, *device, x, bytes, "copying the tensor") : status;
}

/* The caller's tensor in memory that kernels can read. copy: to be freed, also after an error. */
static hot_status place_tensor(hot_context *context, int f64, const size_t n[3], const void *x, void **copy,
                               const void **there)
{
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return hot_cpd_queue_aligned(context, x, n[0] * n[1] * n[2] * (f64 ? sizeof(double) : sizeof(float)), copy,
                                     there);
    const hot_status status = hot_cpd_put_tensor(context, f64, n, x, copy);
    *there = *copy;
    return status;
}

/* Copies of the factors: those at the start, before anybody knows whether the tensor is zero. */
static hot_status keep_first(hot_context *context, const hot_cpd_device *d, double *first[3])
{
    hot_status status = HOT_OK;
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        const size_t bytes = d->n[m] * d->rank * sizeof *first[m];
        status = hot_device_alloc(context, bytes, (void **)&first[m], "memory for the start");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpyAsync(first[m], d->f[m], bytes, cudaMemcpyDeviceToDevice,
                                                              (cudaStream_t)d->stream), "copying a factor");
    }
    return status;
}

hot_status hot_cpd_cuda(hot_context *context, void *args_pointer)
{
    hot_cpd_args *args = (hot_cpd_args *)args_pointer;
    const int queued = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE, waits = !queued || hot_cpd_waits(args);
    hot_cpd_device d;
    void *copy = NULL, *scaled = NULL;
    int *exponent = NULL;
    const void *x = NULL;
    double square = 1, *first[3] = {NULL, NULL, NULL}; /* of a tensor that nobody waits for it is not known */
    memset(&d, 0, sizeof d);
    hot_status status = hot_cpd_fits_kernels(context, args->n, args->rank);
    if (status == HOT_OK)
        status = hot_cpd_check_places(context, args);
    if (status == HOT_OK)
        status = place_tensor(context, args->f64, args->n, args->x, &copy, &x);
    if (status == HOT_OK && queued)
        status = hot_cpd_queue_scaled(context, args, waits, x, &exponent, &scaled, &x);
    if (status == HOT_OK)
        status = hot_cpd_device_create(context, args->f64, args->options.arithmetic, args->n, args->rank, x, NULL,
                                       args->options.iterations, &d);
    if (status == HOT_OK)
        status = hot_cpd_device_square(context, &d, x, waits ? &square : NULL);
    if (status == HOT_OK)
        status = queued && args->options.start == HOT_CPD_GIVEN ? start_given(context, args, &d)
                                                                : start(context, args, &d, !(square > 0));
    if (status == HOT_OK) /* as on the CPU: a start has no weights */
        status = hot_cuda_status(context, cudaMemsetAsync(d.lambda, 0, d.rank * sizeof(double),
                                                          (cudaStream_t)d.stream), "memory");
    if (status == HOT_OK && !waits)
        status = keep_first(context, &d, first);
    if (status == HOT_OK) {
        if (square > 0)
            status = iterate(context, args, &d);
        else
            args->report.converged = 1;
        if (status == HOT_OK || status == HOT_ERROR_CANCELLED) {
            const hot_status finished =
                queued ? hot_cpd_queue_finish(context, args, &d, x, exponent, waits ? NULL : first)
                       : finish(context, args, &d, x, square);
            status = finished == HOT_OK ? status : finished;
        }
    }
    hot_cpd_device_destroy(context, &d);
    for (int m = 0; m < 3; m++)
        hot_device_release(context, first[m]);
    hot_device_release(context, exponent);
    hot_device_release(context, scaled);
    hot_device_release(context, copy);
    return status;
}

hot_status hot_mttkrp_cuda(hot_context *context, void *args_pointer)
{
    const hot_mttkrp_args *args = (const hot_mttkrp_args *)args_pointer;
    const size_t count = args->n[args->mode] * args->rank, size = args->f64 ? sizeof(double) : sizeof(float);
    const int queued = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    hot_cpd_device d;
    void *copy = NULL, *narrow = NULL;
    const void *x = NULL;
    memset(&d, 0, sizeof d);
    hot_status status = hot_cpd_fits_kernels(context, args->n, args->rank);
    if (status == HOT_OK)
        status = hot_mttkrp_check_places(context, args);
    if (status == HOT_OK)
        status = place_tensor(context, args->f64, args->n, args->x, &copy, &x);
    if (status == HOT_OK)
        status = hot_cpd_device_create(context, args->f64, args->arithmetic, args->n, args->rank, x, NULL, 0, &d);
    cudaStream_t stream = (cudaStream_t)d.stream;
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        const size_t bytes = args->n[m] * args->rank * size;
        if (m == args->mode)
            continue;
        status = hot_cuda_status(
            context, cudaMemcpyAsync(d.narrow[m], args->factor[m], bytes, cudaMemcpyDefault, stream),
            "copying a factor");
        if (status == HOT_OK)
            status = hot_cpd_device_take_factor(context, &d, m);
    }
    if (status == HOT_OK)
        status = hot_cpd_device_product(context, &d, args->mode, 1);
    if (status == HOT_OK && !queued)
        status = hot_device_alloc(context, count * size, &narrow, "memory for the product");
    if (status == HOT_OK)
        status = hot_cpd_device_narrow(context, &d, count, queued ? args->out : narrow);
    if (status == HOT_OK && !queued)
        status = hot_cuda_status(
            context, cudaMemcpyAsync(args->out, narrow, count * size, cudaMemcpyDeviceToHost, stream), "the product");
    if (status == HOT_OK && !queued)
        status = hot_cuda_status(context, cudaStreamSynchronize(stream), "the product");
    hot_device_release(context, narrow);
    hot_cpd_device_destroy(context, &d);
    hot_device_release(context, copy);
    return status;
}

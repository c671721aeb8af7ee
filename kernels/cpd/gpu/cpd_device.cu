/* See cpd_device.h: memory, products, updates and norms on the device. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/cuda_status.h"
#include "common/flow.h"
#include "common/shared_memory.cuh"
#include "contract/gpu/contract_cuda.h"
#include "cpd_memory.h"
#include "dependent_launch.cuh"
#include "cpd_device.h"
#include "gram_inverse.cuh"
#include "cpd/hopper/pass_args.h"
#include "als_kernels.cuh"
#include "cpd/hopper/als_update.h"

enum { PARTS = 1024 };

static size_t bytes_of(const hot_cpd_device *d) { return d->f64 ? sizeof(double) : sizeof(float); }

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

hot_status hot_cpd_device_create(hot_context *context, int f64, hot_cpd_arithmetic arithmetic, const size_t n[3],
                                 size_t rank, const void *x, const hot_cpd_shared *shared, int capacity,
                                 hot_cpd_device *d)
{
    const size_t longest = std::max(n[0], std::max(n[1], n[2])), total = n[0] * n[1] * n[2];
    memset(d, 0, sizeof *d);
    d->f64 = f64, d->arithmetic = arithmetic, d->rank = rank, d->x = x, d->capacity = capacity;
    memcpy(d->n, n, sizeof d->n);
    cudaStream_t stream = NULL;
    hot_status status = HOT_OK;
    if (shared) {
        d->shared = 1, d->packed = shared->packed, d->cublas = shared->cublas, stream = (cudaStream_t)shared->stream;
    } else {
        d->queued = hot_context_memory(context, (void **)&stream) == HOT_MEMORY_DEVICE;
        if (!d->queued)
            status = hot_cuda_status(context, cudaStreamCreate(&stream) /* in order with plain copies */, "stream");
        if (status == HOT_OK && arithmetic != HOT_CPD_FULL && rank <= CPD_MAX_COLUMNS)
            status = hot_cpd_packed_tensor_create(context, (const float *)x, n, arithmetic == HOT_CPD_SPLIT,
                                                  capacity > 0 ? CPD_SWEEPS : CPD_ONE_PRODUCT, stream, &d->packed);
    }
    d->stream = stream;
    if (status == HOT_OK && d->packed)
        status = hot_cpd_pass_create(context, d->packed, rank, stream, &d->pass);
    if (!d->pass && !d->shared)
        hot_cpd_packed_tensor_destroy(context, &d->packed);
    const bool split = arithmetic == HOT_CPD_SPLIT && !d->pass;
    const auto get = [&](void *where, size_t bytes) {
        if (status == HOT_OK)
            status = hot_cpd_get(context, d->shared, std::max<size_t>(bytes, 16), where,
                                 "memory for the decomposition");
    };
    for (int m = 0; m < 3; m++) {
        get(&d->f[m], n[m] * rank * sizeof(double));
        get(&d->gram[m], rank * rank * sizeof(double));
        get(&d->narrow[m], n[m] * rank * bytes_of(d));
        if (split)
            get(&d->narrow_low[m], n[m] * rank * bytes_of(d));
    }
    get(&d->product, longest * rank * sizeof(double));
    get(&d->before, longest * rank * sizeof(double));
    get(&d->matrix, rank * rank * sizeof(double));
    get(&d->inverse, rank * rank * sizeof(double));
    get(&d->work, rank * rank * sizeof(double));
    get(&d->lambda, rank * sizeof(double));
    get(&d->inner, rank * sizeof(double));
    get(&d->square, 2 * sizeof(double));
    get(&d->fits, (size_t)std::max(capacity, 1) * sizeof(double));
    get(&d->parts, PARTS * sizeof(double));
    get(&d->counters, 2 * sizeof(int));
    if (split) {
        get(&d->high, total * sizeof(float));
        get(&d->low, total * sizeof(float));
    }
    if (d->queued)
        get(&d->workspace, HOT_CUBLAS_WORKSPACE);
    if (status == HOT_OK) /* the first normalisations read it before there is a product */
        status = hot_cuda_status(context, cudaMemsetAsync(d->product, 0, longest * rank * sizeof(double), stream),
                                 "memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemsetAsync(d->counters, 0, 2 * sizeof(int), stream), "memory");
    if (status == HOT_OK && !shared) {
        const hot_status found = d->queued ? hot_cublas_kept(context, stream, d->workspace, &d->cublas)
                                           : hot_cublas_create(context, stream, &d->cublas);
        if (found != HOT_OK && arithmetic != HOT_CPD_FULL && !d->pass)
            return HOT_ERROR_DEVICE; /* tensor cores are then reached through cuBLAS alone; its message stands */
    }
    if (status == HOT_OK && split) {
        split_kernel<<<2048, 256, 0, (cudaStream_t)d->stream>>>((const float *)x, total, (float *)d->high,
                                                                (float *)d->low);
        status = hot_cpd_launched(context, "splitting the tensor");
        d->x = d->high;
    }
    return status;
}

void hot_cpd_device_destroy(hot_context *context, hot_cpd_device *d)
{
    if (d->stream && !d->queued)
        cudaStreamSynchronize((cudaStream_t)d->stream);
    hot_cpd_pass_destroy(context, &d->pass);
    if (!d->shared) {
        hot_cpd_packed_tensor_destroy(context, &d->packed);
        if (!d->queued)
            hot_cublas_destroy(context, &d->cublas);
    }
    void *const all[] = {d->f[0],      d->f[1],          d->f[2],          d->gram[0],       d->gram[1], d->gram[2],
                         d->narrow[0], d->narrow[1],     d->narrow[2],     d->narrow_low[0], d->narrow_low[1],
                         d->narrow_low[2], d->sums,      d->product,       d->before,        d->matrix,  d->inverse,
                         d->work,      d->lambda,        d->inner,         d->square,        d->fits,    d->parts,
                         d->counters,  d->high,          d->low,           d->workspace};
    for (void *memory : all)
        hot_cpd_give(context, d->shared, memory);
    if (d->stream && !d->shared && !d->queued)
        cudaStreamDestroy((cudaStream_t)d->stream);
    memset(d, 0, sizeof *d);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Column-major c (m x n) = op(a) b + beta c of matrices in the tensor's precision, by cuBLAS or by our own kernels. */
static hot_status multiply(hot_context *context, const hot_cpd_device *d, int ta, size_t m, size_t n, size_t k,
                           const void *a, size_t lda, size_t stride_a, const void *b, size_t ldb, size_t stride_b,
                           double beta, void *c, size_t ldc, size_t stride_c, size_t batch)
{
    /* Our own passes do not split x. */
    const bool whole = d->arithmetic == HOT_CPD_FULL || (d->arithmetic == HOT_CPD_SPLIT && d->pass);
    if (d->cublas)
        return hot_cublas_multiply(context, d->cublas,
                                   d->f64  ? HOT_CUBLAS_F64
                                   : whole ? HOT_CUBLAS_F32
                                           : HOT_CUBLAS_TF32,
                                   ta, 0, m, n, k, 1, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,
                                   batch);
    hot_contract_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.f64 = d->f64, plan.alpha = 1, plan.beta = beta, plan.a = a, plan.b = b, plan.c = c;
    hot_group_add(&plan.row, m, ta ? lda : 1, 0, 1);
    hot_group_add(&plan.column, n, 0, ldb, ldc);
    hot_group_add(&plan.sum, k, ta ? 1 : lda, 1, 0);
    hot_group_add(&plan.item, batch, stride_a, stride_b, stride_c);
    hot_status status = hot_contract_plan_finish(context, &plan);
    return status == HOT_OK ? hot_contract_launch(context, &plan, NULL, d->stream) : status;
}

static hot_status make_sums(hot_context *context, hot_cpd_device *d)
{
    const size_t *n = d->n, pairs = std::max(n[0] * n[1], std::max(n[1] * n[2], n[0] * n[2]));
    return d->sums ? HOT_OK
                   : hot_cpd_get(context, d->shared, pairs * d->rank * bytes_of(d), &d->sums, "memory for sums");
}

/* sums = op(x) f[mode], optionally split in three products: high high, high low, low high; the omitted one is 2^-22 of
 * the result. */
static hot_status sum_over(hot_context *context, hot_cpd_device *d, int mode)
{
    const size_t *n = d->n;
    const int ta = mode == 0;
    const size_t rows = ta ? n[1] * n[2] : n[0] * n[1], inner = n[mode], ld = ta ? n[0] : n[0] * n[1];
    hot_status status = make_sums(context, d);
    if (status == HOT_OK)
        status = multiply(context, d, ta, rows, d->rank, inner, d->x, ld, 0, d->narrow[mode], inner, 0, 0, d->sums,
                          rows, 0, 1);
    if (d->arithmetic != HOT_CPD_SPLIT || d->pass)
        return status;
    if (status == HOT_OK)
        status = multiply(context, d, ta, rows, d->rank, inner, d->x, ld, 0, d->narrow_low[mode], inner, 0, 1, d->sums,
                          rows, 0, 1);
    if (status == HOT_OK)
        status = multiply(context, d, ta, rows, d->rank, inner, d->low, ld, 0, d->narrow[mode], inner, 0, 1, d->sums,
                          rows, 0, 1);
    return status;
}

/* The other factor's part of a product; in the split arithmetic that factor is the sum of its parts. */
template <typename T> static hot_status reduce(hot_context *context, hot_cpd_device *d, int mode)
{
    const size_t *n = d->n;
    cudaStream_t stream = (cudaStream_t)d->stream;
    const int with = mode == 1 ? 0 : 1;
    const size_t rows = mode == 2 ? n[1] : n[0], count = mode == 2 ? n[2] : n[1];
    const T *factor = (const T *)d->narrow[with], *low = (const T *)d->narrow_low[with];
    if (mode == 0) {
        const dim3 grid((unsigned)((rows + 31) / 32), (unsigned)d->rank), block(32, 16);
        over_second<T><<<grid, block, 0, stream>>>((const T *)d->sums, rows, count, factor, low, d->product);
    } else {
        const dim3 grid((unsigned)((count + 7) / 8), (unsigned)d->rank), block(32, 8);
        over_first<T><<<grid, block, 0, stream>>>((const T *)d->sums, rows, count, factor, low, d->product);
    }
    return hot_cpd_launched(context, "summing a product");
}

hot_status hot_cpd_device_product(hot_context *context, hot_cpd_device *d, int mode, int fresh)
{
    hot_status status = HOT_OK;
    if (d->pass)
        return hot_cpd_pass_product(context, d->pass, mode, d->product);
    if (mode == 2)
        status = sum_over(context, d, 0);
    else if (fresh)
        status = sum_over(context, d, 2);
    if (status != HOT_OK)
        return status;
    return d->f64 ? reduce<double>(context, d, mode) : reduce<float>(context, d, mode);
}

hot_status hot_cpd_device_unfold_twice(hot_context *context, hot_cpd_device *d, int mode)
{
    const size_t *n = d->n, rank = d->rank, each = n[0] * n[1];
    cudaStream_t stream = (cudaStream_t)d->stream;
    void *parts = NULL;
    size_t count = 1; /* parts that are summed up at the end */
    hot_status status =
        hot_cpd_get(context, d->shared, n[mode] * rank * (mode == 1 ? n[2] : 1) * bytes_of(d), &parts, "memory");
    if (status != HOT_OK)
        return status;
    if (mode == 1) { /* slice by slice: x_k f, then x_k^T of that */
        count = n[2];
        status = make_sums(context, d);
        if (status == HOT_OK)
            status = multiply(context, d, 0, n[0], rank, n[1], d->x, n[0], each, d->narrow[1], n[1], 0, 0, d->sums,
                              n[0], n[0] * rank, n[2]);
        if (status == HOT_OK)
            status = multiply(context, d, 1, n[1], rank, n[0], d->x, n[0], each, d->sums, n[0], n[0] * rank, 0, parts,
                              n[1], n[1] * rank, n[2]);
    } else {
        status = sum_over(context, d, mode);
        if (status == HOT_OK && mode == 0)
            status = multiply(context, d, 0, n[0], rank, n[1] * n[2], d->x, n[0], 0, d->sums, n[1] * n[2], 0, 0, parts,
                              n[0], 0, 1);
        else if (status == HOT_OK)
            status = multiply(context, d, 1, n[2], rank, each, d->x, each, 0, d->sums, each, 0, 0, parts, n[2], 0, 1);
    }
    const size_t values = n[mode] * rank;
    const unsigned blocks = (unsigned)((values + 255) / 256);
    if (status == HOT_OK && d->f64)
        sum_kernel<double><<<blocks, 256, 0, stream>>>((const double *)parts, values, count, d->product);
    else if (status == HOT_OK)
        sum_kernel<float><<<blocks, 256, 0, stream>>>((const float *)parts, values, count, d->product);
    if (status == HOT_OK)
        status = hot_cpd_launched(context, "summing slices");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamSynchronize(stream), "unfolding");
    hot_cpd_give(context, d->shared, parts);
    return status;
}

hot_status hot_cpd_device_take_factor(hot_context *context, hot_cpd_device *d, int mode)
{
    float *narrow = (float *)d->narrow[mode];
    if (d->pass)
        return hot_cpd_pass_factor(context, d->pass, mode, narrow);
    if (!d->narrow_low[mode])
        return HOT_OK;
    split_kernel<<<256, 256, 0, (cudaStream_t)d->stream>>>(narrow, d->n[mode] * d->rank, narrow,
                                                           (float *)d->narrow_low[mode]);
    return hot_cpd_launched(context, "splitting a factor");
}

hot_status hot_cpd_device_narrow(hot_context *context, hot_cpd_device *d, size_t count, void *to)
{
    const unsigned blocks = (unsigned)((count + 255) / 256);
    if (d->f64)
        narrow_kernel<<<blocks, 256, 0, (cudaStream_t)d->stream>>>(d->product, count, (double *)to);
    else
        narrow_kernel<<<blocks, 256, 0, (cudaStream_t)d->stream>>>(d->product, count, (float *)to);
    return hot_cpd_launched(context, "the product");
}

void hot_cpd_device_set_stream(hot_cpd_device *d, void *stream)
{
    d->stream = stream;
    if (d->pass)
        hot_cpd_pass_set_stream(d->pass, stream);
}

/* ---- Updates ----------------------------------------------------------------------------------------------------- */

hot_status hot_cpd_device_publish(hot_context *context, hot_cpd_device *d, int mode)
{
    const int n = (int)d->n[mode], rank = (int)d->rank;
    const int entries = rank * (rank + 1) / 2;
    cudaStream_t stream = (cudaStream_t)d->stream;
    if (d->f64)
        normalise<double><<<rank, 256, 0, stream>>>(n, d->before, d->product, d->f[mode], d->lambda, d->inner,
                                                    (double *)d->narrow[mode], (double *)NULL);
    else
        normalise<float><<<rank, 256, 0, stream>>>(n, d->before, d->product, d->f[mode], d->lambda, d->inner,
                                                   (float *)d->narrow[mode], (float *)d->narrow_low[mode]);
    gram_kernel<<<(entries + 7) / 8, dim3(32, 8), 0, stream>>>(n, rank, d->f[mode], d->gram[mode]);
    const hot_status status = hot_cpd_launched(context, "normalising a factor");
    return status == HOT_OK && d->pass ? hot_cpd_pass_factor(context, d->pass, mode, (const float *)d->narrow[mode])
                                       : status;
}

/* Of the largest diagonal value, which is 1. The right-hand side is off by some part e of the tensor's length: an
 * update makes e / p of it along a direction of the matrix with the pivot p, which lengthens terms that cancel by as
 * much and adds sqrt(p) e / p = e / sqrt(p) to the residual. In TF32 three roundings to 11 bits (the tensor, a factor,
 * the sums that are kept) leave e = 2^-10 or so; with p >= 2^-9 that is at most half the tensor's length and 2 % of
 * residual, where p >= 1e-5 would allow 100 times its length and 30 %, and fits (from sums of terms so long) that stop
 * the iteration anywhere. */
static double pivot_bound(const hot_cpd_device *d)
{
    return d->f64 ? 1e-14 : d->arithmetic == HOT_CPD_TF32 ? 0x1p-9 : 3e-7;
}

/* matrix = the product of two Gram matrices, and its inverse. */
static hot_status invert(hot_context *context, hot_cpd_device *d, int one, int other)
{
    const int rank = (int)d->rank;
    cudaStream_t stream = (cudaStream_t)d->stream;
    const double eps = pivot_bound(d);
    const void *kernel = NULL;
    switch ((rank + 15) / 16) {
#define HOT_CPD_INVERT(TILES)                                                                                         \
    case TILES:                                                                                                       \
        kernel = d->arithmetic == HOT_CPD_TF32 ? (const void *)invert_tiles<float, TILES>                             \
                                               : (const void *)invert_tiles<double, TILES>;                           \
        break;
        HOT_CPD_INVERT(1)
        HOT_CPD_INVERT(2)
        HOT_CPD_INVERT(3)
        HOT_CPD_INVERT(4)
        HOT_CPD_INVERT(5)
        HOT_CPD_INVERT(6)
        HOT_CPD_INVERT(7)
        HOT_CPD_INVERT(8)
#undef HOT_CPD_INVERT
    default:
        invert_any<<<1, 1024, 2 * d->rank * sizeof(double), stream>>>(rank, d->gram[one], d->gram[other], eps,
                                                                      d->matrix, d->inverse, d->work, d->counters);
    }
    void *arguments[] = {(void *)&rank, &d->gram[one], &d->gram[other], (void *)&eps,
                         &d->matrix,    &d->inverse,   &d->counters};
    if (kernel)
        return hot_cuda_status(context, cudaLaunchKernel(kernel, dim3(1), dim3(256), arguments, 0, stream),
                               "inverting");
    return hot_cpd_launched(context, "inverting");
}

/* All that follows a product in one launch: solution, lengths, Gram matrix, copies and, after the last mode, the fit.
 */
static hot_status update_at_once(hot_context *context, hot_cpd_device *d, int mode, int one, int other)
{
    int bytes;
    const void *kernel = hot_cpd_update_kernel(d->n[mode], d->rank, d->arithmetic == HOT_CPD_SPLIT, &bytes);
    hot_cpd_update_args step;
    memset(&step, 0, sizeof step);
    step.n = (int)d->n[mode], step.rank = (int)d->rank, step.eps = pivot_bound(d);
    step.one = d->gram[one], step.other = d->gram[other], step.product = d->product;
    step.f = d->f[mode], step.gram = d->gram[mode], step.lambda = d->lambda, step.counters = d->counters;
    step.square = mode == 2 ? d->square : NULL, step.fits = d->fits, step.narrow = (float *)d->narrow[mode];
    HOT_TRY(hot_cpd_pass_update_args(context, d->pass, mode, bytes, d->product, &step));
    bytes += step.kept_bytes;
    void *arguments[] = {&step};
    cudaError_t error = raise_shared_memory(kernel, (size_t)bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error == cudaSuccess)
        error = launch_dependent(kernel, CPD_UPDATE_BLOCKS, CPD_UPDATE_THREADS, bytes, (cudaStream_t)d->stream,
                                 arguments, CPD_UPDATE_BLOCKS);
    return hot_cuda_status(context, error, "updating a factor");
}

static hot_status update(hot_context *context, hot_cpd_device *d, int mode, int non_negative)
{
    const int n = (int)d->n[mode], rank = (int)d->rank, one = mode == 0 ? 1 : 0, other = mode == 2 ? 1 : 2;
    cudaStream_t stream = (cudaStream_t)d->stream;
    hot_status status = HOT_OK;
    int bytes;
    if (!d->pass)
        status = hot_cpd_device_product(context, d, mode, mode == 0);
    if (d->pass && d->turn % 2 == 0)
        status = hot_cpd_pass_contract(context, d->pass, 2 - d->turn / 2);
    d->turn = (d->turn + 1) % 6;
    if (status == HOT_OK && d->pass && !non_negative &&
        hot_cpd_update_kernel(d->n[mode], d->rank, d->arithmetic == HOT_CPD_SPLIT, &bytes))
        return update_at_once(context, d, mode, one, other);
    if (d->pass && status == HOT_OK)
        status = hot_cpd_pass_reduce(context, d->pass, mode, d->product);
    if (status != HOT_OK)
        return status;
    if (non_negative) {
        update_rows_non_negative<<<n, 32, rank * sizeof(double), stream>>>(
            n, rank, d->product, d->gram[one], d->gram[other], d->lambda, d->before, d->f[mode]);
    } else {
        status = invert(context, d, one, other);
        if (status != HOT_OK)
            return status;
        update_rows<<<(n + ROWS - 1) / ROWS, 128, 2 * ROWS * rank * sizeof(double), stream>>>(
            n, rank, d->product, d->matrix, d->inverse, d->lambda, d->before, d->f[mode]);
    }
    status = hot_cpd_launched(context, "updating a factor");
    return status == HOT_OK ? hot_cpd_device_publish(context, d, mode) : status;
}

hot_status hot_cpd_device_iterate(hot_context *context, hot_cpd_device *d, int non_negative)
{
    hot_status status = HOT_OK;
    for (int mode = 0; mode < 3 && status == HOT_OK; mode++)
        status = update(context, d, mode, non_negative);
    int bytes;
    if (status != HOT_OK ||
        (d->pass && !non_negative && hot_cpd_update_kernel(d->n[2], d->rank, d->arithmetic == HOT_CPD_SPLIT, &bytes)))
        return status;
    fit_kernel<<<1, 1024, 0, (cudaStream_t)d->stream>>>((int)d->rank, d->square, d->inner, d->lambda, d->gram[0],
                                                        d->gram[1], d->gram[2], d->fits, d->counters + 1);
    return hot_cpd_launched(context, "the fit");
}

/* ---- Norms ------------------------------------------------------------------------------------------------------- */

/* d->square[which] = the sum of the parts; to *sum, too, if that is wanted. */
static hot_status add_parts(hot_context *context, hot_cpd_device *d, int which, double *sum)
{
    cudaStream_t stream = (cudaStream_t)d->stream;
    total_kernel<PARTS><<<1, PARTS, 0, stream>>>(d->parts, d->square + which);
    hot_status status = hot_cpd_launched(context, "summing the tensor");
    if (status == HOT_OK && sum)
        status = hot_cuda_status(
            context, cudaMemcpyAsync(sum, d->square + which, sizeof *sum, cudaMemcpyDeviceToHost, stream),
            "copying a sum");
    return status == HOT_OK && sum ? hot_cuda_status(context, cudaStreamSynchronize(stream), "summing the tensor")
                                   : status;
}

hot_status hot_cpd_device_square(hot_context *context, hot_cpd_device *d, const void *x, double *square)
{
    const size_t total = d->n[0] * d->n[1] * d->n[2];
    if (d->f64)
        square_kernel<double><<<PARTS, 512, 0, (cudaStream_t)d->stream>>>((const double *)x, total, d->parts);
    else
        square_kernel<float><<<PARTS, 512, 0, (cudaStream_t)d->stream>>>((const float *)x, total, d->parts);
    hot_status status = hot_cpd_launched(context, "the tensor's norm");
    if (status == HOT_OK)
        status = add_parts(context, d, 0, square);
    if (status == HOT_OK && square && !isfinite(*square))
        status = hot_context_fail(context, HOT_ERROR_DATA, "the tensor holds NaN or Inf");
    return status;
}

hot_status hot_cpd_device_residual(hot_context *context, hot_cpd_device *d, const void *x, double *residual)
{
    const size_t *n = d->n;
    if (d->f64)
        residual_kernel<double><<<PARTS, 256, 0, (cudaStream_t)d->stream>>>(
            n[0], n[1], n[2], (int)d->rank, (const double *)x, d->lambda, d->f[0], d->f[1], d->f[2], d->parts);
    else
        residual_kernel<float><<<PARTS, 256, 0, (cudaStream_t)d->stream>>>(
            n[0], n[1], n[2], (int)d->rank, (const float *)x, d->lambda, d->f[0], d->f[1], d->f[2], d->parts);
    hot_status status = hot_cpd_launched(context, "the residual");
    return status == HOT_OK ? add_parts(context, d, 1, residual) : status;
}

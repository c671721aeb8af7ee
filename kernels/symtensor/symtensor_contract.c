/* Forms A x^p for every p: a contraction at a time, so that no multiplicities are needed. */
#include <omp.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "classes.h"
#include "contract_args.h"

enum { LANES = 16 }; /* points that are done together */

#define HOT_SCALAR double
#define HOT_CONTRACT(name) name##_f64
#include "symtensor_contract.h"
#define HOT_SCALAR float
#define HOT_CONTRACT(name) name##_f32
#include "symtensor_contract.h"

static hot_status check(hot_context *context, const hot_contract_forms *job)
{
    if (!hot_class_valid(job->order, job->dim))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "order %d and dimension %d: they go from 1 to %d and %d",
                                job->order, job->dim, HOT_ORDER_MAX, HOT_DIM_MAX);
    if (job->times < 0 || job->times > job->order)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "times", "0 to %d for this order, not %d",
                                          job->order, job->times);
    if (job->stride < hot_symtensor_count(job->order, job->dim))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "stride", "%zu values apart: order %d and "
                                          "dimension %d need %zu", job->stride, job->order, job->dim,
                                          hot_symtensor_count(job->order, job->dim));
    return HOT_OK;
}

static hot_status contract_cpu(hot_context *context, void *args)
{
    const hot_contract_forms *job = args;
    const size_t size = job->f64 ? sizeof(double) : sizeof(float);
    hot_status status = HOT_OK;
    const int threads = hot_context_threads(context);
    /* after the first contraction; a multiple of 64 bytes, so that threads do not share cache lines */
    const size_t scratch = hot_class_count(job->order - 1, job->dim) * LANES * size;
    const size_t blocks = (job->points + LANES - 1) / LANES, pieces = job->count * blocks;
    char *kept = hot_context_alloc(context, (size_t)threads, scratch);
    if (!kept)
        return HOT_ERROR_MEMORY;
    const size_t chunk = 4096;
    for (size_t begin = 0; begin < pieces && status == HOT_OK; begin += chunk) {
        const size_t end = pieces - begin < chunk ? pieces : begin + chunk;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hot_team(end - begin > 16 ? threads : 1))
        for (size_t piece = begin; piece < end; piece++) {
            hot_poll poll = {.context = context};
            void *own = kept + (size_t)omp_get_thread_num() * scratch;
            if (hot_context_cancelled(context))
                continue;
            if (job->f64)
                piece_f64(job, &poll, piece / blocks, piece % blocks * LANES, own);
            else
                piece_f32(job, &poll, piece / blocks, piece % blocks * LANES, own);
        }
        status = hot_context_progress(context, "contracting tensors", (double)end / (double)pieces);
    }
    hot_context_free(context, kept);
    return status;
}

static const hot_backends backends = {"forms", NULL, contract_cpu, HOT_CUDA_BACKEND(hot_contract_forms_cuda), 1};

static hot_status run(hot_context *context, hot_contract_forms *job)
{
    const size_t size = job->f64 ? sizeof(double) : sizeof(float);
    const hot_status status = check(context, job);
    if (status != HOT_OK || job->count == 0 || job->points == 0)
        return status;
    job->width = hot_class_count(job->order - job->times, job->dim);
    if (job->points > SIZE_MAX / 2 / size / job->width / job->count)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%zu tensors at %zu points are more than memory can hold",
                                job->count, job->points);
    return hot_backend_run(context, &backends, job);
}

hot_status hot_symtensor_contract_f64(hot_context *context, int order, int dim, int times, size_t count,
                                      const double *tensors, size_t stride, size_t point_count, const double *points,
                                      double *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0 && point_count > 0)
        HOT_NEED(context, tensors, points, result);
    hot_contract_forms job = {order, dim, times, 1, count, stride, point_count, 0, tensors, points, result};
    return run(context, &job);
}

hot_status hot_symtensor_contract_f32(hot_context *context, int order, int dim, int times, size_t count,
                                      const float *tensors, size_t stride, size_t point_count, const float *points,
                                      float *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0 && point_count > 0)
        HOT_NEED(context, tensors, points, result);
    hot_contract_forms job = {order, dim, times, 0, count, stride, point_count, 0, tensors, points, result};
    return run(context, &job);
}

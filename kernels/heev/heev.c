/* The public functions of the heev family: bounds, and which backend. */
#include "heev.h"

#include <math.h>

#include "common/backend.h"
#include "common/context_internal.h"

static const hot_backends backends = {"heev", hot_heev_ref, hot_heev_cpu, HOT_CUDA_BACKEND(hot_heev_cuda)};

int hot_heev_finite(const hot_heev_job *job, size_t i)
{
    const size_t parts = job->is_complex ? 2 : 1, size = job->n * job->n * parts;
    for (size_t column = 0; column < job->n; column++)
        for (size_t at = (column * job->n + column) * parts; at < (column + 1) * job->n * parts; at++) {
            double value = job->f64 ? ((const double *)job->matrices)[i * size + at]
                                    : (double)((const float *)job->matrices)[i * size + at];
            if (!isfinite(value) && !(job->is_complex && at == (column * job->n + column) * parts + 1))
                return 0;
        }
    return 1;
}

static void fill_nan(int f64, void *values, size_t from, size_t count)
{
    for (size_t k = from; k < from + count; k++) {
        if (f64)
            ((double *)values)[k] = NAN;
        else
            ((float *)values)[k] = NAN;
    }
}

void hot_heev_refuse(const hot_heev_job *job, size_t i)
{
    const size_t vector = job->kept * job->n * (job->is_complex ? 2 : 1);
    job->flags[i] = 1;
    fill_nan(job->f64, job->values, i * job->kept, job->kept);
    if (job->vectors)
        fill_nan(job->f64, job->vectors, i * vector, vector);
}

static hot_status solve(hot_context *context, const hot_heev_options *options, hot_heev_job *job)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    if (options && options->size != sizeof *options)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: options->size is %zu, not %zu", options->size,
                                sizeof *options);
    if (job->n > HOT_HEEV_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: matrices of size %zu; at most %d", job->n,
                                HOT_HEEV_MAX);
    if (options && options->largest > job->n)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "heev: the %zu largest eigenvalues of a matrix of size %zu", options->largest, job->n);
    job->kept = options && options->largest ? options->largest : job->n;
    if (job->count == 0)
        return HOT_OK;
    if (job->n > 0 && (!job->matrices || !job->values))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: the matrices and the eigenvalues need memory");
    uint8_t *own = NULL;
    if (!job->flags) {
        job->flags = own = hot_context_alloc(context, job->count, 1);
        if (!own)
            return HOT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < job->count; i++)
        job->flags[i] = 0;
    hot_status status = job->n == 0 ? HOT_OK : hot_backend_run(context, &backends, job);
    hot_context_free(context, own);
    return status;
}

hot_status hot_heev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const double *matrices, double *values, double *vectors, uint8_t *flags)
{
    hot_heev_job job = {.f64 = 1, .is_complex = 1, .n = n, .count = count, .matrices = matrices, .values = values,
                        .vectors = vectors, .flags = flags};
    return solve(context, options, &job);
}

hot_status hot_heev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const float *matrices, float *values, float *vectors, uint8_t *flags)
{
    hot_heev_job job = {.f64 = 0, .is_complex = 1, .n = n, .count = count, .matrices = matrices, .values = values,
                        .vectors = vectors, .flags = flags};
    return solve(context, options, &job);
}

hot_status hot_syev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const double *matrices, double *values, double *vectors, uint8_t *flags)
{
    hot_heev_job job = {.f64 = 1, .n = n, .count = count, .matrices = matrices, .values = values, .vectors = vectors,
                        .flags = flags};
    return solve(context, options, &job);
}

hot_status hot_syev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const float *matrices, float *values, float *vectors, uint8_t *flags)
{
    hot_heev_job job = {.f64 = 0, .n = n, .count = count, .matrices = matrices, .values = values, .vectors = vectors,
                        .flags = flags};
    return solve(context, options, &job);
}

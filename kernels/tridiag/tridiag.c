/* The public functions of the tridiag family: bounds, and which backend. */
#include "tridiag.h"

#include <float.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "common/options.h"

static const hot_backends backends = {"tridiag", hot_tridiag_ref, hot_tridiag_cpu,
                                      HOT_CUDA_BACKEND(hot_tridiag_cuda), 1};

static hot_status take_options(hot_context *context, const hot_tridiag_options *options, hot_tridiag_args *args)
{
    hot_tridiag_options *mine = &args->options;
    *mine = (hot_tridiag_options){.size = sizeof *mine};
    HOT_TRY(hot_options_read(context, "hot_tridiag_options", options, mine));
    HOT_TRY(hot_option_number(context, "absolute", 0, DBL_MAX, &mine->absolute));
    HOT_TRY(hot_option_number(context, "relative", 0, 1 - DBL_EPSILON, &mine->relative));
    size_t wanted = args->n;
    switch (mine->range) {
    case HOT_TRIDIAG_ALL:
        break;
    case HOT_TRIDIAG_INDEX:
        if (mine->first > mine->last || mine->last >= args->n)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "tridiag: eigenvalues %zu to %zu of a matrix of size %zu; "
                                    "they are counted from 0",
                                    mine->first, mine->last, args->n);
        wanted = mine->last - mine->first + 1;
        break;
    case HOT_TRIDIAG_VALUE:
        if (!(mine->low <= mine->high))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tridiag: a range of values from %g to %g", mine->low,
                                    mine->high);
        break;
    default:
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tridiag: there is no range %d", (int)mine->range);
    }
    if (args->width < wanted)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "tridiag: rows of %zu values cannot hold %zu eigenvalues", args->width, wanted);
    return HOT_OK;
}

static hot_status solve(hot_context *context, const hot_tridiag_options *options, hot_tridiag_args *args)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    if (args->n > INT32_MAX / 2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tridiag: matrices of size %zu; at most %d", args->n,
                                INT32_MAX / 2);
    hot_status status = take_options(context, options, args);
    if (status != HOT_OK || args->count == 0)
        return status;
    if (args->n > 0 && (args->stride < args->n || !args->diagonal || !args->values || (args->n > 1 && !args->off)))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, args->stride < args->n
                                ? "tridiag: a stride of %zu does not hold the %zu entries of a diagonal"
                                : "tridiag: the matrices and the values need memory (stride %zu, size %zu)",
                                args->stride, args->n);
    int64_t *own = NULL;
    const int there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    if (there && args->n == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tridiag: matrices of size 0 in device memory");
    if (!args->found && !there) {
        args->found = own = hot_context_alloc(context, args->count, sizeof *own);
        if (!own)
            return HOT_ERROR_MEMORY;
    }
    if (args->n == 0)
        for (size_t i = 0; i < args->count; i++)
            args->found[i] = 0, hot_tridiag_blank(args, i, 0);
    else
        status = hot_backend_run(context, &backends, args);
    hot_context_free(context, own);
    return status;
}

static hot_status enter(hot_context *context, const hot_tridiag_options *options, hot_tridiag_args args)
{
    const void *diagonal = args.diagonal, *off = args.off, *values = args.values;
    HOT_NEED(context);
    if (args.n > 0 && args.count > 0)
        HOT_NEED(context, diagonal, values);
    if (args.n > 1 && args.count > 0)
        HOT_NEED(context, off);
    return solve(context, options, &args);
}

hot_status hot_tridiag_f64(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                           const double *diagonal, const double *off, size_t stride, double *values, size_t width,
                           int64_t *found)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_tridiag_args){.f64 = 1, .n = n, .count = count, .stride = stride,
                    .width = width, .diagonal = diagonal, .off = off, .values = values, .found = found});
}

hot_status hot_tridiag_f32(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                           const float *diagonal, const float *off, size_t stride, float *values, size_t width,
                           int64_t *found)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_tridiag_args){.n = n, .count = count, .stride = stride, .width = width,
                    .diagonal = diagonal, .off = off, .values = values, .found = found});
}

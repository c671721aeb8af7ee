/* The public functions of the heev family: bounds, and which backend. */
#include "heev.h"

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "common/options.h"

static const hot_backends backends = {"heev", hot_heev_ref, hot_heev_cpu, HOT_CUDA_BACKEND(hot_heev_cuda), 1};

static hot_status solve(hot_context *context, const hot_heev_options *given, hot_heev_args *args)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    hot_heev_options options = {.size = sizeof options};
    hot_status status = hot_options_read(context, "hot_heev_options", given, &options);
    if (status != HOT_OK)
        return status;
    if (args->n > HOT_HEEV_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: matrices of size %zu; at most %d", args->n,
                                HOT_HEEV_MAX);
    if (options.largest > args->n)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "heev: the %zu largest eigenvalues of a matrix of size %zu", options.largest, args->n);
    if ((status = hot_option_choice(context, "uplo", (int)options.uplo, 2)) != HOT_OK)
        return status;
    args->upper = options.uplo == HOT_HEEV_UPPER;
    args->kept = options.largest ? options.largest : args->n;
    if (args->count == 0)
        return HOT_OK;
    if (args->n > 0 && (!args->matrices || !args->values))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: the matrices and the eigenvalues need memory");
    uint8_t *own = NULL;
    const int there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    if (there && args->n == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: matrices of size 0 in device memory");
    if (!args->flags && !there) {
        args->flags = own = hot_context_alloc(context, args->count, 1);
        if (!own)
            return HOT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < args->count && !there; i++)
        args->flags[i] = 0;
    status = args->n == 0 ? HOT_OK : hot_backend_run(context, &backends, args);
    hot_context_free(context, own);
    return status;
}

/* What the four public functions share. */
static hot_status enter(hot_context *context, const hot_heev_options *options, hot_heev_args args)
{
    const void *matrices = args.matrices, *values = args.values;
    HOT_NEED(context);
    if (args.n > 0 && args.count > 0)
        HOT_NEED(context, matrices, values);
    return solve(context, options, &args);
}

hot_status hot_heev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const double *matrices, double *values, double *vectors, uint8_t *flags)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_heev_args){.f64 = 1, .is_complex = 1, .n = n, .count = count,
                    .matrices = matrices, .values = values, .vectors = vectors, .flags = flags});
}

hot_status hot_heev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const float *matrices, float *values, float *vectors, uint8_t *flags)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_heev_args){.is_complex = 1, .n = n, .count = count, .matrices = matrices,
                    .values = values, .vectors = vectors, .flags = flags});
}

hot_status hot_syev_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const double *matrices, double *values, double *vectors, uint8_t *flags)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_heev_args){.f64 = 1, .n = n, .count = count, .matrices = matrices,
                    .values = values, .vectors = vectors, .flags = flags});
}

hot_status hot_syev_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                        const float *matrices, float *values, float *vectors, uint8_t *flags)
{
    HOT_ENTRY(context);
    return enter(context, options, (hot_heev_args){.n = n, .count = count, .matrices = matrices, .values = values,
                    .vectors = vectors, .flags = flags});
}

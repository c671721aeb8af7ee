/* Eigenvectors of tridiagonal matrices: the public functions of hotfiber/tridiag.h that compute them, and the
 * reference. Here, since the solvers for whole matrices are those of heev. */
#include "heev_tridiagonal.h"

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "heev.h"

static const hot_backends backends = {"tridiag with vectors", hot_tridiagonal_ref, hot_tridiagonal_cpu, NULL, 0};

/* The reference: Jacobi's rotations on the whole matrix. */
hot_status hot_tridiagonal_ref(hot_context *context, void *argument)
{
    const hot_tridiagonal_args *args = argument;
    const size_t n = args->n;
    double *d = hot_context_alloc(context, 2 * n * n + 3 * n, sizeof *d);
    if (!d)
        return HOT_ERROR_MEMORY;
    double *e = d + n, *a = e + n, *v = a + n * n, *w = v + n * n;
    hot_status status = HOT_OK;
    for (size_t i = 0; i < args->count && status == HOT_OK; i++) {
        uint8_t flag;
        if (args->found[i] < 0) {
            hot_tridiagonal_refuse(args, i);
            continue;
        }
        hot_tridiagonal_values(args, i, d, e);
        for (size_t k = 0; k < n * n; k++)
            a[k] = 0;
        for (size_t k = 0; k < n; k++) {
            a[k * (n + 1)] = d[k];
            if (k + 1 < n)
                a[k * (n + 1) + 1] = e[k];
        }
        hot_heev_args whole = {.f64 = 1, .n = n, .count = 1, .kept = n, .matrices = a, .values = w, .vectors = v,
                               .flags = &flag};
        status = hot_heev_ref(context, &whole);
        const size_t found = (size_t)args->found[i];
        hot_tridiagonal_store(args, i, 0, found, v + hot_tridiagonal_first(args, i) * n);
        hot_tridiagonal_store(args, i, found, args->width, NULL);
    }
    hot_context_free(context, d);
    return status;
}

/* The values by hot_tridiag_*, which looks at all arguments but the vectors; then the vectors. */
static hot_status solve(hot_context *context, hot_tridiagonal_args *args)
{
    int64_t *own = NULL;
    hot_status status = hot_backend_need_host(context, "tridiag with vectors");
    if (status == HOT_OK && !args->found && args->count > 0) {
        args->found = own = hot_context_alloc(context, args->count, sizeof *own);
        status = own ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK)
        status = args->f64 ? hot_tridiag_f64(context, args->options, args->n, args->count, args->diagonal, args->off,
                                             args->stride, args->values, args->width, args->found)
                           : hot_tridiag_f32(context, args->options, args->n, args->count, args->diagonal, args->off,
                                             args->stride, args->values, args->width, args->found);
    if (status == HOT_OK && args->n > 0 && args->count > 0)
        status = hot_backend_run(context, &backends, args);
    hot_context_free(context, own);
    return status;
}

hot_status hot_tridiag_vectors_f64(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const double *diagonal, const double *off, size_t stride, double *values,
                                   double *vectors, size_t width, int64_t *found)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (n > 0 && count > 0)
        HOT_NEED(context, diagonal, values, vectors);
    hot_tridiagonal_args args = {.options = options, .f64 = 1, .n = n, .count = count, .stride = stride, .width = width,
                                 .diagonal = diagonal, .off = off, .values = values, .vectors = vectors,
                                 .found = found};
    return solve(context, &args);
}

hot_status hot_tridiag_vectors_f32(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                                   const float *diagonal, const float *off, size_t stride, float *values,
                                   float *vectors, size_t width, int64_t *found)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (n > 0 && count > 0)
        HOT_NEED(context, diagonal, values, vectors);
    hot_tridiagonal_args args = {.options = options, .n = n, .count = count, .stride = stride, .width = width,
                                 .diagonal = diagonal, .off = off, .values = values, .vectors = vectors,
                                 .found = found};
    return solve(context, &args);
}
